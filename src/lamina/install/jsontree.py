"""A JSON text, comments and trailing commas allowed, as a tree that knows where each part stands."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_PARTS = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_DEEPEST = 100


class NotJson(Exception):
    """The text is no JSON; `line` is where it stops being some."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


@dataclass
class Child:
    """A member of an object (`key` its name) or an item of an array, and the comma behind it."""

    start: int
    node: Node
    key: str = ""
    comma: int = -1
    """Where the comma behind it stands, -1 if there is none."""


@dataclass
class Node:
    """A value from `start` to `end`; `kind` is `{`, `[` or "" for a plain value."""

    kind: str
    start: int
    end: int
    plain: Any = None
    children: list[Child] = field(default_factory=list)

    @property
    def value(self) -> Any:
        """The value as Python has it; of a key that stands twice the last one counts."""
        if self.kind == "{":
            return {child.key: child.node.value for child in self.children}
        return [child.node.value for child in self.children] if self.kind == "[" else self.plain

    def member(self, key: str) -> Node | None:
        """Return the member that counts under this name, None if there is none or this is no object."""
        if self.kind != "{":
            return None
        return next((child.node for child in reversed(self.children) if child.key == key), None)


@lru_cache(maxsize=3)  # one edit asks several times, and a host's file may have some megabytes
def parse(text: str) -> Node:
    """Parse a whole text, or raise NotJson. What is returned may be shared: nobody changes it."""
    node = _Reader(text).value(_over(text, 1 if text.startswith("\ufeff") else 0), 0)
    end = _over(text, node.end)
    if end != len(text):
        raise _fault(text, end, "there is more behind the end")
    return node


def is_blank(text: str) -> bool:
    """Tell whether a text holds nothing but space and comments."""
    return _over(text, 1 if text.startswith("\ufeff") else 0) == len(text)


def tail(text: str, start: int, end: int) -> int:
    """Return where the last word or comment before `end` ends, at least `start`."""
    comments = [found for found in _between(text, start, end) if not found.isspace()]
    if not comments:
        return start
    return text.rindex(comments[-1], start, end) + len(comments[-1])


def ends_in_line_comment(text: str, start: int, end: int) -> bool:
    """Tell whether the last comment between two words goes to the end of its line."""
    comments = [found for found in _between(text, start, end) if not found.isspace()]
    return bool(comments) and comments[-1].startswith("//")


def _between(text: str, start: int, end: int) -> list[str]:
    return _PARTS.findall(text, start, end)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise _fault(self.text, at, "nested too deep")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self._container(at, first, depth)
        if first == '"':
            text, end = self._string(at)
            return Node("", at, end, text)
        found = _PLAIN.match(self.text, at)
        if found is None:
            raise _fault(self.text, at, "a value is missing or misspelt")
        return Node("", at, found.end(), json.loads(found.group()))

    def _container(self, at: int, kind: str, depth: int) -> Node:
        node, closer = Node(kind, at, at), "}" if kind == "{" else "]"
        place = _over(self.text, at + 1)
        while self.text[place : place + 1] != closer:
            child = self._child(place, kind, depth)
            node.children.append(child)
            place = _over(self.text, child.node.end)
            if self.text[place : place + 1] == ",":
                child.comma = place
                place = _over(self.text, place + 1)
            elif self.text[place : place + 1] != closer:
                raise _fault(self.text, place, f"a comma or {closer} is missing")
        node.end = place + 1
        return node

    def _child(self, at: int, kind: str, depth: int) -> Child:
        if kind == "[":
            return Child(at, self.value(at, depth + 1))
        key, end = self._string(at)
        colon = _over(self.text, end)
        if self.text[colon : colon + 1] != ":":
            raise _fault(self.text, colon, "a colon is missing")
        return Child(at, self.value(_over(self.text, colon + 1), depth + 1), key)

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self.text, at)
        try:
            if found is not None:
                return str(json.loads(found.group())), found.end()
        except ValueError:
            pass
        raise _fault(self.text, at, "a text in quotes is missing or not closed")


def _over(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _fault(text: str, at: int, reason: str) -> NotJson:
    return NotJson(reason, text.count("\n", 0, at) + 1)
