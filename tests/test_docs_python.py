"""The ```python blocks of the docs run, in their order, in an empty folder; the list of methods is complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lamina import Memory

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.name != "formats.md" and BLOCK.search(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, tmp_path):
    script = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    (tmp_path / "sessions").symlink_to(ROOT / "examples" / "sessions")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], cwd=tmp_path, env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_page_names_every_public_method_of_memory():
    text = (ROOT / "docs" / "guides" / "python-api.md").read_text(encoding="utf-8")
    table = text.split("## All of it")[1]
    public = {name for name in dir(Memory) if not name.startswith("_")}
    plain = {"root", "exists", "store", "settings", "scope"}
    assert set(re.findall(r"`(\w+)`", table)) == public - plain
