"""`lamina eval`: measure on data, with the figures a person can check."""

from __future__ import annotations

from pathlib import Path

from lamina.interfaces.cli.arguments import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Measure the whole way from transcripts to answers on a file of sessions and questions."""
    parser = command(
        name,
        "Measure the whole way on a set of sessions and questions: sessions become transcripts, transcripts "
        "memories, memories answers, beside plain full text search over the raw turns.",
        examples=("lamina eval pipeline sessions.json questions.json", "lamina eval pipeline data/ --json"),
    )
    parser.add_argument("what", metavar="pipeline", choices=("pipeline",), help="what to measure")
    parser.add_argument(
        "sessions",
        metavar="SESSIONS",
        type=Path,
        help="sessions.json, or the folder that holds it and questions.json",
    )
    parser.add_argument(
        "questions",
        metavar="QUESTIONS",
        type=Path,
        nargs="?",
        help="questions.json (default: beside the sessions)",
    )
    options = parser.options(arguments)
    from lamina.pipeline.evaluate import eval_pipeline

    figures = eval_pipeline(options.sessions, options.questions)
    out.result(figures, render(figures))
    return 0


def render(figures: Mapping[str, Any]) -> str:
    """Return the figures as a table."""
    return str(figures["table"])
