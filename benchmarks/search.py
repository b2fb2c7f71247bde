"""What search costs, as ratios to raw SQLite and a bare Python measured in the same run.

    python -m benchmarks.search [ENTRIES …]        prints a Markdown table (default 1000 10000)

All times are CPU, cold ones of whole processes, so that other work on the machine shows little. Stores are
synthetic, five entries a topic file, words drawn by Zipf's law, one text in ten Chinese or Japanese, one in
five with identifiers.
"""

from __future__ import annotations

import itertools
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from benchmarks import meaning
from lamina.index.base import Query, Stamp
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource
from lamina.index.words import TOKENIZER

PER_TOPIC = 5
WORDS = 30_000
TODAY = date(2026, 11, 30)
LAYERS = ("semantic", "episodic", "procedural", "learnings", "decisions")
CJK = (
    "今天检查了设备管理的配置",
    "ステージング環境で移行を実行した",
    "重跑gen-itgc后50条全部通过",
    "설정 파일을 바꾸었다",
)
NAMES = ("parseTopicFile", "memory_search", "src/index.py", "retry-after", "HTTPServer", "v1.24.3")


class Row(NamedTuple):
    """One line of the table: what was measured, its value, and how it compares."""

    entries: int
    what: str
    value: str
    ratio: str


class Text:
    """Words by Zipf's law, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        letters = "etaoinshrdlucmfwypvbgk"
        lengths = range(3, 11)
        pick = self.random.choice
        self.words = ["".join(pick(letters) for _ in range(pick(lengths))) for _ in range(WORDS)]
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(WORDS)))

    def some(self, least: int, most: int) -> list[str]:
        """Return so many words."""
        return self.random.choices(self.words, cum_weights=self.weights, k=self.random.randint(least, most))

    def body(self) -> str:
        """Return the text of an entry."""
        words = self.some(20, 90)
        if self.random.random() < 0.1:
            words.append(self.random.choice(CJK))
        if self.random.random() < 0.2:
            words.append(self.random.choice(NAMES))
        return " ".join(words)


def make_store(root: Path, entries: int, seed: int = 1, per_topic: int = PER_TOPIC) -> None:
    """Write a store of so many entries."""
    text = Text(seed)
    (root / "memory.json").parent.mkdir(parents=True, exist_ok=True)
    (root / "memory.json").write_text('{"schemaVersion": 2, "workspaces": {}}\n')
    for topic in range(entries // per_topic):
        scope = f"workspaces/project{topic % 7}" if topic % 7 else "global"
        layer = LAYERS[topic % len(LAYERS)]
        path = root / scope / layer / f"topic-{topic}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(topic_text(text, topic, scope.rpartition("/")[2], layer, per_topic))


def topic_text(text: Text, topic: int, key: str, layer: str, per_topic: int = PER_TOPIC) -> str:
    parts = [f"# {' '.join(text.some(2, 4))}\n"]
    for n in range(per_topic):
        number = topic * per_topic + n
        day = TODAY - timedelta(days=number % 700)
        parts.append(
            f"\n## {' '.join(text.some(4, 9))}\n\n**Id:** {key}-{layer[:3]}-{number:04}\n**Date:** {day}\n"
            f"**Source:** session:claude-code/{topic // 3:08x}#{n * 20}-{n * 20 + 12}\n\n{text.body()}\n"
        )
    return "".join(parts)


def queries(text: Text, count: int) -> dict[str, list[str]]:
    """Return queries of rare words, of a natural mix, and of the commonest words only."""
    rare = [" ".join(text.random.sample(text.words[500:20_000], 3)) for _ in range(count)]
    mixed = [" ".join(text.some(5, 8)) for _ in range(count)]
    common = [" ".join(text.random.sample(text.words[:30], 3)) for _ in range(count)]
    return {"rare words": rare, "mixed words": mixed, "common words": common}


def cpu_ms(command: Sequence[str], times: int = 15) -> float:
    """Return the least user and system time of a process, in milliseconds.

    Compiled modules are kept in a folder of their own, as an installation has them.
    """
    spent = []
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env = {**kept, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "lamina-bench-pycache")}
    for _ in range(times + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return 1000 * min(spent[1:])


def cpu_s(work: Callable[[], object]) -> float:
    """Return the CPU seconds that work takes in this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def warm_ms(index: Embedded, texts: Iterable[str], *, vectors: bool = False) -> tuple[float, float]:
    """Return median and 95th percentile of warm searches, in milliseconds of CPU."""
    spent = []
    for text in texts:
        before = time.process_time()
        index.search(Query(text, vectors=vectors))
        spent.append(1000 * (time.process_time() - before))
    return statistics.median(spent), statistics.quantiles(spent, n=20)[-1]


def raw_insert_s(texts: Sequence[tuple[str, str, str]], folder: Path) -> float:
    """Return the CPU seconds of plain FTS5 inserts of the same texts."""
    db = sqlite3.connect(folder / "raw.db")
    db.execute(f'CREATE VIRTUAL TABLE raw USING fts5 (topic, heading, text, tokenize="{TOKENIZER}")')

    def insert() -> None:
        db.executemany("INSERT INTO raw VALUES (?, ?, ?)", texts)
        db.commit()

    spent = cpu_s(insert)
    db.close()
    return spent


class Held:
    """A source that was read before, so that building is measured without reading files."""

    def __init__(self, source: StoreSource) -> None:
        self._stamps = source.stamps()
        self._readings = {rel: source.read(rel) for rel in self._stamps}
        self.read = self._readings.__getitem__

    def stamps(self, only: Collection[str] | None = None) -> dict[str, Stamp]:
        """List what was read."""
        return {rel: stamp for rel, stamp in self._stamps.items() if only is None or rel in only}

    def checksum(self, rel: str) -> int:
        """Return a file's checksum."""
        return self._readings[rel].checksum

    def texts(self) -> list[tuple[str, str, str]]:
        """Return topic, heading and text of every document."""
        return [(d.topic, d.heading, d.text) for r in self._readings.values() for d in r.documents]


def installed() -> tuple[str, ...]:
    """Return the command `lamina` of this environment."""
    script = Path(sys.executable).with_name("lamina")
    return (str(script),) if script.exists() else (sys.executable, "-m", "lamina")


def measure(entries: int) -> list[Row]:
    """Measure one size."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        make_store(root, entries)
        rows = build_rows(entries, root, Path(folder))
        index, source = Embedded(root / "index"), StoreSource(root)
        index.refresh(source)
        # What was indexed right after it was written is looked at once more; that is not searching.
        age_files(root)
        index.refresh(source)
        rows += [*warm_rows(entries, index), update_row(entries, root, index, source)]
        index.close()
        rows += meaning.rows(entries, root)
        return rows + cold_rows(entries, root)


def age_files(root: Path) -> None:
    for path in root.rglob("*.md"):
        info = path.stat()
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns - 10**10))


def build_rows(entries: int, root: Path, folder: Path) -> list[Row]:
    source = StoreSource(root)
    held = Held(source)
    raw = raw_insert_s(held.texts(), folder)
    index = Embedded(folder / "held")
    words = cpu_s(lambda: index.rebuild(held))
    index.close()
    index = Embedded(root / "index")
    whole = cpu_s(lambda: index.rebuild(source))
    index.close()
    return [
        Row(entries, "raw FTS5 inserts of the same text", f"{raw:.2f} s", "1"),
        Row(entries, "index build from documents", f"{words:.2f} s", f"{words / raw:.1f} x raw"),
        Row(entries, "index build from files, parsing too", f"{whole:.2f} s", f"{whole / raw:.1f} x raw"),
    ]


def warm_rows(entries: int, index: Embedded) -> list[Row]:
    rows = []
    for kind, texts in queries(Text(1), 100).items():
        warm_ms(index, texts[:10])
        middle, high = warm_ms(index, texts)
        rows.append(Row(entries, f"warm search, {kind}", f"{middle:.2f} ms", f"p95 {high:.2f} ms"))
    return rows


def update_row(entries: int, root: Path, index: Embedded, source: StoreSource) -> Row:
    spent = []
    text = Text(2)
    for topic in range(0, 15 * 7, 7):
        path = root / "global" / LAYERS[topic % len(LAYERS)] / f"topic-{topic}.md"
        path.write_text(topic_text(text, topic, "global", "semantic"))
        rel = path.relative_to(root).as_posix()
        before = time.process_time()
        index.refresh(source, [rel])
        spent.append(1000 * (time.process_time() - before))
    looking = 1000 * cpu_s(lambda: index.refresh(source))
    return Row(
        entries, "one changed file", f"{statistics.median(spent):.1f} ms", f"look at all: {looking:.1f} ms"
    )


def cold_rows(entries: int, root: Path) -> list[Row]:
    bare = cpu_ms([sys.executable, "-c", "import sqlite3"])
    rows = [Row(entries, "bare Python with sqlite3", f"{bare:.0f} ms CPU", "1")]
    options = ["--root", str(root), "--scope", "all", "--json"]
    words = Text(1).words
    asked = {
        "rare words": words[100:2000:700],
        "common words": words[:3],
        "no hit": ["nowhere"],
        "Chinese": ["设备管理"],
    }
    for what, query in asked.items():
        spent = cpu_ms([*installed(), "search", *query, *options])
        rows.append(
            Row(entries, f"lamina search, {what}", f"{spent:.0f} ms CPU", f"{spent / bare:.1f} x bare")
        )
    return rows


def table(rows: Iterable[Row]) -> str:
    lines = ["| entries | what | value | ratio |", "| ---: | --- | ---: | ---: |"]
    lines += [f"| {row.entries:,} | {row.what} | {row.value} | {row.ratio} |" for row in rows]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    sizes = [int(size) for size in arguments] or [1_000, 10_000]
    print(table(itertools.chain.from_iterable(map(measure, sizes))))


if __name__ == "__main__":
    main(sys.argv[1:])
