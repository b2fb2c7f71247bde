"""What waits is listed with its reason; a decision of a person holds, and a rejected value stays away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.pipeline.opening import NOW, Clock, opened
from tests.pipeline.sessions import claude

from lamina import errors
from lamina.formats.bullet import Bullet
from lamina.formats.entry import Draft
from lamina.formats.note import Note, Section
from lamina.formats.scope import Scope
from lamina.hosts.render import Said, Tool
from lamina.pipeline.waiting import reasons
from lamina.pipeline.wording import compared
from lamina.store import notes

HARBOR = Scope("harbor")
SOURCE = "session:claude-code/4f3a#3-7"
MODEL = "“as the model put it” (assistant)"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    memory = opened(tmp_path, clock=clock)
    memory.init()
    memory.remember("Boats moor on the left")
    return memory


def add(memory, text: str, *, days: int = 0, scope: Scope = HARBOR, trust: str = "candidate", **more) -> str:
    given = {"layer": "decisions", "topic": "Storage", "source": SOURCE, "evidence": MODEL} | more
    heading, _, body = text.partition("\n")
    draft = Draft(heading, body.strip(), scope, date=NOW.date() - timedelta(days=days), trust=trust, **given)
    with memory.store.writing(label="consolidate", at=NOW) as batch:
        return batch.add(draft).id


def note_of(memory, *bullets: Bullet, session="4f3a", attempts=3, review=True, cwd="/w") -> str:
    section = Section(NOW, bullets, 0, 9)
    taken = Note(session, "claude-code", "workspace:harbor", cwd, 0, 9, NOW, NOW, sections=(section,))
    taken = replace(taken, attempts=attempts, needs_review=review)
    with memory.store.writing(label="capture", at=NOW) as batch:
        notes.save(batch, taken)
    return taken.name


def bullet(text: str, *, label="finding", who="user") -> Bullet:
    return Bullet(label, text, date(2026, 11, 30), 3, 7, "as it was said", who)


def stored(memory, text: str) -> None:
    outcome = memory.remember(text)
    if outcome.status == "refused":
        raise errors.ForgottenContent(outcome.reason)


def trust(memory, id_: str) -> str:
    return memory.show(id_)["trust"]


# --- listing


def test_what_waits_is_listed_oldest_first_with_the_reason(memory):
    assert memory.review() == {"candidates": [], "notes": []}
    add(memory, "Keep uploads on disk", days=1)
    old = add(memory, "Keep uploads in the bucket", days=9, trust="approved")
    add(memory, f"Keep uploads in memory\nConflicts with {old}. It was said twice.", days=5)
    add(memory, "Write short commits", days=3, scope=Scope(None), layer="learnings", topic="Git")
    add(memory, "Use port 8081", days=2, evidence="“use 8081” (user)")
    add(memory, "Use port 8082", days=2, evidence="“8082” (tool)")
    note = note_of(memory, bullet("The archive is large"))
    found = memory.review()
    assert [(each["heading"], each["why"]) for each in found["candidates"]] == [
        ("Keep uploads in memory", ["rests on the model's words", f"conflicts with {old}"]),
        ("Write short commits", ["rests on the model's words", "global"]),
        ("Use port 8081", ["held for review"]),
        ("Use port 8082", ["rests on a tool's words"]),
        ("Keep uploads on disk", ["rests on the model's words"]),
    ]
    assert found["candidates"][0]["conflicts_with"] == old
    assert [each["age_days"] for each in found["candidates"]] == [5, 3, 2, 2, 1]
    (waiting,) = found["notes"]
    assert (waiting["id"], waiting["bullets"], waiting["attempts"]) == (note, 1, 3)
    assert waiting["why"] == ["no usable reply of a model in 3 attempts"]


def test_filters_and_the_limit_choose_what_is_listed(memory):
    one = add(memory, "Keep uploads on disk", days=2)
    two = add(memory, "Use the new parser", layer="learnings", topic="Parser")
    away = add(memory, "Trains leave at noon", scope=Scope("trains"))
    note_of(memory, bullet("The archive is large"))

    def ids(**asked):
        found = memory.review(**asked)
        return [each["id"] for each in (*found["candidates"], *found["notes"])]

    assert ids() == [one, two, "claude-code_4f3a"]
    assert ids(limit=2) == [one, two]
    assert ids(layer="learnings") == [two]
    assert ids(scope="workspace:trains") == [away]
    assert away in ids(scope="all")
    assert ids(since="1d") == [two]
    with pytest.raises(errors.UnknownLayer):
        memory.review(layer="nonsense")


def test_a_candidate_that_a_person_wrote_by_hand_is_listed_and_approved_by_its_place(memory):
    file = memory.root / memory.show("harbor-sem-0001")["file"]
    file.write_text(
        file.read_text() + "\n## 倉庫のドア 🚪 は青い\n\n**Trust:** candidate\n\nSie ist blau.\n",
        encoding="utf-8",
    )
    (row,) = memory.review()["candidates"]
    assert (row["id"], row["heading"]) == ("", "倉庫のドア 🚪 は青い")
    name = f"{row['file']}:{row['line']}"
    planned = memory.approve([name], dry_run=True)
    assert planned["entries"][0]["status"] == "approved"
    assert memory.review()["candidates"] == [row]
    (done,) = memory.approve([name])["entries"]
    assert done["id"] == "harbor-sem-0002"
    assert memory.show("harbor-sem-0002")["trust"] == "approved"
    assert "Sie ist blau." in file.read_text(encoding="utf-8")


def test_a_candidate_of_an_old_single_file_waits_too(memory):
    (memory.root / "global" / "learnings.md").write_text(
        "# Learnings\n\n## Sweep first\n\n**Id:** global-lrn-0001\n**Trust:** candidate\n\nAlways.\n"
    )
    assert [each["id"] for each in memory.review()["candidates"]] == ["global-lrn-0001"]
    assert memory.status()["review"] == {"candidates": 1}


def test_status_counts_the_candidates_of_all_scopes(memory):
    assert memory.status()["review"] == {"candidates": 0}
    one = add(memory, "Keep uploads on disk")
    add(memory, "Trains leave at noon", scope=Scope("trains"))
    assert memory.status()["review"] == {"candidates": 2}
    memory.approve([one])
    assert memory.status()["review"] == {"candidates": 1}


# --- showing


def session(tmp_path) -> Path:
    turns = [
        Said("user", f"Where do uploads go? My token is {TOKEN}, <private>and I am ill</private>."),
        Tool("Bash", {"command": "ls uploads"}, "a-file-of-the-tool"),
        Said("assistant", "I decided to keep uploads on disk, because the bucket is slow. " + "x " * 500),
        Said("user", "Hm."),
    ]
    return claude(tmp_path / "logs", "uploads", turns, cwd=str(tmp_path / "harbor"))


def imported(memory, tmp_path) -> tuple[str, Path]:
    path = session(tmp_path)
    memory.import_sessions([path])
    with memory.store.writing(label="consolidate", at=NOW) as batch:
        draft = Draft(
            "Keep uploads on disk", "", HARBOR, "decisions", "Storage", NOW.date(),
            source=f"session:claude-code/{path.stem}#0-99", evidence=MODEL, trust="candidate",
        )  # fmt: skip
        return batch.add(draft).id, path


def test_a_candidate_is_shown_beside_the_lines_it_rests_on_and_nothing_else(memory, tmp_path):
    id_, path = imported(memory, tmp_path)
    shown = memory.review_show(id_)
    said = shown["passage"]
    assert said["file"] == str(path)
    assert [each["who"] for each in said["lines"]] == ["user", "assistant", "user"]
    text = json.dumps(said, ensure_ascii=False)
    assert "keep uploads on disk" in text
    for hidden in (TOKEN, "I am ill", "a-file-of-the-tool"):
        assert hidden not in text
    assert all(len(each["text"]) <= 601 for each in said["lines"])
    lines = path.read_text(encoding="utf-8").splitlines()
    assert "Where do uploads go?" in lines[said["lines"][0]["line"] - 1]


def test_where_the_transcript_is_gone_or_another_one_what_was_kept_is_shown(memory, tmp_path):
    id_, path = imported(memory, tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("uploads", "ferries"), encoding="utf-8")
    assert memory.review_show(id_)["passage"] is None
    path.unlink()
    shown = memory.review_show(id_)
    assert shown["passage"] is None
    assert shown["evidence"] == {"quote": "as the model put it", "who": "assistant"}


def test_the_entry_that_it_conflicts_with_stands_beside_it(memory):
    old = add(memory, "The staging port of the harbour office is 8081", trust="approved")
    new = add(memory, f"The staging port of the harbour office is 8082\nConflicts with {old}.")
    other = memory.review_show(new)["conflict"]
    assert (other["id"], other["trust"]) == (old, "approved")
    assert other["diff"] == "The staging port of the harbour office is [-8081-]{+8082+}"
    gone = add(memory, "Ships are blue\nConflicts with harbor-dec-0999.")
    assert memory.review_show(gone)["conflict"]["trust"] is None


def test_a_difference_is_told_by_words_and_in_scripts_without_blanks_by_signs():
    assert compared("缓存保存七天。", "缓存保存九天。") == "缓存保存[-七-]{+九+}天。"
    assert compared("a b c d", "a b c d") == "a b c d"
    assert compared("one thing", "entirely else, in no way alike") is None
    assert compared("a " * 5000, "b " * 5000) is None


def test_a_note_is_shown_with_its_bullets(memory):
    name = note_of(memory, bullet("The archive is large"))
    for asked in (name, f"{name}.md", f"digests/{name}.md"):
        assert memory.review_show(asked)["said"][0]["text"] == "The archive is large"
    for unknown in ("../../etc/passwd", "", "x" * 5000, "claude-code_none", "\0"):
        with pytest.raises(errors.NoEntry):
            memory.review_show(unknown)


# --- approving


def test_approving_makes_the_person_a_source(memory):
    id_ = add(memory, "Keep uploads on disk")
    (done,) = memory.approve([id_])["entries"]
    assert (done["id"], done["status"]) == (id_, "approved")
    shown = memory.show(id_)
    assert shown["trust"] == "approved"
    assert "Trust" not in shown["fields"]
    assert shown["source"] == f"{SOURCE}, user"
    assert memory.approve([id_])["entries"][0]["status"] == "known"
    assert memory.show(id_) == shown


def test_what_an_approved_candidate_conflicts_with_is_superseded_and_keeps_its_text(memory):
    old = memory.remember("The staging port is 8081").id
    new = add(memory, f"The staging port is 8082\nSince May.\n\nConflicts with {old}.")
    (done,) = memory.approve([new])["entries"]
    assert done["superseded"] == [old]
    before = memory.show(old)
    assert (before["trust"], before["fields"]["Status"]) == ("superseded", f"superseded by {new}")
    assert "8081" in before["text"]
    assert memory.show(new)["body"] == "Since May."
    memory.undo()
    assert (trust(memory, old), trust(memory, new)) == ("approved", "candidate")


def test_both_can_be_kept_and_what_is_out_of_force_or_gone_is_left_alone(memory):
    old = memory.remember("The staging port is 8081").id
    one = add(memory, f"The staging port is 8082\nConflicts with {old}.")
    two = add(memory, "Ships are blue\nConflicts with harbor-sem-0999.")
    itself = add(memory, "Ships are red\nConflicts with harbor-dec-0003.")
    assert itself == "harbor-dec-0003"
    assert memory.approve([one], keep_both=True)["entries"][0]["superseded"] == []
    assert trust(memory, old) == "approved"
    memory.forget([old])
    three = add(memory, f"The staging port is 8083\nConflicts with {old}.")
    done = memory.approve([two, itself, three])["entries"]
    assert [each["superseded"] for each in done] == [[], [], []]
    assert trust(memory, old) == "forgotten"
    for id_ in (one, two, itself, three):
        assert "Conflicts" not in memory.show(id_)["body"]


def test_of_two_candidates_that_name_each_other_the_first_approved_wins(memory):
    one = add(memory, "Ships are blue\nConflicts with harbor-dec-0002.")
    two = add(memory, f"Ships are red\nConflicts with {one}.")
    done = memory.approve([one, two])
    assert [each["id"] for each in done["entries"]] == [one]
    assert [each["id"] for each in done["failed"]] == [two]
    assert (trust(memory, one), trust(memory, two)) == ("approved", "superseded")


def test_several_ids_are_one_write_and_each_is_told(memory):
    one, two = add(memory, "Ships are blue"), add(memory, "Docks are red")
    done = memory.approve([one, "harbor-dec-0999", two, one, "harbor-sem-0001"])
    assert [(each["id"], each["status"]) for each in done["entries"]] == [
        (one, "approved"), (two, "approved"), ("harbor-sem-0001", "known"),
    ]  # fmt: skip
    assert [(each["id"], each["kind"]) for each in done["failed"]] == [("harbor-dec-0999", "no_entry")]
    memory.undo()
    assert {trust(memory, one), trust(memory, two)} == {"candidate"}


def test_what_is_no_candidate_is_refused_with_the_way(memory):
    with pytest.raises(errors.NoEntry):
        memory.approve(["harbor-dec-0999"])
    with pytest.raises(errors.Refused, match="no candidate") as problem:
        memory.reject(["harbor-sem-0001"], reason="never")
    assert "lamina forget harbor-sem-0001" in problem.value.hint
    memory.forget(["harbor-sem-0001"])
    with pytest.raises(errors.Refused, match="is forgotten"):
        memory.approve(["harbor-sem-0001"])
    with pytest.raises(errors.Refused, match="no candidate"):
        memory.approve_edited("harbor-sem-0001", text="Boats moor on the right")


def test_a_dry_run_changes_no_byte(memory):
    from tests.pipeline.opening import tree

    old = memory.remember("The staging port is 8081").id
    id_ = add(memory, f"The staging port is 8082\nConflicts with {old}.")
    name = note_of(memory, bullet("The archive is large"))
    before = tree(memory.root)
    assert memory.approve([id_, name], dry_run=True)["entries"][0]["superseded"] == [old]
    assert memory.reject([id_, name], reason="no", dry_run=True)["failed"] == []
    memory.approve_edited(id_, text="Other", dry_run=True)
    assert tree(memory.root) == before


# --- editing


def test_an_edit_changes_and_approves_in_one_write(memory):
    old = memory.remember("The staging port is 8081").id
    id_ = add(memory, f"The port is 8082\nConflicts with {old}.")
    memory.approve_edited(id_, text="It is 8083.", heading="The port is 8083")
    shown = memory.show(id_)
    assert (shown["heading"], shown["body"], shown["trust"]) == (
        "The port is 8083",
        "It is 8083.",
        "approved",
    )
    assert shown["source"].endswith(", user")
    assert trust(memory, old) == "superseded"
    memory.undo()
    assert memory.show(id_)["heading"] == "The port is 8082"
    assert trust(memory, old) == "approved"


def test_what_changed_since_the_person_looked_is_not_overwritten(memory):
    id_ = add(memory, "Keep uploads on disk")
    seen = memory.show(id_)["text"]
    memory.edit(id_, text="Keep uploads on tape", fields={"trust": "candidate"})
    with pytest.raises(errors.ChangedMeanwhile, match=id_):
        memory.approve_edited(id_, text="Keep uploads nowhere", seen=seen)
    assert memory.show(id_)["body"] == "Keep uploads on tape"
    assert trust(memory, id_) == "candidate"


def test_secrets_do_not_come_in_with_an_edit_or_a_reason(memory):
    id_, other = add(memory, "Keep uploads on disk"), add(memory, "Ships are blue")
    memory.approve_edited(id_, text=f"The token is {TOKEN}")
    memory.reject([other], reason=f"it says {TOKEN}")
    assert TOKEN not in memory.show(id_)["text"]
    assert TOKEN not in (memory.root / "workspaces/harbor/suppressed.jsonl").read_text()


# --- rejecting


def test_a_rejected_value_does_not_come_back_and_the_reason_is_told(memory):
    id_ = add(memory, "Map tiles come from the archive server")
    memory.reject([id_], reason="nobody settled that")
    assert trust(memory, id_) == "forgotten"
    assert memory.review()["candidates"] == []
    with pytest.raises(errors.ForgottenContent, match="nobody settled that"):
        stored(memory, "Map tiles come from the archive server")
    note_of(
        memory, bullet("Map tiles come from the archive server.", label="decision"), review=False, attempts=0
    )
    assert memory.consolidate()["refused"] == 1
    memory.forget([id_], undo=True)
    assert trust(memory, id_) == "candidate"


def test_the_line_about_a_conflict_is_no_part_of_what_was_rejected(memory):
    old = memory.remember("The staging port is 8081").id
    id_ = add(memory, f"The staging port of the office is 8082\nConflicts with {old}.")
    memory.reject([id_], reason="a typo")
    assert trust(memory, old) == "approved"
    for again in ("The staging port of the office is 8082", "Our staging port of the office is 8082"):
        with pytest.raises(errors.ForgottenContent, match="a typo"):
            stored(memory, again)


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_rejection_wants_a_reason(memory, reason):
    id_ = add(memory, "Ships are blue")
    with pytest.raises(errors.UsageError):
        memory.reject([id_], reason=reason)
    assert trust(memory, id_) == "candidate"


# --- notes


def test_an_approved_note_is_filed_by_its_labels(memory):
    name = note_of(
        memory,
        bullet("Map tiles come from the archive"),
        bullet("Use the archive of May", label="decision", who="assistant"),
    )
    assert memory.consolidate()["notes"] == 0
    (done,) = memory.approve([name])["entries"]
    assert done["status"] == "filed"
    assert [memory.show(id_)["layer"] for id_ in done["entries"]] == ["semantic", "decisions"]
    assert done["waiting"] == [done["entries"][1]]
    assert memory.review()["notes"] == []
    assert memory.status()["notes"] == {"pending": 0, "needs_review": 0, "failed": 0}
    assert memory.approve([name])["entries"][0]["status"] == "known"


def test_a_rejected_note_is_settled_with_nothing_filed(memory):
    name = note_of(memory, bullet("Map tiles come from the archive"))
    memory.reject([name], reason="noise")
    assert [row["id"] for row in memory.list()[0]] == ["harbor-sem-0001"]
    assert memory.review()["notes"] == []
    assert memory.consolidate()["notes"] == 0


def test_a_note_that_waits_for_no_review_is_refused(memory):
    name = note_of(memory, bullet("Map tiles come from the archive"), review=False)
    for decide in (lambda: memory.approve([name]), lambda: memory.reject([name], reason="no")):
        with pytest.raises(errors.Refused, match="waits for no review") as problem:
            decide()
        assert "lamina consolidate" in problem.value.hint
    assert memory.pending() == [name]


# --- the setting


TALK = [
    Said(
        "user", "We decided to keep the job queue in Redis on port 6001, because restarts must not lose it."
    ),
    Said(
        "assistant", "The queue is read in src/queue.py by `load_queue`; I moved it to Redis and tests pass."
    ),
    Said("user", "I prefer short commit messages in the imperative, please always write them that way."),
    Said("assistant", "Understood, commits are short from now on. The queue worker restarts by itself now."),
]


@pytest.mark.parametrize(
    ("review", "waiting"), [("off", 0), ("doubtful", 0), ("decisions", 1), ("all", None)]
)
def test_the_setting_says_what_waits_also_without_a_model(tmp_path, review, waiting):
    memory = opened(tmp_path, env={"LAMINA_REVIEW": review})
    made = memory.import_sessions([claude(tmp_path / "l", "q", TALK, cwd=str(tmp_path / "harbor"))])[
        "entries"
    ]
    assert made > 1
    found = memory.review()["candidates"]
    assert len(found) == (made if waiting is None else waiting)
    assert waiting != 1 or found[0]["layer"] == "decisions"


def test_a_project_may_be_stricter_wherever_the_import_is_started(tmp_path):
    away = tmp_path / "ferry"
    (away / ".git").mkdir(parents=True)
    (away / ".lamina.toml").write_text('review = "all"\n')
    memory = opened(tmp_path)
    memory.import_sessions(
        [
            claude(tmp_path / "l", "q", TALK, cwd=str(away)),
            claude(tmp_path / "l", "r", TALK, cwd=str(tmp_path / "harbor")),
        ]
    )
    rows, _ = memory.list(scope="all")
    assert {row["trust"] for row in rows if row["scope"] == "workspace:ferry"} == {"candidate"}
    assert {row["trust"] for row in rows if row["scope"] == "workspace:harbor"} == {"approved"}


# --- many at once


def test_of_ten_who_decide_at_once_one_does_and_the_others_are_told(memory, tmp_path):
    id_ = add(memory, "Ships are blue")
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "LAMINA_ROOT": str(memory.root)}
    verdicts = [["approve", id_], ["reject", id_, "--reason", "no"]] * 5
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "lamina", "review", *verdict, "--json"],
            env=env,
            cwd=tmp_path / "harbor",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for verdict in verdicts
    ]
    ended = [(each.communicate(timeout=120)[0], each.returncode) for each in running]
    told = [json.loads(out) for out, _ in ended]
    won = [each["entries"][0]["status"] for each in told if "entries" in each]
    assert {code for _, code in ended} <= {0, 3}
    final = trust(memory, id_)
    if final == "approved":
        assert won.count("approved") == 1
        assert won.count("known") == 4
    else:
        assert (final, won) == ("forgotten", ["rejected"])


def test_reasons_are_for_candidates_only(memory):
    (located,) = memory.store.entries(HARBOR, "semantic")
    assert reasons(located) == []


def test_an_approval_that_is_undone_waits_again(memory):
    ids = [
        add(memory, f"Berth {number} is dredged in spring\n\nThe harbor master said so.")
        for number in range(3)
    ]
    memory.approve(ids)
    memory.undo()
    assert [row["id"] for row in memory.review()["candidates"]] == ids
    assert memory.status()["review"]["candidates"] == 3


def test_a_note_whose_approval_is_undone_waits_again(memory):
    name = note_of(memory, bullet("The pier is 80 m long."))
    memory.approve([name])
    assert memory.review()["notes"] == []
    memory.undo()
    assert [row["id"] for row in memory.review()["notes"]] == [name]
    memory.approve([name])
    assert memory.search("pier 80").hits
