"""The behaviour suite: every case holds, and a case that does not hold is told."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from lamina import errors
from lamina.evaluation.behaviour import render_behaviour, run_behaviour, run_case, summed
from lamina.evaluation.behaviour.cases import (
    AXES,
    EXPECT,
    FIXTURES,
    Case,
    check_case,
    load_cases,
    parse_cases,
)

CASES = load_cases()
NAMED = {case.name: case for case in CASES}

SMALL = """
version = 1
axis = "ranking"

[[case]]
name = "small"
reason = "a reason"
entries = [{ as = "one", text = "The crane is yellow." }, { as = "two", text = "The lamp is red." }]
search = "crane"
expect = { first = "one" }
"""


@pytest.mark.parametrize("name", NAMED)
def test_it_behaves(name):
    done = run_case(NAMED[name])
    assert done == run_case(NAMED[name]), "two runs tell the same"
    assert done["told"] == []
    assert done["ok"]


@pytest.mark.parametrize("name", [case.name for case in CASES if case.axis == "ranking"])
def test_a_ranking_does_not_depend_on_what_was_written_first(name):
    case = NAMED[name]
    if case.name != "an-id-finds-its-entry":  # ids are given in the order of writing
        assert run_case(replace(case, entries=case.entries[::-1]))["told"] == []


def test_a_run_counts_its_cases():
    done = run_behaviour("card budget")
    assert done == run_behaviour("card budget")
    assert set(done) == {"version", "passed", "failed", "axes", "cases"}
    assert all({"name", "axis", "ok", "told"} <= set(case) for case in done["cases"])
    assert done["passed"] == sum(case["ok"] for case in done["cases"])
    assert done["axes"] == {"card budget": {"passed": done["passed"], "failed": done["failed"]}}
    assert [case["name"] for case in done["cases"]] == [c.name for c in CASES if c.axis == "card budget"]


def test_there_are_cases_enough_on_every_axis():
    counted = Counter(case.axis for case in CASES)
    assert set(counted) == set(AXES)
    assert min(counted.values()) >= 8
    assert len(CASES) >= 50
    assert all(len(case.reason.split()) > 3 for case in CASES)


def test_every_expectation_has_a_case():
    used = {(case.action, key) for case in CASES for key in case.expect}
    assert used == {(action, key) for action, keys in EXPECT.items() for key in keys}


def test_fixtures_are_read_in_the_order_of_the_axes():
    assert [case.axis for case in CASES] == sorted((case.axis for case in CASES), key=AXES.index)
    assert len(list(FIXTURES.glob("*.toml"))) == len(AXES)


# --- a broken expectation is told


def mutated(case: Case, **expect) -> list[str]:
    """Run a case that expects something else, and return what it tells."""
    changed = replace(case, expect=expect)
    check_case(changed, case.name)
    done = run_case(changed)
    assert done["ok"] == (not done["told"])
    return done["told"]


@pytest.mark.parametrize(
    "expect",
    [
        {"first": "two"},
        {"order": ["two", "one"]},
        {"exactly": ["one", "two"]},
        {"found": ["two"]},
        {"absent": ["one"]},
        {"grades": {"one": "stale"}},
        {"grades": {"two": "fresh"}},
        {"ages": {"one": 3}},
        {"trust": {"one": "candidate"}},
        {"nothing": True},
    ],
)
def test_a_broken_expectation_of_a_search_is_told(expect):
    (case,) = parse_cases(SMALL)
    assert run_case(case)["ok"]
    (told,) = mutated(case, **expect)
    assert "expected" in told
    assert "found" in told


@pytest.mark.parametrize(
    "expect",
    [
        {"order": ["stale", "fresh"]},
        {"found": ["gone"]},
        {"absent": ["fresh"]},
        {"with": ["no such text"]},
        {"without": ["spare key"]},
        {"grades": {"fresh": "stale"}},
        {"empty": True},
    ],
)
def test_a_broken_expectation_of_a_card_is_told(expect):
    case = NAMED["the-fresh-before-the-stale-of-equal-importance"]
    case = replace(case, entries=(*case.entries, {"as": "gone", "text": "It is gone.", "trust": "forgotten"}))
    assert len(mutated(case, **expect)) == 1


@pytest.mark.parametrize(
    ("name", "expect"),
    [
        ("two-repositories-of-one-name-are-two", {"keys": {"one/api": "two"}}),
        ("two-repositories-of-one-name-are-two", {"same": [["one/api", "two/api"]]}),
        ("two-repositories-of-one-name-are-two", {"reads": {"one/api": ["two/api"]}}),
        ("a-worktree-inside-the-repository", {"different": [["work/app", "work/app/.worktrees/x"]]}),
    ],
)
def test_a_broken_expectation_of_folders_is_told(name, expect):
    (told,) = mutated(NAMED[name], **expect)
    assert "expected" in told


def test_a_step_that_ends_otherwise_is_told():
    case = NAMED["a-corrected-number-passes"]
    again = {"remember": "The staging port is 8081.", "status": "written"}
    told = run_case(replace(case, steps=(*case.steps, again)))["told"]
    assert told == ["remember 'The staging port is 8081.': expected written, found refused"]


def test_a_failure_is_a_difference_without_paths_of_this_machine():
    case = NAMED["undo-releases-it"]
    (told,) = run_case(replace(case, entries=(), steps=({"undo": True},)))["told"]
    assert told.startswith("it failed: there is no write left to undo")
    assert "lamina-behaviour" not in told


def test_what_failed_is_rendered_with_what_was_expected_and_found():
    (case,) = parse_cases(SMALL)
    good, bad = run_case(case), run_case(replace(case, name="bad", expect={"first": "two"}))
    text = render_behaviour(summed([good, bad]))
    assert text.splitlines() == [
        "axis     passed  failed",
        "ranking       1       1",
        "all           1       1",
        "",
        "bad (ranking): a reason",
        "  first: expected two, found one",
    ]


# --- what is chosen, and what is refused


def test_one_case_or_one_axis_can_be_run():
    one = run_behaviour("the-home-folder-is-global")
    assert [case["name"] for case in one["cases"]] == ["the-home-folder-is-global"]
    assert set(run_behaviour("freshness")["axes"]) == {"freshness"}
    with pytest.raises(errors.UsageError, match="no case and no axis") as caught:
        run_behaviour("the-home-folder-is-locale")
    assert "the-home-folder-is-global" in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 1", "version = 2", "version 2 is not known"),
        ("version = 1", "", "'version' is missing"),
        ("version = 1", "version = ", "file.toml"),
        ('"ranking"', '"cooking"', "no axis is called 'cooking'"),
        ('reason = "a reason"', "", "'reason' is missing"),
        ('reason = "a reason"', 'reason = "a reason"\nmood = "good"', "case 'small': unknown key 'mood'"),
        ("first =", "frist =", "expect: unknown key 'frist'"),
        ('first = "one"', "first = 1", "'first' must be a text"),
        ('first = "one"', 'found = "one"', "'found' must be a list of texts"),
        ('first = "one"', "nothing = 1", "'nothing' must be true or false"),
        ('first = "one"', 'absent = ["three"]', "no entry is called 'three'"),
        ('{ first = "one" }', "{}", "nothing is expected"),
        ('search = "crane"', "", "0 actions"),
        ('search = "crane"', 'search = "crane"\ncard = 900', "2 actions"),
        (
            'search = "crane"',
            'search = "crane"\nfilters = { colour = "red" }',
            "filters: unknown key 'colour'",
        ),
        ('search = "crane"', 'search = "crane"\nsteps = [{ sing = "la" }]', "no step begins with 'sing'"),
        ('search = "crane"', 'search = "crane"\nsteps = [{ days = 1, weeks = 2 }]', "unknown key 'weeks'"),
        (
            'search = "crane"',
            'search = "crane"\nsteps = [{ forget = ["three"] }]',
            "no entry is called 'three'",
        ),
        ('text = "The lamp is red."', 'wording = "red"', "entry 2: unknown key 'wording'"),
        ('text = "The lamp is red."', 'text = "red", date = "today"', "'date' must be a day"),
        ('text = "The lamp is red."', 'text = "red", by = "three"', "no entry is called 'three'"),
    ],
)
def test_a_fixture_that_cannot_be_meant_is_refused(old, new, message):
    assert old in SMALL
    with pytest.raises(errors.BadInput) as caught:
        parse_cases(SMALL.replace(old, new), "file.toml")
    assert message in caught.value.message
    assert caught.value.message.startswith("file.toml")
    assert caught.value.hint


def test_two_cases_of_one_name_are_refused(tmp_path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(SMALL)
    with pytest.raises(errors.BadInput, match="two cases are called 'small'"):
        load_cases(tmp_path)
