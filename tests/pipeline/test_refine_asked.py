"""A model proposes merges, drops and conflicts; what does not hold changes nothing and is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pipeline.scripted import Script

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.formats.refinereply import Line, parse_refine_reply
from lamina.models.base import Reply
from lamina.pipeline.refine.account import sound
from lamina.pipeline.refine.asked import asked
from lamina.pipeline.refine.plan import KEEP, proposed
from pipeline.refined import digest_of, item

FIRST = [
    item("decision-retry", "Retry failed uploads three times."),
    item("decision-npm", "Use npm for all packages."),
    item("decision-queue", "The job queue runs on Redis."),
    item("open-docs", "Document the exports of the package in README.md."),
    item("learning-bundler", "A bundler hides missing exports until the release."),
]
LATER = [
    item(
        "decision-retry2", "Uploads that failed are retried three times with a backoff of 2 seconds.", day=2
    ),
    item("decision-pnpm", "Use pnpm for all packages.", day=2),
    item("decision-postgres", "The job queue runs on Postgres now, no longer on Redis.", day=2),
    item("state-docs", "The exports of the package are documented in README.md.", day=2),
]
FUSED = "Retry failed uploads three times with a backoff of 2 seconds."


def made(*lines, limit=48_000):
    script = Script(*lines)
    plan = asked(script, sound(proposed(parse_digest(digest_of(FIRST, LATER)))), limit=limit)
    return plan, script


def changed(plan):
    return {
        name: (choice.action, choice.into or choice.reason)
        for name, choice in plan.choices.items()
        if choice.action != KEEP
    }


def test_lines_that_hold_are_taken():
    plan, script = made(
        f"MERGE decision-retry INTO decision-retry2 :: {FUSED}\n"
        "DROP open-docs :: resolved by state-docs\n"
        "DROP decision-queue :: superseded by decision-postgres\n"
        "CONFLICT decision-npm, decision-pnpm\n"
    )
    assert changed(plan) == {
        "decision-retry": ("merge", "decision-retry2"),
        "open-docs": ("drop", "resolved by state-docs"),
        "decision-queue": ("drop", "superseded by decision-postgres"),
    }
    assert plan.choices["decision-retry2"].text == FUSED
    assert plan.choices["decision-npm"].conflict == ("decision-pnpm",)
    assert plan.choices["decision-pnpm"].conflict == ("decision-npm",)
    assert plan.limitations == ()
    assert [purpose for purpose, _ in script.asked] == ["refine"]


@pytest.mark.parametrize(
    "line",
    [
        f"MERGE decision-retry INTO decision-retry2 :: {FUSED.replace('2 seconds', '5 seconds')}",
        "MERGE decision-retry INTO decision-retry2 :: Retry uploads.",
        "MERGE decision-retry INTO decision-retry2 :: Never retry failed uploads three times with a backoff of 2 seconds.",
        f"MERGE decision-retry INTO decision-retry2 :: {FUSED} Ask Zoe.",
        "MERGE decision-npm INTO decision-pnpm",
        "MERGE decision-npm INTO decision-nowhere",
        "MERGE open-docs INTO state-docs",
        "DROP decision-npm :: superseded by decision-pnpm",
        "DROP learning-bundler :: noise: trivial",
        "DROP learning-bundler :: old",
        "DROP learning-bundler :: superseded by state-docs",
        "DROP learning-bundler :: resolved by state-docs",
        "DROP state-docs :: resolved by open-docs",
        "DROP nothing-here :: noise: x",
        "CONFLICT decision-npm, nothing-here",
    ],
)
def test_a_line_that_does_not_hold_changes_nothing_and_is_counted(line):
    plan, _ = made(line)
    assert changed(plan) == {}
    assert not any(choice.text or choice.conflict for choice in plan.choices.values())
    assert any("1 lines of the model did not hold" in each for each in plan.limitations)


def test_a_later_line_never_breaks_an_earlier_one():
    plan, _ = made(
        "DROP open-docs :: resolved by state-docs\n"
        "DROP state-docs :: noise: known by now\n"
        f"MERGE decision-retry INTO decision-retry2 :: {FUSED}\n"
        "MERGE decision-retry2 INTO decision-queue\n"
        "DROP decision-retry :: duplicate of decision-retry2\n"
    )
    assert changed(plan) == {
        "open-docs": ("drop", "resolved by state-docs"),
        "decision-retry": ("merge", "decision-retry2"),
    }
    assert any(each.startswith("3 lines") for each in plan.limitations)


@pytest.mark.parametrize(
    "reply", ["", "NOTHING", "I think everything is fine.", "KEEP decision-npm", "<html>"]
)
def test_a_reply_without_a_line_keeps_everything(reply):
    plan, _ = made(reply)
    assert changed(plan) == {}
    assert plan.limitations == ()


@pytest.mark.parametrize("problem", [errors.NoModelAnswered("none is there"), errors.CapReached("spent")])
def test_without_an_answer_only_what_needs_no_judgement_is_done(problem):
    plan, _ = made(problem)
    assert changed(plan) == {}
    assert any("no model was asked" in each for each in plan.limitations)


def test_a_reply_that_was_cut_off_loses_its_last_line():
    plan, _ = made(
        Reply(
            "DROP open-docs :: resolved by state-docs\nDROP decision-queue :: superseded by decision-postgres",
            cut=True,
        )
    )
    assert changed(plan) == {"open-docs": ("drop", "resolved by state-docs")}


def test_long_digests_are_shown_in_parts_and_ids_of_another_part_do_not_count():
    many = [
        item(f"decision-{n}", f"Use tool number {n} for job {n}, because {'it is good ' * 20}.")
        for n in range(80)
    ]
    script = Script("DROP decision-0 :: duplicate of decision-79\nCONFLICT decision-0, decision-1", "")
    plan = asked(script, sound(proposed(parse_digest(digest_of(many)))), limit=8_000)
    assert len(script.asked) > 2
    assert all(len(prompt.text) < 8_000 for _, prompt in script.asked)
    assert changed(plan) == {}
    assert plan.choices["decision-1"].conflict == ("decision-0",)


def test_the_model_sees_items_between_marks_and_no_secret():
    secret = "ghp_" + "a1B2" * 9
    script = Script("NOTHING")
    text = digest_of([item("learning-a", f"The key {secret} was in the log."), *FIRST])
    asked(script, sound(proposed(parse_digest(text))), limit=48_000)
    shown = script.asked[0][1].text
    assert secret not in shown
    assert shown.startswith("BEGIN\n")
    assert shown.endswith("\nEND")
    assert "open-docs (open): Document the exports" in shown


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- MERGE `a`, `b` into `c`: whole text", Line("merge", ("a", "b"), "c")),
        ("merge a b INTO c :: whole: text", Line("merge", ("a", "b"), "c", "whole: text")),
        ("* drop a : noise: x", Line("drop", ("a",), text="noise: x")),
        ("CONFLICT a, b, c", Line("conflict", ("a", "b", "c"))),
    ],
)
def test_replies_are_read_leniently(text, line):
    (got,) = parse_refine_reply(f"Sure!\n{text}\n\nDone.") or (None,)
    assert got is None or got == line or (got.action, got.ids, got.into) == (line.action, line.ids, line.into)


@given(st.text())
def test_any_reply_is_read(text):
    assert all(line.action in ("merge", "drop", "conflict") for line in parse_refine_reply(text))


@given(st.lists(st.sampled_from(["MERGE", "DROP", "CONFLICT", "INTO", "::", "\n", *[f"{each.id}" for each in (*FIRST, *LATER)], "resolved by", "superseded by", "duplicate of", "noise: x"]), max_size=40))  # fmt: skip
def test_whatever_a_model_says_the_plan_holds(words):
    from lamina.pipeline.refine.account import judged

    plan, _ = made(" ".join(words))
    assert judged(plan)[1] == []
    for choice in plan.choices.values():
        assert choice.action == KEEP or plan.choices[choice.into or choice.reason.split()[-1]].action == KEEP or choice.reason.startswith("noise")  # fmt: skip
