from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.formats.pieces import hostile, lines

from lamina.formats.tombstone import (
    SlowHash,
    Tombstone,
    Tombstones,
    matches,
    merge_tombstones,
    parse_tombstones,
    render_tombstone,
    render_tombstones,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
A, B = "a" * 64, "b" * 64
SALT = b"0123456789abcdef"
STONE = Tombstone(A, "shop-sem-0001", "The Café port is 8080", NOW, "wrong")


def test_a_tombstone_is_one_line_of_sorted_json() -> None:
    assert render_tombstone(STONE) == (
        f'{{"hash": "{A}", "heading": "The Café port is 8080", "id": "shop-sem-0001", '
        '"reason": "wrong", "time": "2026-11-30T12:00:00Z"}'
    )


def test_lines_of_others_are_reported_and_kept() -> None:
    text = (
        f'{{"time":"2026-11-30T12:00:00Z","hash":"{A}","by":"Ada"}}\r\n'
        "<<<<<<< HEAD\n"
        "\n"
        "[1]\n"
        '{"hash": "short", "time": "2026-11-30T12:00:00Z"}\n'
        f'{{"hash": "{B}", "time": "yesterday"}}\n'
        f'{{"hash": "{B}", "time": "2026-11-30T12:00:00Z", "released": 5}}'
    )
    file = parse_tombstones(text)
    assert [problem.line for problem in file.problems] == [2, 4, 5, 6, 7]
    assert render_tombstones(file) == text
    assert file.records[0].extra == (("by", "Ada"),)
    assert render_tombstones(file.adding(STONE)) == text + "\r\n" + render_tombstone(STONE) + "\r\n"


def test_adding_twice_is_adding_once() -> None:
    file = Tombstones().adding(STONE)
    assert file.adding(STONE) == file
    assert parse_tombstones(render_tombstones(file)).adding(STONE).records == (STONE,)


def test_the_latest_line_of_a_hash_counts() -> None:
    file = Tombstones().adding(STONE)
    assert file.find(A) == STONE
    assert file.find(B) is None
    released = file.adding(STONE.releasing(LATER))
    assert released.find(A) is None
    assert parse_tombstones(render_tombstones(released)).find(A) is None
    again = released.adding(Tombstone(A, "shop-sem-0002", "x", LATER + timedelta(hours=1), "again"))
    assert again.find(A) is not None
    same_second = released.adding(Tombstone(A, "shop-sem-0002", "x", LATER, "again"))
    assert same_second.find(A) is not None


def test_an_undo_travels_in_a_merge() -> None:
    ours = Tombstones().adding(STONE)
    theirs = ours.adding(STONE.releasing(LATER))
    assert merge_tombstones([ours, theirs]).find(A) is None


def test_a_purge_leaves_nothing_to_guess_from() -> None:
    file = (
        Tombstones().adding(STONE).adding(STONE.releasing(NOW)).adding(Tombstone(B, "i", "other", NOW, "r"))
    )
    purged = file.purging(A, SALT)
    text = render_tombstones(purged)
    assert A not in text
    assert "8080" not in text
    assert B in text
    again = parse_tombstones(text)
    assert again.problems == ()
    assert [matches(record, A) for record in again.records] == [True, True, False]
    assert not matches(again.records[0], B)


def test_a_purged_tombstone_still_binds_until_it_is_released() -> None:
    file = Tombstones().adding(STONE).purging(A, SALT)
    found = file.find(A)
    assert found is not None
    assert found.slow is not None
    assert file.find(B) is None
    assert found.purging(SALT) == found
    assert file.adding(found.releasing(LATER)).find(A) is None


def test_a_slow_hash_of_unreasonable_cost_is_not_computed() -> None:
    line = render_tombstone(STONE.purging(SALT))
    for bad in ('"n": 1073741824', '"n": 3', '"n": true', '"n": 0'):
        file = parse_tombstones(line.replace('"n": 16384', bad))
        assert (file.records, len(file.problems)) == ((), 1)


@given(lines)
def test_any_file_survives_reading(text: str) -> None:
    assert render_tombstones(parse_tombstones(text)) == text


hashes = st.sampled_from([A, B, "c" * 64])
times = st.integers(0, 3).map(lambda hours: NOW + timedelta(hours=hours))
stones = st.builds(
    Tombstone,
    hash=hashes,
    id=st.just("shop-sem-0001"),
    heading=hostile,
    time=times,
    reason=hostile,
    released=st.none() | times,
    extra=st.just(()) | st.just((("by", ["Ada", 1, None]),)),
)
slow = st.builds(
    Tombstone,
    hash=st.just(""),
    id=st.just("x"),
    heading=st.just(""),
    time=times,
    reason=st.just("purged"),
    released=st.none() | times,
    slow=st.just(SlowHash("00" * 16, "11" * 32, 16384, 8, 1)),
)
files = st.lists(stones | slow, max_size=4).map(lambda found: Tombstones(tuple(found)))


@given(files)
def test_what_is_written_reads_back(file: Tombstones) -> None:
    text = render_tombstones(file)
    assert len(text.splitlines()) >= len(file.lines)
    assert parse_tombstones(text).lines == file.lines


@given(files, files, files)
def test_merging_is_the_union_of_sets(one: Tombstones, two: Tombstones, three: Tombstones) -> None:
    merged = merge_tombstones([one, two])
    assert merged == merge_tombstones([two, one])
    assert merged == merge_tombstones([merged, merged, one])
    assert merge_tombstones([merged, three]) == merge_tombstones([one, merge_tombstones([two, three])])
    assert set(map(render_tombstone, merged.records)) == set(
        map(render_tombstone, (*one.records, *two.records))
    )
