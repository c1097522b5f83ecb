"""Completion for shells: a script that is made from the table of commands, and asks nothing later.

Words, options, their values and their meaning are in the script; only the ids of tasks are asked of
the ledger, at the moment somebody wants one.  A script says the same as the help, because both are
made here.
"""

from __future__ import annotations

from ..errors import InvalidInput
from .reply import Reply
from .table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from . import Call
    from .shape import Command

NAMES = "contextspindle continuum-cli"
_IDS = "contextspindle task list 0 100 --quiet 2>/dev/null"
"""What prints the ids of tasks, the newest first."""


def completion(call: Call) -> Reply:
    """The script for one shell."""
    shell = call.values["shell"]
    if shell not in SCRIPTS:
        known = ", ".join(SCRIPTS)
        raise InvalidInput(f"There is no completion for {shell!r}", hint=f"Known are {known}.")
    text = SCRIPTS[shell]()
    return Reply({"shell": shell, "script": text}, text)


def _next_words() -> dict[str, list[tuple[str, str]]]:
    """What may follow the words of a command so far, each with what it means."""
    found: dict[str, list[tuple[str, str]]] = {}
    for command in COMMANDS:
        for at, word in enumerate(command.words):
            listed = found.setdefault(" ".join(command.words[:at]), [])
            whole = at + 1 == len(command.words)
            if word not in dict(listed):
                listed.append((word, command.summary if whole else f"{word} ..."))
    for command in COMMANDS:
        for place in command.positionals[:1]:
            if place.choices:
                named = [(one, place.help) for one in place.choices]
                found.setdefault(" ".join(command.words), []).extend(named)
    return found


def _values(command: Command) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The options of a command whose values are known, with them."""
    for option in command.options:
        if option.choices:
            yield option.flag, option.choices


def _options(command: Command) -> Iterator[tuple[str, str]]:
    for option in (*command.options, *command.general()):
        yield option.flag, option.help


def _takes_id(command: Command) -> bool:
    return any(one.name == "id" for one in command.positionals) and command.words[0] == "task"


def _bash() -> str:
    words = [
        f"        '{words}') found='{' '.join(word for word, _ in following)}' ;;"
        for words, following in _next_words().items()
    ]
    lines = []
    for command in COMMANDS:
        flags = " ".join(flag for flag, _ in _options(command))
        ids = f" ids='{_IDS}'" if _takes_id(command) else ""
        known = _cases(command, "values='{}'", " ")
        lines.append(f"        '{' '.join(command.words)}'*) options='{flags}'{ids}{known} ;;")
    return _BASH.format(words="\n".join(words), cases="\n".join(lines), names=NAMES)


def _cases(command: Command, setting: str, between: str) -> str:
    """The values behind each option of a command, as a shell's ``case`` on the word before."""
    cases = [
        f"{flag}) {setting.format(between.join(choices))} ;;" for flag, choices in _values(command)
    ]
    return f"; case $before in {' '.join(cases)} esac" if cases else ""


_BASH = """\
# Completion of contextspindle for bash: source <(contextspindle completion bash)
_contextspindle() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    local said='' one found='' options='' ids='' values=''
    for one in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case $one in -*) ;; *) said+="${{said:+ }}$one" ;; esac
    done
    case $said in
{words}
    esac
    case $said in
{cases}
    esac
    [[ $word == -* ]] && found=$options
    [[ $word != -* && -n $values ]] && found=$values
    [[ $word != -* && -z $values && -n $ids ]] && found=$(eval "$ids")
    COMPREPLY=($(compgen -W "$found" -- "$word"))
}}
complete -o default -F _contextspindle {names}
"""


def _zsh() -> str:
    first, lines = [], []
    for words, following in _next_words().items():
        told = " ".join(_quoted(f"{word}:{meaning}") for word, meaning in following)
        first.append(f"        '{words}') found=({told}) ;;")
    for command in COMMANDS:
        told = " ".join(_quoted(f"{flag}:{meaning}") for flag, meaning in _options(command))
        ids = f" ids='{_IDS}'" if _takes_id(command) else ""
        known = _cases(command, "values=({})", " ")
        lines.append(f"        '{' '.join(command.words)}'*) options=({told}){ids}{known} ;;")
    return _ZSH.format(words="\n".join(first), cases="\n".join(lines), names=NAMES)


_ZSH = """\
#compdef {names}
# Completion of contextspindle for zsh: source <(contextspindle completion zsh)
_contextspindle() {{
    local said='' one ids='' before=${{words[CURRENT-1]}}
    local -a found options values
    for one in ${{words[2,CURRENT-1]}}; do
        case $one in -*) ;; *) said+="${{said:+ }}$one" ;; esac
    done
    case $said in
{words}
    esac
    case $said in
{cases}
    esac
    if [[ $PREFIX == -* ]]; then
        _describe option options
    elif (( $#values )); then
        _describe value values
    elif (( $#found )); then
        _describe command found
    elif [[ -n $ids ]]; then
        found=(${{(f)"$(eval $ids)"}})
        _describe task found
    else
        _files
    fi
}}
compdef _contextspindle {names}
"""


def _quoted(text: str) -> str:
    """A word of zsh or fish, whatever stands in it."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish() -> str:
    lines = [_FISH]
    for name in NAMES.split():
        for words, following in _next_words().items():
            for word, meaning in following:
                told = f"-f -a {word} -d {_quoted(meaning)}"
                lines.append(f"complete -c {name} -n '__contextspindle_said \"{words}\"' {told}")
        for command in COMMANDS:
            words = " ".join(command.words)
            under = f"-n '__contextspindle_under \"{words}\"'"
            if _takes_id(command):
                lines.append(f"complete -c {name} {under} -f -a '({_IDS})'")
            values = dict(_values(command))
            for flag, meaning in _options(command):
                known = f" -x -a {_quoted(' '.join(values[flag]))}" if flag in values else ""
                told = f"-l {flag[2:]} -d {_quoted(meaning)}{known}"
                lines.append(f"complete -c {name} {under} {told}")
    return "\n".join(lines) + "\n"


_FISH = """\
# Completion of contextspindle for fish: contextspindle completion fish | source
function __contextspindle_words
    string match -v -- '-*' (commandline -opc)[2..-1] | string join ' '
end
function __contextspindle_said
    test (__contextspindle_words | string collect -a) = "$argv[1]"
end
function __contextspindle_under
    string match -q -- "$argv[1]*" (__contextspindle_words | string collect -a)
end"""

SCRIPTS: dict[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
