"""References to where a line of the digest came from: one form when written, read leniently."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.origin import (
    daily_day,
    day_of,
    key_of,
    origin,
    origins_of,
    quote_origins,
    render_origins,
    section_origin,
)

FILE = "2026-11-30-esm-memory.md"
SESSION = "2026-11-30T09:00:00Z"


@pytest.mark.parametrize(
    "spelling",
    [
        f"memory/{FILE}#session-{SESSION}",
        f"`memory/{FILE}#session-{SESSION}`",
        f"./memory/{FILE}#session-{SESSION}",
        f"docs/memory/{FILE}#session-{SESSION}",
        f"memory\\{FILE}#session-{SESSION}",
        f"{FILE}#{SESSION}",
        f" {FILE}#Session-{SESSION} ",
    ],
)
def test_spellings_of_one_reference_mean_the_same(spelling):
    assert key_of(spelling) == (FILE, SESSION)


def test_a_section_of_the_digest_is_no_daily_file():
    assert key_of(section_origin("2026-11-30T12:00:00Z")) == ("digest", "2026-11-30T12:00:00Z")
    assert key_of("memory/digest.md#section-7") == ("digest", "7")
    assert day_of("digest#section-2026-11-30") is None


@pytest.mark.parametrize(
    ("name", "day"),
    [
        (FILE, date(2026, 11, 30)),
        ("2026-02-30-x-memory.md", None),
        ("2026-11-30-memory.md", None),
        ("2026-11-30-x.md", None),
        ("digest.md", None),
        ("2026-11-30-文档-整理-memory.md", date(2026, 11, 30)),
    ],
)
def test_the_day_of_a_daily_file_stands_in_its_name(name, day):
    assert daily_day(name) == day
    assert day_of(f"memory/{name}#session-x") == day


@given(st.text(st.characters(exclude_characters="/\\\r\n"), min_size=1), st.text())
def test_any_file_and_session_survive_a_list_of_references(file, session):
    name, part = file.strip(), session.strip()
    if (
        not name.strip(".")
        or name in ("digest", "digest.md")
        or part.lower().startswith(("session-", "section-"))
    ):
        return
    ref = origin(f"memory/{name}", part)
    other = origin("memory/b-memory.md", "1")
    for text in (render_origins((ref, other)), quote_origins((ref, other))):
        keys = [key_of(each) for each in origins_of(text)]
        assert keys in ([key_of(ref), key_of(other)], [key_of(ref)])
    assert key_of(ref)[1] == key_of(origin("x", part))[1]
