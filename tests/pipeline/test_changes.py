"""An entry that gives way: the id finds the newest words, the old ones stay, a person's are not touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from lamina.formats.entry import Draft, parse_topic, render_topic
from lamina.formats.scope import Scope
from lamina.pipeline import changes
from lamina.pipeline.changes import Revision
from lamina.store.store import Store

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SHOP = Scope("shop")
PORT = Draft(
    "The port is 8080", "The port is 8080.", SHOP, "semantic", "Server", date(2026, 4, 1),
    importance=4, source="session:codex/s-1#0-3", evidence="“port 8080” (user)", volatility="volatile",
)  # fmt: skip
NEW = Revision("The port is 9090.", "session:codex/s-2#4-6", "“port 9090” (user)", date(2026, 4, 20))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "store", create=True, now=NOW)
    with store.writing(label="test", at=NOW) as batch:
        batch.add(PORT, fields={"Owner": "platform"})
    return store


def entries(store: Store) -> dict[str, tuple[str, ...]]:
    return {
        each.entry.id: (each.entry.heading, each.entry.body, each.entry.trust, each.entry.status)
        for each in store.entries(SHOP)
    }


def test_an_update_keeps_the_id_for_the_newest_words_and_the_old_ones_behind_it(store: Store) -> None:
    with store.writing(label="test", at=NOW) as batch:
        changes.update(batch, "shop-sem-0001", NEW)
    assert entries(store) == {
        "shop-sem-0001": ("The port is 9090", "", "approved", ""),
        "shop-sem-0002": (
            "The port is 8080",
            "The port is 8080.",
            "superseded",
            "superseded by shop-sem-0001",
        ),
    }
    new, old = (store.find(id_).entry for id_ in ("shop-sem-0001", "shop-sem-0002"))
    assert new.source == "session:codex/s-2#4-6, session:codex/s-1#0-3"
    assert (new.field("Evidence"), new.verified, new.importance) == (
        "“port 9090” (user)",
        date(2026, 4, 20),
        4,
    )
    assert (old.source, old.volatility, old.field("Owner")) == (
        "session:codex/s-1#0-3",
        "volatile",
        "platform",
    )
    text = (store.root / "workspaces/shop/semantic/server.md").read_text(encoding="utf-8")
    assert render_topic(parse_topic(text)) == text


def test_an_update_that_says_the_same_changes_nothing(store: Store) -> None:
    before = (store.root / "workspaces/shop/semantic/server.md").read_bytes()
    with store.writing(label="test", at=NOW) as batch:
        assert changes.update(batch, "shop-sem-0001", replace(NEW, text="The port is 8080.")) is None
    assert (store.root / "workspaces/shop/semantic/server.md").read_bytes() == before


def test_words_beside_an_entry_wait_for_a_person_and_name_what_they_conflict_with(store: Store) -> None:
    with store.writing(label="test", at=NOW) as batch:
        changes.beside(batch, "shop-sem-0001", NEW)
    with store.writing(label="test", at=NOW) as batch:
        assert changes.beside(batch, "shop-sem-0001", NEW) is None
    body = "Conflicts with shop-sem-0001."
    assert entries(store)["shop-sem-0002"] == ("The port is 9090", body, "candidate", "")
    assert changes.conflict_of(f"Why.\n\n{body}") == changes.conflict_of(body) == "shop-sem-0001"
    assert changes.without_conflict(f"Why.\n\n{body}") == "Why."


def test_what_is_superseded_says_by_what_or_why(store: Store) -> None:
    with store.writing(label="test", at=NOW) as batch:
        changes.supersede(batch, "shop-sem-0001", day=NOW.date(), reason="the server\n## is gone")
    entry = store.find("shop-sem-0001").entry
    assert (entry.trust, entry.status, entry.field("Reason")) == (
        "superseded", "superseded 2026-05-01", "the server ## is gone",
    )  # fmt: skip


def test_a_value_that_comes_back_later_is_news_and_an_old_one_read_again_is_not(store: Store) -> None:
    with store.writing(label="test", at=NOW) as batch:
        added = batch.add(
            replace(PORT, heading="The port is 9090", body="The port is 9090.", date=date(2026, 4, 20))
        )
        changes.supersede(batch, "shop-sem-0001", day=NOW.date(), by=added.id)
    with store.writing(label="test", at=NOW) as batch:
        assert changes.holder(batch, SHOP, PORT.heading, PORT.body, day=date(2026, 4, 1)) == "shop-sem-0001"
        assert changes.holder(batch, SHOP, PORT.heading, PORT.body, day=date(2026, 4, 30)) is None
        assert (
            changes.holder(batch, SHOP, "The port is 9090", "The port is 9090.", day=date(2026, 4, 30))
            == added.id
        )
