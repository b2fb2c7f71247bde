"""The reader of JSON Lines: long lines, damage, resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.formats.event import Damage, Position
from lamina.hosts import jsonlines
from lamina.hosts.jsonlines import KEEP, MIB, Lines, Record, head, parse_line


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def found(path: Path, position: Position | None = None) -> list[Record | Damage]:
    return list(Lines(path, position))


def values(path: Path) -> list[dict[str, Any]]:
    return [record.data for record in found(path) if isinstance(record, Record)]


def test_lines_and_offsets(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":1}\n\n{"b":2}\r\n{"c":3}')
    assert found(path) == [Record(0, 8, {"a": 1}), Record(2, 18, {"b": 2}), Record(3, 25, {"c": 3})]


def test_objects_that_lost_their_newline_are_all_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":1}{"b":2} {"c":3}\n{"d":4}\n')
    assert [record.line for record in found(path) if isinstance(record, Record)] == [0, 0, 0, 1]


def test_what_stands_before_the_damage_in_a_line_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":1}{"b":\n')
    assert [type(item) for item in found(path)] == [Damage, Record]


def test_zeros_that_a_crash_left(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":1}\n' + b"\0" * 4096 + b'{"b":2}\n' + b"\0" * 100 + b"\n")
    assert values(path) == [{"a": 1}, {"b": 2}]
    assert not any(isinstance(item, Damage) for item in found(path))


def test_a_number_of_5000_digits_and_deep_nesting_are_damage() -> None:
    assert parse_line(b'{"a":' + b"9" * 5000 + b"}")[1]
    assert parse_line(b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}")[1]


def test_a_line_over_the_limit_is_damage_and_reading_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.write(b'{"a":"')
        for _ in range(65):
            file.write(b"x" * MIB)
        file.write(b'"}\n{"b":2}\n')
    damage, record = found(path)
    assert isinstance(damage, Damage)
    assert (damage.line, damage.reason) == (1, "line over 64 MiB")
    assert isinstance(record, Record)
    assert (record.line, record.data) == (1, {"b": 2})


def test_a_long_line_of_short_values_is_damage(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":[' + b"1," * (5 * MIB) + b"1]}\n" + b'{"b":2}\n')
    damage, record = found(path)
    assert isinstance(damage, Damage)
    assert "without its long texts" in damage.reason
    assert isinstance(record, Record)


def test_a_16_mib_line(tmp_path: Path) -> None:
    text = "start " + "é" * (8 * MIB) + " stop"
    path = write(tmp_path / "a", json.dumps({"a": text, "b": "short"}, ensure_ascii=False).encode() + b"\n")
    (data,) = values(path)
    assert data["b"] == "short"
    assert data["a"].startswith("start éé")
    assert data["a"].endswith("éé stop")
    assert "[… clipped …]" in data["a"]
    assert len(data["a"].encode()) < 4 * KEEP


def test_strings_of_a_long_line_that_are_short_stay_whole(tmp_path: Path) -> None:
    item = {"text": 'line\n\t"quoted" \\ 日本語 \u2028 é' * 50, "n": [1, 2.5, None, True]}
    data = {"rows": [item] * 1500}
    raw = json.dumps(data).encode() + b"\n"
    assert len(raw) > 2 * MIB
    assert values(write(tmp_path / "a", raw)) == [data]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(
        st.sampled_from(["a", '"', "\\", "\n", "é", "😀", "日", "\u2028", "\\u", "\x01"]),
        min_size=1,
        max_size=9,
    ),
    ascii_only=st.booleans(),
    size=st.integers(2 * KEEP, MIB + 9 * KEEP),
    shift=st.integers(0, 12),
)
def test_a_clipped_text_is_its_head_and_its_tail(
    tmp_path: Path, pieces: list[str], ascii_only: bool, size: int, shift: int
) -> None:
    piece = "".join(pieces)
    text = "s" * shift + piece * (size // len(piece))
    raw = json.dumps({"a": text, "z": 1}, ensure_ascii=ascii_only).encode() + b"\n"
    (data,) = values(write(tmp_path / "a", raw + b"\n"))
    assert data["z"] == 1
    head_text, gap, tail_text = data["a"].partition("\n[… clipped …]\n")
    if not gap:  # a text that JSON escapes make no longer than the limit
        assert data["a"] == text
        return
    assert text[:100_000].startswith(head_text.rstrip("\ufffd"))
    assert text[-200_000:].endswith(tail_text.lstrip("\ufffd"))
    assert (
        min(len(head_text), len(tail_text)) >= KEEP // 14
    )  # a character takes up to 12 bytes as two escapes


def test_position_survives_only_an_unchanged_beginning(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":1}\n{"b":2}\n')
    lines = Lines(path)
    list(lines)
    position = lines.position(lines.offset, lines.line)
    write(path, b'{"a":1}\n{"b":2}\n{"c":3}\n')
    assert found(path, position) == [Record(2, 24, {"c": 3})]
    write(path, b'{"a":9}\n{"b":2}\n{"c":3}\n')
    assert len(found(path, position)) == 3
    write(path, b'{"a":1}\n')
    assert found(path, position) == [Record(0, 8, {"a": 1})]


def test_a_record_glued_to_the_last_one_keeps_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":1}')
    lines = Lines(path)
    list(lines)
    position = lines.position(lines.offset, lines.line)
    write(path, b'{"a":1}{"b":2}\n{"c":3}\n')
    assert [(item.line, item.data) for item in found(path, position) if isinstance(item, Record)] == [
        (0, {"b": 2}),
        (1, {"c": 3}),
    ]


def test_head_is_bounded(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b'{"a":1}\n' * 100)
    assert len(head(path, records=7)) == 7
    assert len(head(path, records=50, size=80)) == 10
    long = write(tmp_path / "b", b'{"a":"' + b"x" * (2 * MIB) + b'"}\n{"b":2}\n')
    (first,) = head(long, records=5)
    assert first["a"].startswith("xxx")
    assert head(write(tmp_path / "c", b"\x7fELF" + b"\0" * 100), records=5) == []


def test_a_file_that_vanishes_is_no_position(tmp_path: Path) -> None:
    assert jsonlines.digest_before(tmp_path / "gone", 10) == ""
    assert not jsonlines.is_unchanged(tmp_path / "gone", Position(10, 1, "", ""))
