"""What refining makes of the folder of digests: sound, older, refined, changed by hand, damaged."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from tests.pipeline.test_digest_fixtures import BOM, CASES, DATA, bytes_of, digested, laid_out

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import key_of
from lamina.pipeline.refine.account import sound
from lamina.pipeline.refine.plan import proposed
from lamina.pipeline.refine.run import Target, read, run, stops
from pipeline.refined import Kept

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)


def expected(name):
    return json.loads((DATA / name / "expected.json").read_text(encoding="utf-8"))["refine"]


FORCED = [name for name in CASES if expected(name).get("items") is not None]
STOPPED = [name for name in CASES if expected(name)["exit"] != 0]


def target_of(folder):
    return Target(folder, folder.digest, canonical=True)


def refined(folder, core=None, *, force=False, now=NOW):
    return run(
        target_of(folder),
        lambda digest: sound(proposed(digest)),
        lambda: (core, "" if core else "it is off"),
        now=now,
        approve=lambda _: True,
        force=force,
    )


def core_of(name):
    """Return a core that holds the candidates of a digest, as the runs before left it."""
    core = Kept(name="env:KEPT")
    for each in parse_digest((DATA / name / "digest.md").read_bytes().decode()).items:
        core.status[each.hash or each.content] = each.sync or "candidate"
    return core


def test_every_case_says_what_refining_does():
    assert len(FORCED) >= 10
    assert sum(name.startswith("damaged") for name in STOPPED) >= 10


@pytest.mark.parametrize("name", CASES)
def test_the_gates_of_each_case(name, tmp_path):
    folder = laid_out(name, tmp_path)
    if "gates" not in expected(name):
        with pytest.raises(errors.LaminaError):
            read(target_of(folder))
        return
    _, digest = read(target_of(folder))
    assert list(stops(target_of(folder), digest, NOW)) == expected(name)["gates"]


@pytest.mark.parametrize("name", STOPPED)
def test_a_gate_stops_before_a_byte_changes(name, tmp_path):
    wanted, folder = expected(name), laid_out(name, tmp_path)
    before = bytes_of(folder)
    with pytest.raises(errors.LaminaError) as caught:
        refined(folder, Kept())
    assert caught.value.exit_code == wanted["exit"]
    assert wanted["said"] in caught.value.message
    if wanted.get("line"):
        assert f"digest.md:{wanted['line']}: " in caught.value.message
    if wanted["exit"] == 3:
        assert caught.value.choices
    assert bytes_of(folder) == before
    if wanted.get("items") is None:
        with pytest.raises(errors.LaminaError):
            refined(folder, Kept(), force=True)
        assert bytes_of(folder) == before


@pytest.mark.parametrize("core", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("name", FORCED)
def test_a_sound_digest_is_refined_where_a_person_insists(name, core, tmp_path):
    wanted, folder = expected(name), laid_out(name, tmp_path)
    before = bytes_of(folder)
    told = refined(folder, core_of(name) if core else None, force=True).as_json()
    after = bytes_of(folder)
    old, new = before.pop("digest.md"), after.pop("digest.md")
    assert after == before, "daily files are as they were, and nothing lies beside them"
    was, digest = parse_digest(old.decode()), parse_digest(new.decode())
    assert new.splitlines(keepends=True)[0] == old.splitlines(keepends=True)[0]
    assert new.startswith(BOM) == old.startswith(BOM)
    if b"\r\n" in old:
        assert new.count(b"\n") == new.count(b"\r\n")
    assert new.splitlines()[1].decode() == wanted["second_line"]
    assert [each.id for each in digest.items] == wanted["items"]
    assert not digest.sections
    assert {each.id: each.text for each in digest.items} == {
        name: was.current[name].text for name in wanted["items"]
    }
    assert {key_of(ref) for ref in was.named} <= digest.covered
    stands = wanted["with_core" if core else "without_core"]
    assert (digest.status, sorted(digest.pending)) == (stands["status"], sorted(stands["pending"]))
    assert told["sync"] == {"status": digest.status, "pending": list(digest.pending)}
    assert all((each.sync == "approved") == (each.hash not in digest.pending) for each in digest.items)
    assert (told["merged"], told["resolved"], told["dropped"], told["conflicts"]) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", FORCED)
def test_a_second_refine_adds_nothing(name, tmp_path):
    folder = laid_out(name, tmp_path)
    refined(folder, core_of(name), force=True)
    once = bytes_of(folder)
    refined(folder, core_of(name), force=True)
    assert bytes_of(folder) == once
    with pytest.raises(errors.Undecided, match="nothing came since"):
        refined(folder, core_of(name), now=NOW + timedelta(days=30))
    assert bytes_of(folder) == once


@pytest.mark.parametrize("name", FORCED)
def test_the_next_digest_reads_no_session_again(name, tmp_path):
    """What was new stays new, what was digested stays digested, whether it was refined meanwhile or not."""
    plain = laid_out(name, tmp_path / "plain")
    folder = laid_out(name, tmp_path / "refined")
    refined(folder, force=True)
    if "inferred" not in name:
        assert digested(folder).as_json()["sessions"] == digested(plain).as_json()["sessions"]
    assert digested(folder).as_json()["sessions"] == []


@pytest.mark.parametrize("name", [name for name in CASES if "retry" in expected(name).get("gates", ())])
def test_what_waits_is_asked_again_and_no_knowledge_is_rewritten(name, tmp_path):
    folder = laid_out(name, tmp_path)
    before = bytes_of(folder)
    assert refined(folder).retried
    assert bytes_of(folder) == before
    told = refined(folder, core_of(name))
    after = bytes_of(folder)
    assert told.retried
    assert told.sync.status == "synced"
    unmarked = [
        [line for line in data["digest.md"].splitlines() if not line.startswith(b"<!--")]
        for data in (before, after)
    ]
    assert unmarked[0] == unmarked[1]
    assert before["digest.md"].splitlines()[:2] == after["digest.md"].splitlines()[:2]
