"""Members and items put into a JSON text and taken out of it again; every other byte stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lamina.install.jsontree import Child, Node, NotJson, ends_in_line_comment, is_blank, parse, tail

Path = Sequence[str]
EACH = "\0"
"""In the path of what is taken: each item of an array."""


class WrongShape(Exception):
    """Where an object or an array is needed, something else stands."""


class Style(NamedTuple):
    """How a text is laid out."""

    unit: str
    eol: str
    many_lines: bool
    colon: str
    comma: str


def put_member(text: str, at: Path, value: Any) -> str:
    """Set the member under a path of keys. Raises NotJson and WrongShape."""
    text = _begun(text)
    holder, rest = _deepest(parse(text), at)
    if not rest:
        return text[: holder.start] + _shown(text, holder.start, value) + text[holder.end :]
    _need(holder, "{", at[: len(at) - len(rest)])
    return _append(text, holder, rest[0], _nested(rest[1:], value))


def put_item(text: str, at: Path, value: Any) -> str:
    """Append an item to the array under a path of keys. Raises NotJson and WrongShape."""
    text = _begun(text)
    holder, rest = _deepest(parse(text), at)
    if not rest:
        _need(holder, "[", at)
        return _append(text, holder, None, value)
    _need(holder, "{", at[: len(at) - len(rest)])
    return _append(text, holder, rest[0], _nested(rest[1:], [value]))


def find(text: str, at: Path) -> Any:
    """Return the value under a path of keys, None if there is none."""
    if is_blank(text):
        return None
    node, rest = _deepest(parse(text), at)
    return None if rest else node.value


def has(text: str, at: Path) -> bool:
    """Tell whether something stands under a path of keys."""
    return not is_blank(text) and not _deepest(parse(text), at)[1]


def take_members(text: str, at: Path, mine: Callable[[Any], bool], base: str) -> str:
    """Take out each member under this path that is `mine`, and what became empty by it.

    What `base` has stays: a container that it holds is left, empty as it may be.
    """
    return _take(text, at[:-1], lambda child: child.key == at[-1] and mine(child.node.value), base)


def take_items(text: str, at: Path, mine: Callable[[Any], bool], base: str) -> str:
    """Take each item that is `mine` out of the array under this path, and what became empty by it."""
    return _take(text, at, lambda child: not child.key and mine(child.node.value), base)


def keys(text: str, at: Path) -> list[str]:
    """Return the names of the members of the objects under a path."""
    if is_blank(text):
        return []
    holders = _all(parse(text), at)
    return list(dict.fromkeys(child.key for node in holders for child in node.children if node.kind == "{"))


def _take(text: str, at: Path, mine: Callable[[Child], bool], base: str) -> str:
    if is_blank(text):
        return text
    while True:
        found = [
            (node, number)
            for node in _all(parse(text), at)
            for number, child in enumerate(node.children)
            if mine(child)
        ]
        if not found:
            return text
        holder, number = found[-1]
        text = _without(text, holder, number)
        if len(holder.children) == 1:
            text = _emptied(text, at, holder.start, base)


def _emptied(text: str, at: Path, start: int, base: str) -> str:
    """Take away a container that our last part left empty, or give it the look that it had."""
    node = next(node for node in _all(parse(text), at) if node.start == start)
    before = _node(base, at)
    look = base[before.start : before.end] if before and not before.children else ""
    own = text[node.start : node.end]
    if "".join(look.split()) == "".join(own.split()):
        return text[: node.start] + look + text[node.end :]
    if own[1:-1].strip():
        return text  # a comment stands in it
    if not at or before is not None:
        return text[: node.start] + own[0] + own[-1] + text[node.end :]
    for holder in _all(parse(text), at[:-1]):
        for number, child in enumerate(holder.children):
            if child.node.start == start:
                text = _without(text, holder, number)
                return _emptied(text, at[:-1], holder.start, base) if len(holder.children) == 1 else text
    return text


def _without(text: str, holder: Node, number: int) -> str:
    child = holder.children[number]
    before = holder.children[number - 1] if number else None
    lead_from = before.comma + 1 if before else holder.start + 1
    lead = tail(text, lead_from, child.start)
    following = holder.children[number + 1 : number + 2]
    if before is None and following and not text[child.comma + 1 : following[0].start].strip():
        return text[: child.start] + text[following[0].start :]
    if child.comma >= 0:
        return text[:lead] + text[child.comma + 1 :]
    if before is None:
        return text[:lead] + text[child.node.end :]
    return text[: before.comma] + text[before.comma + 1 : lead] + text[child.node.end :]


def _append(text: str, holder: Node, key: str | None, value: Any) -> str:
    style = _style(text)
    named = "" if key is None else json.dumps(key, ensure_ascii=False) + style.colon
    if not holder.children:
        return _first(text, holder, named, value, style)
    last = holder.children[-1]
    comma = last.comma >= 0
    behind = last.comma + 1 if comma else last.node.end
    end = tail(text, behind, holder.end - 1)
    if not _has_lines(text, holder):
        part = _break(text, behind, end, style) + style.comma[1:] + named + _inline(value, style)
    else:
        indent = _indent(text, last.start)
        part = style.eol + indent + named + _lines(value, style, indent)
    part += "," if comma else ""
    return text[:behind] + ("" if comma else ",") + text[behind:end] + part + text[end:]


def _first(text: str, holder: Node, named: str, value: Any, style: Style) -> str:
    """Fill an empty container; a comment in it stays."""
    end = tail(text, holder.start + 1, holder.end - 1)
    if not style.many_lines:
        part = _break(text, holder.start + 1, end, style) + named + _inline(value, style)
        return text[:end] + part + text[end:]
    outer = _indent(text, holder.start)
    inner = outer + style.unit
    part = style.eol + inner + named + _lines(value, style, inner) + style.eol + outer
    return text[:end] + part + text[holder.end - 1 :]


def _break(text: str, start: int, end: int, style: Style) -> str:
    """Return the line break without which a comment would swallow what comes behind it."""
    return style.eol if ends_in_line_comment(text, start, end) else ""


def _shown(text: str, start: int, value: Any) -> str:
    style = _style(text)
    return _lines(value, style, _indent(text, start)) if style.many_lines else _inline(value, style)


def _begun(text: str) -> str:
    """Return the text with an object in it."""
    if not is_blank(text):
        return text
    eol = "\r\n" if "\r\n" in text else "\n"
    space = eol if text.strip("\ufeff") and not text.endswith("\n") else ""
    return text + space + "{}" + eol


def _style(text: str) -> Style:
    root = parse(text)
    lines = not root.children or _has_lines(text, root)
    unit = (_indent(text, root.children[0].start) if root.children and lines else "") or "  "
    eol = "\r\n" if "\r\n" in text else "\n"
    tight = not lines and '": ' not in text
    return Style(unit, eol, lines, ":" if tight else ": ", "," if tight else ", ")


def _has_lines(text: str, node: Node) -> bool:
    return "\n" in text[node.start : node.children[0].start] if node.children else False


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inline(value: Any, style: Style) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(style.comma, style.colon))


def _lines(value: Any, style: Style, indent: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, indent=style.unit)
    return shown.replace("\n", style.eol + indent)


def _nested(at: Path, value: Any) -> Any:
    for key in reversed(at):
        value = {key: value}
    return value


def _deepest(root: Node, at: Path) -> tuple[Node, Path]:
    """Return the deepest node on a path and the keys that are not there."""
    node = root
    for place, key in enumerate(at):
        inner = node.member(key)
        if inner is None:
            return node, at[place:]
        node = inner
    return node, ()


def _node(text: str, at: Path) -> Node | None:
    try:
        node, rest = _deepest(parse(text), at) if not is_blank(text) else (None, at)
    except NotJson:
        return None
    return None if rest else node


def _all(root: Node, at: Path) -> list[Node]:
    """Return every node under a path: a key may stand twice."""
    nodes = [root]
    for key in at:
        kind, name = ("[", "") if key == EACH else ("{", key)
        nodes = [
            child.node for node in nodes if node.kind == kind for child in node.children if child.key == name
        ]
    return nodes


def _need(node: Node, kind: str, at: Path) -> None:
    if node.kind != kind:
        what = "an object" if kind == "{" else "a list"
        raise WrongShape(f"{'.'.join(at) or 'the whole'} is not {what}")
