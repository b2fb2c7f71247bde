"""What the digest makes of a folder of digests: sound, older, refined, changed by hand, damaged."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import key_of
from lamina.pipeline.digest.drafts import labelled
from lamina.pipeline.digest.run import run
from lamina.pipeline.semantic import Outcome
from lamina.store.memoryfolder import resolve

DATA = Path(__file__).with_name("data") / "digests"
CASES = sorted(each.name for each in DATA.iterdir() if each.is_dir())
NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
BOM = b"\xef\xbb\xbf"


class Taking:
    """A core that takes whatever it is given, and remembers it."""

    name, broken = "env:TAKING", ""

    def __init__(self):
        self.taken = []

    def ingest(self, facts):
        self.taken += facts
        return [Outcome(fact.hash, ok=True, status="candidate") for fact in facts]

    def refine(self, operations):
        raise AssertionError(operations)

    def rebuild(self, records):
        raise AssertionError(records)


def expected(name):
    return json.loads((DATA / name / "expected.json").read_text(encoding="utf-8"))["digest"]


SOUND = [name for name in CASES if expected(name)["exit"] == 0]
DAMAGED = [name for name in CASES if expected(name)["exit"] != 0]


def laid_out(name, tmp_path):
    """Copy a case into a project of its own."""
    root = tmp_path / "harbor"
    shutil.copytree(DATA / name, root / "memory", ignore=shutil.ignore_patterns("expected.json"))
    return resolve(root)


def digested(folder, core=None, now=NOW):
    return run(folder, lambda view: labelled(view.new), lambda: (core, "" if core else "it is off"), now=now)


def bytes_of(folder):
    return {each.name: each.read_bytes() for each in folder.path.iterdir()}


def bare(data):
    """Return a digest's bytes without byte order mark and header markers."""
    lines = data.removeprefix(BOM).splitlines(keepends=True)
    heads = (b"<!-- digest:state", b"<!-- fde-digest:state", b"<!-- digest-refine:state", b"<!-- digest:sync")
    return b"".join(line for line in lines if not line.startswith(heads))


def test_the_folder_holds_every_sort():
    assert len(DAMAGED) >= 10
    assert {"canonical", "legacy-fde", "refined", "pending", "hand-edited", "crlf", "bom"} <= set(SOUND)


@pytest.mark.parametrize("core", [None, Taking()], ids=["without", "with"])
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_digest_gets_exactly_what_is_new(name, core, tmp_path):
    wanted, folder = expected(name), laid_out(name, tmp_path)
    before = bytes_of(folder)
    told = digested(folder, core).as_json()
    after = bytes_of(folder)
    old, new = before.pop("digest.md", b""), after.pop("digest.md", b"")
    assert after == before, "daily files are as they were, and nothing lies beside them"
    stands = wanted["without_core" if core is None else "with_core"]
    if stands == "untouched":
        assert new == old
        assert told["section"] is None
        return
    digest = parse_digest(new.decode())
    assert (digest.status, sorted(digest.pending)) == (stands["status"], sorted(stands["pending"]))
    assert told["sync"] == {"status": digest.status, "pending": list(digest.pending)}
    assert new.removeprefix(BOM).splitlines()[0].decode() == wanted["first_line"]
    for number, line in wanted.get("lines", {}).items():
        assert new.splitlines()[int(number)].decode() == line
    assert bare(new).startswith(bare(old))
    assert old.startswith(BOM) == new.startswith(BOM)
    if b"\r\n" in old:
        assert new.count(b"\n") == new.count(b"\r\n")
    _compare_section(wanted, told, digest, parse_digest(old.decode()))


def _compare_section(wanted, told, digest, old):
    assert told["sessions"] == wanted["sources"]
    assert told["sources"] == len(wanted["sources"])
    if not wanted["sources"]:
        assert len(digest.sections) == len(old.sections)
        assert told["section"] is None
        return
    assert len(digest.sections) == len(old.sections) + 1
    section = digest.sections[-1]
    assert section.id == told["section"] == "2026-12-02T10:00:00Z"
    assert section.title == NOW.astimezone().strftime("%Y-%m-%d %H:%M")
    assert section.sources == tuple(wanted["sources"])
    got = sorted((item.kind, item.text, item.hash) for item in section.items)
    assert got == sorted((item["kind"], item["text"], item["hash"]) for item in wanted["items"])
    assert all(item.hash == item.content and item.sync == "candidate" for item in section.items)
    assert all(set(item.sources) <= set(wanted["sources"]) and item.sources for item in section.items)
    ids = [item.id for item in section.items]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {item.id for item in old.items}
    assert (told["from"], told["to"]) == (wanted["from"], wanted["to"])
    assert told["late"] == wanted.get("late", [])
    assert told["decisions"] == sum(item["kind"] == "decision" for item in wanted["items"])
    assert told["open"] == sum(item["kind"] == "open" for item in wanted["items"])


@pytest.mark.parametrize("name", [name for name in SOUND if "said" in expected(name)])
def test_what_a_person_should_know_is_said(name, tmp_path):
    told = digested(laid_out(name, tmp_path), Taking()).as_json()
    assert any(expected(name)["said"] in each for each in told["limitations"]), told["limitations"]


@pytest.mark.parametrize("core", [None, Taking()], ids=["without", "with"])
@pytest.mark.parametrize("name", SOUND)
def test_a_second_run_adds_nothing(name, core, tmp_path):
    folder = laid_out(name, tmp_path)
    digested(folder, core)
    before = bytes_of(folder)
    told = digested(folder, core, NOW + timedelta(hours=1)).as_json()
    assert told["section"] is None
    assert told["sources"] == 0
    assert bare(bytes_of(folder)["digest.md"]) == bare(before["digest.md"])
    if core is None or not told["sync"]["pending"]:
        assert bytes_of(folder) == before


@pytest.mark.parametrize("name", SOUND)
def test_every_session_is_covered_once_by_the_section_that_took_it(name, tmp_path):
    folder = laid_out(name, tmp_path)
    digested(folder)
    digest = parse_digest(folder.digest.read_text(encoding="utf-8"))
    named = [key_of(ref) for section in digest.sections for ref in section.sources]
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_digest_is_named_by_its_line_and_left_as_it_is(name, tmp_path):
    wanted, folder = expected(name), laid_out(name, tmp_path)
    before = bytes_of(folder)
    with pytest.raises(errors.LaminaError) as caught:
        digested(folder, Taking())
    problem = caught.value
    assert problem.exit_code == wanted["exit"]
    assert wanted["said"] in problem.message
    assert "digest.md" in problem.message
    if wanted["line"]:
        assert f"digest.md:{wanted['line']}: " in problem.message
    if wanted["exit"] == 3:
        assert isinstance(problem, errors.Undecided)
        assert len(problem.choices) >= 2
    assert bytes_of(folder) == before


@pytest.mark.parametrize("name", ["digest.md", "2026-12-01-queue-memory.md"])
def test_a_link_in_the_folder_is_never_followed(name, tmp_path):
    folder = laid_out("canonical", tmp_path)
    theirs = tmp_path / "theirs"
    (folder.path / name).rename(theirs)
    (folder.path / name).symlink_to(theirs)
    before = theirs.read_bytes()
    if name == "digest.md":
        with pytest.raises(errors.UnsafePath):
            digested(folder)
    else:
        told = digested(folder).as_json()
        assert told["sources"] == 1
        assert any(name in each for each in told["limitations"])
    assert theirs.read_bytes() == before
    assert (folder.path / name).is_symlink()
