"""`lamina search`: the command that must be fast when cold."""

from __future__ import annotations

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import add_filters, command, no_store, open_memory, words_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.interfaces.cli.output import Output
    from lamina.pipeline.recall import Found, Hit


def run(name: str, arguments: list[str], out: Output) -> int:
    """Find memories by words and print them, best first."""
    parser = command(name, "Find memories by words, best first.")
    parser.add_argument("query", nargs="+", help="what to look for; any language, any punctuation")
    add_filters(parser)
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")
    options = parser.parse_args(words_first(parser, arguments))
    query = " ".join(options.query)
    if not query.strip():
        raise UsageError("the query is empty", "say what to look for: lamina search WORDS")
    memory = open_memory(options)
    if not memory.exists:
        out.note(no_store(memory))
    found = memory.search(
        query,
        limit=options.limit or 10,
        scope=options.scope,
        layer=options.layer,
        topic=options.topic,
        trust=options.trust,
        since=options.since,
        until=options.until,
    )
    out.result(as_json(found), render(found, out, explain=options.explain))
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
    """Return one hit: heading, where it stands, how far to trust it, and its snippet."""
    lines = [
        f"{place}. {out.style(hit.heading, 'bold')}",
        out.style(
            f"   {hit.id or 'no id yet'} · {hit.trust} · {hit.freshness} ({hit.age_days} d) · {hit.file}:{hit.line}",
            "dim",
        ),
    ]
    lines += [f"   {line}" for line in hit.snippet.splitlines() if line.strip()]
    if explain:
        parts = "  ".join(f"{name} {value:.3f}" for name, value in hit.parts.items())
        lines.append(out.style(f"   score {hit.score:.3f} = {parts}", "dim"))
    return "\n".join(lines)
