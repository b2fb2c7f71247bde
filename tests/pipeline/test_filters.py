"""The filters that search, list, export and forget share."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina import errors
from lamina.formats.scope import Scope
from lamina.pipeline.filters import (
    IN_FORCE,
    parse_filters,
    parse_scopes,
    parse_trust,
    parse_when,
    question,
    scope_for_writing,
)

TODAY = date(2026, 11, 30)
HARBOR, GLOBAL = Scope("harbor"), Scope(None)


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        (None, (HARBOR, GLOBAL)),
        ("", (HARBOR, GLOBAL)),
        ("all", None),
        ("workspace", (HARBOR,)),
        ("global", (GLOBAL,)),
        ("workspace:quay", (Scope("quay"),)),
    ],
)
def test_scopes(text, scopes):
    assert parse_scopes(text, HARBOR) == scopes


def test_outside_a_workspace_the_default_is_global():
    assert parse_scopes(None, GLOBAL) == (GLOBAL,)
    assert scope_for_writing(None, GLOBAL) == GLOBAL


@pytest.mark.parametrize("text", ["harbor", "workspace:", "workspace:a/b", "workspace:con", "Global"])
def test_what_is_no_scope_is_refused(text):
    for call in (lambda: parse_scopes(text, HARBOR), lambda: scope_for_writing(text, HARBOR)):
        with pytest.raises(errors.UsageError):
            call()


def test_the_workspace_is_asked_for_where_there_is_none():
    for call in (
        lambda: parse_scopes("workspace", GLOBAL),
        lambda: scope_for_writing("workspace", GLOBAL),
        lambda: question("x", GLOBAL, TODAY, limit=1, filters={"scope": "workspace"}),
    ):
        with pytest.raises(errors.UnknownScope, match="no workspace here"):
            call()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        (None, None),
        ("", None),
        ("2026-11-01", date(2026, 11, 1)),
        ("today", TODAY),
        ("Yesterday", date(2026, 11, 29)),
        ("7d", date(2026, 11, 23)),
        ("2w", date(2026, 11, 16)),
        ("1m", date(2026, 10, 31)),
        ("1y", date(2025, 11, 30)),
        (date(2026, 1, 1), date(2026, 1, 1)),
    ],
)
def test_days(text, day):
    assert parse_when(text, TODAY) == day


@pytest.mark.parametrize("text", ["soon", "d", "99999999d", "2026-13-01", "2026-11-01junk", "-", "1.5d"])
def test_what_is_no_day_is_refused(text):
    with pytest.raises(errors.UsageError, match="not a day"):
        parse_when(text, TODAY)


def test_trust():
    assert parse_trust(None) == IN_FORCE
    assert parse_trust("candidate, superseded,") == {"candidate", "superseded"}
    assert parse_trust("all") == {"approved", "candidate", "superseded", "forgotten"}
    with pytest.raises(errors.UsageError):
        parse_trust("trusted")


def test_old_layer_names_are_read():
    assert parse_filters(HARBOR, TODAY, layer="decision").layer == "decisions"
    with pytest.raises(errors.UnknownLayer):
        parse_filters(HARBOR, TODAY, layer="nonsense")


def test_search_and_list_mean_the_same():
    asked = {
        "scope": "workspace:quay",
        "layer": "learning",
        "trust": "candidate",
        "since": "7d",
        "until": "today",
    }
    listed = parse_filters(HARBOR, TODAY, **asked)
    query = question("x", HARBOR, TODAY, limit=3, filters=asked)
    assert query.scopes == tuple(scope.name for scope in listed.scopes)
    assert query.layers == (listed.layer,)
    assert (query.trust, query.since, query.until) == (listed.trust, listed.since, listed.until)


@given(st.text(max_size=20))
def test_no_text_raises_anything_else(text):
    for call in (
        lambda: parse_when(text, TODAY),
        lambda: parse_scopes(text, HARBOR),
        lambda: parse_trust(text),
    ):
        try:
            call()
        except errors.UsageError:
            continue
