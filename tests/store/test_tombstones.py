from datetime import UTC, date, datetime, timedelta

import pytest

from lamina import errors
from lamina.formats.entry import Draft, with_field
from lamina.formats.hashing import entry_hash
from lamina.formats.scope import Scope
from lamina.formats.slug import heading_of
from lamina.store import tombstones
from lamina.store.store import Store
from lamina.store.tombstones import Graves, content_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HERE, GLOBAL = Scope("app"), Scope(None)
TEXT = "The staging server listens on port 8080 behind the proxy"


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store", create=True, now=NOW)


def remember(store, text, *, heading=None, scope=HERE):
    draft = Draft(
        heading=heading or text, body=text, scope=scope, layer="semantic", topic="T", date=date(2026, 11, 30)
    )
    with store.writing(label="remember", at=NOW) as batch:
        return batch.add(draft)


def forget(store, written, *, scope=HERE, at=NOW, reason="wrong"):
    with store.writing(label="forget", at=at) as batch:
        entry = batch.find(written.id)
        tombstones.bury(batch, scope, entry, reason=reason)
        batch.change(written.id, lambda old: with_field(old, "Status", "forgotten 2026-11-30"))
    return entry


def refusal(store, text, scope=HERE):
    return Graves.load(store, scope).refusal(heading_of(text), text)


def test_forgotten_content_is_refused_with_its_reason(store):
    written = remember(store, TEXT)
    assert refusal(store, TEXT) is None
    forget(store, written)
    found = refusal(store, TEXT)
    assert (found.id, found.reason, found.heading) == (written.id, "wrong", TEXT)
    problem = tombstones.refuse(found)
    assert isinstance(problem, errors.ForgottenContent)
    assert "wrong" in problem.message
    assert f"lamina forget {written.id} --undo" in problem.hint


def test_a_tombstone_binds_to_the_content_and_not_to_the_id(store):
    written = remember(store, TEXT)
    forget(store, written)
    with store.writing(label="reuse", at=NOW) as batch:
        batch.remove(written.id)
    draft = Draft(
        heading="Other", body="Other", scope=HERE, layer="semantic", topic="T", date=date(2026, 11, 30)
    )
    with store.writing(label="reuse", at=NOW) as batch:
        batch.add(draft, fields={"Id": written.id})
    assert refusal(store, "Other") is None
    assert refusal(store, TEXT) is not None


def test_nearly_the_same_is_refused_and_a_corrected_value_passes(store):
    forget(store, remember(store, TEXT))
    assert refusal(store, "The staging server is listening on port 8080, behind the proxy.") is None
    assert refusal(store, "Staging server listens on port 8080 behind a proxy.").reason == "wrong"
    assert refusal(store, "The staging server listens on port 8081 behind the proxy") is None
    assert refusal(store, "The staging server listens on port 8080 without the proxy") is None


def test_nearly_the_same_is_not_asked_of_a_merge(store):
    forget(store, remember(store, TEXT))
    near = "Staging server listens on port 8080 behind a proxy."
    assert Graves.load(store, HERE).exact(near, near) is None
    assert Graves.load(store, HERE).exact(TEXT, TEXT) is not None


def test_undo_lets_the_content_come_back_and_forgetting_again_binds_again(store):
    written = remember(store, TEXT)
    entry = forget(store, written)
    with store.writing(label="undo", at=NOW + timedelta(minutes=1)) as batch:
        assert tombstones.release(batch, HERE, entry).released
    assert refusal(store, TEXT) is None
    with store.writing(label="undo", at=NOW + timedelta(minutes=2)) as batch:
        assert tombstones.release(batch, HERE, entry) is None
    forget(store, written, at=NOW, reason="again")
    assert refusal(store, TEXT).reason == "again"


def test_scopes_have_their_own_tombstones_and_the_global_ones_bind_everywhere(store):
    forget(store, remember(store, TEXT))
    other = "Commit messages are written in English"
    forget(store, remember(store, other, scope=GLOBAL), scope=GLOBAL)
    assert (store.root / "workspaces" / "app" / "suppressed.jsonl").is_file()
    assert (store.root / "suppressed.jsonl").is_file()
    assert refusal(store, TEXT, Scope("else")) is None
    assert refusal(store, TEXT, GLOBAL) is None
    assert refusal(store, other, Scope("else")) is not None


def test_a_purged_tombstone_still_binds_to_exactly_the_content(store):
    secret = "Our customer is called Example Ltd"
    written = remember(store, secret)
    entry = forget(store, written)
    with store.writing(label="purge", at=NOW) as batch:
        tombstones.purge(
            batch, HERE, entry_hash(entry.heading, entry.body), new_salt=lambda: b"0123456789abcdef"
        )
        batch.remove(written.id)
    assert "Example" not in (store.root / "workspaces" / "app" / "suppressed.jsonl").read_text()
    assert refusal(store, secret) is not None
    assert refusal(store, secret + " today") is None


def test_one_salt_serves_all_purged_tombstones(store):
    salts = iter((b"0123456789abcdef", b"fedcba9876543210"))
    for text in ("First thing", "Second thing"):
        entry = forget(store, remember(store, text))
        with store.writing(label="purge", at=NOW) as batch:
            tombstones.purge(batch, HERE, entry_hash(entry.heading, entry.body), new_salt=lambda: next(salts))
    (records, _) = Graves.load(store, HERE).records
    assert {record.slow.salt for record in records.records} == {b"0123456789abcdef".hex()}


def test_a_line_that_is_no_tombstone_is_a_problem_and_is_kept(store):
    forget(store, remember(store, TEXT))
    path = store.root / "workspaces" / "app" / "suppressed.jsonl"
    path.write_text("not json\n" + path.read_text())
    graves = Graves.load(store, HERE)
    assert [problem.line for problem in graves.problems] == [1]
    assert graves.refusal(heading_of(TEXT), TEXT) is not None
    forget(store, remember(store, "Another thing"))
    assert path.read_text().startswith("not json\n")


def test_a_short_forgotten_text_is_still_compared_after_its_entry_is_gone(store):
    written = remember(store, TEXT)
    forget(store, written)
    with store.writing(label="hand", at=NOW) as batch:
        batch.remove(written.id)
    assert refusal(store, "Staging server listens on port 8080 behind a proxy.") is not None


def test_the_heading_counts_unless_it_was_cut_from_the_body():
    assert content_of("Staging port", "8080") == "Staging port\n8080"
    assert content_of("First sentence", "First sentence. And more.") == "First sentence. And more."
    assert content_of("Only a heading", "") == "Only a heading\n"


def test_the_same_value_under_another_heading_is_other_content(store):
    forget(store, remember(store, "8080", heading="Staging port"))
    graves = Graves.load(store, HERE)
    assert graves.refusal("Staging port", "8080") is not None
    assert graves.refusal("Production port", "8080") is None
