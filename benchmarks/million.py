"""One million entries: that the index is built, what memory that takes, and what a search costs then.

`python -m benchmarks.million [ENTRIES]` prints a Markdown table; it needs 4 GB of disk and about 15 minutes.

The store is synthetic, 50 entries a topic file; texts as in `benchmarks.search`. Each step is a process of
its own, so that its peak of memory is its own, too. Vectors are a stand-in's with as many numbers as the
built-in embedder's; what that one takes for a question is a line of the table of `benchmarks.search`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.search import Row, Text, age_files, make_store, queries, table, warm_ms
from benchmarks.standin import StandIn
from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource

ENTRIES = 1_000_000
PER_TOPIC = 50
ASKED = 60


def build(root: Path) -> dict[str, float]:
    """Build the index of words."""
    index = Embedded(root / "index")
    return {"documents": index.rebuild(StoreSource(root)).documents}


def words(root: Path) -> dict[str, float]:
    """Search by words."""
    return _searched(root, Embedded(root / "index"), vectors=False)


def embed(root: Path) -> dict[str, float]:
    """Make all vectors."""
    index = Embedded(root / "index", embedder=StandIn())
    index.refresh(StoreSource(root))
    done, left = index.embed()
    return {"documents": done, "left": left}


def both(root: Path) -> dict[str, float]:
    """Search by words and vectors."""
    return _searched(root, Embedded(root / "index", embedder=StandIn()), vectors=True)


def change(root: Path) -> dict[str, float]:
    """Change a file, take it in, embed it, search."""
    index, source = Embedded(root / "index", embedder=StandIn()), StoreSource(root)
    index.refresh(source)
    index.search(Query("warm", vectors=True))
    index.embed()
    path = next(path for path in sorted(root.rglob("topic-7*.md")))
    path.write_text(path.read_text().replace("## ", "## Changed ", 1))
    rel = path.relative_to(root).as_posix()
    steps: list[Callable[[], object]] = [
        lambda: index.refresh(source, [rel]),
        index.embed,
        lambda: index.search(Query("warm", vectors=True)),
    ]
    return {f"step {n}": ms for n, ms in enumerate(map(_ms, steps))}


def _searched(root: Path, index: Embedded, *, vectors: bool) -> dict[str, float]:
    index.refresh(StoreSource(root))
    found = {"first": _ms(lambda: index.search(Query("warm", vectors=vectors)))}
    for kind, texts in queries(Text(1), ASKED).items():
        warm_ms(index, texts[:5], vectors=vectors)
        found[kind], found[f"{kind} p95"] = warm_ms(index, texts, vectors=vectors)
    return found


def _ms(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return 1000 * (time.process_time() - before)


def step(name: str, root: Path) -> dict[str, float]:
    """Run one step in a process of its own; adds its seconds of CPU and its peak of memory in MB."""
    command = [sys.executable, "-m", "benchmarks.million", name, str(root)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


def peak_mb() -> float:
    """Return the most memory that this process ever had; a child's own, unlike what `getrusage` says."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(entries: int) -> list[Row]:
    """Measure all steps."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        make_store(root, entries, per_topic=PER_TOPIC)
        age_files(root)
        built, by_words = step("build", root), step("words", root)
        embedded, by_both, changed = step("embed", root), step("both", root), step("change", root)
        size = {path.name: path.stat().st_size / 2**20 for path in (root / "index").glob("*.db")}
    assert built["documents"] == entries
    assert embedded["left"] == 0
    rows = [
        Row(entries, "index build from files", f"{built['cpu']:.0f} s CPU", _mb(built)),
        Row(entries, "all vectors of a stand-in", f"{embedded['cpu']:.0f} s CPU", _mb(embedded)),
    ]
    for what, found in (("words", by_words), ("both", by_both)):
        rows.append(Row(entries, f"first search, {what}", f"{found['first']:.0f} ms", _mb(found)))
        for kind in ("rare words", "mixed words", "common words"):
            middle, high = f"{found[kind]:.1f} ms", f"p95 {found[f'{kind} p95']:.1f} ms"
            rows.append(Row(entries, f"warm search, {what}, {kind}", middle, high))
    named = ("one changed file, words", "its vectors", "the first search after it, both")
    rows += [Row(entries, what, f"{changed[f'step {n}']:.0f} ms", "") for n, what in enumerate(named)]
    rows += [Row(entries, f"{name} on disk", f"{size[name]:.0f} MB", "") for name in sorted(size)]
    return rows


def _mb(found: dict[str, float]) -> str:
    return f"{found['peak']:.0f} MB memory"


STEPS = {each.__name__: each for each in (build, words, embed, both, change)}


def main(arguments: list[str]) -> None:
    """Print the table, or run one step and print what it found."""
    if arguments and arguments[0] in STEPS:
        found = STEPS[arguments[0]](Path(arguments[1]))
        print(json.dumps({**found, "cpu": time.process_time(), "peak": peak_mb()}))
        return
    print(table(measure(int(arguments[0]) if arguments else ENTRIES)))


if __name__ == "__main__":
    main(sys.argv[1:])
