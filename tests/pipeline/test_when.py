"""The days that a question speaks of."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.pipeline.when import days_meant

TODAY = date(2026, 9, 11)  # a Friday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what broke yesterday", "2026-09-10", "2026-09-10"),
        ("the change on 2026-03-04", "2026-03-04", "2026-03-04"),
        ("what happened in 2026-03", "2026-03-01", "2026-03-31"),
        ("last week", "2026-08-31", "2026-09-06"),
        ("this week", "2026-09-07", "2026-09-11"),
        ("last month", "2026-08-01", "2026-08-31"),
        ("decisions of last year", "2025-01-01", "2025-12-31"),
        ("in March", "2026-03-01", "2026-03-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("in May", "2026-05-01", "2026-05-31"),
        ("June 2024", "2024-06-01", "2024-06-30"),
        ("on 3 May", "2026-05-03", "2026-05-03"),
        ("on March 29", "2026-03-29", "2026-03-29"),
        ("early July", "2026-07-01", "2026-07-10"),
        ("the first week of August", "2026-08-01", "2026-08-07"),
        ("the last week of June", "2026-06-24", "2026-06-30"),
        ("two weeks ago", "2026-08-24", "2026-09-01"),
        ("3 days ago", "2026-09-06", "2026-09-10"),
        ("in 2024", "2024-01-01", "2024-12-31"),
        ("上周的决定", "2026-08-31", "2026-09-06"),
        ("三月底", "2026-03-21", "2026-03-31"),
        ("2025年3月4日", "2025-03-04", "2025-03-04"),
        ("3天前", "2026-09-06", "2026-09-10"),
        ("去年", "2025-01-01", "2025-12-31"),
        ("先月の障害", "2026-08-01", "2026-08-31"),
        ("5 月中旬", "2026-05-10", "2026-05-21"),
        ("昨日", "2026-09-10", "2026-09-10"),
        ("지난주 배포", "2026-08-31", "2026-09-06"),
        ("6월 20일", "2026-06-20", "2026-06-20"),
        ("6월 하순", "2026-06-20", "2026-06-30"),
        ("2주 전", "2026-08-24", "2026-09-01"),
    ],
)
def test_a_time_is_understood(text: str, first: str, last: str) -> None:
    span = days_meant(text, TODAY)
    assert span is not None
    assert [day.isoformat() for day in span[:2]] == [first, last]


@pytest.mark.parametrize(
    "text",
    ["may we use it", "recently", "before the release", "port 8080", "2026-13-45", "marching on", "七个", ""],
)
def test_what_names_no_day_means_none(text: str) -> None:
    assert days_meant(text, TODAY) is None


@given(st.text(max_size=60), st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_no_text_raises_and_a_span_is_in_order(text: str, today: date) -> None:
    span = days_meant(text, today)
    assert span is None or span.first <= span.last


@given(
    st.sampled_from(["in March", "上周", "3월", "last month", "2 weeks ago"]),
    st.dates(date(1990, 1, 1), date(2090, 1, 1)),
)
def test_what_is_past_has_begun(text: str, today: date) -> None:
    span = days_meant(text, today)
    assert span is not None
    assert span.first <= today


@pytest.mark.parametrize("text", ["9999-12", "december 9999", "9999年12月", "end of december 9999"])
def test_the_calendar_has_a_last_month(text: str) -> None:
    span = days_meant(text, TODAY)
    assert span is not None
    assert span.last == date.max


@pytest.mark.parametrize("text", ["yesterday", "last week", "last month", "last year", "3 days ago"])
def test_days_before_the_calendar_are_no_time(text: str) -> None:
    assert days_meant(text, date.min) is None


def test_of_a_very_long_question_the_beginning_is_read() -> None:
    assert days_meant("yesterday " + "1 " * 500_000, TODAY) == days_meant("yesterday", TODAY)
    assert days_meant("x " * 500_000 + "yesterday", TODAY) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Outbox last week", "last week"),
        ("上周的决定", "上周"),
        ("2 weeks ago", "2 weeks ago"),
        ("in March", ""),
        ("2026-03-04", ""),
    ],
)
def test_what_only_names_the_time_is_told_apart(text: str, said: str) -> None:
    span = days_meant(text, TODAY)
    assert span is not None
    assert span.said == said
