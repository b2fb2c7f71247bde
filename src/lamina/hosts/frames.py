"""The bytes in a file of zstd frames, one after the other as a program appended them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: How a frame begins.
MAGIC = b"\x28\xb5\x2f\xfd"
#: So much goes into the decompressor at a time: four bytes can stand for 128 KiB.
PIECE = 256
#: A frame that looks back further than this is not read.
WINDOW = 128 * 1024 * 1024
#: After so many broken frames the rest is given up.
MOST_BROKEN = 100
_BLOCK = 64 * 1024


class Frames(io.RawIOBase):
    """The decompressed stream of a file: offsets are its own, memory stays bounded, going back starts over.

    A frame that is cut off gives what it holds and ends the stream for now. A broken one, and one that others
    were written behind, gives what came before the damage and a line's end; reading goes on with the next.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rewind()

    def _rewind(self) -> None:
        self._file.seek(0)
        self._offset = 0
        self._out = memoryview(b"")
        self._input = b""
        self._begin, self._fed, self._broken = 0, 0, 0
        self._frame: Any = None

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say yes, though going back costs reading again."""
        return True

    def tell(self) -> int:
        """Return the offset in the decompressed stream."""
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset from the start or from here, at most to the end."""
        target = offset + (self._offset if whence == io.SEEK_CUR else 0)
        if target < self._offset:
            self._rewind()
        while self._offset < target and (self._out or self._fill()):
            self._take(target - self._offset)
        return self._offset

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read some bytes; 0 at the end."""
        place = memoryview(buffer).cast("B")
        if not place or not (self._out or self._fill()):
            return 0
        piece = self._take(len(place))
        place[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()

    def _take(self, size: int) -> memoryview:
        piece, self._out = self._out[:size], self._out[size:]
        self._offset += len(piece)
        return piece

    def _fill(self) -> bool:
        """Decompress on until there are bytes; returns whether there are."""
        from zstandard import ZstdError

        while not self._out:
            piece = self._next()
            try:
                if piece:
                    self._out = memoryview(self._feed(piece))
                elif self._frame is None or not self._skip():
                    return False
            except ZstdError:
                if not self._skip():
                    return False
        return True

    def _next(self) -> bytes:
        if not self._input:
            self._input = self._file.read(_BLOCK)
        piece, self._input = self._input[:PIECE], self._input[PIECE:]
        return piece

    def _feed(self, piece: bytes) -> bytes:
        if self._frame is None:
            self._frame = _decompressor()
        found: bytes = self._frame.decompress(piece)
        self._fed += len(piece)
        if self._frame.eof:
            rest = self._frame.unused_data
            self._begin, self._fed = self._begin + self._fed - len(rest), 0
            self._input, self._frame = rest + self._input, None
        return found

    def _skip(self) -> bool:
        """Go behind a broken frame to where the next one begins."""
        self._broken += 1
        start = self._begin + 1
        self._file.seek(start)
        self._frame, self._fed, kept = None, 0, b""
        while self._broken <= MOST_BROKEN and (block := self._file.read(_BLOCK)):
            at = (kept + block).find(MAGIC)
            if at >= 0:
                self._begin = start + at
                self._file.seek(self._begin)
                self._input, self._out = b"", memoryview(b"\n")
                return True
            start += len(kept) + len(block) - 3
            kept = (kept + block)[-3:]
        return False


def _decompressor() -> Any:
    from zstandard import ZstdDecompressor

    return ZstdDecompressor(max_window_size=WINDOW).decompressobj()
