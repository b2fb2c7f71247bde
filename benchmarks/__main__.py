"""Everything that is measured, in one run: imports, search, hooks, MCP, a project's memory.

`make bench` takes 1,000, 10,000 and 100,000 entries and 1,000 transcripts; `make bench ARGS="1000 10000"`
takes these numbers of entries only.
"""

from __future__ import annotations

import sys

from benchmarks import hooks, importing, mcp, project, search

SIZES = ("1000", "10000", "100000")


def main(arguments: list[str]) -> None:
    """Print all tables."""
    print("## Import\n")
    importing.main([])
    print("\n## Search\n")
    search.main(arguments or SIZES)
    print("\n## Hooks\n")
    hooks.main([])
    print("\n## MCP\n")
    mcp.main([])
    print("\n## A project's memory\n")
    project.main([])


if __name__ == "__main__":
    main(sys.argv[1:])
