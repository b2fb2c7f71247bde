"""`lamina mcp`: memory as tools for an agent, over standard input and output."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:  # noqa: ARG001 - the protocol has the output
    """Serve the tools until standard input ends."""
    parser = command(
        name,
        "Serve memory to an agent over MCP, on standard input and output. Agents start it themselves; "
        "`lamina install` writes it into their settings. The profile core shows the six tools that are used "
        "most, for agents with little room.",
        examples=("lamina mcp", "lamina mcp --profile core"),
    )
    parser.add_argument(
        "--profile", choices=("full", "core"), default="full", help="which tools it shows (default full)"
    )
    options = parser.options(arguments)
    from lamina.interfaces.mcp.process import serve

    serve(options.profile, root=options.root, workspace=options.workspace)
