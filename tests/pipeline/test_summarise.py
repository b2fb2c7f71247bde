"""A model summarises a session: asked once about what is new, believed in nothing that the session does not say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.pipeline.scripted import Script
from tests.pipeline.sessions import NOW, append, claude, opened, resolver
from tests.pipeline.sessions import talk as few

from lamina.errors import CapReached, NoModelAnswered, Refused
from lamina.hosts.base import detect
from lamina.hosts.render import Said, Tool
from lamina.models.base import Reply
from lamina.pipeline.capture import Source, capture
from lamina.pipeline.relevance import Limits
from lamina.pipeline.summarise import summarise
from lamina.store import notes, watermarks

GOOD = """- **decision:** The cache of module m1 is kept in Redis on port 6001, because restarts must not lose it.
- **correction:** Use database 1 of Redis, not the default one, which job j1 flushes nightly.
"""


def talk(number):
    """A session with enough in it to be worth a call."""
    more = f"Never let module m{number} write to the default database again; the review of m{number} found that twice."
    return [
        *few(number),
        Said("user", more),
        Said("assistant", f"The tests of m{number} now fail on such a write."),
    ]


@pytest.fixture
def store(tmp_path):
    return opened(tmp_path)


def taken(store, path, script, *, limits=None, final=True, workspace=None, **more):
    limits = limits or Limits()
    return capture(
        store, [Source(Path(path), detect(Path(path)))], workspace=workspace or resolver(store, store.root.parent),
        now=NOW, final=final, limits=limits,
        summarise=lambda session, material: summarise(script, session, material, limits), **more,
    )  # fmt: skip


def only_note(store):
    (found,) = notes.notes(store)
    return found.note


def test_the_models_bullets_are_kept_with_where_and_by_whom_they_were_said(store, tmp_path):
    script = Script(GOOD)
    done = taken(store, claude(tmp_path / "t", "a", talk(1)), script)
    first, second = only_note(store).bullets
    assert (done.status, done.bullets, len(script.asked)) == ("captured", 2, 1)
    assert (first.label, first.who, second.label) == ("decision", "user", "correction")
    assert first.quote.startswith("We decided to keep the cache of module m1 in Redis on port 6001")
    assert first.first <= first.last < second.first
    assert (only_note(store).needs_review, only_note(store).attempts) == (False, 0)


def test_what_the_session_does_not_name_never_reaches_the_note(store, tmp_path):
    lies = [
        "- **finding:** Commit deadbeefcafe fixed the cache of module m1.",
        "- **environment:** Redis listens on port 6379.",
        "- **finding:** The loader of m1 is in src/cache/loader_one.py.",
        "- **environment:** The docs are at https://redis.example/m1.",
        "- **decision:** Redis 7.4.2 is used for module m1.",
        "- **decision:** The cache of module m1 is kept in Redis on port 6001.",
    ]  # fmt: skip
    done = taken(store, claude(tmp_path / "t", "a", talk(1)), Script("\n".join(lies)))
    assert [bullet.text for bullet in only_note(store).bullets] == [
        "The cache of module m1 is kept in Redis on port 6001."
    ]
    assert done.invented == 5
    text = "".join(path.read_text() for path in store.root.rglob("*") if path.is_file())
    assert not [lie for lie in ("deadbeef", "6379", "loader_one", "redis.example", "7.4.2") if lie in text]


def test_a_model_that_only_lies_is_asked_again_and_then_the_note_is_made_without_it(store, tmp_path):
    path = claude(tmp_path / "t", "a", talk(1))
    script = Script("- **finding:** Commit deadbeefcafe fixed it.")
    assert taken(store, path, script).status == "waiting"
    assert not list(notes.notes(store))
    assert taken(store, path, script).status == "captured"
    assert only_note(store).needs_review
    assert "6001" in " ".join(bullet.text for bullet in only_note(store).bullets)
    assert taken(store, path, script).status == "known"
    assert len(script.asked) == 2
    assert not list((store.root / "state/attempts").glob("*"))


def test_nothing_durable_settles_the_session(store, tmp_path):
    path = claude(tmp_path / "t", "a", talk(1))
    script = Script("NO_DURABLE_CONTENT")
    assert taken(store, path, script).status == "nothing"
    assert taken(store, path, script).status == "known"
    assert (list(notes.notes(store)), len(script.asked)) == ([], 1)


@pytest.mark.parametrize(
    "reply", ["", "I read the session and it was about caches.", Reply("- **decision:** cut he", cut=True)]
)
def test_a_reply_that_says_nothing_keeps_the_material(store, tmp_path, reply):
    path = claude(tmp_path / "t", "a", talk(1))
    assert taken(store, path, Script(reply)).status == "waiting"
    assert taken(store, path, Script(GOOD)).status == "captured"
    assert not only_note(store).needs_review
    assert len(only_note(store).bullets) == 2


@pytest.mark.parametrize("problem", [NoModelAnswered("nobody is there"), CapReached("300 calls are used")])
def test_no_route_waits_without_limit_and_counts_no_attempt(store, tmp_path, problem):
    path = claude(tmp_path / "t", "a", talk(1))
    for _ in range(5):
        done = taken(store, path, Script(problem))
        assert (done.status, done.waits) == ("waiting", problem.message)
    assert not list(watermarks.watermarks(store))
    assert taken(store, path, Script(GOOD)).status == "captured"
    assert not only_note(store).needs_review


def test_a_model_that_answers_with_nothing_twice_leaves_the_note_to_a_person(store, tmp_path):
    path = claude(tmp_path / "t", "a", talk(1))
    silent = NoModelAnswered("all of them only reasoned", replied=True)
    assert [taken(store, path, Script(silent)).status for _ in range(2)] == ["waiting", "captured"]
    assert only_note(store).needs_review


def test_a_session_is_asked_about_once_for_each_delta_and_only_about_what_is_new(store, tmp_path):
    path = claude(tmp_path / "t", "a", talk(1))
    script = Script(GOOD, "- **decision:** The cache of module m2 is kept in Redis on port 6002.")
    taken(store, path, script)
    append(path, talk(2))
    taken(store, path, script)
    taken(store, path, script)
    assert len(script.asked) == 2
    assert "m1" not in script.asked[1][1].text
    assert [section.bullets[0].text[:31] for section in only_note(store).sections] == [
        "The cache of module m1 is kept ", "The cache of module m2 is kept ",
    ]  # fmt: skip


def test_trivial_and_thin_sessions_reach_no_model(store, tmp_path):
    script = Script(GOOD)
    small = [
        Said("user", "Please rename the flag to --fast in cli.py, it reads better."),
        Said("assistant", "Renamed."),
    ]
    assert taken(store, claude(tmp_path / "t", "a", small), script, final=False).status == "thin"
    assert taken(store, claude(tmp_path / "t", "b", small), script).status == "captured"
    assert (
        taken(
            store, claude(tmp_path / "t", "c", [Said("user", "hi"), Said("assistant", "Hello!")]), script
        ).status
        == "trivial"
    )
    assert script.asked == []


def test_the_prompt_stays_within_its_limit_and_what_is_older_keeps_its_own_bullets(store, tmp_path):
    turns = [turn for number in range(1, 61) for turn in talk(number)]
    script = Script("- **decision:** The cache of module m60 is kept in Redis on port 6060.")
    limits = replace(Limits(), bytes=8_000)
    taken(store, claude(tmp_path / "t", "a", turns), script, limits=limits)
    ((_, prompt),) = script.asked
    assert prompt.size <= 8_000
    assert "m60" in prompt.text
    text = " ".join(bullet.text for bullet in only_note(store).bullets)
    assert "6003" in text  # far too old for the prompt
    assert "6060" in text


def test_one_turn_that_is_too_long_does_not_pass_the_limit(store, tmp_path):
    turns = [Said("user", "Why does the nightly import fail on the second shard of the orders table? " * 3)]
    turns += [
        Said("assistant", f"Shard {number} of orders holds {number * 37} rows that were never vacuumed. " * 6)
        for number in range(80)
    ]
    script = Script("NO_DURABLE_CONTENT")
    taken(store, claude(tmp_path / "t", "a", turns), script, limits=replace(Limits(), bytes=6_000))
    assert script.asked[0][1].size <= 6_000


def test_secrets_and_private_parts_are_never_shown_to_a_model(store, tmp_path):
    key = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    turns = [
        *talk(1),
        Said(
            "user",
            f"The token is {key}. <private>We fire Carol on Monday.</private> Deploy with it, please, every Friday evening.",
        ),
    ]
    turns.append(
        Tool(
            "Bash",
            {"command": f"curl -H 'Authorization: Bearer {key}' https://api.internal"},
            "failed",
            failed=True,
        )
    )
    turns.append(Said("assistant", "The deployment failed because the token has no scope for packages."))
    script = Script(f"- **environment:** The token is {key}.\n{GOOD}")
    taken(store, claude(tmp_path / "t", "a", turns), script)
    assert key not in script.asked[0][1].text
    assert "Carol" not in script.asked[0][1].text
    assert key.encode() not in b"".join(path.read_bytes() for path in store.root.rglob("*") if path.is_file())


def test_a_session_that_may_not_be_captured_is_not_shown_to_a_model(store, tmp_path):
    def refuse(session):
        raise Refused("capture is off")

    script = Script(GOOD)
    with pytest.raises(Refused):
        taken(store, claude(tmp_path / "t", "a", talk(1)), script, workspace=refuse)
    assert script.asked == []


def test_a_doubt_stays_a_doubt(store, tmp_path):
    turns = [
        Said("user", "Evaluate whether Kafka would help with the order queue; it is probably too heavy for us, must verify with the load numbers."),
        Said("assistant", "I looked at the order queue: it moves 40 messages a second. Kafka might be more than it needs, but I have not measured it under load."),
        *talk(3),
    ]  # fmt: skip
    lies = (
        "- **decision:** Kafka is used for the order queue.\n- **decision:** Kafka is probably too heavy for the order queue.\n"
        + GOOD.replace("1", "3")
    )
    taken(store, claude(tmp_path / "t", "a", turns), Script(lies))
    told = {bullet.text: bullet.label for bullet in only_note(store).bullets}
    assert "Kafka is used for the order queue." not in told
    assert told["Kafka is probably too heavy for the order queue."] == "open"


def test_a_dry_run_asks_nobody(store, tmp_path):
    script = Script(GOOD)
    assert taken(store, claude(tmp_path / "t", "a", talk(1)), script, dry_run=True).status == "captured"
    assert script.asked == []


def test_a_good_pass_after_useless_ones_lets_the_note_go_on(store, tmp_path):
    path = claude(tmp_path / "t", "a", talk(1))
    for _ in range(2):
        taken(store, path, Script("I can't do that."))
    assert only_note(store).needs_review
    append(path, talk(2))
    taken(store, path, Script("- **decision:** The cache of module m2 is kept in Redis on port 6002."))
    assert (only_note(store).needs_review, only_note(store).attempts) == (False, 0)
