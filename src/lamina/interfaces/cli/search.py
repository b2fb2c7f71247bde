"""`lamina search`: the command that must be fast when cold."""

from __future__ import annotations

import os

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import add_filters, command, filters_of, open_reading, point_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.interfaces.cli.output import Output
    from lamina.memory import Memory
    from lamina.pipeline.recall import Found, Hit

LIMIT = 10
VECTORS = "vectors"


def run(name: str, arguments: list[str], out: Output) -> int:
    """Find memories by words and print them, best first."""
    parser = command(
        name,
        "Find memories, best first: here and in global, unless --scope says otherwise. Any language, any "
        "punctuation. By words, and by meaning as well with --vectors or while `lamina serve` runs. "
        "Superseded and forgotten memories are found only with --trust.",
        examples=(
            "lamina search why did we drop redis",
            "lamina search 成语接龙 --layer learnings",
            "lamina search port --scope all --since 30d --explain",
        ),
    )
    parser.add_argument("query", nargs="+", metavar="WORDS", help="what to look for")
    add_filters(parser)
    parser.add_argument(
        "--explain", action="store_true", help="show what was looked for and the parts of each score"
    )
    parser.add_argument(
        "--vectors",
        action="store_true",
        help="search by meaning, too; memories without a vector get one first, for two seconds at most",
    )
    parser.add_argument(
        "--rerank", action="store_true", help="let the model of the settings reorder what was found"
    )
    options = parser.options(arguments)
    query = " ".join(options.query)
    if not query.strip():
        raise UsageError("the query is blank", "say what to look for: lamina search WORDS")
    memory = open_reading(options, out)
    limit, filters = options.limit or LIMIT, filters_of(options)
    found = ask_resident(memory, query, limit, filters, vectors=options.vectors) or memory.search(
        query, limit=limit, vectors=options.vectors, **filters
    )
    if found.hits and (options.rerank or memory.settings["rerank"]):
        found = memory.rerank(found)
    for note in found.notes:
        out.note(note)
    out.result(as_json(found, explain=options.explain), render(found, out, explain=options.explain))
    if not found.hits:
        point_elsewhere(memory, options, out)
    return 0


def ask_resident(memory: Memory, query: str, limit: int, filters: Any, *, vectors: bool) -> Found | None:
    """Ask the process that keeps this store's search warm; None if there is none."""
    if not memory.exists:
        return None
    from lamina.resident.client import search

    return search(memory.standpoint, query, limit=limit, vectors=vectors, filters=filters, env=os.environ)


def as_json(found: Found, *, explain: bool = False) -> dict[str, Any]:
    """Return the answer in the shape that programs rely on."""
    more: dict[str, Any] = {"terms": found.terms, "dropped": found.dropped, "notes": found.notes}
    hits = [hit._asdict() | {"parts": dict(hit.parts), "priors": dict(hit.priors)} for hit in found.hits]
    if explain:
        more["explain"] = {"worth": dict(found.worth), "weights": dict(found.weights)}
    return {"query": found.query, "engines": found.engines, "hits": hits} | more


def render(found: Found, out: Output, *, explain: bool) -> str:
    """Return the hits for a person to read."""
    blocks = [out.style(explained(found), "dim")] if explain else []
    if found.hits and VECTORS in found.engines and not explain:
        blocks.append(out.style(f"searched by {' and '.join(found.engines)}", "dim"))
    if not found.hits:
        hint = "" if VECTORS in found.engines else "; --vectors searches by meaning, too"
        blocks.append(f"nothing found (searched by {', '.join(found.engines)}{hint})")
    blocks += [render_hit(place, hit, out, explain=explain) for place, hit in enumerate(found.hits, 1)]
    return "\n\n".join(blocks)


def explained(found: Found) -> str:
    """Return what was looked for, by what, and what each signal counts."""
    terms = (
        f"{term} {found.worth[term]:.2f}" if term in found.worth else term
        for term in found.terms
        if term not in found.dropped
    )
    lines = [f"searched by {', '.join(found.engines)} for: {', '.join(terms) or 'nothing'}"]
    if found.dropped:
        lines.append(f"left out, since nearly every memory has them: {', '.join(found.dropped)}")
    if found.weights:
        weights = (f"{name} {value:g}" for name, value in found.weights.items() if value)
        lines.append(f"weights: {', '.join(weights)}")
    return "\n".join(lines)


def render_hit(place: int, hit: Hit, out: Output, *, explain: bool) -> str:
    """Return one hit.

    Heading, where it stands, how far to trust it, and its snippet unless the heading says it.
    """
    age = "" if hit.age_days is None else f" ({hit.age_days} d)"
    where = f"   {hit.id or 'no id yet'} · {hit.trust} · {hit.freshness}{age} · {hit.file}:{hit.line}"
    lines = [f"{place}. {out.style(hit.heading, 'bold')}", out.style(where, "dim")]
    if hit.snippet.strip() != hit.heading:
        lines += [f"   {line}" for line in hit.snippet.splitlines() if line.strip()]
    if explain:
        lines.append(out.style(f"   score: {summed(hit)}", "dim"))
    return "\n".join(lines)


def summed(hit: Hit) -> str:
    """Return how a score came about: parts that add up, and what is known of the entry multiplied in."""
    parts = " + ".join(f"{name} {value:.3f}" for name, value in hit.parts.items())
    priors = " ".join(f"× {name} {value:.3f}" for name, value in hit.priors.items())
    total = max(0.0, sum(hit.parts.values()))
    return f"{parts} = {total:.3f}" + (f"; {priors} = {hit.score:.3f}" if priors else "")
