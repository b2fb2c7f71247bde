"""What the stub model answers: prompts carry their own script.

A prompt that holds `@@call TOOL_NAME_REGEX {json}@@` makes the model call the first tool offered whose whole
name fits, one call a turn in the order they stand; then it answers in plain words. Of several prompts with a
script the last counts, so `@@plain@@` in a later prompt ends an earlier one's. The arguments may themselves
hold a script, for a subagent's prompt. Each call of a script is made once, also when a compaction keeps the prompt
and drops the results: give each session a script of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_CALL = re.compile(r"@@call\s+(\S+)\s+(?=\{)")
#: A card may tell of an earlier session's prompt.
_CARD = re.compile(r"<lamina-memory>.*?</lamina-memory>", re.DOTALL)
_END = re.compile(r"\s*@@")
_PLAIN = "@@plain@@"
#: How the hosts ask for the summary of a compaction; nothing is called then.
COMPACTS = re.compile(
    r"summary of (?:the|our) conversation|handoff summary|<state_snapshot>|continuing our conversation"
    r"|acting as a compaction engine"
)
_decoder = json.JSONDecoder(strict=False)


class Tool(NamedTuple):
    """A tool that a request offers; `space` and `kind` are those of OpenAI's Responses."""

    name: str
    space: str = ""
    kind: str = "function"

    @property
    def whole(self) -> str:
        """Return the name that a script is compared with: `space.name` where there is a space."""
        return f"{self.space}.{self.name}" if self.space else self.name

    def fits(self, wanted: str) -> bool:
        """Tell whether a script's regular expression names this tool."""
        return any(re.fullmatch(wanted, name) for name in (self.whole, self.name))


class Call(NamedTuple):
    """A tool call to be made."""

    tool: Tool
    arguments: dict[str, Any]


class Prompt(NamedTuple):
    """Words in the user's place."""

    text: str


class Result(NamedTuple):
    """A tool's result."""


class Turn(NamedTuple):
    """What a request says, whatever its API."""

    said: Sequence[Prompt | Result]
    tools: Sequence[Tool]
    schema: dict[str, Any] | None = None
    """The JSON schema that the answer must fit, where one is asked for."""
    stream: bool = False


def calls_of(text: str) -> list[tuple[str, dict[str, Any]]] | None:
    """Read a prompt's script: names and arguments; None if it has none."""
    text = _CARD.sub("", text)
    found = list(_calls(text))
    if not found and '\\"' in text:  # OpenCode quotes a prompt of several words as JSON
        found = list(_calls(_unquoted(text)))
    return found if found or _PLAIN in text else None


def _calls(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    at = 0
    while start := _CALL.search(text, at):
        at = start.end()
        try:
            arguments, end = _decoder.raw_decode(text, at)
        except ValueError:
            continue
        if isinstance(arguments, dict) and (close := _END.match(text, end)):
            at = close.end()
            yield start.group(1), arguments


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, str) else text.replace('\\"', '"')


def script_of(turn: Turn) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """Find the script that counts and how many results have come since its prompt."""
    script: list[tuple[str, dict[str, Any]]] = []
    results = 0
    for said in turn.said:
        if isinstance(said, Result):
            results += 1
        elif (calls := calls_of(said.text)) is not None:
            script, results = calls, 0
    return script, results


class Player:
    """Plays scripts, each call once: a compaction keeps the prompt and drops the results."""

    def __init__(self) -> None:
        self._made: dict[str, int] = {}

    def next_call(self, turn: Turn) -> Call | None:
        """Choose the call that the script has now; None for a plain answer."""
        script, results = script_of(turn)
        key = json.dumps(script)
        at = max(results, self._made.get(key, 0))
        if at >= len(script) or shortens(turn):
            return None
        wanted, arguments = script[at]
        fits = (tool for tool in turn.tools if tool.fits(wanted))
        tool = next(fits, None)
        if tool is None:
            return None
        self._made[key] = at + 1
        return Call(tool, arguments)


def shortens(turn: Turn) -> bool:
    """Tell whether a request asks for the summary of a compaction."""
    last = turn.said[-1] if turn.said else Result()
    return isinstance(last, Prompt) and COMPACTS.search(last.text) is not None


def sample(schema: Any) -> Any:
    """Make a value that fits a JSON schema: the first choice, the shortest list."""
    if not isinstance(schema, dict):
        return "stub"
    if schema.get("enum"):
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return sample(choices[0])
    simple = {"string": "stub", "number": 1, "integer": 1, "boolean": False, "null": None}
    match str(schema.get("type", "object")).lower():
        case "object":
            return {name: sample(inner) for name, inner in (schema.get("properties") or {}).items()}
        case "array":
            return [sample(schema.get("items"))] * int(schema.get("minItems") or 0)
        case kind:
            return simple.get(kind, "stub")
