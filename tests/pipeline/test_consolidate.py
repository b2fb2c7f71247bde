"""Notes become entries without a model: layers, trust, provenance, and one batch a note."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from lamina.formats.bullet import Bullet
from lamina.formats.decision import parse_decision
from lamina.formats.note import Note, Section
from lamina.formats.scope import Scope
from lamina.pipeline.consolidate import consolidate
from lamina.pipeline.drafts import _alike, _distinct, drafts
from lamina.pipeline.exchanges import terms
from lamina.pipeline.forget import bury
from lamina.pipeline.headings import split
from lamina.store import notes
from lamina.store.store import Store

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ATLAS = Scope("bird-atlas")


def bullet(label: str, text: str, who: str = "user", day: date | None = date(2026, 4, 2)) -> Bullet:
    return Bullet(label, text, day, 3, 7, "as it was said", who)


def note(
    *bullets: Bullet, session: str = "s-1", day: int = 2, workspace: str = "workspace:bird-atlas"
) -> Note:
    at = datetime(2026, 4, day, 9, tzinfo=UTC)
    section = Section(NOW, bullets, 0, 9)
    return Note(session, "claude-code", workspace, "/w", 0, 9, at, NOW, sections=(section,))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True, now=NOW)


def keep(store: Store, *kept: Note) -> None:
    with store.writing(label="capture", at=NOW) as batch:
        for one in kept:
            notes.save(batch, one)


@pytest.mark.parametrize(
    ("label", "layer"),
    [
        ("decision", "decisions"), ("preference", "learnings"), ("constraint", "learnings"),
        ("correction", "learnings"), ("fix", "learnings"), ("how-to", "procedural"), ("How to", "procedural"),
        ("finding", "semantic"), ("Findings", "semantic"), ("environment", "semantic"), ("failure", "episodic"),
        ("open", "episodic"), ("", "episodic"), ("оставшееся", "episodic"),
    ],
)  # fmt: skip
def test_the_label_chooses_the_layer(label, layer):
    assert [draft.layer for draft in drafts(note(bullet(label, "Map tiles come from the archive.")))] == [
        layer
    ]


@pytest.mark.parametrize(
    ("label", "who", "workspace", "trust"),
    [
        ("decision", "user", "workspace:bird-atlas", "approved"),
        ("decision", "assistant", "workspace:bird-atlas", "candidate"),
        ("preference", "tool", "workspace:bird-atlas", "candidate"),
        ("finding", "assistant", "workspace:bird-atlas", "approved"),
        ("finding", "assistant", "global", "candidate"),
        ("finding", "assistant", "workspace:CON", "candidate"),
        ("finding", "user", "global", "approved"),
    ],
)
def test_what_a_model_alone_said_waits_where_it_matters(label, who, workspace, trust):
    (draft,) = drafts(note(bullet(label, "Map tiles come from the archive.", who), workspace=workspace))
    assert draft.trust == trust


def test_a_draft_tells_where_it_comes_from():
    (draft,) = drafts(note(bullet("finding", "Map tiles come from the archive.", day=None)))
    assert draft.source == "session:claude-code/s-1#3-7"
    assert draft.evidence == "“as it was said” (user)"
    assert draft.date == date(2026, 4, 2)
    assert draft.scope == ATLAS


def test_a_decision_is_sorted_into_its_sections():
    text = (
        "Use tiles from the archive instead of the live server because the server limits rates. "
        "Tiles are renewed weekly."
    )
    (draft,) = drafts(note(bullet("decision", text)))
    decision = parse_decision(draft.heading, draft.body)
    assert decision.heading == "Use tiles from the archive instead of the live server"
    assert decision.rationale == "The server limits rates."
    assert decision.alternatives == ("Live server",)
    assert decision.context == "Tiles are renewed weekly."
    assert draft.body.startswith("Tiles are renewed weekly.\n\n**Rationale:**\n")
    (bare,) = drafts(note(bullet("decision", "Use tiles from the archive.")))
    assert bare.heading == "Use tiles from the archive"


@pytest.mark.parametrize(
    ("text", "heading", "body"),
    [
        ("Tiles are cached.", "Tiles are cached", ""),
        ("Tiles are cached. For a week.", "Tiles are cached", "For a week."),
        ("Commands to deploy: build: `make`.", "Commands to deploy", "Build: `make`."),
        ("Map tiles · Renewed weekly. On Monday.", "Map tiles · Renewed weekly", "On Monday."),
        ("缓存保存七天。之后删除。", "缓存保存七天", "之后删除。"),
        ("x" * 200, "x" * 80, "x" * 200),
    ],
)
def test_a_heading_is_short_and_its_words_are_not_repeated(text, heading, body):
    assert split(text) == (heading, body)


def test_a_long_first_sentence_is_cut_at_a_boundary_and_kept_whole_below():
    text = "The importer reads the archive in chunks of 64 MB, and each of them is checked (size, hash, date) on the way."
    heading, body = split(text)
    assert heading == "The importer reads the archive in chunks of 64 MB, and each of them is checked"
    assert body == text


def test_entries_and_the_notes_mark_are_written_together(store):
    keep(store, note(bullet("finding", "Map tiles come from the archive.")))
    done = consolidate(store, now=NOW)
    assert (done.notes, done.entries, done.known, done.refused) == (1, 1, 0, 0)
    (located,) = store.entries(ATLAS)
    assert (located.layer, located.topic, located.entry.id) == (
        "semantic",
        "Map tiles",
        "bird-atlas-sem-0001",
    )
    assert notes.pending(store) == []
    assert next(notes.notes(store)).note.consolidated == NOW


def test_a_note_without_bullets_is_handled_too(store):
    keep(store, note())
    assert consolidate(store, now=NOW).notes == 1
    assert notes.pending(store) == []


def test_running_again_after_a_crash_writes_nothing_twice(store):
    keep(
        store,
        one := note(
            bullet("finding", "Map tiles come from the archive."), bullet("open", "Docs are missing.")
        ),
    )
    consolidate(store, now=NOW)
    keep(
        store,
        replace(
            one, sections=(*one.sections, Section(NOW, (bullet("finding", "Tiles expire weekly."),), 10, 12))
        ),
    )
    done = consolidate(store, now=NOW)
    assert (done.entries, done.known) == (1, 2)
    assert [each.topic for each in store.entries(ATLAS, "semantic")] == ["Map tiles", "Map tiles"]


def test_limit_takes_the_oldest_sessions_first(store):
    keep(
        store,
        note(bullet("finding", "Login uses cookies."), session="a", day=9),
        note(bullet("finding", "Map tiles come from the archive."), session="b", day=3),
    )
    assert consolidate(store, now=NOW, limit=1).notes == 1
    assert [each.note.session for each in notes.pending(store)] == ["a"]


def test_stopping_between_notes_gives_the_same_store(tmp_path):
    kept = [
        note(
            bullet("finding", f"{subject} number {at} is stored in slot {at}."), session=f"s{at}", day=at + 1
        )
        for at, subject in enumerate(["Map tiles", "Bird calls", "Tile cache", "Call archive", "Login page"])
    ]
    trees = []
    for name, steps in (("whole", [None]), ("parts", [1, 2, None])):
        store = Store.open(tmp_path / name, create=True, now=NOW)
        keep(store, *kept)
        for step in steps:
            consolidate(Store.open(tmp_path / name), now=NOW, limit=step)
        root = tmp_path / name / "workspaces"
        trees.append({str(file.relative_to(root)): file.read_text() for file in root.rglob("*.md")})
    assert trees[0] == trees[1]


def test_dry_run_counts_and_writes_nothing(store):
    keep(store, note(bullet("finding", "Map tiles come from the archive.")))
    assert consolidate(store, now=NOW, dry_run=True).entries == 1
    assert [*store.entries(ATLAS)] == []
    assert len(notes.pending(store)) == 1


def test_what_nearly_repeats_itself_in_a_note_is_written_once():
    found = drafts(
        note(
            bullet("finding", "The map tiles come from the old archive folder."),
            bullet("finding", "Map tiles come from the old archive folder!"),
            bullet("finding", "Map tiles come from the old archive folder 2."),
        )
    )
    assert [draft.heading[-8:] for draft in found] == ["e folder", "folder 2"]


def correcting(
    store: Store, correction: str, *, old: str = "Map tiles are served by Apache on one machine."
) -> list[str]:
    keep(store, note(bullet("finding", old), session="a", day=1))
    consolidate(store, now=NOW)
    keep(store, note(bullet("correction", correction), session="b", day=5))
    return consolidate(store, now=NOW).superseded


def test_a_correction_supersedes_the_one_fact_that_it_names(store):
    text = "Map tiles are served by nginx instead of Apache on one machine."
    assert correcting(store, text) == ["bird-atlas-sem-0001"]
    old = store.find("bird-atlas-sem-0001")
    assert old is not None
    assert old.entry.status == "superseded by bird-atlas-lrn-0001"
    assert "Apache" in old.entry.heading


def test_a_correction_that_covers_too_little_supersedes_nothing(store):
    old = "Map tiles are served by Apache from the archive disk, renewed weekly by cron and checked by hash every night."
    assert correcting(store, "Map tiles: use nginx instead of Apache.", old=old) == []


def test_an_entry_that_a_person_vouches_for_is_not_touched(store):
    from lamina.formats.entry import with_field

    keep(store, note(bullet("finding", "Map tiles are served by Apache on one machine."), session="a", day=1))
    consolidate(store, now=NOW)
    with store.writing(label="edit", at=NOW) as batch:
        batch.change(
            "bird-atlas-sem-0001", lambda entry: with_field(entry, "Source", f"{entry.source}, user")
        )
    text = "Map tiles are served by nginx instead of Apache on one machine."
    keep(store, note(bullet("correction", text), session="b", day=5))
    assert consolidate(store, now=NOW).superseded == []


def test_forgotten_content_is_refused_and_the_note_is_handled(store):
    first = note(bullet("finding", "Map tiles come from the archive."), session="a")
    keep(store, first)
    consolidate(store, now=NOW)
    bury(store, [*store.entries(ATLAS)], NOW, reason="wrong")
    keep(store, note(bullet("finding", "Map tiles come from the archive."), session="b", day=3))
    done = consolidate(store, now=NOW)
    assert (done.notes, done.entries, done.refused) == (1, 0, 1)
    assert notes.pending(store) == []


def test_near_repeats_in_a_session_are_found_as_by_comparing_all_pairs():
    rng = random.Random(7)
    words = [f"word{chr(97 + n % 26)}{'abcdefghij'[n // 26]}" for n in range(60)]
    bullets = []
    for number in range(400):
        base = rng.sample(words, rng.randrange(3, 14)) + ([str(rng.randrange(4))] if number % 3 == 0 else [])
        bullets.append(Bullet("finding", " ".join(base), None, number, number))
        if rng.random() < 0.5:
            near = [*base[1:], rng.choice(words)]
            bullets.append(Bullet("finding", " ".join(near), None, number, number))
    kept = []
    for bullet in bullets:
        if not any(_alike(terms(bullet.text), terms(one.text)) for one in kept):
            kept.append(bullet)
    assert len(kept) < len(bullets)
    assert _distinct(bullets) == kept


def test_many_bullets_of_one_session_are_told_apart_in_linear_time():
    def cost(count: int) -> float:
        many = [
            Bullet("finding", f"The importer keeps setting number {n} of the queue", None, n, n)
            for n in range(count)
        ]
        start = time.process_time()
        assert len(_distinct(many)) == count
        return time.process_time() - start

    cost(500)
    assert cost(8_000) < 6 * 4 * max(cost(2_000), 0.01)


def test_a_correction_that_waits_for_a_person_names_what_it_would_replace(store: Store) -> None:
    keep(store, note(bullet("environment", "The atlas server runs on port 8080."), session="s-1"))
    consolidate(store, now=NOW)
    fixed = bullet("correction", "The atlas server runs on port 9090, not 8080.", day=date(2026, 4, 3))
    keep(store, note(fixed, session="s-2", day=3))
    consolidate(store, now=NOW, review="all")
    told = {each.entry.id: (each.entry.trust, each.entry.body) for each in store.entries(ATLAS)}
    old = next(id_ for id_, (trust, _) in told.items() if trust == "approved")
    (waits,) = (body for trust, body in told.values() if trust == "candidate")
    assert waits.endswith(f"Conflicts with {old}.")
