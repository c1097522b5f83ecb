"""How each program is set up, started and typed to, where its model is the stand-in on loopback.

Each class says it for one program, in the same words:

    SETTINGS        the file our hooks go into, below the home folder
    EVENTS          the events at which the user's own hook, which was there first, is called
    ENDED           the one of them at the end of a turn
    SHELL           how the model calls the tool for a command line
    STEPS           and that for a list of steps, one under way and one done; empty if it has none
    USAGE           the tokens of a request, as it is told, and those at which it compacts by itself
    AUTOMATIC       by which request after such a compaction the model has our record; 0: not tried
    LEAVE           what is typed to leave it
    prepare         writes the settings it needs, the user's own hook among them
    words           the command line
    environment     what it needs to know
    arrive          answers what it asks at its start, as a user would
    compact         has the context compacted, and waits until it was
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.live.terminal import DOWN, ENTER, INTERRUPT, Terminal, typed

Count = Callable[[str], int]
"""How often the user's own hook was called at an event; ``SessionStart:compact`` names a source."""

FIRST = 60.0
"""Seconds that a program may take to show itself, or to compact."""


def matching(events: tuple[str, ...], command: str, timeout: int) -> dict[str, Any]:
    """Hooks in the shape of Claude Code's, one for each event."""

    def handler(event: str) -> dict[str, Any]:
        return {"type": "command", "command": f"{command} {event}", "timeout": timeout}

    return {event: [{"hooks": [handler(event)]}] for event in events}


def listener(place: Path) -> tuple[str, Callable[[], list[dict[str, Any]]]]:
    """A hook of the user's own, as a command that takes the event; what it was given, in order."""
    folder, command = place / "heard", place / "listener"
    folder.mkdir()
    command.write_text(
        "#!/bin/sh\nname=$(date +%s%N)-$$.$1\n"
        f'cat > "$0.$name" && mv "$0.$name" {folder}/$name.json\n'
    )
    command.chmod(0o755)

    def heard() -> list[dict[str, Any]]:
        found = []
        for path in sorted(folder.glob("*.json")):
            event = path.name.split(".")[-2]
            found.append({**json.loads(path.read_text() or "{}"), "hook_event_name": event})
        return found

    return str(command), heard


def written(path: Path, value: object, *, own: bool = False) -> None:
    """The value in a file: as a person may have written it, or in the program's ``own`` form.

    A program that writes its settings itself would otherwise change what a person wrote.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) if own else json.dumps(value, indent=3) + "\n\n")


class Codex:
    SETTINGS = ".codex/hooks.json"
    EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop")
    ENDED = "Stop"
    SHELL = '[[tool exec_command {"cmd":"%s"}]]'
    STEPS = (
        '[[tool update_plan {"plan":[{"step":"%s","status":"in_progress"},'
        '{"step":"%s","status":"completed"}]}]]'
    )
    USAGE = 1_000, 45_000
    AUTOMATIC = 1
    LEAVE = (INTERRUPT, INTERRUPT)

    @classmethod
    def prepare(cls, home: Path, project: Path, port: int, hook: str) -> None:
        written(home / cls.SETTINGS, {"hooks": matching(cls.EVENTS, hook, 20)})
        (home / ".codex" / "config.toml").write_text(
            f"""model = "stand-in"
model_provider = "stand-in"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
model_context_window = 60000
model_auto_compact_token_limit = 40000

[model_providers.stand-in]
name = "stand-in"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"

[analytics]
enabled = false

[tools.update_plan]
enabled = true

[projects."{project}"]
trust_level = "trusted"
"""
        )

    @staticmethod
    def words(program: list[str]) -> list[str]:
        return [*program, "--no-alt-screen", "--no-daemon"]

    @staticmethod
    def environment(home: Path, port: int) -> dict[str, str]:
        return {"CODEX_HOME": str(home / ".codex"), "STAND_IN_KEY": "none"}

    @staticmethod
    def arrive(terminal: Terminal, count: Count) -> None:
        terminal.wait(lambda: "Hooksneedreview" in terminal.shown(), "the question of trust", FIRST)
        terminal.still(0.5)
        terminal.type(DOWN)
        terminal.type(ENTER)
        terminal.still(1.5)

    @staticmethod
    def compact(terminal: Terminal, count: Count) -> None:
        done = count("PostCompact")
        typed(terminal, "/compact")
        terminal.wait(lambda: count("PostCompact") > done, "the end of the compaction", FIRST)


class QwenCode:
    SETTINGS = ".qwen/settings.json"
    EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop")
    ENDED = "Stop"
    SHELL = '[[tool run_shell_command {"command":"%s","description":"x","is_background":false}]]'
    STEPS = (
        '[[tool todo_write {"todos":[{"id":"1","content":"%s","status":"in_progress"},'
        '{"id":"2","content":"%s","status":"completed"}]}]]'
    )
    USAGE = 20_000, 175_000
    AUTOMATIC = 2
    LEAVE = (INTERRUPT, INTERRUPT)

    @classmethod
    def prepare(cls, home: Path, project: Path, port: int, hook: str) -> None:
        room = {"contextWindowSize": 200_000}
        base = f"http://127.0.0.1:{port}/v1"
        provider = {"id": "stand-in", "name": "stand-in", "baseUrl": base}
        provider |= {"envKey": "OPENAI_API_KEY", "generationConfig": room}
        written(
            home / cls.SETTINGS,
            {
                "security": {
                    "auth": {"selectedType": "openai"},
                    "folderTrust": {"enabled": False},
                },
                "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False},
                "model": {"name": "stand-in", "generationConfig": room},
                "modelProviders": {"openai": [provider]},
                "tools": {"todoWrite": {"enabled": True}},
                "ui": {"enableFollowupSuggestions": False},
                "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
                "hooks": matching(cls.EVENTS, hook, 20_000),
                "$version": 4,
            },
        )

    @staticmethod
    def words(program: list[str]) -> list[str]:
        return [*program, "--approval-mode", "yolo"]

    @staticmethod
    def environment(home: Path, port: int) -> dict[str, str]:
        return {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OPENAI_MODEL": "stand-in",
            "QWEN_CODE_NO_RELAUNCH": "true",
        }

    @staticmethod
    def arrive(terminal: Terminal, count: Count) -> None:
        terminal.wait(lambda: count("SessionStart"), "the start", FIRST)
        terminal.still(1.0)

    @staticmethod
    def compact(terminal: Terminal, count: Count) -> None:
        done = count("SessionStart:compact")
        typed(terminal, "/compress")
        terminal.wait(lambda: count("SessionStart:compact") > done, "the new start", FIRST)


class Droid:
    SETTINGS = ".factory/settings.json"
    EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
    ENDED = "Stop"
    SHELL = (
        '[[tool Execute {"command":"%s","summary":"x","timeout":20,"riskLevelReason":"r",'
        '"riskLevel":"low"}]]'
    )
    STEPS = '[[tool TodoWrite {"todos":"1. [in_progress] %s\\n2. [completed] %s"}]]'
    USAGE = 20_000, 58_000
    AUTOMATIC = 2
    LEAVE = (INTERRUPT, INTERRUPT)

    @classmethod
    def prepare(cls, home: Path, project: Path, port: int, hook: str) -> None:
        model = {
            "model": "stand-in",
            "id": "custom:Standin-0",
            "index": 0,
            "baseUrl": f"http://127.0.0.1:{port}/v1",
            "apiKey": "none",
            "displayName": "Standin",
            "maxContextLimit": 60_000,
            "maxOutputTokens": 4_000,
            "noImageSupport": True,
            "provider": "generic-chat-completion-api",
        }
        chosen = {"model": "custom:Standin-0", "autonomyLevel": "high", "autonomyMode": "auto-high"}
        written(
            home / cls.SETTINGS,
            {
                "customModels": [model],
                "enableHooks": True,
                "hooks": matching(cls.EVENTS, hook, 20),
                "cloudSessionSync": False,
                "sessionDefaultSettings": chosen,
                "compactionTokenLimit": 30_000,
                "logoAnimation": "off",
                # Its user has trusted the folder before.
                "trustedFolders": {str(project): {"trustedAt": "2026-01-31T09:30:00.000Z"}},
            },
            own=True,
        )

    @staticmethod
    def words(program: list[str]) -> list[str]:
        return [*program, "--auto", "high"]

    @staticmethod
    def environment(home: Path, port: int) -> dict[str, str]:
        return {
            "FACTORY_API_KEY": "fk-none",
            "FACTORY_AIRGAP_ENABLED": "true",
            "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
        }

    @staticmethod
    def arrive(terminal: Terminal, count: Count) -> None:
        terminal.wait(lambda: "?forhelp" in terminal.shown(), "the start", FIRST)
        terminal.still(0.5)

    @staticmethod
    def compact(terminal: Terminal, count: Count) -> None:
        done = count("SessionStart:compact")
        typed(terminal, "/compress")
        terminal.still(0.8)
        terminal.type(ENTER)
        terminal.wait(lambda: count("SessionStart:compact") > done, "the new start", FIRST)


class Gemini:
    SETTINGS = ".gemini/settings.json"
    EVENTS = ("SessionStart", "BeforeAgent", "PreCompress", "AfterTool", "AfterAgent")
    ENDED = "AfterAgent"
    SHELL = '[[tool run_shell_command {"command":"%s","description":"x"}]]'
    STEPS = (
        '[[tool write_todos {"todos":[{"description":"%s","status":"in_progress"},'
        '{"description":"%s","status":"completed"}]}]]'
    )
    USAGE = 1_000, 60_000
    AUTOMATIC = 2
    LEAVE = (INTERRUPT, INTERRUPT)

    @classmethod
    def prepare(cls, home: Path, project: Path, port: int, hook: str) -> None:
        written(
            home / cls.SETTINGS,
            {
                "security": {
                    "auth": {"selectedType": "gemini-api-key"},
                    "folderTrust": {"enabled": False},
                },
                "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False},
                "model": {"compressionThreshold": 0.05},
                "hooks": matching(cls.EVENTS, hook, 20_000),
            },
        )

    @staticmethod
    def words(program: list[str]) -> list[str]:
        return [*program, "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust"]

    @staticmethod
    def environment(home: Path, port: int) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
            "GEMINI_CLI_NO_RELAUNCH": "1",
        }

    @staticmethod
    def arrive(terminal: Terminal, count: Count) -> None:
        terminal.wait(lambda: count("SessionStart"), "the start", FIRST)
        terminal.still(1.0)

    @staticmethod
    def compact(terminal: Terminal, count: Count) -> None:
        before = terminal.mark()
        typed(terminal, "/compress")
        shown = "Chathistorycompressed"
        terminal.wait(lambda: shown in terminal.shown(before), "the end of the compaction", FIRST)


class CopilotCli:
    SETTINGS = ".copilot/hooks/contextspindle.json"
    EVENTS = ("sessionStart", "userPromptSubmitted", "preCompact", "postToolUse", "agentStop")
    ENDED = "agentStop"
    SHELL = '[[tool bash {"command":"%s","description":"x"}]]'
    STEPS = ""
    USAGE = 20_000, 39_000
    AUTOMATIC = 2
    LEAVE = (INTERRUPT, INTERRUPT)

    @classmethod
    def prepare(cls, home: Path, project: Path, port: int, hook: str) -> None:
        own = {
            event: [{"type": "command", "bash": f"{hook} {event}", "timeoutSec": 20}]
            for event in cls.EVENTS
        }
        written(home / ".copilot" / "hooks" / "own.json", {"version": 1, "hooks": own})
        settings = {"trusted_folders": [str(project)], "banner": "never", "autoUpdate": False}
        written(home / ".copilot" / "config.json", settings)
        written(home / ".copilot" / "settings.json", settings)

    @staticmethod
    def words(program: list[str]) -> list[str]:
        return [*program, "--no-auto-update", "--allow-all-tools"]

    @staticmethod
    def environment(home: Path, port: int) -> dict[str, str]:
        return {
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "stand-in",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "40000",
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4000",
        }

    @staticmethod
    def arrive(terminal: Terminal, count: Count) -> None:
        terminal.wait(lambda: "stand-in" in terminal.shown(), "the start", FIRST)
        terminal.still(1.0)

    @staticmethod
    def compact(terminal: Terminal, count: Count) -> None:
        before = terminal.mark()
        typed(terminal, "/compact")
        terminal.wait(
            lambda: "ompacted" in terminal.shown(before) or "ompleted" in terminal.shown(before),
            "the end of the compaction",
            FIRST,
        )


ALL: dict[str, Any] = {
    "codex": Codex,
    "qwen-code": QwenCode,
    "droid": Droid,
    "gemini": Gemini,
    "copilot-cli": CopilotCli,
}
"""By the name that our own set-up knows each by."""
