"""`lamina export`: memories as one file, for reading elsewhere or for another tool."""

from __future__ import annotations

from pathlib import Path

from lamina.interfaces.cli.arguments import add_filters, command, filters_of, open_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Write memories as Markdown or JSON to a file or to standard output."""
    parser = command(
        name,
        "Write memories out as one Markdown or JSON document, to read elsewhere or to give to another tool.",
        changes=True,
        examples=(
            "lamina export --scope all --output memory.md",
            "lamina export --format json --layer decisions",
        ),
    )
    parser.add_argument(
        "--format",
        choices=("markdown", "json"),
        default="markdown",
        help="the document's form (default markdown)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="the file (default: standard output)")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it is there")
    add_filters(parser)
    options = parser.options(arguments)
    memory = open_reading(options, out)
    done = memory.export(
        "json" if out.json and options.output is None else options.format,
        output=options.output,
        force=options.force,
        limit=options.limit,
        dry_run=options.dry_run,
        **filters_of(options),
    )
    if options.output is None:
        if out.json:
            out.result(done["document"])
        else:
            out.document(done["text"].rstrip("\n"))
        return 0
    verb = "would write" if options.dry_run else "wrote"
    result = {"file": str(options.output), "entries": done["entries"]}
    out.result(result, f"{verb} {done['entries']} memories to {options.output}")
    return 0
