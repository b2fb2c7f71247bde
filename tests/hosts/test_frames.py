"""Files of zstd frames are read like the text they hold."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.formats.event import Damage, Position
from lamina.hosts import frames
from lamina.hosts.jsonlines import Lines, Record, head, is_unchanged, opened

ROOT = Path(__file__).parents[2]


def packed(*pieces: bytes) -> bytes:
    """Pack each piece as a frame of its own, as the host does."""
    return b"".join(zstandard.ZstdCompressor(write_checksum=True).compress(piece) for piece in pieces)


def line(number: int, text: str = "") -> bytes:
    return json.dumps({"n": number, "text": text}).encode() + b"\n"


def noise(seed: int, size: int = 40_000) -> str:
    return "".join(random.Random(seed).choices("abcdefghijklmnop", k=size))


def write(folder: Path, data: bytes) -> Path:
    path = folder / "session.jsonl.zstd"
    path.write_bytes(data)
    return path


def numbers(path: Path, position: Position | None = None) -> list[Any]:
    return [item.data["n"] if isinstance(item, Record) else item.reason for item in Lines(path, position)]


def plain(path: Path) -> bytes:
    with opened(path) as file:
        return file.read()


def test_frames_are_one_text(tmp_path: Path) -> None:
    path = write(tmp_path, packed(*(line(number) for number in range(50)), b"", line(50)))
    assert numbers(path) == list(range(51))
    assert [data["n"] for data in head(path, records=3)] == [0, 1, 2]


def test_a_line_may_go_over_frames(tmp_path: Path) -> None:
    whole = line(1, "x" * 1000)
    path = write(tmp_path, packed(line(0) + whole[:70], whole[70:300], whole[300:] + line(2)))
    assert numbers(path) == [0, 1, 2]


def test_what_is_read_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = packed(line(0), line(1))
    path = write(tmp_path, first)
    lines = Lines(path)
    assert len(list(lines)) == 2
    position = lines.position(lines.offset, lines.line)
    assert position.offset == len(line(0) + line(1))
    assert is_unchanged(path, position)
    assert numbers(path, position) == []
    write(tmp_path, first + packed(line(2)))
    assert numbers(path, position) == [2]
    write(tmp_path, packed(line(7), line(1), line(2)))
    assert numbers(path, position) == [7, 1, 2]
    write(tmp_path, line(0) + line(1) + line(2))  # the same text, no longer packed
    assert numbers(path, position) == [2]


def test_a_file_cut_anywhere_waits_and_loses_nothing(tmp_path: Path) -> None:
    data = packed(line(0, noise(0, 600)), line(1, noise(1, 600)), line(2))
    for cut in range(0, len(data), 7):
        path = write(tmp_path, data[:cut])
        lines = Lines(path)
        found = list(lines)
        assert not any(isinstance(item, Damage) for item in found) or cut < 4
        position = lines.position(lines.offset, lines.line)
        write(tmp_path, data)
        read = [item.data["n"] for item in found if isinstance(item, Record)]
        assert read + numbers(path, position) == [0, 1, 2], cut


def test_a_broken_frame_costs_its_lines_alone(tmp_path: Path) -> None:
    middle = bytearray(packed(line(1, noise(1))))
    middle[len(middle) // 2] ^= 0xFF
    path = write(tmp_path, packed(line(0)) + bytes(middle) + packed(line(2), line(3)))
    found = numbers(path)
    assert found[0] == 0
    assert found[-2:] == [2, 3]
    assert 1 not in found
    assert plain(path) == plain(path)


def test_a_frame_that_was_cut_and_written_over_by_the_next(tmp_path: Path) -> None:
    torn = packed(line(1, noise(1)))
    path = write(tmp_path, packed(line(0)) + torn[: len(torn) // 2] + packed(line(2)) + packed(line(3)))
    assert [number for number in numbers(path) if isinstance(number, int)] == [0, 2, 3]


@pytest.mark.parametrize("rest", [b"\n", b"junk" * 100_000, frames.MAGIC * 5000, b"\0" * 100_000])
def test_what_is_no_frame_ends_the_file(tmp_path: Path, rest: bytes) -> None:
    assert numbers(write(tmp_path, packed(line(0)) + rest))[0] == 0


@pytest.mark.parametrize("data", [frames.MAGIC, frames.MAGIC + b"\xff" * 50, frames.MAGIC[:3], packed(b"")])
def test_a_file_without_a_line(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data)
    assert [item for item in Lines(path) if isinstance(item, Record)] == []
    assert head(path, records=5) == []


def test_a_frame_that_would_need_too_much_memory_is_not_read(tmp_path: Path) -> None:
    header = frames.MAGIC + bytes([0b00000000, (31 - 10) << 3])  # a window of 2 GiB
    path = write(tmp_path, packed(line(0)) + header + b"\x01\x00\x00" + packed(line(1)))
    assert [number for number in numbers(path) if isinstance(number, int)] == [0, 1]


def test_offsets_are_those_of_the_text(tmp_path: Path) -> None:
    text = b"".join(line(number, noise(number, 3000)) for number in range(40))
    path = write(tmp_path, packed(*(text[at : at + 5000] for at in range(0, len(text), 5000))))
    with opened(path, buffer=512) as file:
        for offset in (0, 100, 60_000, 59_999, 5, len(text) - 1, len(text), len(text) + 50):
            assert file.seek(offset) == min(offset, len(text))
            assert file.read(20) == text[offset : offset + 20]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), at=st.integers(0, 400), cut=st.integers(0, 400))
def test_any_bytes_in_a_file_do_no_harm(tmp_path: Path, data: bytes, at: int, cut: int) -> None:
    good = packed(line(0), line(1, noise(1, 200)), line(2))
    path = write(tmp_path, good[:at] + data + good[cut:])
    lines = Lines(path)
    found = list(lines)
    position = lines.position(lines.offset, lines.line)
    assert list(Lines(path, position)) == []
    assert found == list(Lines(path))


_MEASURE = """
import sys
from pathlib import Path
from lamina.hosts.jsonlines import Lines, Record
found = [item for item in Lines(Path(sys.argv[1]))]
assert [item.data["n"] for item in found if isinstance(item, Record)] == [0, 2], found
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured through /proc")
def test_a_frame_of_a_gigabyte_in_bounded_memory(tmp_path: Path) -> None:
    packer = zstandard.ZstdCompressor().compressobj()
    piece = b"a" * (1 << 20)
    pieces = [packer.compress(line(0) + b'{"n": 1, "text": "')]
    pieces += [packer.compress(piece) for _ in range(1024)]
    pieces += [packer.compress(b'"}\n' + line(2)), packer.flush()]
    path = write(tmp_path, b"".join(pieces))
    command = [sys.executable, "-c", _MEASURE, str(path)]
    env = os.environ | {"PYTHONPATH": "src"}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 120


def test_zstandard_is_loaded_by_such_a_file_alone(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from lamina.hosts.base import detect
from lamina.hosts.jsonlines import Lines
list(Lines(Path(sys.argv[1])))
detect(Path(sys.argv[1]))
print("zstandard" in sys.modules)
"""
    (tmp_path / "plain.jsonl").write_bytes(line(0))
    for path, loaded in ((tmp_path / "plain.jsonl", "False"), (write(tmp_path, packed(line(0))), "True")):
        command = [sys.executable, "-c", code, str(path)]
        env = os.environ | {"PYTHONPATH": "src"}
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=ROOT)
        assert run.stdout.strip() == loaded, run.stderr
