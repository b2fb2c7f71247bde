"""`make demo` is what a newcomer sees first: it runs to its end and shows what its captions promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_demo_shows_what_it_promises(tmp_path):
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        ["sh", str(ROOT / "examples" / "demo.sh")],
        cwd=ROOT,
        env=env,
        capture_output=True,
        check=False,
        timeout=120,
    )
    shown = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert [f"{n}. " in shown for n in range(1, 9)] == [True] * 8
    for promised in (
        "read 6 sessions",
        "skipped: 6 known",
        "workspaces/lanternfish/",
        "**Evidence:**",
        "database is locked",
        "  session   session:codex/",
        "took back forget",
        "</lamina-memory>",
    ):
        assert promised in shown
    assert "was forgotten on" in done.stderr.decode()
    assert "nothing found" not in shown
    assert list(tmp_path.iterdir()) == []  # what it made is gone
