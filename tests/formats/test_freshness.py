"""Freshness: everything from the file and the day of asking."""

from datetime import UTC, date, datetime, timedelta

import pytest

from lamina.formats.freshness import Freshness, freshness, is_time_bound, state_freshness, working_freshness

TODAY = date(2026, 11, 30)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def aged(days, volatility=None, text="", **more):
    values = {"date": TODAY - timedelta(days=days), "verified": None, "valid_until": None} | more
    return freshness(volatility=volatility, text=text, today=TODAY, **values)


@pytest.mark.parametrize(
    ("volatility", "days", "grade"),
    [
        ("stable", 243, "fresh"),
        ("stable", 244, "aging"),
        ("stable", 365, "aging"),
        ("stable", 366, "stale"),
        ("normal", 59, "fresh"),
        ("normal", 60, "aging"),
        ("normal", 90, "aging"),
        ("normal", 91, "stale"),
        (None, 59, "fresh"),
        ("unheard of", 91, "stale"),
        ("volatile", 1, "fresh"),
        ("volatile", 2, "aging"),
        ("volatile", 3, "aging"),
        ("volatile", 4, "stale"),
    ],
)
def test_windows(volatility, days, grade):
    assert aged(days, volatility) == (grade, days)


def test_verified_counts_before_date_and_the_future_is_now():
    assert aged(400, verified=TODAY - timedelta(days=1)) == ("fresh", 1)
    assert aged(400, verified=TODAY + timedelta(days=9)) == ("fresh", 0)
    assert aged(-3) == ("fresh", 0)


def test_an_entry_holds_on_its_last_day_and_not_behind_it():
    assert aged(1, valid_until=TODAY) == ("fresh", 1)
    assert aged(1, valid_until=TODAY - timedelta(days=1)) == ("expired", 1)
    assert aged(0, date=None, valid_until=date(2020, 1, 1)) == ("expired", None)
    assert aged(0, date=None) == ("unverified", None)


@pytest.mark.parametrize(
    "text",
    [
        "The build is currently red",
        "TODAY we ship",
        "right now",
        "this week",
        "temporarily off",
        "work in progress",
        "目前用旧的",
    ],
)
def test_wording_bound_to_its_day_is_volatile(text):
    assert is_time_bound(text)
    assert aged(5, text=text).grade == "stale"
    assert aged(5, "stable", text=text).grade == "fresh"


@pytest.mark.parametrize(
    "text", ["The port is 8080", "version 3 of the API", "todays", "nowhere", "the progress bar"]
)
def test_a_port_or_a_version_alone_is_not(text):
    assert not is_time_bound(text)


def test_sections_of_the_state_age_in_days():
    assert state_freshness(None, NOW).tag == "[UNVERIFIED]"
    assert state_freshness(NOW - timedelta(days=1), NOW) == ("fresh", 1)
    assert state_freshness(NOW - timedelta(days=1, seconds=1), NOW).tag == "[AGING 1d]"
    assert state_freshness(NOW - timedelta(days=3), NOW).grade == "aging"
    assert state_freshness(NOW - timedelta(days=5), NOW).tag == "[STALE 5d]"
    assert state_freshness(NOW + timedelta(days=5), NOW) == ("fresh", 0)


def test_the_working_head_ages_in_hours():
    assert working_freshness(None, NOW).grade == "not started"
    assert working_freshness(NOW - timedelta(hours=4), NOW).grade == "fresh"
    assert working_freshness(NOW - timedelta(hours=5), NOW).grade == "aging"
    assert working_freshness(NOW - timedelta(hours=25), NOW) == ("stale", 1)


def test_tags():
    assert Freshness("fresh", 1).tag == ""
    assert Freshness("expired", 9).tag == "[EXPIRED]"
    assert Freshness("not started").tag == "[NOT STARTED]"
