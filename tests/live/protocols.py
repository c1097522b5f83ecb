"""The protocols that programs ask models in: what a request says, and how an answer is spelt.

Each has ``hears`` (whether a path is its own), ``turns`` (what a ``user`` said in a request, a
``result`` for each answer of a tool, and where the ``model`` spoke), ``streams``, and an answer as
a ``whole`` or as ``events``.
"""

from __future__ import annotations

import json
from typing import Any

Turns = list[tuple[str, str]]


def texts(content: Any) -> list[str]:
    """The texts of a message's content."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or () if isinstance(part.get("text"), str)]


class Messages:
    """Anthropic's Messages, as Claude Code speaks them."""

    @staticmethod
    def hears(path: str) -> bool:
        return path.endswith("/messages")

    @staticmethod
    def streams(path: str, body: dict[str, Any]) -> bool:
        return bool(body.get("stream"))

    @staticmethod
    def turns(body: dict[str, Any]) -> Turns:
        found: Turns = []
        for message in body.get("messages", []):
            content = message["content"]
            if message["role"] == "assistant":
                found.append(("model", ""))
            elif message["role"] == "user" and isinstance(content, str):
                found.append(("user", content))
            elif message["role"] == "user":
                for part in content:
                    if part.get("type") == "tool_result":
                        found.append(("result", ""))
                    elif part.get("type") == "text":
                        found.append(("user", part["text"]))
        return found

    @staticmethod
    def _message(reply: Any, number: int, body: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "stand-in"),
            "stop_reason": "tool_use" if reply.tool else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": reply.tokens, "output_tokens": 10},
        }

    @staticmethod
    def _block(reply: Any, number: int) -> dict[str, Any]:
        if not reply.tool:
            return {"type": "text", "text": reply.text}
        key = f"toolu_{number}"
        return {"type": "tool_use", "id": key, "name": reply.tool, "input": json.loads(reply.given)}

    @classmethod
    def whole(cls, reply: Any, number: int, body: dict[str, Any]) -> dict[str, Any]:
        return {**cls._message(reply, number, body), "content": [cls._block(reply, number)]}

    @classmethod
    def events(cls, reply: Any, number: int, body: dict[str, Any]) -> list[Any]:
        message = cls._message(reply, number, body)
        start = cls._block(reply, number)
        if reply.tool:
            start["input"] = {}
            delta = {"type": "input_json_delta", "partial_json": reply.given}
        else:
            start["text"] = ""
            delta = {"type": "text_delta", "text": reply.text}
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        return [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": message["usage"]},
            {"type": "message_stop"},
        ]


class Responses:
    """OpenAI's Responses, as Codex speaks them."""

    @staticmethod
    def hears(path: str) -> bool:
        return path.endswith("/responses")

    @staticmethod
    def streams(path: str, body: dict[str, Any]) -> bool:
        return bool(body.get("stream", True))

    @staticmethod
    def turns(body: dict[str, Any]) -> Turns:
        found: Turns = []
        for item in body.get("input", []):
            kind = item.get("type", "message")
            if kind == "message" and item.get("role") == "user":
                found.append(("user", "".join(texts(item["content"]))))
            elif kind.endswith("_call_output"):
                found.append(("result", ""))
            elif item.get("role") == "assistant" or kind.endswith("_call"):
                found.append(("model", ""))
        return found

    @staticmethod
    def whole(reply: Any, number: int, body: dict[str, Any]) -> dict[str, Any]:
        item: dict[str, Any] = {"id": f"item_{number}", "status": "completed"}
        if reply.tool:
            # A tool of a server is called by the server's name and its own.
            space, _, name = reply.tool.rpartition("/")
            item |= {"type": "function_call", "name": name, "arguments": reply.given}
            item |= {"call_id": f"call_{number}", **({"namespace": space} if space else {})}
        else:
            part = {"type": "output_text", "text": reply.text, "annotations": []}
            item |= {"type": "message", "role": "assistant", "content": [part]}
        count = {"input_tokens": reply.tokens, "output_tokens": 10}
        usage = {**count, "total_tokens": reply.tokens + 10}
        head = {"id": f"resp_{number}", "object": "response", "status": "completed"}
        return {**head, "usage": usage, "output": [item]}

    @classmethod
    def events(cls, reply: Any, number: int, body: dict[str, Any]) -> list[Any]:
        whole = cls.whole(reply, number, body)
        (item,) = whole["output"]
        return [
            {"type": "response.created", "response": {"id": whole["id"], "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]


class Chat:
    """OpenAI's Chat Completions, as Qwen Code, Droid and Copilot CLI speak them."""

    @staticmethod
    def hears(path: str) -> bool:
        return path.endswith("/chat/completions")

    @staticmethod
    def streams(path: str, body: dict[str, Any]) -> bool:
        return bool(body.get("stream"))

    @staticmethod
    def turns(body: dict[str, Any]) -> Turns:
        found: Turns = []
        for message in body.get("messages", []):
            if message["role"] == "user":
                found += [("user", text) for text in texts(message.get("content"))]
            elif message["role"] == "tool":
                found.append(("result", ""))
            elif message["role"] == "assistant":
                found.append(("model", ""))
        return found

    @staticmethod
    def _parts(reply: Any, number: int) -> tuple[dict[str, Any], str, dict[str, int]]:
        usage = {"prompt_tokens": reply.tokens, "completion_tokens": 10}
        usage["total_tokens"] = reply.tokens + 10
        if not reply.tool:
            return {"role": "assistant", "content": reply.text}, "stop", usage
        call = {"name": reply.tool, "arguments": reply.given}
        calls = [{"index": 0, "id": f"call_{number}", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls", usage

    @staticmethod
    def _head(number: int, body: dict[str, Any], kind: str) -> dict[str, Any]:
        model = body.get("model", "stand-in")
        return {"id": f"chat_{number}", "object": kind, "created": 1, "model": model}

    @classmethod
    def whole(cls, reply: Any, number: int, body: dict[str, Any]) -> dict[str, Any]:
        message, reason, usage = cls._parts(reply, number)
        choice = {"index": 0, "message": message, "finish_reason": reason}
        head = cls._head(number, body, "chat.completion")
        return {**head, "choices": [choice], "usage": usage}

    @classmethod
    def events(cls, reply: Any, number: int, body: dict[str, Any]) -> list[Any]:
        delta, reason, usage = cls._parts(reply, number)
        head = cls._head(number, body, "chat.completion.chunk")
        return [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**head, "choices": [], "usage": usage},
            "[DONE]",
        ]


class Content:
    """Google's generated content, as Gemini CLI asks for it."""

    @staticmethod
    def hears(path: str) -> bool:
        return path.endswith((":generateContent", ":streamGenerateContent"))

    @staticmethod
    def streams(path: str, body: dict[str, Any]) -> bool:
        return path.endswith(":streamGenerateContent")

    @staticmethod
    def turns(body: dict[str, Any]) -> Turns:
        found: Turns = []
        for content in body.get("contents", []):
            for part in content.get("parts", []):
                if "functionResponse" in part:
                    found.append(("result", ""))
                elif content.get("role") == "model":
                    found.append(("model", ""))
                elif isinstance(part.get("text"), str):
                    found.append(("user", part["text"]))
        return found

    @staticmethod
    def whole(reply: Any, number: int, body: dict[str, Any]) -> dict[str, Any]:
        part: dict[str, Any] = {"text": reply.text}
        settings = body.get("generationConfig") or {}
        if settings.get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"reasoning": "none", "next_speaker": "user"})}
        elif reply.tool:
            part = {"functionCall": {"name": reply.tool, "args": json.loads(reply.given)}}
        content = {"role": "model", "parts": [part]}
        count = {"promptTokenCount": reply.tokens, "candidatesTokenCount": 10}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {**count, "totalTokenCount": reply.tokens + 10},
            "responseId": f"response_{number}",
        }

    @classmethod
    def events(cls, reply: Any, number: int, body: dict[str, Any]) -> list[Any]:
        return [cls.whole(reply, number, body)]


ALL = (Messages, Responses, Chat, Content)
