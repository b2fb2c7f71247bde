"""A digest that is killed anywhere leaves the old file or a new one that is true, and the next run completes it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import key_of
from lamina.pipeline.digest.drafts import labelled
from lamina.pipeline.digest.run import run
from lamina.pipeline.semantic import Outcome
from lamina.store.memoryfolder import resolve

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
DATA = Path(__file__).with_name("data") / "digests"

RUNNER = """
import sys
from pathlib import Path
from tests.pipeline.killing import killed_at
from tests.pipeline.test_digest_killed import digested
from lamina.store.memoryfolder import resolve
folder = resolve(Path(sys.argv[1]))
killed_at(int(sys.argv[2]), int(sys.argv[3]))
digested(folder)
"""


class Core:
    """A core that takes everything and says when it is called, so that a run can be killed there."""

    name, broken = "env:CORE", ""

    def ingest(self, facts):
        sys.audit("core.before")
        told = [Outcome(fact.hash, ok=True, status="candidate") for fact in facts]
        sys.audit("core.after")
        return told

    def refine(self, operations):
        raise AssertionError(operations)

    def rebuild(self, records):
        raise AssertionError(records)


def digested(folder):
    return run(folder, lambda view: labelled(view.new), lambda: (Core(), ""), now=NOW)


def project(case, path):
    shutil.copytree(DATA / case, path / "memory", ignore=shutil.ignore_patterns("expected.json"))
    return resolve(path)


def killed(folder, *, step=10_000, size=0):
    """Run a digest in a process of its own that is killed at a step or a byte; False: it came to its end."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUNNER, str(folder.root), str(step), str(size)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (0, -signal.SIGKILL, -signal.SIGXFSZ), done.stderr
    return done.returncode != 0


def state_of(folder):
    return {each.name: each.read_bytes() for each in folder.path.iterdir() if not each.name.endswith(".tmp")}


def check(folder, before, whole):
    """Check what a killed run left behind, and that the next one comes to the same end as one that lived."""
    left = state_of(folder)
    assert {name: data for name, data in left.items() if name != "digest.md"} == {
        name: data for name, data in before.items() if name != "digest.md"
    }
    text = left.get("digest.md")
    if text != before.get("digest.md"):
        digest = parse_digest(text.decode())
        assert digest.fatal is None
        fresh = {item.content for item in digest.sections[-1].items}
        assert digest.status == "synced" or fresh <= set(digest.pending), "what was not told waits"
    digested(folder)
    assert not list(folder.path.glob("*.tmp"))
    now = parse_digest(folder.digest.read_bytes().decode())
    assert (now.status, now.pending) == ("synced", ())
    named = [key_of(ref) for section in now.sections for ref in section.sources]
    assert sorted(named) == sorted(set(named))
    assert state_of(folder) == whole


@pytest.mark.parametrize("case", ["canonical", "new", "pending-and-new", "pending", "bom"])
def test_a_kill_at_every_step_leaves_the_truth_and_the_next_run_completes_it(case, tmp_path):
    whole = project(case, tmp_path / "whole" / "harbor")
    digested(whole)
    steps = 0
    while True:
        folder = project(case, tmp_path / str(steps) / "harbor")
        before = state_of(folder)
        if not killed(folder, step=steps):
            break
        check(folder, before, state_of(whole))
        steps += 1
    assert steps >= 4


@pytest.mark.parametrize("share", [0.001, 0.3, 0.5, 0.999])
def test_a_kill_at_any_byte_of_a_write_leaves_the_old_file_or_the_new_one(share, tmp_path):
    whole = project("canonical", tmp_path / "whole" / "harbor")
    digested(whole)
    folder = project("canonical", tmp_path / "harbor")
    before = state_of(folder)
    assert killed(folder, size=max(1, int(share * len(state_of(whole)["digest.md"]))))
    assert state_of(folder) == before
    check(folder, before, state_of(whole))


def test_several_runs_at_once_make_one_section(tmp_path):
    folder = project("canonical", tmp_path / "harbor")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUNNER, str(folder.root), "10000", "0"]
    running = [subprocess.Popen(command, env=env) for _ in range(5)]
    assert [each.wait(timeout=60) for each in running] == [0] * 5
    digest = parse_digest(folder.digest.read_text())
    assert len(digest.sections) == 2
    assert (digest.status, digest.pending, digest.fatal) == ("synced", (), None)
