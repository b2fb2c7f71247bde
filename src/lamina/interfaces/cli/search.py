"""`lamina search`: the command that must be fast when cold."""

from __future__ import annotations

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import add_filters, command, filters_of, open_reading, point_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.interfaces.cli.output import Output
    from lamina.pipeline.recall import Found, Hit

LIMIT = 10


def run(name: str, arguments: list[str], out: Output) -> int:
    """Find memories by words and print them, best first."""
    parser = command(
        name,
        "Find memories by words, best first: here and in global, unless --scope says otherwise. Any "
        "language, any punctuation. Superseded and forgotten memories are found only with --trust.",
        examples=(
            "lamina search why did we drop redis",
            "lamina search 成语接龙 --layer learnings",
            "lamina search port --scope all --since 30d --explain",
        ),
    )
    parser.add_argument("query", nargs="+", metavar="WORDS", help="what to look for")
    add_filters(parser)
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")
    parser.add_argument(
        "--vectors", action="store_true", help="ask an embedder, too; this version searches by words"
    )
    options = parser.options(arguments)
    query = " ".join(options.query)
    if not query.strip():
        raise UsageError("the query is blank", "say what to look for: lamina search WORDS")
    memory = open_reading(options, out)
    found = memory.search(query, limit=options.limit or LIMIT, **filters_of(options))
    if options.vectors:
        out.note("no embedder is available: searched by words only")
    for note in found.notes:
        out.note(note)
    out.result(as_json(found), render(found, out, explain=options.explain))
    if not found.hits:
        point_elsewhere(memory, options, out)
    return 0


def as_json(found: Found) -> dict[str, Any]:
    """Return the answer in the shape that programs rely on."""
    more = {"terms": found.terms, "dropped": found.dropped, "notes": found.notes}
    hits = [hit._asdict() | {"parts": dict(hit.parts)} for hit in found.hits]
    return {"query": found.query, "engines": found.engines, "hits": hits} | more


def render(found: Found, out: Output, *, explain: bool) -> str:
    """Return the hits for a person to read."""
    if not found.hits:
        return f"nothing found (searched by {', '.join(found.engines)})"
    return "\n\n".join(
        render_hit(place, hit, out, explain=explain) for place, hit in enumerate(found.hits, 1)
    )


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
        parts = "  ".join(f"{name} {value:.3f}" for name, value in hit.parts.items())
        lines.append(out.style(f"   score {hit.score:.3f} = {parts}", "dim"))
    return "\n".join(lines)
