"""A digest and its core: whatever becomes of the core, the digest stands, says so, and the next run repairs it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.pipeline.digest import sync
from lamina.pipeline.digest.drafts import Draft, Selection, labelled
from lamina.pipeline.digest.run import run
from lamina.pipeline.semantic import Outcome, Supersede
from lamina.store.memoryfolder import resolve

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
DAILY = "2026-12-01-esm-memory.md"
ONE, TWO, THREE = "Use plain ESM.", "The port is 9090.", "Write the guide."


class Acting:
    """A core that does as it is told: `how` says what becomes of each text, "" for success."""

    def __init__(self, how=lambda _: "", *, name="builtin", broken=""):
        self.how, self.name, self.broken = how, name, broken
        self.calls: list[list[str]] = []
        self.retired: list[Supersede] = []
        self.rebuilt: list[tuple[str, bool]] | None = None

    def ingest(self, facts):
        self.calls.append([fact.content for fact in facts])
        return [self._outcome(fact) for fact in facts]

    @property
    def sent(self):
        return [text for call in self.calls for text in call]

    def refine(self, operations):
        self.retired += operations
        return [Outcome(each.hash, ok=True) for each in operations]

    def rebuild(self, records):
        self.rebuilt, self.broken = [(each.fact.content, each.approved) for each in records], ""
        return [self._outcome(each.fact) for each in records]

    def _outcome(self, fact):
        error = self.how(fact.content)
        return Outcome(fact.hash, ok=not error, status="" if error else "candidate", error=error)


def part(id, *, done=(), decisions=(), open=()):
    lines = [f"<!-- memory:session id={id} -->", "## Session 10:00 — work", ""]
    for label, said in (("Done", done), ("Decisions", decisions), ("Open / next action", open)):
        if said:
            lines += [f"**{label}**:", *(f"- {each} Evidence: `session`" for each in said), ""]
    return "\n".join(lines)


@pytest.fixture
def folder(tmp_path):
    found = resolve(tmp_path)
    found.path.mkdir()
    (found.path / DAILY).write_text(
        "# Memory — harbor — 2026-12-01\n\n"
        + part("2026-12-01T09:00:00Z", decisions=[ONE], done=[TWO], open=[THREE])
    )
    return found


def more(folder, id="2026-12-01T12:00:00Z", **said):
    with (folder.path / DAILY).open("a") as file:
        file.write("\n" + part(id, **said))


def digested(folder, core, *, hours=0, choose=None):
    return run(
        folder,
        choose or (lambda view: labelled(view.new)),
        lambda: (core, "" if core else "semantic is off"),
        now=NOW + timedelta(hours=hours),
    )


def parsed(folder):
    return parse_digest(folder.digest.read_text())


def hashes(folder, *texts):
    by_text = {item.text: item.content for item in parsed(folder).items}
    return {by_text[text] for text in texts}


@pytest.mark.parametrize("text", ["", "\n", "\r\n \t\n", "\ufeff"])
def test_a_file_with_nothing_in_it_is_a_new_digest(folder, text):
    folder.digest.write_bytes(text.encode())
    digested(folder, Acting())
    assert len(parsed(folder).sections) == 1
    assert folder.digest.read_text().startswith("<!-- digest:state last-run=2026-12-02T10:00:00Z")


def test_all_taken_is_synced(folder):
    core = Acting()
    told = digested(folder, core)
    assert (told.sync.status, told.sync.pending) == ("synced", ())
    assert core.calls == [[TWO, ONE, THREE]]
    assert (parsed(folder).status, parsed(folder).pending) == ("synced", ())


@pytest.mark.parametrize(
    "error", ["busy", "timeout", "malformed", "embedder", "hash_mismatch", "node_missing", ""]
)
def test_one_failure_keeps_exactly_its_hash(folder, error):
    told = digested(folder, Acting(lambda text: (error or "failed") if text == TWO else ""))
    assert parsed(folder).status == "pending"
    assert set(parsed(folder).pending) == set(told.sync.pending) == hashes(folder, TWO)
    assert len(parsed(folder).sections) == 1
    assert any((error or "failed") in each for each in told.limitations)


def test_the_next_run_sends_what_failed_and_nothing_else_and_only_the_header_changes(folder):
    digested(folder, Acting(lambda text: "busy" if text == TWO else ""))
    before = folder.digest.read_text()
    core = Acting()
    told = digested(folder, core, hours=1)
    assert core.calls == [[TWO]]
    assert (told.section, parsed(folder).status, parsed(folder).pending) == (None, "synced", ())
    assert folder.digest.read_text().splitlines()[2:] == before.splitlines()[2:]
    assert "last-run=2026-12-02T11:00:00Z" in folder.digest.read_text().splitlines()[0]
    assert "processed-through=2026-12-01" in folder.digest.read_text().splitlines()[0]


def test_without_a_core_everything_waits_and_a_later_one_gets_it(folder):
    told = digested(folder, None)
    assert told.sync.status == "unavailable"
    assert set(parsed(folder).pending) == hashes(folder, ONE, TWO, THREE)
    assert any("semantic is off" in each for each in told.limitations)
    before = folder.digest.read_bytes()
    digested(folder, None, hours=1)
    assert folder.digest.read_bytes() == before
    more(folder, decisions=["Use Postgres."])
    digested(folder, None, hours=2)
    assert set(parsed(folder).pending) == hashes(folder, ONE, TWO, THREE, "Use Postgres.")
    core = Acting()
    digested(folder, core, hours=3)
    assert set(core.calls[0]) == {ONE, TWO, THREE, "Use Postgres."}
    assert (parsed(folder).status, parsed(folder).pending) == ("synced", ())


def test_a_failed_hash_goes_with_the_new_ones_in_the_next_run(folder):
    digested(folder, Acting(lambda text: "busy" if text == ONE else ""))
    more(folder, decisions=["Use Postgres."])
    core = Acting(lambda _: "timeout")
    digested(folder, core, hours=1)
    assert sorted(core.sent) == sorted([ONE, "Use Postgres."])
    assert set(parsed(folder).pending) == hashes(folder, ONE, "Use Postgres.")
    assert len(parsed(folder).sections) == 2


def test_a_run_that_dies_at_the_core_leaves_everything_pending(folder):
    class Dying(Acting):
        def ingest(self, facts):
            raise KeyboardInterrupt(len(facts))

    with pytest.raises(KeyboardInterrupt):
        digested(folder, Dying())
    assert parsed(folder).status == "pending"
    assert set(parsed(folder).pending) == hashes(folder, ONE, TWO, THREE)
    digested(folder, Acting(), hours=1)
    assert (parsed(folder).status, len(parsed(folder).sections)) == ("synced", 1)


def rewording(view):
    """Choose a newer wording of the port."""
    found = next(item.id for item in view.digest.current.values() if item.text == TWO)
    source = view.new[0].source
    return Selection((Draft("state", "The port is 9191.", (source,), found),), (source,))


def test_a_newer_wording_takes_the_older_candidate_out_of_force(folder):
    digested(folder, Acting())
    old = next(iter(hashes(folder, TWO)))
    more(folder, done=["The port is 9191."])
    core = Acting()
    digested(folder, core, hours=1, choose=rewording)
    assert core.calls == [["The port is 9191."]]
    new = next(iter(hashes(folder, "The port is 9191.")))
    assert [(each.hash, each.by) for each in core.retired] == [(old, new)]
    assert parsed(folder).status == "synced"


def test_an_external_core_is_not_asked_to_retire_candidates(folder):
    digested(folder, Acting(name="env:CORE"))
    more(folder, done=["The port is 9191."])
    core = Acting(name="env:CORE")
    digested(folder, core, hours=1, choose=rewording)
    assert core.retired == []


def test_an_older_wording_that_waits_is_not_sent_any_more(folder):
    digested(folder, None)
    more(folder, done=["The port is 9191."])
    core = Acting()
    digested(folder, core, hours=1, choose=rewording)
    assert TWO not in core.sent
    assert (parsed(folder).status, parsed(folder).pending) == ("synced", ())


def test_an_older_wording_stays_in_force_while_the_newer_one_is_not_taken(folder):
    digested(folder, Acting())
    more(folder, done=["The port is 9191."])
    core = Acting(lambda _: "busy")
    digested(folder, core, hours=1, choose=rewording)
    assert core.retired == []
    assert set(parsed(folder).pending) == hashes(folder, "The port is 9191.")
    core = Acting()
    digested(folder, core, hours=2)
    assert [each.hash for each in core.retired] == sorted(hashes(folder, TWO))


def test_what_was_approved_is_left_to_the_refinement(folder):
    digested(folder, Acting())
    folder.digest.write_text(folder.digest.read_text().replace("sync=candidate", "sync=approved"))
    more(folder, done=["The port is 9191."])
    core = Acting()
    digested(folder, core, hours=1, choose=rewording)
    assert core.calls == [["The port is 9191."]]
    assert core.retired == []
    core = Acting(broken="missing")
    digested(folder, core, hours=2)
    assert (TWO, True) in core.rebuilt
    assert ("The port is 9191.", False) in core.rebuilt


def test_a_core_whose_file_was_deleted_is_made_anew(folder):
    digested(folder, Acting())
    core = Acting(broken="missing")
    digested(folder, core, hours=1)
    assert sorted(core.rebuilt) == sorted((text, False) for text in (ONE, TWO, THREE))
    assert (parsed(folder).status, parsed(folder).pending) == ("synced", ())
    assert len(parsed(folder).sections) == 1


def test_a_damaged_core_is_pending_first_and_made_anew_by_the_next_run(folder):
    class Damaged(Acting):
        def ingest(self, facts):
            super().ingest(facts)
            return [Outcome(fact.hash, ok=False, error="damaged") for fact in facts]

    core = Damaged(broken="damaged")
    digested(folder, core)
    assert core.rebuilt is None
    assert parsed(folder).status == "pending"
    assert len(parsed(folder).pending) == 3
    core = Acting(broken="damaged")
    digested(folder, core, hours=1)
    assert sorted(core.rebuilt) == sorted((text, False) for text in (ONE, TWO, THREE))
    assert (parsed(folder).status, parsed(folder).pending) == ("synced", ())


@pytest.mark.parametrize("broken", ["", "missing", "damaged"])
def test_a_bullet_that_was_edited_by_hand_stays_pending_and_is_named(folder, broken):
    digested(folder, None)
    old = next(iter(hashes(folder, TWO)))
    text = folder.digest.read_text()
    folder.digest.write_text(text.replace(f"- {TWO}", "- The port is 1234."))
    core = Acting(broken=broken)
    told = digested(folder, core, hours=1)
    assert parsed(folder).pending == (old,)
    assert "The port is 1234." not in [*core.sent, *(text for text, _ in core.rebuilt or [])]
    assert any("hash_mismatch" in each or "edited by hand" in each for each in told.limitations)


@pytest.mark.parametrize("returned", [[], None])
def test_a_core_that_answers_for_fewer_than_all_failed_for_the_rest(folder, returned):
    class Short(Acting):
        def ingest(self, facts):
            return super().ingest(facts)[:1] if returned is None else returned

    digested(folder, Short())
    pending = set(parsed(folder).pending)
    assert parsed(folder).status == "pending"
    assert pending >= hashes(folder, ONE, THREE)


def test_hashes_of_one_text_are_sent_once(folder):
    more(folder, decisions=[ONE])
    core = Acting()
    digested(folder, core)
    assert core.sent.count(ONE) == 1
    [item] = [item for item in parsed(folder).items if item.text == ONE]
    assert len(item.sources) == 2


# --- what is checked after writing


def meddling(folder, change):
    """Return a core that changes files while it works."""

    class Meddling(Acting):
        def ingest(self, facts):
            change()
            return super().ingest(facts)

    return Meddling()


def test_a_daily_file_may_grow_meanwhile_and_what_was_added_waits_for_the_next_run(folder):
    digested(folder, meddling(folder, lambda: more(folder, decisions=["Use Postgres."])))
    assert len(parsed(folder).sections) == 1
    digested(folder, Acting(), hours=1)
    assert [item.text for item in parsed(folder).sections[1].items] == ["Use Postgres."]


def test_a_daily_file_that_changed_otherwise_takes_the_run_back(folder):
    def change():
        (folder.path / DAILY).write_text("# other\n")

    with pytest.raises(errors.LaminaError, match=DAILY):
        digested(folder, meddling(folder, change))
    assert not folder.digest.exists()


def test_the_old_digest_comes_back_when_a_check_fails(folder):
    digested(folder, Acting())
    before = folder.digest.read_bytes()
    more(folder, decisions=["Use Postgres."])
    with pytest.raises(errors.LaminaError, match=DAILY) as caught:
        digested(folder, meddling(folder, (folder.path / DAILY).unlink), hours=1)
    assert "as it was before" in caught.value.hint
    assert folder.digest.read_bytes() == before


def test_what_somebody_else_wrote_meanwhile_is_not_taken_back(folder):
    def change():
        folder.digest.write_text(folder.digest.read_text() + "\nmine\n")

    with pytest.raises(errors.LaminaError):
        digested(folder, meddling(folder, change))
    assert folder.digest.read_text().endswith("\nmine\n")


def test_the_module_names_its_states():
    assert (sync.UNAVAILABLE, sync.PENDING, sync.SYNCED) == ("unavailable", "pending", "synced")
