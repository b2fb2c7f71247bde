"""What an agent chose for a digest: taken whole, or refused with everything that is wrong with it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from lamina import errors
from lamina.formats.daily import Bullet
from lamina.formats.digest import NOTHING
from lamina.formats.digestreader import parse_digest
from lamina.pipeline.digest import drafts
from lamina.pipeline.digest.run import run
from lamina.pipeline.digest.view import Session, look
from lamina.store.memoryfolder import resolve

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
FILE = "memory/2026-12-01-esm-memory.md"
R1, R2, R3 = (f"{FILE}#session-2026-12-01T{hour}:00:00Z" for hour in ("09", "12", "15"))
ESM, PORT = "Use plain ESM, because what we ship is what we test.", "The staging server listens on port 9090."
DAILY = f"""# Memory — harbor — 2026-12-01

<!-- memory:session id=2026-12-01T09:00:00Z -->
## Session 10:00 — modules

**Done**:
- {PORT} Evidence: `session`

**Decisions**:
- {ESM} Evidence: `session`

<!-- memory:session id=2026-12-01T12:00:00Z -->
## Session 13:00 — queue

**Decisions**:
- Use Postgres for the job queue, because Redis lost jobs twice. Evidence: `session`

<!-- memory:session id=2026-12-01T15:00:00Z -->
## Session 16:00 — reading

**Context**:
Read the code of the importer. Nothing changed. We might use port 9191 for the server.
"""


@pytest.fixture
def folder(tmp_path):
    found = resolve(tmp_path)
    found.path.mkdir()
    (tmp_path / FILE).write_text(DAILY)
    return found


def applied(folder, value, *, hours=0, dry_run=False):
    told = run(
        folder,
        lambda view: drafts.given(view, value),
        lambda: (None, "it is off"),
        now=NOW + timedelta(hours=hours),
        dry_run=dry_run,
    )
    return told.as_json()


def item(kind="decision", text=ESM, source=R1, **more):
    return {"kind": kind, "text": text, "source": source, **more}


def parsed(folder):
    return parse_digest(folder.digest.read_text())


def test_the_plan_shows_the_new_sessions_and_the_current_items(folder):
    shown = drafts.plan(look(folder))
    assert shown["digest"] == str(folder.digest)
    assert [(each["source"], each["date"]) for each in shown["sessions"]] == [
        (ref, "2026-12-01") for ref in (R1, R2, R3)
    ]
    assert ESM in shown["sessions"][0]["text"]
    assert shown["items"] == []
    json.dumps(shown)
    applied(folder, {"items": [item()], "nothing": []})
    shown = drafts.plan(look(folder))
    assert [each["source"] for each in shown["sessions"]] == [R2, R3]
    [kept] = shown["items"]
    assert kept == {"id": kept["id"], "kind": "decision", "text": ESM, "hash": kept["hash"], "sources": [R1]}
    assert len(kept["hash"]) == 64


def test_a_plan_shows_no_secret(folder, tmp_path):
    secret = "ghp_" + "a1B2" * 9
    (tmp_path / FILE).write_text(DAILY.replace("lost jobs", f"lost {secret} jobs"))
    shown = json.dumps(drafts.plan(look(folder)))
    assert secret not in shown
    assert "[redacted" in shown
    applied(folder, {"items": [item(text=f"Use Postgres, because Redis lost {secret} jobs.", source=R2)]})
    assert secret not in folder.digest.read_text()


def test_what_is_named_is_covered_and_the_rest_stays_new(folder):
    told = applied(folder, {"items": [item(), item("state", PORT)], "nothing": [R3]})
    assert told["sessions"] == [R1, R3]
    assert any("1 session" in each for each in told["limitations"])
    section = parsed(folder).sections[-1]
    assert section.sources == (R1, R3)
    assert [(each.kind, each.text, each.sources) for each in section.items] == [
        ("decision", ESM, (R1,)),
        ("state", PORT, (R1,)),
    ]
    told = applied(folder, {"items": [item(text="Use Postgres for the job queue.", source=R2)]}, hours=1)
    assert told["sessions"] == [R2]


def test_nothing_durable_is_one_honest_line(folder):
    applied(folder, {"nothing": [R1, R2, R3]})
    assert NOTHING in folder.digest.read_text()
    assert parsed(folder).sections[-1].sources == (R1, R2, R3)
    assert parsed(folder).items == ()
    before = folder.digest.read_bytes()
    applied(folder, {"nothing": [R1, R2, R3]}, hours=1)
    assert folder.digest.read_bytes() == before


@pytest.mark.parametrize("value", [{}, {"items": []}, {"items": [], "nothing": []}])
def test_naming_no_session_writes_nothing(folder, value):
    assert applied(folder, value)["section"] is None
    assert not folder.digest.exists()


@pytest.mark.parametrize("source", [f"{R1}, {R2}", [R1, R2], f"`{R1}`,`{R2}`"])
def test_one_item_may_come_from_several_sessions(folder, source):
    text = f"{ESM} Use Postgres for the job queue."
    applied(folder, {"items": [item(text=text, source=source)]})
    [kept] = parsed(folder).items
    assert kept.sources == (R1, R2)
    assert parsed(folder).sections[-1].sources == (R1, R2)


def test_a_source_is_read_leniently_and_written_in_one_form(folder):
    loose = "./memory/2026-12-01-esm-memory.md#2026-12-01T09:00:00Z"
    applied(folder, {"items": [item(source=loose)]})
    assert parsed(folder).items[0].sources == (R1,)


def test_an_id_is_kept_and_its_item_gets_a_new_hash(folder):
    applied(folder, {"items": [item("state", PORT, id="state-port")]})
    old = parsed(folder).current["state-port"]
    (folder.path / FILE.partition("/")[2]).write_text(
        DAILY + "\n<!-- memory:session id=2026-12-01T18:00:00Z -->\n## Session 19:00 — port\n\n"
        "**Done**:\n- The staging server listens on port 9292. Evidence: `session`\n"
    )
    later = "The staging server listens on port 9292."
    applied(folder, {"items": [item("state", later, f"{FILE}#session-2026-12-01T18:00:00Z", id="state-port")]}, hours=1)  # fmt: skip
    digest = parsed(folder)
    assert [each.text for each in digest.items if each.id == "state-port"] == [PORT, later]
    assert digest.current["state-port"].hash != old.hash
    assert digest.sections[0].items[0].text == PORT


def test_new_ids_say_what_they_are_and_never_clash(folder):
    applied(
        folder, {"items": [item(id="decision-use-plain-esm"), item(text="Use plain ESM. Test what we ship.")]}
    )
    ids = [each.id for each in parsed(folder).items]
    assert len(set(map(str.casefold, ids))) == 2
    assert all(each.startswith("decision-") for each in ids)


def test_an_item_of_a_covered_session_is_passed_over_if_it_is_known_and_else_refused(folder):
    applied(folder, {"items": [item()], "nothing": [R2]})
    told = applied(folder, {"items": [item(), item("state", "Read the code of the importer.", R3)]}, hours=1)
    assert told["sessions"] == [R3]
    assert ESM not in [each.text for each in parsed(folder).sections[-1].items]
    with pytest.raises(errors.BadInput, match="in the digest already"):
        applied(folder, {"items": [item("state", PORT)]}, hours=2)


def test_what_the_digest_says_already_is_not_written_again_and_its_session_is_covered(folder):
    applied(folder, {"items": [item()]})
    (folder.path / "2026-12-02-b-memory.md").write_text(DAILY.replace("2026-12-01T", "2026-12-02T"))
    again = "memory/2026-12-02-b-memory.md#session-2026-12-02T09:00:00Z"
    told = applied(folder, {"items": [item(source=again)]}, hours=1)
    assert (told["sessions"], told["known"], told["items"]) == ([again], 1, [])
    assert len(parsed(folder).items) == 1


def test_a_text_stands_on_one_line_and_forges_nothing(folder):
    text = "Use plain ESM,\n<!-- digest:item id=evil -->\n## Digest of old\n```\nbecause what we ship is what we test."
    applied(folder, {"items": [item(text=text)]})
    digest = parsed(folder)
    assert len(digest.sections) == 1
    assert [each.id for each in digest.items] == [digest.items[0].id]
    assert digest.fatal is None


def test_a_dry_run_writes_nothing(folder):
    told = applied(folder, {"items": [item()]}, dry_run=True)
    assert told["items"][0]["text"] == ESM
    assert not folder.digest.exists()


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (7, "no object"),
        ({"text": ESM, "source": R1}, "kind"),
        (item(kind="fact"), "kind"),
        (item(text=""), "no text"),
        (item(text=" \n\t"), "no text"),
        (item(text=7), "no text"),
        (item(text="Source: `x`"), "no text"),
        (item(text="x" * 5_000), "characters"),
        (item(source=""), "source"),
        (item(source=None), "source"),
        (item(source=[R1, 7]), "source"),
        (item(source="memory/2026-12-01-esm-memory.md#session-nowhen"), "no session"),
        (item(source=f"{R1},memory/other.md"), "no session"),
        (item(source="digest#section-x"), "no session"),
        (item(id=7), "id"),
        (item(id="Has Blanks"), "id"),
        (item(id="x" * 81), "id"),
        (item(id="-x"), "id"),
        (item(id="legacy-1"), "id"),
        (item(text="The staging server listens on port 9091."), "9091"),
        (item(text="Use plain ESM with rollup.config.js."), "rollup.config.js"),
        (item(text="Elephants graze quietly beside the purple river."), "says nothing of the kind"),
        (item(text="Do not use plain ESM."), "hold"),
        (item("state", "We use port 9191 for the server.", R3), "hold"),
    ],
)
def test_whatever_is_wrong_with_an_item_is_told_and_nothing_is_written(folder, bad, word):
    with pytest.raises(errors.BadInput) as caught:
        applied(folder, {"items": [item("state", PORT), bad], "nothing": [R2]})
    assert word in caught.value.message
    assert "item 1" in caught.value.message or "item 2" in caught.value.message
    assert caught.value.exit_code == 2
    assert not folder.digest.exists()


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (7, "object"),
        (None, "object"),
        ([], "object"),
        ({"items": {}}, "lists"),
        ({"nothing": R1}, "lists"),
        ({"nothing": [7]}, "no session"),
        ({"nothing": ["memory/x.md"]}, "no session"),
        ({"items": [item()], "nothing": [R1]}, "both"),
        ({"items": [item(id="a"), item("state", PORT, id="a")]}, "id"),
    ],
)
def test_whatever_is_wrong_with_the_whole_is_told(folder, value, word):
    with pytest.raises(errors.BadInput) as caught:
        applied(folder, value)
    assert word in caught.value.message
    assert not folder.digest.exists()


def test_everything_that_is_wrong_is_told_at_once(folder):
    bad = [item(kind="fact"), item(text=""), item(source="memory/x.md"), item(id="A B")]
    with pytest.raises(errors.BadInput) as caught:
        applied(folder, {"items": bad, "nothing": ["memory/y.md"]})
    for word in ("kind", "no text", "memory/x.md", "A B", "memory/y.md"):
        assert word in caught.value.message


def bullets(*said):
    """Return one session a pair of kind and text, in order."""
    return [
        Session(f"memory/2026-12-01-a-memory.md#session-{n}", NOW.date(), text, (Bullet(kind, text),))
        for n, (kind, text) in enumerate(said)
    ]


@pytest.mark.parametrize(
    ("open_", "later", "kept"),
    [
        ("Write the guide.", ("state", "Done: Write the guide."), False),
        ("Write the guide.", ("state", "resolved: write the guide"), False),
        (
            "Write the guide. Evidence: `session`",
            ("state", "Closed: Write the guide. Evidence: `abc1234`"),
            False,
        ),
        ("Write the guide.", ("state", "Write the guide."), False),
        ("Write the guide.", ("state", "Wrote the guide."), True),
        ("Write the guide.", ("state", "Done: Write the guide of the importer."), True),
        ("Write the guide.", ("state", "Not done: Write the guide."), True),
        ("Support C++.", ("state", "Done: Support C#."), True),
        ("Support C++.", ("state", "Done: Support C."), True),
        ("Write the guide.", ("open", "Write the guide."), True),
    ],
)
def test_only_the_very_same_words_of_a_later_session_close_an_action(open_, later, kept):
    first = drafts.labelled(bullets(("open", open_), later)).drafts[0]
    assert (first.kind == "open") == kept
    before = drafts.labelled(bullets(later, ("open", open_))).drafts
    assert [draft.bullet for draft in before] == [later[1], open_]
