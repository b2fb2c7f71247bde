"""`lamina eval`: measure on data, with the figures a person can check."""

from __future__ import annotations

import os
from pathlib import Path

from lamina.errors import BadInput, UsageError
from lamina.interfaces.cli.arguments import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Any

    from lamina.embed.base import Embedder
    from lamina.evaluation.corpora import Corpus
    from lamina.interfaces.cli.output import Output

_KINDS = ("pipeline", "retrieval", "consolidation", "behaviour")
_BELONGS = {
    "sessions": "pipeline",
    "set": "retrieval",
    "locomo": "retrieval",
    "beam": "retrieval",
    "longmemeval": "retrieval",
    "embedder": "retrieval",
    "half": "retrieval",
    "only": "behaviour",
    "model": "consolidation",
    "judge": "consolidation",
    "at_once": "consolidation",
}


def run(name: str, arguments: list[str], out: Output) -> int:
    """Measure the whole way, the search alone, or whether Lamina behaves as it says."""
    parser = command(
        name,
        "Measure Lamina. `pipeline`: sessions become transcripts, transcripts memories, memories answers, "
        "beside plain full text search over the raw turns. `retrieval`: how much of the evidence of "
        "questions the search finds, on Lamina's own set or on one that you have. `consolidation`: what "
        "becomes of sessions with known facts and known traps, with or without a model. `behaviour`: cases "
        "of ranking, freshness, forgetting, the card and workspaces that must hold.",
        examples=(
            "lamina eval retrieval",
            "lamina eval retrieval --locomo locomo10.json --json",
            "lamina eval pipeline sessions.json questions.json",
            "lamina eval consolidation --model ollama/qwen3 --misses",
            "lamina eval behaviour",
        ),
    )
    parser.add_argument("what", metavar="|".join(_KINDS), choices=_KINDS, help="what to measure")
    parser.add_argument(
        "sessions",
        metavar="SESSIONS",
        type=Path,
        nargs="?",
        help="pipeline: sessions.json, or the folder that holds it and questions.json",
    )
    parser.add_argument(
        "questions",
        metavar="QUESTIONS",
        type=Path,
        nargs="?",
        help="pipeline: questions.json (default: beside the sessions)",
    )
    parser.add_argument(
        "--set", metavar="DIR", type=Path, help="retrieval: a set of the shape of Lamina's own"
    )
    parser.add_argument("--locomo", metavar="FILE", type=Path, help="retrieval: conversations of LoCoMo")
    parser.add_argument("--beam", metavar="DIR", type=Path, help="retrieval: one chat of BEAM, or several")
    parser.add_argument("--longmemeval", metavar="FILE", type=Path, help="retrieval: LongMemEval")
    parser.add_argument("--embedder", metavar="NAME", help="retrieval: as the setting; `none` for words only")
    parser.add_argument(
        "--half", metavar="0|1", type=int, choices=(0, 1), help="retrieval: every other question"
    )
    parser.add_argument(
        "--misses",
        action="store_true",
        help="retrieval, consolidation: list what was missed or is not as it should be",
    )
    parser.add_argument(
        "--model", metavar="ROUTE", help="consolidation: a route, `auto` or `none` (default: none)"
    )
    parser.add_argument(
        "--judge", metavar="ROUTE", help="consolidation: a model that is asked whether entries say the facts"
    )
    parser.add_argument(
        "--at-once",
        action="store_true",
        default=None,
        help="consolidation: import all sessions together, not day by day",
    )
    parser.add_argument("--only", metavar="NAME", help="behaviour: one axis or case")
    options = parser.options(arguments)
    for option, kind in _BELONGS.items():
        if getattr(options, option) is not None and options.what != kind:
            shown = option.upper() if option == "sessions" else f"--{option.replace('_', '-')}"
            raise UsageError(f"{shown} belongs to `lamina eval {kind}`", f"`lamina {name} --help` shows how")
    measures = {
        "pipeline": pipeline,
        "retrieval": retrieval,
        "consolidation": consolidation,
        "behaviour": behaviour,
    }
    return measures[options.what](options, out)


def pipeline(options: argparse.Namespace, out: Output) -> int:
    """Measure the whole way from transcripts to answers."""
    if options.sessions is None:
        raise UsageError(
            "`lamina eval pipeline` needs a file of sessions", "name sessions.json or its folder"
        )
    from lamina.evaluation.whole import eval_pipeline

    figures = eval_pipeline(options.sessions, options.questions)
    out.result(figures, str(figures["table"]))
    return 0


def retrieval(options: argparse.Namespace, out: Output) -> int:
    """Measure the search."""
    from lamina.evaluation.retrieval import eval_retrieval, render_retrieval

    name, corpora = data_of(options)
    embedder = embedder_of(options)
    if not any(corpus.questions for corpus in corpora):
        raise BadInput("no question has an answer that is in the data", "check the ids that they name")
    result = eval_retrieval(name, corpora, embedder, half=options.half, progress=teller(out))
    out.result(result, render_retrieval(result, misses=options.misses))
    return 0


def teller(out: Output) -> Callable[[int, int], None]:
    """Return what tells how many corpora are done."""

    def told(done: int, of: int) -> None:
        out.progress(f"{done}/{of} measured")

    return told


def data_of(options: argparse.Namespace) -> tuple[str, Sequence[Corpus]]:
    """Return the data that was named, Lamina's own set if none was."""
    from lamina.evaluation import corpora
    from lamina.evaluation.retrieval import own_set

    loaders = {
        "set": corpora.load_set,
        "locomo": corpora.load_locomo,
        "beam": corpora.load_beam,
        "longmemeval": corpora.load_longmemeval,
    }
    named = {each: getattr(options, each) for each in loaders if getattr(options, each) is not None}
    if len(named) > 1:
        raise UsageError(f"one set at a time, not {' and '.join(map(repr, named))}", "leave the others out")
    for each, path in named.items():
        return each, loaders[each](path)
    return "own", corpora.load_set(own_set())


def embedder_of(options: argparse.Namespace) -> Embedder | None:
    """Return the embedder to measure with: the one named, else the built-in one."""
    from lamina.embed.choose import choose

    return choose(options.embedder or "builtin", env=os.environ)


def consolidation(options: argparse.Namespace, out: Output) -> int:
    """Measure what becomes of sessions."""
    from lamina.evaluation.consolidation import eval_consolidation, render_consolidation

    result = eval_consolidation(
        options.model or "none",
        judge=options.judge,
        at_once=bool(options.at_once),
        progress=lambda done, of: out.progress(f"{done}/{of} days imported"),
    )
    out.result(result, render_consolidation(result, misses=options.misses))
    return 0


def behaviour(options: argparse.Namespace, out: Output) -> int:
    """Run the cases that must hold; 1 if one does not."""
    from lamina.evaluation.behaviour import render_behaviour, run_behaviour

    result: dict[str, Any] = run_behaviour(options.only)
    out.result(result, render_behaviour(result))
    return 1 if result["failed"] else 0
