r"""Markers: the machine-readable lines of daily records and digests, as HTML comments.

    <!-- digest:item id=decision-esm source=memory/2026-11-30-esm-memory.md#session-1 hash=… -->

A marker stands alone on its line, at column 0, outside of fences. Values hold anything but white space,
`%`, `<`, `>`, `"` and control characters, which are percent-encoded; so a marker ends where it says.
Text from elsewhere goes through `escape` first: it can then neither open a marker nor hide a later one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from lamina.formats.fences import fences, opens_plain
from lamina.formats.structure import split_lines

_OPEN: Final = "<!--"
_CLOSE: Final = "-->"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?::[A-Za-z][A-Za-z0-9-]*)?")
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_ENCODED: Final = re.compile('[\\s%<>"\x00-\x1f\x7f-\x9f\ud800-\udfff]')
_BYTES: Final = re.compile("(?:%[0-9A-Fa-f]{2})+")
_OLDER: Final = "fde-"


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker. `attrs` are in file order with decoded values; `raw` is the line it was read from."""

    name: str
    attrs: tuple[tuple[str, str], ...] = ()
    raw: str = field(default="", compare=False, repr=False)

    def get(self, key: str, default: str = "") -> str:
        """Return an attribute's value."""
        return next((value for name, value in self.attrs if name == key), default)

    def is_(self, name: str) -> bool:
        """Tell whether this is the named marker, also under its older `fde-` name."""
        return self.name in {name, _OLDER + name}

    def setting(self, key: str, value: str | None) -> Marker:
        """Return the marker with one attribute changed, added at the end or (None) dropped."""
        attrs = [(name, value if name == key else old) for name, old in self.attrs]
        if all(name != key for name, _ in attrs):
            attrs.append((key, value))
        return Marker(self.name, tuple((name, text) for name, text in attrs if text is not None), self.raw)

    def __str__(self) -> str:
        """Give the line without its break: the very bytes it was read from while nothing changed."""
        if not self.raw:
            return render_marker(self.name, self.attrs)
        return _edited(self)


class Placed(NamedTuple):
    """A marker in a text: its 0-based line, or why the line is none though it has a marker's name."""

    line: int
    marker: Marker | None
    raw: str
    problem: str = ""


def render_marker(name: str, attrs: tuple[tuple[str, str], ...] | dict[str, str]) -> str:
    """Write a marker's line without a line break; a bad name or key is a fault of the program."""
    pairs = attrs.items() if isinstance(attrs, dict) else attrs
    if not _NAME.fullmatch(name) or not all(_ATTRIBUTE.fullmatch(key) for key, _ in pairs):
        raise ValueError(f"no marker: {name!r} {attrs!r}")
    return " ".join([_OPEN, name, *(f"{key}={encode(value)}" for key, value in pairs), _CLOSE])


def parse_marker(line: str) -> Marker | None:
    """Read one line as a marker; None for any other line. `str()` of it is the line again."""
    found = _read(line.rstrip("\r\n"))
    return found if isinstance(found, Marker) else None


def markers(text: str) -> list[Placed]:
    """List the markers of a text: only at column 0 and outside of closed fences.

    A byte order mark before the first line is passed over. A line whose comment begins with a marker's
    name (`word:word`) and is malformed is listed too, with `marker` None and the problem.
    """
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    if not any(line.startswith(_OPEN) for line in lines):
        return []
    inside = fences(lines).inside
    found: list[Placed] = []
    for number, line in enumerate(lines):
        if line.startswith(_OPEN) and number not in inside:
            read = _read(line)
            if isinstance(read, Marker):
                found.append(Placed(number, read, line))
            elif read:
                found.append(Placed(number, None, line, read))
    return found


def _read(line: str) -> Marker | str:
    """Read a line: the marker, a problem, or an empty text for a line that is no marker at all."""
    if not line.startswith(_OPEN):
        return ""
    name = next(iter(line[len(_OPEN) :].split(None, 1)), "")
    meant = ":" in name and bool(_NAME.fullmatch(name))
    if not line.rstrip().endswith(_CLOSE) or line.count(_CLOSE) > 1 or _OPEN in line[1:]:
        return "the comment does not end with its line" if meant else ""
    # `key=value-->` without a space before the end is read too.
    name, *words = line.rstrip()[len(_OPEN) : -len(_CLOSE)].split() or [""]
    if not _NAME.fullmatch(name):
        return ""
    attrs: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not _ATTRIBUTE.fullmatch(key) or any(mark in value for mark in '<>"'):
            return f"`{word[:60]}` is no key=value" if meant else ""
        if key in attrs:
            return f"`{key}` stands twice" if meant else ""
        attrs[key] = decode(value)
    return Marker(name, tuple(attrs.items()), line)


def _edited(marker: Marker) -> str:
    """Change only the words of the line whose attributes changed."""
    old = parse_marker(marker.raw)
    if old is None or old.name != marker.name:
        return render_marker(marker.name, marker.attrs)
    line = marker.raw
    new = dict(marker.attrs)
    for key, value in old.attrs:
        if new.get(key) != value:
            word = f" {key}={encode(new[key])}" if key in new else ""
            span = re.search(rf"\s+{re.escape(key)}=\S*?(?=\s|-->)", line)
            line = line[: span.start()] + word + line[span.end() :] if span else line
    added = [f" {key}={encode(value)}" for key, value in marker.attrs if key not in dict(old.attrs)]
    end = line.rindex(_CLOSE)
    return f"{line[:end].rstrip()}{''.join(added)} {line[end:]}" if added else line


def encode(value: str) -> str:
    """Percent-encode what may not stand in a marker's value, as UTF-8."""
    return _ENCODED.sub(
        lambda match: "".join(f"%{b:02X}" for b in match[0].encode("utf-8", "surrogatepass")), value
    )


def decode(value: str) -> str:
    """Undo `encode`; bytes that are no UTF-8 stay as they stand."""
    return _BYTES.sub(_decode, value)


def _decode(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return match[0]


def escape(text: str) -> str:
    """Make foreign text safe to stand among markers; `unescape` gives it back.

    One backslash goes before each `<!--` at the start of a line, inside fences too (what is a fence here
    may be none in the whole file), and before each fence mark that would stay open.
    """
    lines = split_lines(text)
    loose = fences([line.rstrip("\r\n") for line in lines]).loose
    unsafe = {number for number, line in enumerate(lines) if _begins_marker(line) or _is_escaped_fence(line)}
    unsafe.update(loose)
    return "".join("\\" + line if number in unsafe else line for number, line in enumerate(lines))


def unescape(text: str) -> str:
    """Take away the backslashes that `escape` put in."""
    return "".join(
        line[1:] if line.startswith("\\") and (_begins_marker(line) or _is_escaped_fence(line)) else line
        for line in split_lines(text)
    )


def _begins_marker(line: str) -> bool:
    return line.lstrip("\\").startswith(_OPEN)


def _is_escaped_fence(line: str) -> bool:
    return line.startswith("\\") and opens_plain(line.lstrip("\\").rstrip("\r\n"))
