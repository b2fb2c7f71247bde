"""What search by words and vectors costs, and what keeping vectors costs beside keeping words."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import search
from benchmarks.standin import StandIn
from lamina import errors
from lamina.embed.choose import choose
from lamina.embed.question import ask
from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource

ROUNDS = 15


def rows(entries: int, root: Path) -> list[search.Row]:
    """Measure one size, with vectors of a stand-in, and the built-in embedder for questions."""
    index, source = Embedded(root / "index", embedder=StandIn()), StoreSource(root)
    index.refresh(source)
    spent = search.cpu_s(index.embed)
    first = _ms(lambda: index.search(Query("warm", vectors=True)))
    question = question_ms()
    found = [
        search.Row(
            entries, "all vectors of a stand-in", f"{spent:.2f} s", f"{1e6 * spent / entries:.0f} µs each"
        ),
        search.Row(entries, "first search, both, vectors loaded", f"{first:.0f} ms", ""),
    ]
    for kind, texts in search.queries(search.Text(1), 100).items():
        search.warm_ms(index, texts[:10], vectors=True)
        middle, high = search.warm_ms(index, texts, vectors=True)
        found.append(search.Row(entries, f"warm search, both, {kind}", *_shown(middle, high)))
    found.append(search.Row(entries, "embedding the question, built-in embedder", *question))
    found += changed(entries, root, index, source)
    index.close()
    return found


def changed(entries: int, root: Path, index: Embedded, source: StoreSource) -> list[search.Row]:
    """Change files one by one, with their vectors."""
    text = search.Text(3)
    steps: dict[str, list[float]] = {"words": [], "vectors": [], "search": []}
    for topic in range(0, ROUNDS * 7, 7):
        layer = search.LAYERS[topic % len(search.LAYERS)]
        path = root / "global" / layer / f"topic-{topic}.md"
        path.write_text(search.topic_text(text, topic, "global", layer))
        rel = path.relative_to(root).as_posix()

        def refresh(rel: str = rel) -> object:
            return index.refresh(source, [rel])

        steps["words"].append(_ms(refresh))
        steps["vectors"].append(_ms(index.embed))
        steps["search"].append(_ms(lambda: index.search(Query("warm search", vectors=True))))
    middle = {name: statistics.median(spent) for name, spent in steps.items()}
    return [
        search.Row(entries, "one changed file, its words", f"{middle['words']:.1f} ms", ""),
        search.Row(entries, "one changed file, its vectors", f"{middle['vectors']:.1f} ms", ""),
        search.Row(entries, "first search after it, both", f"{middle['search']:.1f} ms", ""),
    ]


def question_ms() -> tuple[str, str]:
    """Return what the built-in embedder takes for a question: median and 95th percentile."""
    text = search.Text(4)
    spent = []
    try:
        embedder = choose("builtin", env={})
        assert embedder is not None
        for asked in [" ".join(text.some(5, 8)) for _ in range(60)]:
            worth = {word: random.Random(word).random() for word in asked.split()}
            spent.append(_ms(lambda asked=asked, worth=worth: ask(embedder, asked, worth)))
    except errors.EmbedderUnavailable as problem:
        return ("not here", problem.message)
    return _shown(statistics.median(spent[10:]), statistics.quantiles(spent[10:], n=20)[-1])


def _shown(middle: float, high: float) -> tuple[str, str]:
    return f"{middle:.2f} ms", f"p95 {high:.2f} ms"


def _ms(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return 1000 * (time.process_time() - before)
