"""Read JSON Lines written by programs that crash, resume and paste 20 MB into one line.

Memory stays bounded by clipping long string literals while a line is being read, before
it is parsed; every other fault of a file becomes a `Damage` value and reading goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from io import BufferedReader, FileIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from lamina.errors import UnreadableFile
from lamina.formats.event import Damage, Position

MIB = 1024 * 1024
#: A line up to here is read in one piece.
PIECE = MIB
#: A longer string literal of a longer line keeps this much of its head and of its tail.
KEEP = 64 * 1024
#: What a line may still measure after its long strings were clipped.
MAX_SQUEEZED = 8 * MIB
#: A line above this is passed over.
MAX_LINE = 64 * MIB
#: No host nests deeper; what does would exhaust the stack of whoever walks through it.
MAX_DEPTH = 100

_BOM = b"\xef\xbb\xbf"
_ZSTD = b"\x28\xb5\x2f\xfd"
_GAP = "\\n[… clipped …]\\n".encode()
_HEAD_CHECKED = 1024
_TAIL_CHECKED = 4096

# What may stand in a JSON string, whole escapes only, so that a cut never splits one.
_LITERAL = re.compile(rb'(?:[^"\\]++|\\[^u]|\\u[0-9a-fA-F]{4})*+', re.DOTALL)

_decoder = json.JSONDecoder(strict=False)

Json = dict[str, Any]


class Record(NamedTuple):
    """One JSON object: the 0-based physical line it stands on, where it ends, what it says."""

    line: int
    end: int
    data: Json


class _Trail(NamedTuple):
    """The head of a file and the last bytes before a place, as they were read."""

    head: bytes = b""
    tail: bytes = b""

    def after(self, raw: bytes) -> _Trail:
        """Return the trail behind the next bytes."""
        head = self.head
        if len(head) < _HEAD_CHECKED:
            head = (head + raw[:_HEAD_CHECKED])[:_HEAD_CHECKED]
        long = len(raw) >= _TAIL_CHECKED
        return _Trail(head, raw[-_TAIL_CHECKED:] if long else (self.tail + raw)[-_TAIL_CHECKED:])

    def digest(self) -> str:
        """Return the check of a position."""
        return blake2b(self.head + self.tail, digest_size=12).hexdigest()


class Lines:
    """The records of one file, streamed; `offset` and `line` tell how far it has come.

    `ignore` sees the raw start of a line and may spare its parsing. A last line without its
    newline counts only if it is a whole object; else it waits, unconsumed, for the next run.
    """

    def __init__(
        self, path: Path, position: Position | None = None, *, ignore: Callable[[bytes], bool] | None = None
    ) -> None:
        self.path = path
        self.resumed = position is not None and position.offset > 0 and is_unchanged(path, position)
        self.offset = position.offset if position is not None and self.resumed else 0
        self.line = position.line if position is not None and self.resumed else 0
        self._ignore = ignore
        self._start = position if self.resumed else None
        self._trail = _Trail()

    def __iter__(self) -> Iterator[Record | Damage]:
        try:
            with opened(self.path, buffer=PIECE) as file:
                self._trail = _read_trail(file, self.offset)
                if self.resumed:
                    self._finish_line(file)
                yield from self._records(file)
        except OSError as problem:
            raise UnreadableFile(f"{self.path} can't be read: {problem.strerror}") from problem

    def again(self) -> Lines:
        """Make a second reader of the same file, from its start."""
        return Lines(self.path, ignore=self._ignore)

    def _finish_line(self, file: BinaryIO) -> None:
        """Step over the newline that the last record lacked when it was read."""
        if not ends_in_newline(file, self.offset):
            rest = file.readline(3)
            if rest.strip(b"\r\n") == b"":
                self.offset += len(rest)
                self._trail = self._trail.after(rest)
            else:
                file.seek(self.offset)
                self.line -= 1

    def _records(self, file: BinaryIO) -> Iterator[Record | Damage]:
        ignore = self._ignore
        while raw := file.readline(PIECE):
            size, reason = len(raw), ""
            trail = self._trail.after(raw)
            if raw[-1:] != b"\n" and size == PIECE:
                raw, size, reason, trail = _squeeze(file, raw, trail)
            whole = raw[-1:] == b"\n"
            number, end = self.line, self.offset + size
            if reason or (whole and ignore is not None and ignore(raw)):
                found: list[Json] = []
            else:
                found, reason = parse_line(raw)
                if not whole and not found:
                    return
            if reason:
                yield Damage(str(self.path), number + 1, reason)
            for data in found:
                yield Record(number, end, data)
            self.offset, self.line, self._trail = end, number + 1, trail

    def position(self, offset: int, line: int, state: str = "") -> Position:
        """Make a position that a later run can check.

        The check covers what was read, not what stands there now: a file that was replaced or written anew
        meanwhile does not fit it, so the next run starts over.
        """
        if self._start is not None and offset == self._start.offset:
            check = self._start.check
        elif offset == self.offset and offset:
            check = self._trail.digest()
        else:
            check = digest_before(self.path, offset)
        return Position(offset, line, check, state)


def parse_line(raw: bytes) -> tuple[list[Json], str]:
    """Parse one line into its objects (more than one where a newline got lost) or say what is wrong."""
    text = raw.decode("utf-8", "replace")
    try:
        value, end = _decoder.raw_decode(text)
        plain = isinstance(value, dict) and (end == len(text) or text[end:].isspace())
        found, reason = ([value], "") if plain else _parse_odd(text)
    except (ValueError, RecursionError):
        found, reason = _parse_odd(text)
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and any(map(is_too_deep, found)):
        found = [data for data in found if not is_too_deep(data)]
        reason = f"nested deeper than {MAX_DEPTH} levels"
    if b"\\u" in raw and (b"\\ud" in raw or b"\\uD" in raw or b"\\u0000" in raw):
        found = [cleaned(data) for data in found]
    return found, reason


def _parse_odd(text: str) -> tuple[list[Json], str]:
    """Parse a line with marks or zeros around it, several objects, or damage."""
    text = text.strip(" \t\r\n\0\ufeff")
    found: list[Json] = []
    at = 0
    try:
        while at < len(text):
            value, at = _decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return found, "not a JSON object"
            found.append(value)
            while at < len(text) and text[at] in " \t\r\n\0":
                at += 1
    except (ValueError, RecursionError) as problem:
        return found, f"not JSON: {getattr(problem, 'msg', 'nested too deeply or a number too long')}"
    return found, ""


def is_too_deep(value: Any) -> bool:
    """Tell whether a value nests deeper than any host does."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def cleaned(value: Any) -> Any:
    """Replace lone surrogates and drop NULs everywhere, so that any text can be encoded later."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
        case dict():
            return {cleaned(key): cleaned(item) for key, item in value.items()}
        case list():
            return [cleaned(item) for item in value]
    return value


def _squeeze(file: BinaryIO, first: bytes, trail: _Trail) -> tuple[bytes, int, str, _Trail]:
    """Read the rest of a long line, keeping only head and tail of its long strings.

    Returns the shortened line, the bytes it took in the file, a reason if it can't be kept, and the trail.
    """
    squeezer = _Squeezer()
    size, piece = 0, first
    while piece:
        size += len(piece)
        last = piece[-1:] == b"\n"
        if size <= MAX_LINE and squeezer.size <= MAX_SQUEEZED:
            squeezer.feed(piece)
        if last:
            break
        piece = file.readline(PIECE)
        trail = trail.after(piece)
    if size > MAX_LINE:
        return b"\n" if last else b"", size, f"line over {MAX_LINE // MIB} MiB", trail
    if squeezer.size > MAX_SQUEEZED:
        reason = f"line over {MAX_SQUEEZED // MIB} MiB without its long texts"
        return b"\n" if last else b"", size, reason, trail
    return squeezer.line(), size, "", trail


class _Squeezer:
    """Clips the string literals of one JSON line that arrives in pieces."""

    def __init__(self) -> None:
        self.size = 0
        self._out: list[bytes] = []
        self._rest = b""  # an escape that the next piece ends
        self._inside = False
        self._kept = 0  # bytes of the current literal kept as its head
        self._tail: list[bytes] = []
        self._length = 0  # bytes of the tail
        self._dropped = False

    def feed(self, piece: bytes) -> None:
        data, at = self._rest + piece, 0
        self._rest = b""
        while at < len(data):
            if self._inside:
                at = self._read_literal(data, at)
                continue
            quote = data.find(b'"', at)
            stop = len(data) if quote < 0 else quote + 1
            self._keep(data[at:stop])
            self._inside, at = quote >= 0, stop

    def line(self) -> bytes:
        self._end_literal()
        return b"".join(self._out) + self._rest

    def _read_literal(self, data: bytes, at: int) -> int:
        match = _LITERAL.match(data, at)
        stop = match.end() if match else at
        self._text(data[at:stop])
        if data[stop : stop + 1] == b'"':
            self._end_literal()
            self._keep(b'"')
            self._inside = False
            return stop + 1
        if len(data) - stop < 6:
            self._rest = data[stop:]
            return len(data)
        self._text(data[stop : stop + 2])  # an escape JSON does not know: the parser will say so
        return stop + 2

    def _text(self, data: bytes) -> None:
        if self._kept + len(data) <= KEEP:
            self._keep(data)
            self._kept += len(data)
            return
        at = 0
        if self._kept < KEEP:
            at = _whole(data, 0, KEEP - self._kept)
            self._keep(data[:at])
            self._kept = KEEP
        while at < len(data):
            stop = _whole(data, at, KEEP)
            self._tail.append(data[at:stop])
            self._length += stop - at
            at = stop
            while self._length - len(self._tail[0]) >= KEEP:
                self._length -= len(self._tail.pop(0))
                self._dropped = True

    def _end_literal(self) -> None:
        if self._dropped:
            self._keep(_GAP)
        for piece in self._tail:
            self._keep(piece)
        self._tail.clear()
        self._kept, self._length, self._dropped = 0, 0, False

    def _keep(self, data: bytes) -> None:
        self._out.append(data)
        self.size += len(data)


def _whole(data: bytes, start: int, length: int) -> int:
    """Find where whole escapes end within `length` bytes from `start`."""
    match = _LITERAL.match(data, start, start + length)
    return match.end() if match and match.end() > start else start + length


def opened(path: Path, *, buffer: int = 8192) -> BinaryIO:
    """Open a file for reading; one of zstd frames as what they hold, so all offsets are those of the text."""
    file = BufferedReader(FileIO(path), buffer)
    if file.peek(4)[:4] != _ZSTD:
        return file
    from lamina.hosts.frames import Frames

    return BufferedReader(Frames(file), buffer)


def ends_in_newline(file: BinaryIO, offset: int) -> bool:
    """Tell whether the byte before `offset` ends a line; leaves the file at `offset`."""
    file.seek(offset - 1)
    return file.read(1) == b"\n"


def digest_before(path: Path, offset: int) -> str:
    """Digest the head of the file and the last bytes before `offset`; empty at 0 and if unreadable."""
    if offset <= 0:
        return ""
    try:
        with opened(path) as file:
            trail = _read_trail(file, offset)
    except OSError:
        return ""
    return trail.digest() if len(trail.tail) == min(offset, _TAIL_CHECKED) else ""


def _read_trail(file: BinaryIO, offset: int) -> _Trail:
    """Read what stands before `offset`; leaves the file there."""
    file.seek(0)
    head = file.read(min(_HEAD_CHECKED, offset))
    start = max(0, offset - _TAIL_CHECKED)
    file.seek(start)
    return _Trail(head, file.read(offset - start))


def is_unchanged(path: Path, position: Position) -> bool:
    """Tell whether the file still begins the way it did when `position` was taken."""
    return position.check != "" and digest_before(path, position.offset) == position.check


def head(path: Path, *, records: int, size: int = MIB) -> list[Json]:
    """Read the first records that lie within the first `size` bytes; [] if it is no such file.

    If not even one does, the first alone, whatever its length.
    """
    found: list[Json] = []
    try:
        if not path.is_file():  # opening a pipe would wait for its other end
            return []
        with opened(path) as file:
            block = file.read(size)
        if not block[:64].lstrip(_BOM + b" \t\r\n\0").startswith((b"{", b"[")):
            return []
        for raw in block.split(b"\n", records * 2)[: records * 2]:
            found.extend(parse_line(raw)[0])
        if not found and len(block) == size:
            found.extend(record.data for record in islice(Lines(path), 1) if isinstance(record, Record))
    except (OSError, UnreadableFile):
        return found
    return found[:records]
