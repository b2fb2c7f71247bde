"""Every `$ command` in tests/cli/*.md and in the guides prints what stands under it.

A fenced block of language `console` is a conversation with a shell in an empty folder: `$ ` starts a command,
the lines below are its output (stdout and stderr), `[n]` behind it the exit code if it is not 0. `…` stands for
anything on a line, a line of `…` alone for any lines. Blocks of one file share the folder and the store.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*Path(__file__).parent.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)


def steps(page: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command += "\n" + more
            found.append((command, output.rstrip()))
    return found


def run(command: str, folder: Path, home: Path) -> str:
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "EXAMPLES": str(ROOT / "examples"),
        "LAMINA_COMMIT_DEBOUNCE_S": "3600",  # only a tick commits, however slow the machine
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    text = (
        done.stdout.decode()
        .rstrip()
        .replace(str(home), "~")
        .replace(str(folder), "/project")
        .replace(str(ROOT), "/lamina")
    )
    return f"{text}\n[{done.returncode}]".lstrip() if done.returncode else text


def matches(expected: str, actual: str) -> bool:
    pattern = "\n".join(
        r"(?:.*\n)*?.*" if line.strip() == "…" else re.escape(line.rstrip()).replace("…", ".*?")
        for line in expected.splitlines()
    )
    actual = "\n".join(line.rstrip() for line in actual.splitlines())
    return re.fullmatch(pattern, actual) is not None


@pytest.mark.parametrize("page", [p for p in PAGES if steps(p)], ids=lambda p: p.stem)
def test_every_command_prints_what_the_page_says(page, tmp_path):
    home, folder = tmp_path / "home", tmp_path / "harbor"
    home.mkdir()
    folder.mkdir()
    for command, expected in steps(page):
        actual = run(command, folder, home)
        assert matches(expected, actual), f"$ {command}\nexpected:\n{expected}\n\nactual:\n{actual}"


def test_a_page_that_lies_is_noticed():
    assert not matches("stored x", "stored y")
    assert matches("stored …-0001", "stored harbor-sem-0001")
    assert matches("a\n…\nd", "a\nb\nc\nd")
