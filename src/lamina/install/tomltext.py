"""A table put into a TOML text and taken out of it again; every other byte stays as it is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from lamina.install.jsontext import WrongShape

_HEADER = re.compile(r"(?m)^[ \t]*\[\[?[^\n]*$")
_TEXTS = re.compile(
    r"""(\"{3}(?:\\.|[^\\])*?\"{3,5}|'{3}.*?'{3,5})|#[^\n]*|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""", re.DOTALL
)
_PART = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+))\s*(\.|$)""")


def put(text: str, at: Sequence[str], value: Mapping[str, Any]) -> str:
    """Set the table under a path of keys. Raises ValueError (no TOML) and WrongShape."""
    said = _read(text)
    if _get(said, at) == value:
        return text
    wanted = _with(said, at, value)
    text = take(text, at)
    added = text + _gap(text) + _table(at, value).replace("\n", _eol(text))
    return added if _is(added, wanted) else _rewritten(text, at, value)


def take(text: str, at: Sequence[str]) -> str:
    """Take the table under a path out, with all that stands below it. Raises ValueError for no TOML."""
    said = _read(text)
    if _get(said, at) is None:
        return text
    rest = _without_lines(text, at)
    return rest if _is(rest, _without(said, at)) else _rewritten(text, at, None)


def find(text: str, at: Sequence[str]) -> Any:
    """Return what stands under a path, None if nothing does. Raises ValueError for no TOML."""
    return _get(_read(text), at)


def _table(at: Sequence[str], value: Mapping[str, Any]) -> str:
    import tomlkit

    name = ".".join(tomlkit.key(part).as_string() for part in at)
    return f"[{name}]\n" + tomlkit.dumps(value)


def _gap(text: str) -> str:
    if not text.strip("\ufeff"):
        return ""
    eol = _eol(text)
    return eol if text.endswith("\n") else eol * 2


def _without_lines(text: str, at: Sequence[str]) -> str:
    """Leave out the lines from our headers up to the next one, and the blank line before each."""
    starts = [found.start() for found in _HEADER.finditer(_masked(text))]
    kept, place = "", 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        name = _name(text[start:].split("\n", 1)[0])
        if name[: len(at)] != list(at):
            continue
        own = _body_end(text, start, end)
        kept, place = kept + text[place:start], own
        if own == len(text) or not text[own:].strip():
            kept = re.sub(r"(?<=\n)\r?\n\Z", "", kept)
    return kept + text[place:]


def _body_end(text: str, start: int, end: int) -> int:
    """Return where a table ends: blank lines and comments in front of the next header are that one's."""
    lines = text[start:end].splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    size = sum(map(len, lines))
    rest = text[start + size : end]
    blank = re.match(r"[ \t]*\r?\n", rest)
    return start + size + (blank.end() if blank else 0)


def _masked(text: str) -> str:
    """Return the text, as long as it is, without what looks like a line in a text of several lines."""
    return _TEXTS.sub(lambda found: "x" * len(found[0]) if found[1] else found[0], text)


def _name(line: str) -> list[str]:
    inner = line.strip().lstrip("[").split("]")[0]
    parts, place = [], 0
    while found := _PART.match(inner, place):
        parts.append(found[1] or found[2] or found[3] or "")
        place = found.end()
        if not found[4]:
            break
    return parts


def _rewritten(text: str, at: Sequence[str], value: Mapping[str, Any] | None) -> str:
    """Let tomlkit do it: for tables written in one line, or as dotted keys."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    begin = "\ufeff" if text.startswith("\ufeff") else ""
    try:
        document: Any = tomlkit.parse(text.removeprefix("\ufeff"))
        holder = document
        for key in at[:-1]:
            holder = holder.setdefault(key, {})
        if value is None:
            del holder[at[-1]]
        else:
            holder[at[-1]] = dict(value)
        done = begin + tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError, KeyError) as problem:
        raise WrongShape(f"{'.'.join(at)} can't be set there ({problem})") from problem
    return done


def _read(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _is(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return bool(_pruned(_read(text)) == _pruned(wanted))
    except tomllib.TOMLDecodeError:
        return False


def _pruned(said: Any) -> Any:
    """Leave out empty tables, which a header may or may not stand for."""
    if not isinstance(said, Mapping):
        return said
    inner = {key: _pruned(value) for key, value in said.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _get(said: Any, at: Sequence[str]) -> Any:
    for key in at:
        if not isinstance(said, Mapping) or key not in said:
            return None
        said = said[key]
    return said


def _with(said: Mapping[str, Any], at: Sequence[str], value: Any) -> dict[str, Any]:
    inner = said.get(at[0], {})
    if len(at) == 1:
        return {**said, at[0]: value}
    if not isinstance(inner, Mapping):
        raise WrongShape(f"{at[0]} is not a table")
    return {**said, at[0]: _with(inner, at[1:], value)}


def _without(said: Mapping[str, Any], at: Sequence[str]) -> dict[str, Any]:
    if len(at) == 1:
        return {key: value for key, value in said.items() if key != at[0]}
    return {**said, at[0]: _without(said[at[0]], at[1:])}


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
