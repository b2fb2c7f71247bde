"""One virtual environment for each tool, made once and used again while its pins are the same."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PINS = HERE / "pins"
NEEDS = re.compile(r"#\s*python (\d+)\.(\d+)")
# Some builds of Python cannot load SQLite extensions; basic-memory would silently search by words only.
LOADS = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"
SWAP = (
    "import sys, pysqlite3.dbapi2; "
    'sys.modules.update({"sqlite3": pysqlite3, "sqlite3.dbapi2": pysqlite3.dbapi2})\n'
)


class Unusable(RuntimeError):
    """A tool can't be installed here; the text is the reason."""


def environment(name: str, work: Path) -> Path:
    """Return the folder of the programs of a tool's environment, installing what is pinned for it."""
    pins = (PINS / f"{name}.txt").read_text(encoding="utf-8")
    folder = work / "environments" / name
    if not _is_made(folder, pins):
        _make(folder, pins)
        _pip(folder, "install", "-r", str(PINS / f"{name}.txt"))
        if "pysqlite3-binary" in pins:
            _swap_sqlite(folder)
        _mark(folder, pins)
    return folder / "bin"


def own_environment(work: Path) -> Path:
    """Return the programs of an environment with Lamina as this checkout has it, installed as users do."""
    pins = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    folder = work / "environments" / "lamina"
    if not _is_made(folder, pins):
        _make(folder, "# python 3.11")
        _pip(folder, "install", "--require-hashes", "-r", str(ROOT / "requirements" / "run.txt"))
        _mark(folder, pins)
    options = ["--no-deps", "--no-build-isolation", "--force-reinstall", "--no-cache-dir"]
    _pip(folder, "install", *options, str(ROOT))
    return folder / "bin"


def version_of(name: str) -> str:
    """Return the pinned version of a tool."""
    found = re.search(
        rf"^{re.escape(name)}==(\S+)", (PINS / f"{name}.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    return found[1] if found else ""


def python_for(pins: str, pythons: Sequence[str] = ()) -> str:
    """Return a Python that is new enough for the first line of the pins; raises Unusable if there is none."""
    found = NEEDS.search(pins)
    least = (int(found[1]), int(found[2])) if found else (3, 11)
    for each in pythons or _pythons():
        version = _version(each)
        if version and version >= least:
            return each
    raise Unusable(f"needs Python {least[0]}.{least[1]} or newer, and none was found here")


def _pythons() -> list[str]:
    names = [shutil.which(f"python3.{minor}") for minor in (12, 13, 14)]
    own = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    kept = sorted(str(each) for each in own.glob("3.1[2-4].*/bin/python3"))
    return [sys.executable, *(name for name in names if name), *kept]


def _version(python: str) -> tuple[int, int] | None:
    ask = "import sys; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return None if done.returncode else tuple(map(int, done.stdout.split()))


def _is_made(folder: Path, pins: str) -> bool:
    mark = folder / "made"
    return mark.is_file() and mark.read_text(encoding="utf-8") == _digest(pins)


def _mark(folder: Path, pins: str) -> None:
    (folder / "made").write_text(_digest(pins), encoding="utf-8")


def _digest(pins: str) -> str:
    return hashlib.sha256(pins.encode()).hexdigest()


def _make(folder: Path, pins: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _checked([python_for(pins), "-m", "venv", str(folder)], folder.parent)


def _pip(folder: Path, *arguments: str) -> None:
    command = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        *arguments,
    ]
    _checked(command, folder)


def _checked(command: list[str], cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [
            line.strip() for line in (done.stderr or done.stdout).splitlines() if "ERROR" in line.upper()
        ]
        raise Unusable(f"installing failed: {' / '.join(errors[:2])[:400] or 'no reason given'}")


def _swap_sqlite(folder: Path) -> None:
    python = str(folder / "bin" / "python")
    if subprocess.run([python, "-c", LOADS], check=False).returncode:
        site = next(folder.glob("lib/python3.*/site-packages"))
        (site / "sqlite_that_loads_extensions.pth").write_text(SWAP, encoding="utf-8")
