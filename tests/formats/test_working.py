from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.pieces import hostile, lines

from lamina.errors import BadInput
from lamina.formats.lines import fold
from lamina.formats.working import (
    OWNERSHIP,
    Activity,
    parse_working,
    render_working,
    with_activity,
    with_section,
    without_activity,
)

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EMPTY = parse_working("")


def minutes(count: int) -> datetime:
    return NOW + timedelta(minutes=count)


def test_an_empty_file_is_not_started() -> None:
    assert (EMPTY.started, EMPTY.updated, EMPTY.activity) == (False, None, ())


def test_a_file_is_written_as_shown() -> None:
    working = with_section(EMPTY, "Next steps", "- measure\n- fix", NOW)
    working = with_activity(working, "read `src/cart.py`", NOW)
    working = with_section(working, "Task", "Find the leak in the cart.\n\n## not a section", NOW)
    working = with_activity(working, "## measured:\n3 MB a minute", minutes(5))
    shown = (DATA / "working.md").read_text(encoding="utf-8")
    assert render_working(working) == shown
    assert parse_working(shown).section("task") == "Find the leak in the cart.\n\n## not a section"


def test_every_write_states_the_ownership() -> None:
    assert OWNERSHIP in render_working(with_section(EMPTY, "Task", "Ship it.", NOW))
    assert OWNERSHIP in render_working(with_activity(EMPTY, "tested", NOW))
    by_hand = "# Mine\n\nProse.\n\n## Task\n\nOld.\n"
    text = render_working(with_activity(parse_working(by_hand), "tested", NOW))
    assert text.startswith(f"# Mine\n\nProse.\n\n{OWNERSHIP}\n## Task\n\nOld.\n")
    again = render_working(with_section(parse_working(text), "Plan", "x", NOW))
    assert again.count("THIS FILE BELONGS TO THE AGENT.") == 1


def test_sections_are_replaced_in_their_order_and_others_survive() -> None:
    working = parse_working("# Working\n\n## Ideas\n\nmaybe Rust\n")
    working = with_activity(working, "read the code", NOW)
    working = with_section(working, "plan", "1. look", NOW)
    working = with_section(working, "TASK", "Find the leak.", NOW)
    working = with_section(parse_working(render_working(working)), "task", "Fix the leak.", minutes(5))
    assert [each.title for each in working.file.sections] == ["Ideas", "Task", "Plan", "Recent activity"]
    assert working.section("Task") == "Fix the leak."
    assert working.section("ideas") == "maybe Rust"
    assert working.updated == minutes(5)


def test_a_blank_text_drops_the_section() -> None:
    working = with_section(with_section(EMPTY, "Blocked by", "review", NOW), "Blocked by", " ", NOW)
    assert not working.started


def test_the_log_is_not_replaced_as_a_section() -> None:
    for title in ("recent Activity", " "):
        with pytest.raises(BadInput):
            with_section(EMPTY, title, "x", NOW)


def test_a_repeated_note_is_written_once() -> None:
    working = with_activity(with_activity(EMPTY, "ran tests", NOW), "ran  tests", minutes(9))
    assert working.activity == (Activity(minutes(9), "ran tests"),)


def test_the_log_rolls_by_entries_and_by_characters() -> None:
    working = EMPTY
    for count in range(30):
        working = with_activity(working, f"step {count}", minutes(count))
    assert [each.text for each in working.activity] == [f"step {count}" for count in range(10, 30)]
    for count in range(30):
        working = with_activity(working, f"{count} " + "word " * 40, minutes(count))
    assert len(working.section("Recent activity")) <= 2000
    assert working.activity[-1].text.startswith("29 ")
    working = with_activity(working, "long " * 1000, NOW)
    assert len(working.activity) == 1
    assert len(working.section("Recent activity")) <= 2000


def test_lines_written_by_hand_stay_in_the_log() -> None:
    by_hand = "## Recent activity\n\nMy own words.\n\n- met Ada\n  about the cache\n* 2026-11-30 — not a time of ours, but read\n"
    working = with_activity(parse_working(by_hand), "went on", NOW)
    assert "My own words." in render_working(working)
    assert [each.text for each in working.activity] == [
        "met Ada about the cache",
        "not a time of ours, but read",
        "went on",
    ]


def test_the_log_can_be_emptied() -> None:
    assert without_activity(with_activity(EMPTY, "x", NOW)).activity == ()


@given(lines)
def test_any_file_survives_reading(text: str) -> None:
    assert render_working(parse_working(text)) == text


@given(st.lists(hostile, min_size=1, max_size=6), hostile)
def test_no_note_forges_a_section_or_an_entry(notes: list[str], task: str) -> None:
    working = with_section(EMPTY, "Task", task, NOW)
    for note in notes:
        working = with_activity(working, note, NOW)
    again = parse_working(render_working(working))
    expected: list[str] = []
    for note in map(fold, notes):
        if note and expected[-1:] != [note]:
            expected.append(note)
    assert [each.text for each in again.activity] == expected
    assert {each.title for each in again.file.sections} <= {"Task", "Recent activity"}
