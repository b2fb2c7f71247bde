"""What a search costs that starts, answers once and ends: what it may load, and its CPU beside bare Python's."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.search import Text, age_files, make_store

SOURCES = Path(__file__).resolve().parent.parent / "src"
MOST = 5.0  # times `python -c "import sqlite3"`
ENTRIES = 10_000
ROUNDS, RUNS = 4, 7

START = "import sys; from lamina.interfaces.cli.main import main; code = main(); "
LIBRARY = "__future__ argparse gc json locale math pathlib sqlite3 unicodedata"
"""What a search loads of the standard library, with all that comes along. Nothing else may."""
OWN = """
    lamina errors
    formats formats.dates formats.freshness formats.frozen formats.gitconfig formats.layers formats.remote formats.scope
    index index.base index.conditions index.disk index.embedded index.fusion index.intake index.lookup index.source index.tables
    index.words
    interfaces interfaces.cli interfaces.cli.arguments interfaces.cli.main interfaces.cli.output interfaces.cli.search
    memory memory.memory memory.opened memory.reading memory.sessions memory.stages memory.upkeep
    pipeline pipeline.filters pipeline.recall
    resident resident.client resident.place
    settings settings.table settings.values
    store store.files store.identity store.layout store.project store.registry store.repository store.site
    store.tomlfile
"""
HEAVY = """
    typing dataclasses inspect hashlib shutil subprocess tempfile asyncio logging threading uuid email
    tomllib yaml tomlkit platformdirs textwrap difflib importlib.metadata runpy socket _socket selectors urllib.request http
    numpy onnxruntime tokenizers wordllama
"""


class Place:
    """A store, and a repository from which it is searched."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "store"
        self.home = folder / "home"
        self.repository = folder / "repository"
        for name in ("home", "repository/.git/objects", "repository/.git/refs"):
            (folder / name).mkdir(parents=True)
        (self.repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (self.repository / ".git" / "config").write_text(
            '[remote "origin"]\n\turl = git@example.com:team/project3.git\n'
        )
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        self.env = kept | {
            "HOME": str(self.home),
            "PYTHONPATH": str(SOURCES),
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        }

    def python(self, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=self.repository,
            env=self.env,
            check=True,
            capture_output=True,
            encoding="utf-8",
        )

    def search(self, *words: str, then: str = "sys.exit(code)") -> subprocess.CompletedProcess[str]:
        return self.python(START + then, "search", *words, "--scope", "all", "--root", str(self.root))

    def modules(self, code: str, *arguments: str) -> set[str]:
        ran = self.python(f"{code}; print(*sys.modules, file=sys.stderr)", *arguments)
        return set(ran.stderr.split())

    def cpu(self, code: str, *arguments: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.python(code, *arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("cold"))
    make_store(made.root, ENTRIES)
    age_files(made.root)
    made.search("anything")
    return made


def test_a_cold_search_loads_only_what_it_needs(place: Place) -> None:
    before = place.modules(f"import sys, {LIBRARY.replace(' ', ', ')}")
    loaded = place.modules(
        START.rstrip("; "), "search", Text(1).words[0], "--scope", "all", "--root", str(place.root)
    )
    own = {name for name in loaded if name.partition(".")[0] == "lamina"}
    allowed = {f"lamina.{name}".removesuffix(".lamina") for name in OWN.split()}
    assert sorted(own - allowed) == []
    assert sorted(loaded - own - before) == []
    assert sorted(set(HEAVY.split()) & (loaded - place.modules("import sys"))) == []


@pytest.mark.parametrize(
    "words",
    [(Text(1).words[100], Text(1).words[800]), ("nowhere",), ("设备管理",)],
    ids=["hits", "none", "cjk"],
)
def test_a_cold_search_costs_at_most_five_times_a_bare_python(place: Place, words: tuple[str, ...]) -> None:
    asked = ("search", *words, "--scope", "all", "--root", str(place.root))
    place.search(*words)
    ratios: list[float] = []
    while len(ratios) < ROUNDS and min(ratios, default=MOST) >= 0.8 * MOST:
        bare, search = [], []
        for _ in range(RUNS):  # by turns, so that a busy machine slows both
            bare.append(place.cpu("import sqlite3"))
            search.append(place.cpu(START + "sys.exit(code)", *asked))
        ratios.append(statistics.median(search) / statistics.median(bare))
    assert min(ratios) <= MOST
