"""Summaries are read whatever small models do to bullets, and never fail."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.summary import Point, parse_summary


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("- **decision:** use Postgres", [Point("decision", "use Postgres")]),
        ("- **Decision**: use Postgres", [Point("decision", "use Postgres")]),
        ("* decision: use Postgres", [Point("decision", "use Postgres")]),
        ("1. **decision:** use Postgres", [Point("decision", "use Postgres")]),
        ("- **decision: use Postgres**", [Point("decision", "use Postgres")]),
        ("**decision:** use Postgres", [Point("decision", "use Postgres")]),
        ("- **决定：** 使用 Postgres", [Point("决定", "使用 Postgres")]),
        ("- **open:** 2026-11-30: the token expires", [Point("open", "the token expires", date(2026, 11, 30))]),
        ("- 2026-11-30: **open:** the token expires", [Point("open", "the token expires", date(2026, 11, 30))]),
        ("- the port is 8080: it is not free", [Point("", "the port is 8080: it is not free")]),
        ("Here are the bullets:\n\n- **fix:** pin it\n\nHope that helps!", [Point("fix", "pin it")]),
        ("- **fix:** pin it\n  to 1.2 because of\n  the crash\n- next", [Point("fix", "pin it to 1.2 because of the crash"), Point("", "next")]),
        ("```\n- **fix:** pin it\n```", [Point("fix", "pin it")]),
        ("- **fix:** pin it (#12-14)", [Point("fix", "pin it")]),
        ("- **fix:** pin it\r\n- **fix:** and lock\r\n", [Point("fix", "pin it"), Point("fix", "and lock")]),
        ("---\n- \n- **:**\n- ...\n", []),
    ],
)  # fmt: skip
def test_bullets_are_read_in_every_shape_that_models_write(text: str, points: list[Point]) -> None:
    assert list(parse_summary(text).points) == points


@pytest.mark.parametrize(
    "text",
    [
        "NO_DURABLE_CONTENT",
        "no durable content.",
        "- NO_DURABLE_CONTENT",
        "Nothing to record.",
        "`NO_DURABLE_CONTENT`\n",
    ],
)
def test_the_conclusion_that_nothing_is_durable_settles(text: str) -> None:
    reply = parse_summary(text)
    assert (reply.nothing, reply.points) == (True, ())


@pytest.mark.parametrize(
    "text", ["", "  \n", "I looked at the session and it was about a shop and its port.", "{}"]
)
def test_prose_and_silence_are_no_conclusion(text: str) -> None:
    assert not parse_summary(text).usable


def test_the_line_at_which_a_reply_was_cut_is_dropped() -> None:
    cut = parse_summary("- **fix:** pin it\n- **decision:** use Postg", cut=True)
    assert [point.text for point in cut.points] == ["pin it"]
    assert not parse_summary("NO_DURABLE", cut=True).usable


@given(st.text(st.sampled_from("-* \n\t**:：a1.[]()#—`>\ufeff决定\r_0"), max_size=300), st.booleans())
def test_nothing_makes_it_fail(text: str, cut: bool) -> None:
    for point in parse_summary(text, cut=cut).points:
        assert point.text.strip() == point.text != ""
        assert "\n" not in point.text
