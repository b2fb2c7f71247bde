"""What a host's program said in JSON: the model's text, and nothing of its banners, tools and reasoning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

_MADE_UP = "<synthetic>"
"""The model that Claude Code names when a message is its own: an error, put as if it had been answered."""
_MOST_FAILURES = 1000
"""Places that look like JSON and are none. Each costs a look at all the text before it."""


@dataclass(slots=True)
class Heard:
    """What a program's events came to.

    `known` says that there were events at all, `ended` that the turn came to its end. `problem` is the last
    failure that no good end has followed: programs tell each retry.
    """

    texts: list[str] = field(default_factory=list)
    known: bool = False
    ended: bool = False
    cut: bool = False
    problem: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    def end(self, problem: str = "") -> None:
        """Note the turn's end; a good one settles what went wrong on the way."""
        self.ended = True
        self.problem = problem

    def count(self, given: int, made: int) -> None:
        """Add what a step used."""
        self.tokens_in += max(0, given)
        self.tokens_out += max(0, made)


def events(text: str) -> Iterator[Json]:
    """Yield the JSON objects in a program's output, one a line or spread over lines; skip all else."""
    decoder = json.JSONDecoder()
    at, failures = _next(text, 0), 0
    while at >= 0 and failures < _MOST_FAILURES:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            failures += 1
            at = _next(text, text.find("\n", at) + 1 or len(text))
            continue
        if isinstance(value, dict):
            yield value
        else:
            yield from (one for one in value if isinstance(one, dict))
        at = _next(text, at)


def hear_claude(heard: Heard, event: Json) -> None:
    """Hear Claude Code and Qwen Code, which speak alike: a message a model turn, then the result."""
    kind = _text(event.get("type"))
    heard.known = heard.known or kind in {"system", "assistant", "result"}
    if kind == "assistant" and not event.get("parent_tool_use_id"):
        message = _dict(event.get("message"))
        said = _texts(message.get("content"))
        if message.get("model") == _MADE_UP:
            heard.problem = _said(*said)
            return
        heard.texts += said
        heard.cut = heard.cut or message.get("stop_reason") == "max_tokens"
    elif kind == "system" and event.get("subtype") == "api_retry":
        heard.problem = f"the model's server failed: {_said(event.get('error'), 'unknown')}"
    elif kind == "result":
        _end_claude(heard, event)


def _end_claude(heard: Heard, event: Json) -> None:
    usage = _dict(event.get("usage"))
    given = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    heard.count(sum(_int(usage.get(part)) for part in given), _int(usage.get("output_tokens")))
    heard.cut = heard.cut or event.get("stop_reason") == "max_tokens"
    failed = event.get("is_error") or _text(event.get("subtype")) not in {"", "success"}
    places = (event.get("result"), event.get("error"), event.get("errors"), event.get("subtype"))
    heard.end(_said(*places) or "it failed" if failed else "")


def hear_qwen(heard: Heard, event: Json) -> None:
    """Hear Qwen Code: Claude Code's events, but cached input is already counted as input."""
    if event.get("type") == "result":
        usage = {**_dict(event.get("usage")), "cache_read_input_tokens": 0}
        event = {**event, "usage": usage}
    hear_claude(heard, event)


def hear_codex(heard: Heard, event: Json) -> None:
    """Hear Codex: items, then the turn's end. An item of type error is a warning."""
    kind, item = _text(event.get("type")), _dict(event.get("item"))
    heard.known = heard.known or bool(kind)
    if kind == "item.completed" and item.get("type") == "agent_message":
        heard.texts.append(_text(item.get("text")))
    elif kind == "turn.completed":
        usage = _dict(event.get("usage"))
        heard.count(_int(usage.get("input_tokens")), _int(usage.get("output_tokens")))
        heard.end()
    elif kind in {"error", "turn.failed"}:
        heard.problem = _said(event.get("message"), event.get("error"), kind)


def hear_gemini(heard: Heard, event: Json) -> None:
    """Hear Gemini CLI: the prompt comes back as the user's message, the answer in pieces."""
    kind = _text(event.get("type"))
    heard.known = heard.known or bool(kind)
    if kind == "message" and event.get("role") == "assistant":
        text = _text(event.get("content"))
        if event.get("delta") and heard.texts:
            heard.texts[-1] += text
        else:
            heard.texts.append(text)
    elif kind == "error":
        heard.problem = _said(event.get("message"), event.get("error"), kind)
    elif kind == "result":
        stats = _dict(event.get("stats"))
        heard.count(_int(stats.get("input_tokens")), _int(stats.get("output_tokens")))
        heard.end(_said(event.get("error"), "it failed") if event.get("status") == "error" else "")


def hear_opencode(heard: Heard, event: Json) -> None:
    """Hear OpenCode: parts, then the step's end with its reason."""
    kind, part = _text(event.get("type")), _dict(event.get("part"))
    heard.known = heard.known or bool(kind)
    if kind == "text" and not part.get("synthetic"):
        heard.texts.append(_text(part.get("text")))
    elif kind == "step_finish":
        tokens = _dict(part.get("tokens"))
        cache = _dict(tokens.get("cache"))
        given = (tokens.get("input"), cache.get("read"), cache.get("write"))
        heard.count(sum(map(_int, given)), _int(tokens.get("output")) + _int(tokens.get("reasoning")))
        heard.cut = heard.cut or part.get("reason") == "length"
        heard.end()
    elif kind == "error":
        heard.problem = _said(event.get("error"), kind)


def _next(text: str, at: int) -> int:
    found = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(found, default=-1)


def _texts(content: object) -> list[str]:
    """Return the text blocks of a message; reasoning and tool calls are none."""
    if isinstance(content, str):
        return [content]
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return [_text(block.get("text")) for block in blocks if block.get("type") == "text"]


def _said(*places: object) -> str:
    """Return the first message among the places where a program may have put it."""
    for place in places:
        if isinstance(place, str) and place.strip():
            return place
        inner = ""
        if isinstance(place, list):
            inner = _said(*place[:3])
        elif isinstance(place, dict):
            inner = _said(place.get("message"), place.get("data"), place.get("error"), place.get("name"))
        if inner:
            return inner
    return ""


def _dict(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
