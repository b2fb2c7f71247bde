"""Whom to ask, in which order, and what a climb leaves behind for the next one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.standing import parse, render
from lamina.models.base import Reply
from lamina.models.ladder import (
    MAX_RUNGS,
    Bench,
    Climb,
    Routes,
    Standing,
    Tried,
    after,
    climb,
    failure,
    order,
    sure,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WISHES = "as the person wants it"
ROUTES = Routes("a/configured", "c/own", ("b/other", "c/own", "d/more"), WISHES)


def ago(**parts: float) -> datetime:
    return NOW - timedelta(**parts)


def ahead(**parts: float) -> datetime:
    return NOW + timedelta(**parts)


def benched(**routes: datetime) -> dict[str, Bench]:
    return {route.replace("_", "/"): Bench(until) for route, until in routes.items()}


ORDERS = {
    "the configured one, the session's own, the others": (ROUTES, Standing(), ["a/configured", "c/own", "b/other", "d/more"]),
    "the session's own counts only if it is permitted": (
        Routes("a/configured", "z/foreign", ("b/other",), WISHES), Standing(), ["a/configured", "b/other"],
    ),
    "without a configured one the session's own is first": (
        Routes("", "c/own", ("b/other", "c/own"), WISHES), Standing(), ["c/own", "b/other"],
    ),
    "no more than four": (
        Routes("a/1", "", ("b/2", "c/3", "d/4", "e/5", "f/6"), WISHES), Standing(), ["a/1", "b/2", "c/3", "d/4"],
    ),
    "nobody": (Routes("", "z/own", (), WISHES), Standing("z/own", NOW, WISHES), []),
    "who answered a moment ago is first": (
        ROUTES, Standing("d/more", ago(minutes=14), WISHES), ["d/more", "a/configured", "c/own", "b/other"],
    ),
    "a quarter of an hour later it is not": (
        ROUTES, Standing("d/more", ago(minutes=15), WISHES), ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "nor if it is no longer permitted": (
        ROUTES, Standing("z/gone", ago(minutes=1), WISHES), ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "nor if the person wants something else since": (
        ROUTES, Standing("d/more", ago(minutes=1), "other wishes"), ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "nor if it won in a future that a clock made up": (
        ROUTES, Standing("d/more", ahead(days=400), WISHES), ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "a benched one sinks to the end": (
        ROUTES, Standing(benched=benched(a_configured=ahead(minutes=3))), ["c/own", "b/other", "d/more", "a/configured"],
    ),
    "and recovers": (
        ROUTES, Standing(benched=benched(a_configured=NOW)), ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "a benched winner sinks, too": (
        ROUTES,
        Standing("d/more", ago(minutes=1), WISHES, benched(d_more=ahead(minutes=1))),
        ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "where all are benched all are asked": (
        Routes("a/1", "", ("b/2",), WISHES),
        Standing(benched=benched(a_1=ahead(minutes=1), b_2=ahead(minutes=2))),
        ["a/1", "b/2"],
    ),
    "a bench until a year that a clock made up does not count": (
        ROUTES, Standing(benched=benched(a_configured=ahead(days=400))), ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "nor one that is longer than any bench": (
        ROUTES, Standing(benched=benched(a_configured=ahead(minutes=16))), ["a/configured", "c/own", "b/other", "d/more"],
    ),
    "but an hour does where the endpoint asked for it": (
        ROUTES,
        Standing(benched={"a/configured": Bench(ahead(minutes=59), asked=True)}),
        ["c/own", "b/other", "d/more", "a/configured"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("routes", "standing", "expected"), ORDERS.values(), ids=ORDERS)
def test_the_order(routes, standing, expected):
    assert order(routes, standing, NOW) == expected


def text(said: str) -> dict:
    return {"reply": Reply(said)}


FAILS = {"reason": "connection refused"}
CLIMBS = {
    "the first answers": ([text("yes"), text("no")], "a", ["a"], {}),
    "the first throws": ([FAILS, text("yes")], "b", ["a", "b"], {}),
    "the first only reasons": ([text(""), text("yes")], "b", ["a", "b"], {"a": 15}),
    "blanks are nothing": ([text(" \n\t\u200b\ufeff "), text("yes")], "b", ["a", "b"], {"a": 15}),
    "busy ones are left alone as long as they ask": (
        [FAILS | {"wait_s": 120.0}, text("yes")], "b", ["a", "b"], {"a": 2},
    ),
    "for an hour at most": ([FAILS | {"wait_s": 1e12}, text("yes")], "b", ["a", "b"], {"a": 60}),
    "a wait that is none is none": ([FAILS | {"wait_s": float("nan")}, FAILS | {"wait_s": -5.0}], "", ["a", "b"], {}),
    "all fail": ([FAILS, FAILS, FAILS], "", ["a", "b", "c"], {}),
    "all reply with nothing": ([text(""), text("")], "", ["a", "b"], {"a": 15, "b": 15}),
}  # fmt: skip


@pytest.mark.parametrize(("answers", "winner", "asked", "bench"), CLIMBS.values(), ids=CLIMBS)
def test_the_climb(answers, winner, asked, bench):
    given = dict(zip("abc", answers, strict=False))
    done = climb(given, lambda route: Tried(route, **given[route]))
    standing = after(Standing(), done, WISHES, NOW)
    assert [each.route for each in done.tried] == asked
    assert (done.winner.route if done.winner else "") == winner == standing.winner
    assert {
        route: (each.until - NOW) / timedelta(minutes=1) for route, each in standing.benched.items()
    } == bench


def test_who_answers_is_benched_no_longer():
    before = Standing(benched=benched(a=ahead(minutes=9), b=ahead(minutes=9), c=ago(minutes=1)))
    standing = after(before, Climb((Tried("a", Reply("yes")),)), WISHES, NOW)
    assert standing.first(WISHES, NOW) == "a"
    assert set(standing.benched) == {"b"}


def test_the_failure_names_everybody_with_the_reason():
    problem = failure(climb("ab", lambda route: Tried(route, **(FAILS if route == "a" else text("")))))
    assert problem.message == "no model answered: a: connection refused; b: it answered with nothing"
    assert problem.replied
    assert not failure(climb("a", lambda route: Tried(route, **FAILS))).replied
    assert "none of those that are permitted is on this machine" in failure(Climb()).message


def test_the_pause_doubles_from_a_minute_to_an_hour_and_ends_with_an_answer():
    standing, now, pauses = Standing(), NOW, []
    nobody = Climb((Tried("a", **FAILS),))
    for _ in range(9):
        standing = after(standing, nobody, WISHES, now)
        until = standing.paused(now)
        assert until is not None
        pauses.append((until - now) / timedelta(minutes=1))
        now = until
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert after(standing, Climb((Tried("a", Reply("yes")),)), WISHES, now) == Standing("a", now, WISHES)


def test_a_model_that_replies_with_nothing_was_reached():
    standing = after(Standing(), Climb((Tried("a", **FAILS),)), WISHES, NOW)
    assert after(standing, Climb((Tried("a", Reply("")),)), WISHES, NOW).paused(NOW) is None


def test_ten_that_meet_the_same_failure_double_the_pause_once():
    standing = Standing()
    for _ in range(10):
        standing = after(standing, Climb((Tried("a", **FAILS),)), WISHES, NOW)
    assert standing.paused(NOW) == ahead(minutes=1)


def test_a_pause_until_a_year_that_a_clock_made_up_does_not_count():
    assert Standing(resume=ahead(days=400), unreached=3).paused(NOW) is None


TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001
    lambda time: time.replace(microsecond=0)
)
STANDINGS = st.builds(
    Standing,
    st.text(st.characters(exclude_categories=["Cs"])),
    st.none() | TIMES,
    st.text(st.characters(exclude_categories=["Cs"])),
    st.dictionaries(st.sampled_from("abcdef"), st.builds(Bench, TIMES, st.booleans())),
    st.integers(0, 16),
    st.none() | TIMES,
)


@given(STANDINGS)
def test_a_standing_reads_as_it_was_written(standing):
    assert parse(render(standing)) == standing


@given(STANDINGS, st.lists(st.sampled_from("abcdef"), unique=True), st.sampled_from(["", *"abcdef"]))
def test_nobody_is_asked_twice_nor_unless_permitted(standing, others, own):
    rungs = order(Routes(others[0] if others else "", own, tuple(others), standing.wishes), standing, NOW)
    assert len(set(rungs)) == len(rungs) == min(len(others), MAX_RUNGS)
    assert set(rungs) <= set(others)


@given(STANDINGS, st.lists(st.sampled_from("abcdef"), unique=True), st.sampled_from(["", *"abcdef"]))
def test_who_is_sure_to_come_first_is_the_beginning_of_every_order(standing, others, own):
    model = others[0] if others else ""
    rungs = order(Routes(model, own, tuple(others), standing.wishes), standing, NOW)
    first = sure(model, standing, standing.wishes, NOW, may=lambda route: route in others)
    assert rungs[: len(first)] == first
    assert sure(model, standing, standing.wishes, NOW, may=lambda _: False) == [
        each for each in first if each == model
    ]


def test_the_model_is_sure_to_be_asked_unless_it_is_benched():
    assert sure("a", Standing("b", NOW, WISHES), WISHES, NOW, may=lambda _: True) == ["b", "a"]
    assert sure("a", Standing(benched=benched(a=ahead(minutes=1))), WISHES, NOW, may=lambda _: True) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
)


@given(
    st.text()
    | st.dictionaries(
        st.sampled_from(["winner", "since", "wishes", "benched", "unreached", "resume"]), JSON
    ).map(json.dumps)
)
def test_what_is_damaged_is_a_standing_anyhow(damaged):
    standing = parse(damaged)
    assert order(ROUTES, standing, NOW)
    assert parse(render(after(standing, Climb((Tried("a", Reply("yes")),)), WISHES, NOW))).winner == "a"
