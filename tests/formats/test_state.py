from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.pieces import hostile, lines

from lamina.errors import BadInput
from lamina.formats.body import normal
from lamina.formats.lines import fold
from lamina.formats.state import parse_state, render_state, with_section, without_section

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=5)
FILE = """\
# State

## Layout

**Verified:** 2026-11-01T08:00:00Z

Two packages.

## Running

**Verified:** yesterday

- the API on 8080

## By hand
no time here
"""


def test_sections_read_with_their_times() -> None:
    layout, running, by_hand = parse_state(FILE).sections
    assert (layout.title, layout.text, layout.verified) == (
        "Layout",
        "Two packages.",
        datetime(2026, 11, 1, 8, tzinfo=UTC),
    )
    assert (running.text, running.verified) == ("- the API on 8080", None)
    assert (by_hand.text, by_hand.verified) == ("no time here", None)


def test_a_write_replaces_one_section_and_leaves_the_other_times_alone() -> None:
    text = render_state(with_section(parse_state(FILE), "running", "Nothing.", NOW))
    before, after = FILE.split("## Running", maxsplit=1)[0], FILE[FILE.index("## By hand") :]
    assert text == f"{before}## Running\n\n**Verified:** 2026-11-30T12:00:00Z\n\nNothing.\n\n{after}"


def test_a_new_file_opens_with_a_title() -> None:
    text = render_state(with_section(parse_state(""), "Health", "All green.", NOW))
    assert text == "# State\n\n## Health\n\n**Verified:** 2026-11-30T12:00:00Z\n\nAll green.\n"


def test_line_endings_stay_what_they_were() -> None:
    text = render_state(with_section(parse_state(FILE.replace("\n", "\r\n")), "Layout", "a\nb", NOW))
    assert "\n" not in text.replace("\r\n", "")


def test_a_section_can_be_dropped() -> None:
    file = without_section(parse_state(FILE), "LAYOUT")
    assert [section.title for section in file.sections] == ["Running", "By hand"]


def test_a_blank_title_is_refused() -> None:
    with pytest.raises(BadInput):
        with_section(parse_state(""), " \n", "x", NOW)


@given(lines)
def test_any_file_survives_reading(text: str) -> None:
    assert render_state(parse_state(text)) == text


titles = hostile.map(fold).filter(bool)


@given(
    st.lists(st.tuples(titles, hostile), min_size=1, max_size=4, unique_by=lambda each: each[0].casefold())
)
def test_no_text_opens_a_section_or_sets_a_time(written: list[tuple[str, str]]) -> None:
    file = parse_state("")
    for title, text in written:
        file = with_section(file, title, text, NOW)
    again = parse_state(render_state(file))
    assert [(each.title, each.text, each.verified) for each in again.sections] == [
        (title, normal(text), NOW) for title, text in written
    ]


@given(
    st.lists(st.tuples(titles, hostile), min_size=1, max_size=3, unique_by=lambda each: each[0].casefold()),
    titles,
    hostile,
)
def test_what_is_not_written_keeps_its_bytes(written: list[tuple[str, str]], title: str, text: str) -> None:
    file = parse_state("")
    for each in written:
        file = with_section(file, *each, NOW)
    old = parse_state(render_state(file))
    new = parse_state(render_state(with_section(old, title, text, LATER)))
    kept = [each.raw.rstrip() for each in old.sections if each.title.casefold() != title.casefold()]
    assert [each.raw.rstrip() for each in new.sections if each.title.casefold() != title.casefold()] == kept
    found = new.get(title)
    assert found is not None
    assert (found.text, found.verified) == (normal(text), LATER)
