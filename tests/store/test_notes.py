from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.store.making import NOW, remember, write

from lamina.formats.event import Position
from lamina.formats.note import Bullet, Note, Section
from lamina.store import notes, watermarks
from lamina.store.store import Store
from lamina.store.watermarks import Read, Watermark


def note(session: str, **given) -> Note:
    bullet = Bullet("decision", "use plain ESM", None, 1, 2)
    values = {
        "workspace": "workspace:lamina",
        "captured": NOW,
        "last": 9,
        "sections": (Section(NOW, (bullet,), 0, 9),),
    }
    return Note(session, "codex", **(values | given))


def test_notes_are_saved_loaded_and_listed(store: Store) -> None:
    early = note("b", captured=NOW - timedelta(days=1))
    with store.writing(label="capture", at=NOW) as batch:
        rel = notes.save(batch, note("a"))
        notes.save(batch, early)
        notes.save(batch, note("c", consolidated=NOW))
        notes.save(batch, note("d", needs_review=True))
    assert rel == "digests/codex_a.md"
    assert [each.note.session for each in notes.notes(store)] == ["a", "b", "c", "d"]
    assert [each.note.session for each in notes.pending(store)] == ["b", "a"]
    found = notes.load(store, "codex_a")
    assert found is not None
    assert found.note.bullets[0].text == "use plain ESM"
    with store.writing(label="consolidate", at=NOW) as batch:
        notes.save(batch, replace(found.note, consolidated=NOW), name=found.name)
        notes.remove(batch, "codex_b")
    assert notes.pending(store) == []
    assert notes.load(store, "codex_b") is None
    assert not (store.root / "state/dirty.json").exists() or remember(store, "x").id


def test_one_bad_note_never_stops_the_others(store: Store) -> None:
    with store.writing(label="capture", at=NOW) as batch:
        notes.save(batch, note("a"))
    (store.root / "digests/bad.md").write_bytes(b"\xff")
    (store.root / "digests/link.md").symlink_to(store.root / "memory.json")
    assert [each.name for each in notes.pending(store)] == ["codex_a"]
    assert len(store.problems) == 2


def test_a_hostile_session_id_stays_a_file_name(store: Store) -> None:
    for session in ("../../../../tmp/pwned", "/etc/cron.d/x", "CON", "a\nb"):
        with store.writing(label="capture", at=NOW) as batch:
            rel = notes.save(batch, note(session))
            watermarks.save(batch, Watermark("codex", session))
        assert (store.root / rel).parent == store.root / "digests"
        assert watermarks.load(store, "codex", session) is not None


def test_watermarks_come_back(store: Store) -> None:
    mark = Watermark("codex", "a", (Read("/t/a.jsonl", 120, Position(100, 7, "abc", "{}")),), 6, NOW, "thin")
    with store.writing(label="capture", at=NOW) as batch:
        assert watermarks.save(batch, mark) == "state/sessions/codex_a.json"
    assert watermarks.load(store, "codex", "a") == mark
    assert [*watermarks.watermarks(store)] == [mark]
    assert watermarks.load(store, "codex", "b") is None


def test_a_damaged_watermark_is_none(store: Store) -> None:
    for text in ("{", "[]", "{}", '{"files": 3}'):
        write(store, "state/sessions/codex_a.json", text)
        assert watermarks.load(store, "codex", "a") is None
    assert [*watermarks.watermarks(store)] == []
