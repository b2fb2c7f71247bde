"""Refining and the semantic core: what is approved, updated and retired, and that no failure harms the digest."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from lamina import errors
from lamina.formats.origin import key_of
from lamina.pipeline.digest.sync import records
from lamina.pipeline.refine.run import Target
from lamina.pipeline.semantic import Fact, Promote, Purge, Supersede, Update
from pipeline.refined import NOW, Desk, Kept, digest_of, item, ref
from pipeline.test_refine_account import change

ONE = item("decision-esm", "Use plain ESM with no build step.")
TWO = item("state-lockfile", "The lockfile is committed now.")
OPEN = item("open-docs", "Document the exports.")
DONE = item("state-docs", "Done: Document the exports.", day=2)
TWIN = item("decision-esm2", "use plain ESM with no build step", day=2)
REASON = item("decision-esm3", "Use plain ESM with no build step, because we ship what we test.", day=2)


def known(desk: Desk) -> Kept:
    """Return a core that has what the digest says."""
    core = Kept()
    for each in records(desk.digest):
        core.status[each.fact.hash] = "approved" if each.approved else "candidate"
    desk.core = core
    return core


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path, digest_of([ONE, TWO, OPEN], [DONE, REASON]))


def test_what_survives_is_approved_with_its_confidence(desk):
    core = known(desk)
    done = desk.refine()
    assert done.sync.status == "synced"
    assert done.sync.pending == ()
    got = {each.id: (each.sync, core.confidence[each.hash]) for each in desk.digest.refined}
    assert got == {
        "decision-esm3": ("approved", 0.9),  # it took in the one without the reason
        "state-lockfile": ("approved", 0.8),
        "state-docs": ("approved", 0.8),
    }
    assert core.approved == {each.hash for each in desk.digest.refined}
    assert (desk.digest.status, desk.digest.pending) == ("synced", ())


def test_an_open_action_is_approved_with_little_confidence(tmp_path):
    desk = Desk(tmp_path, digest_of([OPEN]))
    core = known(desk)
    desk.refine()
    assert set(core.confidence.values()) == {0.6}


def test_nothing_is_promoted_that_was_not_ingested(desk):
    desk.core = core = Kept()
    desk.refine()
    assert core.approved == {each.hash for each in desk.digest.refined}


def test_new_words_of_an_approved_item_update_it(tmp_path):
    old = item("decision-port", "The port is 8080.", sync="approved")
    new = item("decision-port", "The port is 9090 since the move.", day=2)
    desk = Desk(tmp_path, digest_of([old], [new]))
    core = known(desk)
    desk.refine()
    updates = [each for call in core.calls for each in call if isinstance(each, Update)]
    assert [(each.old, each.fact.hash, each.fact.confidence) for each in updates] == [
        (old.hash, new.hash, 0.8)
    ]
    assert core.status == {old.hash: "purged", new.hash: "approved"}
    assert set(desk.digest.current["decision-port"].sources) == {*old.sources, *new.sources}


def test_what_was_approved_and_dropped_is_superseded_and_purged_in_one_call(tmp_path):
    gone = item("state-old", "The queue runs on Redis.", sync="approved")
    desk = Desk(tmp_path, digest_of([gone], [item("state-new", "The queue runs on Postgres now.", day=2)]))
    core = known(desk)
    desk.refine(change(desk.plan(), "state-old", action="drop", reason="superseded by state-new"))
    (call,) = [call for call in core.calls if Purge(gone.hash) in call]
    kinds = [type(each) for each in call if each.hash == gone.hash]
    assert kinds == [Supersede, Purge]
    assert core.status[gone.hash] == "purged"


def test_an_outside_core_never_hears_of_candidates_that_are_gone(tmp_path):
    desk = Desk(tmp_path, digest_of([ONE], [TWIN]))
    core = known(desk)
    core.name = "env:CORE"
    desk.refine()
    assert not [each for call in core.calls for each in call if isinstance(each, Supersede | Purge)]


def test_without_a_core_the_hashes_wait_for_one_that_comes_later(desk):
    done = desk.refine()
    assert done.sync.status == "unavailable"
    assert set(done.sync.pending) >= {each.hash for each in desk.digest.refined}
    assert all(each.sync == "candidate" for each in desk.digest.refined)
    before = desk.text
    assert not desk.refine(force=False).wrote
    assert desk.text == before
    core = known(desk)
    again = desk.refine(force=False)
    assert (again.retried, again.sync.status) == (True, "synced")
    assert core.approved == {each.hash for each in desk.digest.refined}
    assert all(each.sync == "approved" for each in desk.digest.refined)
    assert strip(desk.text) == strip(before)


def strip(text: str) -> list[str]:
    """Return the lines that are no markers."""
    return [line for line in text.splitlines() if not line.startswith("<!--")]


FAILURES = (
    "busy",
    "damaged",
    "timeout",
    "malformed",
    "node_missing",
    "exit_1",
    "embedder",
    "must_supersede_first",
)


@pytest.mark.parametrize("why", FAILURES)
@pytest.mark.parametrize("kind", [Fact, Promote, Supersede, Purge])
def test_a_failure_leaves_the_refined_digest_and_exact_hashes_and_the_next_run_repairs(tmp_path, kind, why):
    gone = item("decision-old", "use plain ESM with no build step", sync="approved")
    desk = Desk(tmp_path, digest_of([gone, TWO, OPEN], [DONE, REASON]))
    known(desk)
    core = Kept(lambda each: why if isinstance(each, kind) else "")
    core.status = dict(desk.core.status)
    desk.core = core
    done = desk.refine()
    digest = desk.digest
    assert done.sync.status == digest.status == "pending"
    waits = set(digest.pending)
    approved = {each.hash for each in digest.refined if each.sync == "approved"}
    assert approved == core.approved & {each.hash for each in digest.refined}
    assert {each.hash for each in digest.refined} - approved <= waits
    assert (gone.hash in waits) == (core.status[gone.hash] != "purged")
    core._failing = lambda _: ""
    again = desk.refine(force=False)
    assert (again.retried, again.sync.status, desk.digest.pending) == (True, "synced", ())
    assert core.approved == {each.hash for each in desk.digest.refined}
    assert core.status[gone.hash] == "purged"


def test_one_refused_hash_takes_no_other_with_it(desk):
    known(desk)
    core = Kept(lambda each: "odd" if isinstance(each, Promote) and each.hash == TWO.hash else "")
    core.status = dict(desk.core.status)
    desk.core = core
    desk.refine()
    assert desk.digest.pending == (TWO.hash,)
    assert core.approved == {each.hash for each in desk.digest.refined} - {TWO.hash}


def test_a_core_that_answers_too_little_or_about_others_has_not_taken_it(desk):
    core = known(desk)
    answer = core.refine
    core.refine = lambda operations: answer(operations)[:-1]
    desk.refine()
    assert desk.digest.status == "pending"
    assert len(desk.digest.pending) >= 1


def test_what_waited_before_is_asked_first(tmp_path):
    desk = Desk(tmp_path, digest_of([ONE, TWO], status="pending", pending=[TWO.hash]))
    core = known(desk)
    desk.refine()
    (call,) = [call for call in core.calls if isinstance(call[0], Promote)]
    assert [each.hash for each in call] == [TWO.hash, ONE.hash]


def test_missing_records_are_made_anew(desk):
    core = known(desk)
    core.status.clear()
    core.broken = "missing"
    assert desk.refine().sync.status == "synced"
    assert core.approved == {each.hash for each in desk.digest.refined}


# --- the file


def test_no_source_is_lost_and_no_session_is_new_again(tmp_path):
    desk = Desk(tmp_path, digest_of([ONE, OPEN], [DONE, TWIN], []))
    before = desk.digest
    desk.refine()
    after = desk.digest
    assert {key_of(each) for each in before.named} == after.covered
    assert key_of(ref(3)) in after.covered
    kept = Counter(each.id for each in after.refined)
    assert kept == {"decision-esm": 1, "state-docs": 1}


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["", "fde-"])
def test_the_first_line_is_kept_byte_for_byte(tmp_path, bom, end, name):
    text = digest_of([ONE, TWO]).replace("<!-- digest:state", f"<!--  {name}digest:state  odd=1", 1)
    desk = Desk(tmp_path, bom + text.replace("\n", end))
    first = desk.text.splitlines(keepends=True)[0]
    desk.refine()
    assert desk.text.splitlines(keepends=True)[0] == first
    assert desk.text.count("\n") == desk.text.count(end)
    assert desk.digest.refined_through == desk.digest.processed
    assert desk.digest.places["digest-refine:state"] == 1


def test_an_older_refine_marker_keeps_its_name_and_what_a_person_wrote_stays(tmp_path):
    desk = Desk(tmp_path, digest_of([ONE, TWO]))
    desk.refine()
    text = desk.text.replace("<!-- digest-refine:state", "<!-- fde-digest-refine:state by=me").replace(
        "\n**Decisions**", "\nWritten by hand:\nread the wiki first.\n\n**Decisions**"
    )
    desk.path.write_bytes(text.encode())
    assert desk.digest.preamble == ("Written by hand:\nread the wiki first.",)
    desk.refine(now=datetime(2026, 12, 21, tzinfo=UTC))
    assert "<!-- fde-digest-refine:state by=me last-run=2026-12-21T00:00:00Z" in desk.text
    assert desk.text.count("Written by hand:\nread the wiki first.\n") == 1


def test_bullets_without_a_marker_get_one_and_it_is_said(tmp_path):
    desk = Desk(tmp_path, digest_of([ONE]) + "\n- A bullet of a person.\n\nA paragraph\nof a person.\n")
    report = desk.refine()
    assert [each.id for each in desk.digest.refined] == ["decision-esm", "legacy-1", "legacy-2"]
    assert all(each.sources and each.hash == each.content for each in desk.digest.refined)
    assert any("had no marker" in each for each in report.limitations)


def test_text_edited_by_hand_is_taken_as_it_stands(tmp_path):
    desk = Desk(tmp_path, digest_of([ONE, TWO]).replace("no build step", "one build step"))
    core = known(desk)
    desk.refine()
    got = desk.digest.current["decision-esm"]
    assert got.text == "Use plain ESM with one build step."
    assert got.hash == got.content
    assert got.hash in core.approved


def test_daily_records_and_the_rest_of_the_folder_are_left_alone(desk):
    other = desk.folder.path / "2026-11-01-esm-memory.md"
    other.write_text("# Memory\n")
    desk.refine()
    assert other.read_text() == "# Memory\n"
    assert sorted(each.name for each in desk.folder.path.iterdir()) == [other.name, "digest.md"]


def test_a_copy_needs_no_approval_and_touches_nothing_else(desk, tmp_path):
    copy = tmp_path / "elsewhere" / "copy.md"
    copy.parent.mkdir()
    copy.write_text(desk.text)
    before = desk.text
    report = desk.refine(target=Target(desk.folder, copy, canonical=False), yes=False)
    assert report.wrote
    assert desk.text == before
    assert [each.name for each in copy.parent.iterdir()] == ["copy.md"]


def test_without_a_yes_nothing_is_written(desk):
    before = desk.text
    with pytest.raises(errors.Undecided) as caught:
        desk.refine(yes=False)
    assert "lamina refine --yes" in caught.value.choices
    assert desk.text == before
    assert desk.refine(yes=False, dry_run=True).words[0] == len(before.split())
    assert desk.text == before


def test_words_and_checksums_are_those_of_the_files(desk):
    from hashlib import sha256

    before = desk.text
    report = desk.refine().as_json()
    assert report["words"] == {"before": len(before.split()), "after": len(desk.text.split())}
    assert report["sha256"] == {
        "before": sha256(before.encode()).hexdigest(),
        "after": sha256(desk.text.encode()).hexdigest(),
    }
    assert report["words"]["after"] < report["words"]["before"]


def test_a_digest_that_changed_while_a_person_thought_is_left_alone(desk):
    def approve(_):
        desk.path.write_text(desk.text + "\nmore\n")
        return True

    from lamina.pipeline.refine.plan import proposed
    from lamina.pipeline.refine.run import run

    with pytest.raises(errors.ChangedMeanwhile):
        run(
            Target(desk.folder, desk.path, canonical=True),
            proposed,
            lambda: (None, ""),
            now=NOW,
            approve=approve,
            force=True,
        )
    assert desk.text.endswith("\nmore\n")


# --- verification


class Meddling(Kept):
    """A core in whose time something else happens to the folder."""

    def __init__(self, happens):
        super().__init__()
        self._happens = happens

    def ingest(self, facts):
        self._happens()
        return super().ingest(facts)


def test_a_daily_file_that_changed_meanwhile_puts_the_digest_back(desk):
    daily = desk.folder.path / "2026-11-01-esm-memory.md"
    daily.write_text("# Memory\n\nwritten\n")
    before = desk.text
    desk.core = Meddling(lambda: daily.write_text("# Memory\n"))
    with pytest.raises(errors.VerificationFailed, match=r"esm-memory\.md is as it was"):
        desk.refine()
    assert desk.text == before


def test_a_daily_file_that_grew_meanwhile_is_fine(desk):
    daily = desk.folder.path / "2026-11-01-esm-memory.md"
    daily.write_text("# Memory\n")
    desk.core = Meddling(lambda: daily.write_text("# Memory\n\nand more\n"))
    assert desk.refine().sync.status == "synced"


def test_what_somebody_else_wrote_meanwhile_is_never_overwritten(desk):
    desk.core = Meddling(lambda: desk.path.write_text(desk.text + "\nTheirs.\n"))
    with pytest.raises(errors.LaminaError):
        desk.refine()
    assert desk.text.endswith("\nTheirs.\n")


def test_many_unknown_records_are_retired_in_few_calls(tmp_path):
    """Of a hundred old wordings the core lost ten: those cost a few calls each, and no hash waits."""
    old = [item(f"state-{n}", f"The port of service {n} is {8000 + n}.") for n in range(100)]
    new = [item(f"state-{n}", f"The port of service {n} is {9000 + n}.", day=2) for n in range(100)]
    desk = Desk(tmp_path, digest_of(old, new))
    core = known(desk)
    for each in old:
        core.status[each.hash] = "candidate"
    for each in old[::10]:
        del core.status[each.hash]
    assert desk.refine().sync.status == "synced"
    assert {core.status.get(each.hash, "purged") for each in old} == {"purged"}
    assert len(core.calls) < 150
