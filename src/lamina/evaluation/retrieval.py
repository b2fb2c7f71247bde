"""Measure the search: how much of the evidence of a question comes back, how early, and how fast.

A corpus is indexed as a store of its own, one document a turn, and asked through the same code as
`lamina search`. Figures are in percent: recall@k is the mean share of a question's gold units among the
first k, hit@k the share of questions with at least one of them there, MRR the mean of one over the place of
the first (within the first ten), nDCG@10 the usual with gains of 1.
"""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from lamina.evaluation.corpora import Corpus, Question, Unit
from lamina.index.base import TRUSTS, Document, Query, Reading, Stamp
from lamina.index.embedded import Embedded
from lamina.pipeline import recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from lamina.embed.base import Embedder

DEPTH = 10
_ROLES = ("user", "assistant")


class Ranking(NamedTuple):
    """What one question gave: the ids of units, best first, what answers it, and the time that it took.

    `turns` are the ids of the turns found, where the units are sessions.
    """

    question: Question
    found: tuple[str, ...]
    gold: frozenset[str]
    ms: float
    turns: tuple[str, ...] = ()

    @property
    def by_turn(self) -> Ranking:
        """The same, measured by turns."""
        return self._replace(found=self.turns, gold=self.question.turns)


class Units:
    """A corpus as what an index reads."""

    def __init__(self, corpus: Corpus) -> None:
        self.documents = [document_of(unit, line) for line, unit in enumerate(corpus.units, 1)]

    def stamps(self, only: Collection[str] | None = None) -> dict[str, Stamp]:
        """List the one file that the units stand in."""
        return {"units.md": (1, 1, 1, 1)} if only is None or "units.md" in only else {}

    def read(self, rel: str) -> Reading:
        """Return the units."""
        return Reading(self.documents, self.checksum(rel))

    def checksum(self, rel: str) -> int:
        """Return a number that stays the same: so do the units."""
        return len(rel)


def document_of(unit: Unit, line: int) -> Document:
    """Return a turn as an entry: who says it is its heading, unless that is only a role."""
    session = re.sub(r"[^A-Za-z0-9._-]", "-", unit.session)
    return Document(
        id=unit.id,
        scope=f"workspace:{unit.project}" if unit.project else "global",
        layer="episodic",
        topic=unit.session,
        heading="" if unit.speaker in _ROLES else unit.speaker,
        text=unit.text,
        file="units.md",
        line=line,
        date=unit.day,
        volatility="stable",
        source=f"session:eval/{session}#{unit.seq}-{unit.seq}",
    )


def eval_retrieval(
    name: str,
    corpora: Sequence[Corpus],
    embedder: Embedder | None = None,
    *,
    half: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> dict[str, Any]:
    """Measure the search on corpora; `half` 0 or 1 takes every other question only (None: all).

    Returns the figures of the set as `lamina eval retrieval --json` prints them.
    """
    rankings: list[Ranking] = []
    index_s = 0.0
    number = 0
    for at, corpus in enumerate(corpora):
        progress(at, len(corpora))
        chosen = [q for n, q in enumerate(corpus.questions, number) if half is None or n % 2 == half]
        number += len(corpus.questions)
        seconds, asked = _asked(corpus, chosen, embedder)
        index_s += seconds
        rankings += asked
    unit = corpora[0].unit if corpora else "turn"
    engines = ["words"] if embedder is None else ["words", "vectors"]
    turns = [each.by_turn for each in rankings if each.question.turns]
    more = {"by_turn": figures(turns)} if turns else {}
    return {
        "set": name,
        "unit": unit,
        "engines": engines,
        "embedder": embedder.name if embedder else "none",
        **figures(rankings),
        **more,
        "by_kind": _grouped(rankings, lambda ranking: ranking.question.kind),
        "by_language": _grouped(rankings, lambda ranking: ranking.question.language),
        "index_s": round(index_s, 2),
        "query_ms": _times([ranking.ms for ranking in rankings]),
        "missed": [
            {"id": each.question.id, "question": each.question.text, "found": each.found[:DEPTH]}
            for each in rankings
            if _first(each) > DEPTH
        ],
    }


def figures(rankings: Sequence[Ranking]) -> dict[str, Any]:
    """Return the figures over some questions."""
    count = len(rankings)

    def mean(measure: Callable[[Ranking], float]) -> float:
        return round(100 * math.fsum(map(measure, rankings)) / count, 1) if count else 0.0

    return {
        "n": count,
        "recall@5": mean(lambda each: _recall(each, 5)),
        "recall@10": mean(lambda each: _recall(each, 10)),
        "hit@5": mean(lambda each: float(_first(each) <= 5)),
        "hit@10": mean(lambda each: float(_first(each) <= 10)),
        "mrr": mean(lambda each: 1 / _first(each)),
        "ndcg@10": mean(_ndcg),
    }


def _asked(
    corpus: Corpus, questions: Iterable[Question], embedder: Embedder | None
) -> tuple[float, list[Ranking]]:
    """Index a corpus in a folder of its own and ask; returns the seconds of indexing, and the rankings."""
    session_of = {unit.id: unit.session for unit in corpus.units}
    with tempfile.TemporaryDirectory(prefix="lamina-eval-") as folder:
        index = Embedded(Path(folder) / "index", embedder=embedder)
        with closing(index):
            started = time.perf_counter()
            index.refresh(Units(corpus))
            if embedder is not None:
                index.embed()
            seconds = time.perf_counter() - started
            rankings = []
            for question in questions:
                began = time.perf_counter()
                found = _ask(index, question.text, corpus.today)
                ms = 1000 * (time.perf_counter() - began)
                units = list(dict.fromkeys(found))  # data that gives one id twice is answered once
                if corpus.unit == "session":
                    units = list(dict.fromkeys(session_of[each] for each in found))
                rankings.append(Ranking(question, tuple(units), question.gold, ms, tuple(found)))
    return seconds, rankings


def own_set() -> Path:
    """Return the folder of the set that was written for Lamina."""
    return Path(__file__).parent / "sets" / "coding"


def render_retrieval(result: Mapping[str, Any], *, misses: bool = False) -> str:
    """Return the figures as a table; with `misses`, the questions of which nothing was found, too."""
    names = ("n", "hit@5", "hit@10", "recall@5", "recall@10", "mrr", "ndcg@10")
    rows = [("all", result)]
    rows += [("by turn", result["by_turn"])] if "by_turn" in result else []
    rows += list(result["by_language"].items()) + list(result["by_kind"].items())
    width = max(len(name) for name, _ in rows)
    head = f"{result['set']}, by {result['unit']}, {' and '.join(result['engines'])}"
    lines = [f"{head} (embedder: {result['embedder']})", ""]
    lines.append("  ".join([" " * width, *(f"{name:>9}" for name in names)]))
    lines += ["  ".join([f"{name:{width}}", *(f"{row[each]:>9}" for each in names)]) for name, row in rows]
    times = result["query_ms"]
    asked = f"asked in {times['p50']:.1f} ms (p50), {times['p95']:.1f} ms (p95)"
    lines += ["", f"indexed in {result['index_s']} s, {asked}"]
    if misses:
        lines += ["", f"nothing among the first {DEPTH} hits answers:"]
        lines += [f"  {each['id']}  {each['question']}" for each in result["missed"]] or ["  (none)"]
    return "\n".join(lines)


def _ask(index: Embedded, text: str, today: date | None) -> list[str]:
    from datetime import UTC, datetime

    query = Query(text, DEPTH, trust=TRUSTS, branches=None, vectors=True)
    found = recall.search(index, query, today=today or datetime.now(UTC).date())
    return [hit.id for hit in found.hits]


def _grouped(rankings: Iterable[Ranking], key: Callable[[Ranking], str]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Ranking]] = {}
    for ranking in rankings:
        groups.setdefault(key(ranking), []).append(ranking)
    return {name: figures(groups[name]) for name in sorted(groups) if name}


def _recall(ranking: Ranking, depth: int) -> float:
    return len(ranking.gold & set(ranking.found[:depth])) / len(ranking.gold)


def _first(ranking: Ranking) -> float:
    """Return the place of the first gold unit, from 1; infinity if none was found."""
    places = (place for place, each in enumerate(ranking.found, 1) if each in ranking.gold)
    return next(places, math.inf)


def _ndcg(ranking: Ranking) -> float:
    places = [place for place, each in enumerate(ranking.found[:DEPTH], 1) if each in ranking.gold]
    best = sum(1 / math.log2(1 + place) for place in range(1, min(DEPTH, len(ranking.gold)) + 1))
    return sum(1 / math.log2(1 + place) for place in places) / best


def _times(ms: Sequence[float]) -> Mapping[str, float]:
    ordered = sorted(ms)
    if not ordered:
        return {"p50": 0.0, "p95": 0.0}
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * part))] for part in (0.5, 0.95)]
    return {"p50": round(at[0], 2), "p95": round(at[1], 2)}
