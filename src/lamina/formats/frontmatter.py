"""Front matter: the YAML header of a Markdown file, kept as bytes and edited one key at a time.

A text has a header only if its first line is `---`, a later line is `---`, and what stands between has
the shape of a mapping. Two thematic breaks with prose between them are no header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from lamina.formats.lines import newline_of
from lamina.formats.structure import split_lines

_KEY: Final = re.compile(
    r"""(?:([A-Za-z_][\w.-]*(?: [\w.-]+){0,5})|"([^"\\]+)"|'([^'\\]+)')[ \t]*:(?:[ \t](.*))?"""
)
_PIECES_LIMIT: Final = 200
_BRACKETS_LIMIT: Final = 1_000  # its time grows with the square of the depth
_YAML_LIMIT: Final = 65_536  # the parser is pure Python; a longer header is read line by line


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A header with its delimiters, exactly as it stands in the file (byte order mark included)."""

    raw: str

    @property
    def values(self) -> dict[str, Any]:
        """The values with their YAML types; a header that is no sound YAML gives its lines as texts."""
        return _load(self.raw, typed=True)

    @property
    def texts(self) -> dict[str, Any]:
        """The values with every scalar as the text that stands there: `0123`, `1e5` and `no` stay so."""
        return _load(self.raw, typed=False)

    def setting(self, key: str, value: object) -> FrontMatter:
        """Return the header with one key changed or added at its end; all else keeps its bytes."""
        if not re.fullmatch(r"[A-Za-z_][\w.-]*", key):
            raise ValueError(f"no key of a header: {key!r}")
        lines = split_lines(self.raw)
        if not _has_shape(lines[1:-1]):  # one flow mapping, or the like: there is no span to change
            return new_front_matter({**self.values, key: value})
        written = _dump(key, value).replace("\n", newline_of(self.raw))
        start, stop = _span(lines, key) or (len(lines) - 1, len(lines) - 1)
        return FrontMatter("".join([*lines[:start], written, *lines[stop:]]))

    def without(self, key: str) -> FrontMatter:
        """Return the header without a key, if its lines stand apart."""
        lines = split_lines(self.raw)
        while found := _span(lines, key):
            del lines[found[0] : found[1]]
        return FrontMatter("".join(lines))


def split(text: str) -> tuple[FrontMatter | None, str]:
    """Split a text into its header and the rest; `join` of both is `text` again."""
    if not text.removeprefix("\ufeff").startswith("---"):
        return None, text
    lines = split_lines(text)
    if not _is_rule(lines[0]):
        return None, text
    close = next((index for index, line in enumerate(lines[1:], 1) if _is_rule(line)), 0)
    if not close or not _is_mapping(lines[1:close]):
        return None, text
    raw = "".join(lines[: close + 1])
    return FrontMatter(raw), text[len(raw) :]


def join(header: FrontMatter | None, body: str) -> str:
    """Put a header back in front of a body."""
    if header is None:
        return body
    gap = newline_of(header.raw) if body and not header.raw.endswith(("\n", "\r")) else ""
    return header.raw + gap + body


def new_front_matter(values: Mapping[str, object]) -> FrontMatter:
    """Write a header in the mapping's order."""
    return FrontMatter("---\n" + "".join(_dump(key, value) for key, value in values.items()) + "---\n")


def _is_rule(line: str) -> bool:
    return line.removeprefix("\ufeff").rstrip() == "---" and not line.startswith("\ufeff\ufeff")


def _is_mapping(lines: list[str]) -> bool:
    if _has_shape(lines):
        return True
    loaded = _safe_load("".join(lines), typed=False) if any(line.strip() for line in lines) else None
    return isinstance(loaded, dict) and bool(loaded)


def _has_shape(lines: list[str]) -> bool:
    """Judge without YAML: keys at column 0, what belongs to them indented or listed, comments, blanks."""
    keys = 0
    for line in lines:
        text = line.rstrip()
        if not text or text[0] == "#":
            continue
        if _KEY.fullmatch(text):
            keys += 1
        elif not keys or not (text[0] in " \t]}" or text == "-" or text.startswith("- ")):
            return False
    return keys > 0


def _inner(raw: str) -> list[str]:
    return split_lines(raw)[1:-1]


def _key_of(line: str) -> str | None:
    match = _KEY.fullmatch(line.rstrip())
    return (match[1] or match[2] or match[3]) if match else None


def _span(lines: list[str], key: str) -> tuple[int, int] | None:
    """Find the lines of a key, the last of that name as YAML has it, without blanks and comments behind."""
    keys = [(index, found) for index, line in enumerate(lines[1:-1], 1) if (found := _key_of(line))]
    start = max((index for index, found in keys if found == key), default=0)
    if not start:
        return None
    stop = min((index for index, _ in keys if index > start), default=len(lines) - 1)
    while stop > start + 1 and (not lines[stop - 1].strip() or lines[stop - 1].startswith("#")):
        stop -= 1
    return start, stop


def _load(raw: str, *, typed: bool) -> dict[str, Any]:
    inner = _inner(raw)
    loaded = _safe_load("".join(inner), typed=typed)
    if isinstance(loaded, dict):
        return {str(key): value for key, value in loaded.items()}
    starts = [index for index, line in enumerate(inner) if _key_of(line)]
    found: dict[str, Any] = {}
    for start, stop in pairwise([*starts, len(inner)][: _PIECES_LIMIT + 1]):
        key = _key_of(inner[start]) or ""
        piece = _safe_load("".join(inner[start:stop]), typed=typed)
        found[key] = next(iter(piece.values())) if isinstance(piece, dict) and piece else _plain(inner[start])
    return found


def _plain(line: str) -> str:
    """Read what a person meant by a value that is no sound YAML: the rest of the line, outer quotes off."""
    match = _KEY.fullmatch(line.rstrip())
    value = (match[4] or "").strip() if match else ""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _safe_load(text: str, *, typed: bool) -> Any:
    """Load YAML without aliases and tags, so that it can neither grow nor run anything; None on any fault."""
    if len(text) > _YAML_LIMIT or text.count("[") + text.count("{") > _BRACKETS_LIMIT:
        return None
    import yaml

    class Plain(yaml.SafeLoader):
        """A loader that refuses what a header never needs."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
                raise yaml.YAMLError("aliases and tags are not read")
            return super().compose_node(parent, index)

    if not typed:
        Plain.yaml_implicit_resolvers = {}
    try:
        return yaml.load(text, Plain)  # noqa: S506 - a stricter SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _dump(key: str, value: object) -> str:
    """Write `key: value` and a line feed; a text stays on its line, quoted as YAML needs it."""
    import yaml

    class Plain(yaml.SafeDumper):
        """A dumper without anchors."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

        def represent_text(self, data: str) -> Any:
            style = '"' if any(mark in data for mark in "\n\r\x85\u2028\u2029") else None
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Plain.add_representer(str, Plain.represent_text)
    return yaml.dump({key: value}, Dumper=Plain, allow_unicode=True, sort_keys=False, width=10**9)
