"""A refine that is killed anywhere leaves the old file or a new one that is true; the next run completes it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import key_of
from lamina.pipeline.refine.account import sound
from lamina.pipeline.refine.plan import proposed
from lamina.pipeline.refine.run import Target, run
from lamina.store import memoryfolder
from lamina.store.memoryfolder import resolve
from pipeline.refined import Desk, Kept, digest_of, item

NOW = datetime(2026, 12, 20, 10, tzinfo=UTC)
SECTIONS = (
    [
        item("decision-esm", "Use plain ESM with no build step.", sync="approved"),
        item("state-port", "The staging server listens on port 9090.", sync="approved"),
        item("open-guide", "Write the upgrade guide."),
    ],
    [
        item(
            "decision-esm2", "Use plain ESM with no build step, because what we ship is what we test.", day=2
        ),
        item("state-port", "The staging server listens on port 9191.", day=2),
        item("state-guide", "Done: Write the upgrade guide.", day=2),
        item("learning-mirror", "The mirror refuses files larger than 4 MB.", day=2),
    ],
)

RUNNER = """
import sys
from pathlib import Path
from tests.pipeline.killing import killed_at
from tests.pipeline.test_refine_killed import refined
killed_at(int(sys.argv[2]), int(sys.argv[3]))
refined(Path(sys.argv[1]))
"""


class OnDisk(Kept):
    """A core whose records outlive the process; it says when it is called, so that a run is killed there."""

    def __init__(self, path: Path) -> None:
        super().__init__(name="env:CORE")
        self._path = path
        self.status = json.loads(path.read_text()) if path.exists() else {}

    def ingest(self, facts):
        return self._told(lambda: super(OnDisk, self).ingest(facts))

    def refine(self, operations):
        return self._told(lambda: super(OnDisk, self).refine(operations))

    def _told(self, done):
        sys.audit("core.before")
        outcomes = done()
        file = os.open(self._path, os.O_RDWR | os.O_CREAT)  # one step, whole: the core is not what is tested
        os.pwrite(file, json.dumps(self.status).encode().ljust(4_000), 0)
        os.close(file)
        sys.audit("core.after")
        return outcomes


def project(root: Path) -> Path:
    """Make a project whose digest has what is merged, updated, resolved and new, and a core that knows it."""
    desk = Desk(root, digest_of(*SECTIONS))
    core = OnDisk(root / "core.json")
    core.status = {each.hash: each.sync for section in SECTIONS for each in section}
    core.ingest([])
    (desk.folder.path / "2026-11-01-esm-memory.md").write_text("# Memory\n")
    return root


def refined(root: Path, *, force=False):
    folder = resolve(root)
    return run(
        Target(folder, folder.digest, canonical=True),
        lambda digest: sound(proposed(digest)),
        lambda: (OnDisk(root / "core.json"), ""),
        now=NOW,
        approve=lambda _: True,
        force=force,
    )


def killed(root: Path, *, step=10_000, size=0) -> bool:
    """Refine in a process of its own that is killed at a step or a byte; False: it came to its end."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUNNER, str(root), str(step), str(size)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (0, -signal.SIGKILL, -signal.SIGXFSZ), done.stderr
    return done.returncode != 0


def bytes_of(root: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in (root / "memory").iterdir() if each.suffix == ".md"}


def check(root: Path, before: dict[str, bytes], whole: dict[str, bytes], core: dict[str, str]) -> None:
    """Check what a killed run left behind, and that the next one comes to the same end as one that lived."""
    left = bytes_of(root)
    assert left["2026-11-01-esm-memory.md"] == before["2026-11-01-esm-memory.md"]
    was, digest = (parse_digest(data["digest.md"].decode()) for data in (before, left))
    assert digest.fatal is None
    assert {key_of(ref) for ref in was.named} <= digest.covered
    assert left["digest.md"].splitlines()[0] == before["digest.md"].splitlines()[0]
    if left["digest.md"] != before["digest.md"]:
        assert not digest.sections
        approved = {each.hash for each in digest.refined if each.sync == "approved"}
        assert {each.hash for each in digest.refined} <= approved | set(digest.pending), (
            "what is not told waits"
        )
        known = OnDisk(root / "core.json").status
        assert all(known[each] == "approved" for each in approved)
    completed(root)
    with memoryfolder.locked(resolve(root)):  # as any command that writes
        assert not list((root / "memory").glob("*.tmp"))
    assert bytes_of(root) == whole
    assert OnDisk(root / "core.json").status == core


def completed(root: Path) -> None:
    """Refine once more, if there is anything left to do."""
    with contextlib.suppress(errors.Undecided):
        refined(root)
    with pytest.raises(errors.Undecided, match="nothing came since"):
        refined(root)


@pytest.fixture
def whole(tmp_path):
    root = project(tmp_path / "whole" / "harbor")
    told = refined(root)
    assert told.sync.status == "synced"
    return bytes_of(root), OnDisk(root / "core.json").status


def test_a_kill_at_every_step_leaves_the_truth_and_the_next_run_completes_it(tmp_path, whole):
    steps = 0
    while True:
        root = project(tmp_path / str(steps) / "harbor")
        before = bytes_of(root)
        if not killed(root, step=steps):
            break
        check(root, before, *whole)
        shutil.rmtree(root.parent)
        steps += 1
    assert steps >= 8


@pytest.mark.parametrize("share", [0.001, 0.3, 0.5, 0.999])
def test_a_kill_at_any_byte_of_the_write_leaves_the_old_file_or_the_new_one(share, tmp_path, whole):
    root = project(tmp_path / "harbor")
    before = bytes_of(root)
    assert killed(root, size=max(1, int(share * len(whole[0]["digest.md"]))))
    assert bytes_of(root) == before
    check(root, before, *whole)


def test_several_runs_at_once_refine_it_once(tmp_path, whole):
    root = project(tmp_path / "harbor")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUNNER, str(root), "10000", "0"]
    running = [subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) for _ in range(5)]
    assert 0 in [each.wait(timeout=60) for each in running]
    completed(root)
    assert bytes_of(root) == whole[0]
