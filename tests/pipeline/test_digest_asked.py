"""A model chooses for the digest: what holds is kept, what does not is counted, and labels stand behind it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.models.gbnf import compiled
from tests.pipeline.scripted import Script

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.formats.digestreply import Piece, parse_digest_reply
from lamina.models.base import Reply
from lamina.pipeline.digest.asked import asked
from lamina.pipeline.digest.run import run
from lamina.pipeline.digest.view import look
from lamina.store.memoryfolder import resolve

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
FILE = "memory/2026-12-01-esm-memory.md"
ESM, PORT = "Use plain ESM, because what we ship is what we test.", "The staging server listens on port 9090."
QUEUE = "Use Postgres for the job queue, because Redis lost jobs twice."


def part(hour, *, done=(), decisions=(), context=""):
    lines = [f"<!-- memory:session id=2026-12-01T{hour:02}:00:00Z -->", f"## Session {hour}:30 — work", ""]
    lines += [f"**Context**:\n{context}", ""] if context else []
    for label, said in (("Done", done), ("Decisions", decisions)):
        if said:
            lines += [f"**{label}**:", *(f"- {each} Evidence: `session`" for each in said), ""]
    return "\n".join(lines)


def ref(hour):
    return f"{FILE}#session-2026-12-01T{hour:02}:00:00Z"


@pytest.fixture
def folder(tmp_path):
    found = resolve(tmp_path)
    found.path.mkdir()
    parts = [part(9, decisions=[ESM], done=[PORT]), part(12, decisions=[QUEUE])]
    (tmp_path / FILE).write_text("# Memory — harbor — 2026-12-01\n\n" + "\n".join(parts))
    return found


def more(folder, *parts):
    with (folder.root / FILE).open("a") as file:
        file.write("\n" + "\n".join(parts))


def digested(folder, script, *, hours=0, limit=48_000):
    return run(
        folder,
        lambda view: asked(script, view, limit=limit),
        lambda: (None, "it is off"),
        now=NOW + timedelta(hours=hours),
    )


def parsed(folder):
    return parse_digest(folder.digest.read_text())


def texts(folder):
    return [item.text for item in parsed(folder).sections[-1].items]


def test_lines_that_hold_become_items_with_the_session_as_source(folder):
    script = Script(f"- [1 | decision] {ESM}\n- [1 | state] {PORT}\n- [2 | decision] {QUEUE}\n")
    told = digested(folder, script)
    assert [(item.kind, item.text, item.sources) for item in parsed(folder).items] == [
        ("decision", ESM, (ref(9),)),
        ("decision", QUEUE, (ref(12),)),
        ("state", PORT, (ref(9),)),
    ]
    assert [purpose for purpose, _ in script.asked] == ["digest"]
    assert not [each for each in told.limitations if "left out" in each or "labels" in each]


def test_the_model_sees_the_sessions_between_marks_and_no_secret(folder):
    secret = "ghp_" + "a1B2" * 9
    more(folder, part(15, context=f"The key is {secret}."))
    script = Script("NOTHING 1\nNOTHING 2\nNOTHING 3")
    digested(folder, script)
    shown = script.asked[0][1].whole
    assert ESM in shown
    assert QUEUE in shown
    assert secret not in shown
    assert shown.rstrip().endswith("END")


def test_nothing_covers_a_session_without_an_item(folder):
    digested(folder, Script("NOTHING 1\nNOTHING 2"))
    assert parsed(folder).items == ()
    assert parsed(folder).sections[-1].sources == (ref(9), ref(12))


@pytest.mark.parametrize(
    "line",
    [
        "- [2 | decision] Use Postgres 16 for the job queue.",
        "- [2 | decision] Use `rabbitmq.conf` for the job queue.",
        "- [2 | decision] Elephants graze quietly beside the purple river.",
        "- [2 | decision] Do not use Postgres for the job queue.",
        f"- [7 | decision] {QUEUE}",
        f"- [0 | decision] {QUEUE}",
        "UPDATE decision-none [2] :: " + QUEUE,
    ],
)
def test_an_invention_is_left_out_and_counted_and_its_session_goes_by_its_labels(folder, line):
    told = digested(folder, Script(f"- [1 | decision] {ESM}\n{line}\n"))
    assert sorted(texts(folder)) == sorted([ESM, QUEUE])
    assert any("1 line" in each and "left out" in each for each in told.limitations)
    assert any("label" in each for each in told.limitations)


def test_a_session_that_no_line_names_goes_by_its_labels(folder):
    told = digested(folder, Script(f"- [2 | decision] {QUEUE}\n"))
    assert sorted(texts(folder)) == sorted([ESM, PORT, QUEUE])
    assert any("1 session" in each and "label" in each for each in told.limitations)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I am sorry, I can't help with that.",
        "{}",
        errors.NoModelAnswered("nobody is there"),
        errors.CapReached("the day's cap is reached"),
    ],
)
def test_without_a_usable_reply_the_labels_are_taken_and_that_is_said(folder, reply):
    told = digested(folder, Script(reply))
    assert sorted(texts(folder)) == sorted([ESM, PORT, QUEUE])
    assert any("label" in each for each in told.limitations)
    if isinstance(reply, Exception):
        assert any(reply.message in each for each in told.limitations)


def test_once_no_model_answers_no_more_is_asked(folder):
    more(folder, *(part(hour, context="word " * 900) for hour in range(13, 23)))
    script = Script(errors.NoModelAnswered("nobody is there"))
    digested(folder, script, limit=8_000)
    assert len(script.asked) == 1
    assert len(parsed(folder).sections[-1].sources) == 12


def test_a_doubt_becomes_an_open_action(folder):
    more(folder, part(15, context="Maybe we should move the importer to Rust."))
    digested(
        folder, Script("NOTHING 1\nNOTHING 2\n- [3 | decision] Maybe we should move the importer to Rust.")
    )
    assert [(item.kind, item.sources) for item in parsed(folder).items] == [("open", (ref(15),))]


def test_an_update_keeps_the_id_and_gets_a_new_hash(folder):
    digested(folder, Script(f"- [1 | state] {PORT}\nNOTHING 2"))
    old = parsed(folder).items[0]
    more(folder, part(15, done=["The staging server listens on port 9191."]))
    script = Script(f"UPDATE {old.id} [1] :: The staging server listens on port 9191.")
    digested(folder, script, hours=1)
    assert f"{old.id} (state): {PORT}" in script.asked[0][1].text
    now = parsed(folder).current[old.id]
    assert (now.text, now.kind, now.sources) == (
        "The staging server listens on port 9191.",
        "state",
        (ref(15),),
    )
    assert now.hash != old.hash


def test_an_open_action_that_was_done_becomes_a_state_under_its_id(folder):
    more(folder, part(15, context="Write the upgrade guide."))
    digested(folder, Script("NOTHING 1\nNOTHING 2\n- [3 | open] Write the upgrade guide."))
    id_ = parsed(folder).items[0].id
    more(folder, part(16, done=["The upgrade guide is written."]))
    digested(folder, Script(f"UPDATE {id_} [1 | state] :: The upgrade guide is written."), hours=1)
    assert [(item.kind, item.id) for item in parsed(folder).current.values()] == [("state", id_)]


def test_two_updates_of_one_item_leave_the_later_one(folder):
    digested(folder, Script(f"- [1 | state] {PORT}\nNOTHING 2"))
    id_ = parsed(folder).items[0].id
    more(folder, part(15, done=["The port is 9191."]), part(16, done=["The port is 9292."]))
    digested(
        folder,
        Script(f"UPDATE {id_} [1] :: The port is 9191.\nUPDATE {id_} [2] :: The port is 9292."),
        hours=1,
    )
    assert parsed(folder).fatal is None
    assert parsed(folder).current[id_].text == "The port is 9292."
    assert parsed(folder).sections[-1].sources == (ref(15), ref(16))
    ids = [item.id for item in parsed(folder).sections[-1].items]
    assert len(set(ids)) == len(ids)


def test_a_secret_in_a_reply_is_replaced(folder):
    secret = "ghp_" + "a1B2" * 9
    digested(folder, Script(f"- [1 | decision] {ESM} {secret}\nNOTHING 2"))
    assert secret not in folder.digest.read_text()


def test_a_reply_that_was_cut_loses_its_last_line(folder):
    script = Script(Reply(f"- [1 | decision] {ESM}\n- [2 | decision] Use Postgres for the", cut=True))
    digested(folder, script)
    assert sorted(texts(folder)) == sorted([ESM, QUEUE])


def test_prompts_stay_within_their_limit_and_every_session_is_asked_about_once(folder):
    more(
        folder,
        *(part(hour, context=f"We read part {hour} of the code. " + "word " * 500) for hour in range(13, 24)),
    )
    script = Script("")
    digested(folder, script, limit=9_000)
    assert len(script.asked) > 2
    assert all(len(prompt.whole.encode()) <= 9_200 for _, prompt in script.asked)
    assert len(parsed(folder).sections[-1].sources) == 13


def test_a_session_that_is_longer_than_a_prompt_loses_no_labelled_bullet(folder):
    more(folder, part(15, decisions=["Keep the importer in Python."], context="word " * 30_000))
    told = digested(folder, Script(f"- [1 | decision] {ESM}\nNOTHING 2\nNOTHING 3\nNOTHING 1"), limit=8_000)
    assert parsed(folder).sections[-1].sources == (ref(9), ref(12), ref(15))
    assert "Keep the importer in Python." in texts(folder)
    assert any("label" in each for each in told.limitations)


def test_every_exchange_is_kept_for_the_log_without_secrets(folder):
    secret, kept = "ghp_" + "a1B2" * 9, []
    view = look(folder)
    asked(Script(f"- [1 | decision] {secret}"), view, limit=48_000, keep=lambda *each: kept.append(each))
    asked(Script("I can't."), view, limit=48_000, keep=lambda *each: kept.append(each))
    assert [failed for _, _, failed in kept] == [False, True]
    assert all(secret not in text for each in kept for text in each[:2])


def test_the_grammar_allows_the_lines_of_the_prompt_about_what_is_shown(folder):
    script = Script("NOTHING 1\nNOTHING 2")
    digested(folder, script)
    held = compiled(script.asked[0][1].grammar)
    assert held.fullmatch(f"- [1 | decision] {ESM}\n- [2 | open] 漢字\nNOTHING 2\n")
    for line in ("- [3 | decision] x", "- [1 | fact] x", "Sure!", "UPDATE none [1] :: x", "NOTHING"):
        assert not held.fullmatch(f"{line}\n")


# --- the lines


@pytest.mark.parametrize(
    ("line", "piece"),
    [
        ("- [2 | decision] Use X.", Piece(2, "decision", "Use X.")),
        ("* [ 2 | Decisions ]   Use X.", Piece(2, "decision", "Use X.")),
        ("[2|state] It runs.", Piece(2, "state", "It runs.")),
        ("- [#2 | learning] Use X.", Piece(2, "learning", "Use X.")),
        ("- [session 2 | open] Do Y.", Piece(2, "open", "Do Y.")),
        ("UPDATE a-b [3] :: Use X.", Piece(3, "", "Use X.", "a-b")),
        ("UPDATE a-b [3 | state] :: It is done.", Piece(3, "state", "It is done.", "a-b")),
        ("- UPDATE `a-b` [3]: Use X.", Piece(3, "", "Use X.", "a-b")),
        ("Here is what I found:", None),
        ("- [x | decision] Use X.", None),
        ("- [2 | fact] Use X.", None),
        ("- [2 | decision]", None),
        ("```", None),
    ],
)
def test_lines_are_read_leniently(line, piece):
    assert parse_digest_reply(line).pieces == ((piece,) if piece else ())


def test_one_line_may_name_several_sessions_that_hold_nothing():
    assert parse_digest_reply("NOTHING 1, 2\nnothing 4").nothing == {1, 2, 4}
