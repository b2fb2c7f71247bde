"""Parsing of a command's options, with the options every command has."""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

from lamina.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.memory import Memory

OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?$")


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` in place of printing and exiting."""

    def __init__(self, name: str, summary: str) -> None:
        super().__init__(prog=f"lamina {name}", description=summary, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise the message with the way to the command's help."""
        raise UsageError(f"{self.prog}: {message}", f"`{self.prog} --help` shows how to call it")


def command(name: str, summary: str, *, changes: bool = False) -> Parser:
    """Return a parser with the global options; `changes` adds `--dry-run`."""
    parser = Parser(name, summary)
    shared = parser.add_argument_group("everywhere")
    shared.add_argument("--root", metavar="DIR", help="the store (default ~/.lamina, or LAMINA_ROOT)")
    shared.add_argument("--workspace", metavar="KEY", help="the workspace (default: found from the folder)")
    shared.add_argument("--json", action="store_true", help="one JSON object on standard output")
    if changes:
        shared.add_argument("--dry-run", action="store_true", help="say what would change, change nothing")
    return parser


def add_filters(parser: Parser) -> None:
    """Add the filters that `search` and `list` share."""
    group = parser.add_argument_group("filters")
    group.add_argument("--limit", type=positive, metavar="N", help="at most N results")
    group.add_argument("--scope", help="all, global, workspace, or workspace:KEY")
    group.add_argument(
        "--layer", help="semantic, episodic, procedural, learnings, decisions, codebase, history"
    )
    group.add_argument("--topic", help="only this topic (its title or file name)")
    group.add_argument("--trust", help="approved, candidate, superseded, forgotten; several with commas")
    group.add_argument(
        "--since", metavar="WHEN", help="from this UTC day on, or 7d, 2w, 3m for that long ago"
    )
    group.add_argument("--until", metavar="WHEN", help="up to this UTC day")


def positive(text: str) -> int:
    """Parse a whole number of at least one."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number


def words_first(parser: Parser, arguments: Sequence[str]) -> list[str]:
    """Return `arguments` so that text beginning with a dash is text, unless it looks like an option.

    A query such as `->` or `-1.5` needs no `--` in front; `--limt` is still a mistake.
    """
    for place, word in enumerate(arguments):
        if word == "--":
            return list(arguments)
        if (
            word.startswith("-")
            and len(word) > 1
            and not OPTION.match(word)
            and not takes(parser, arguments, place)
        ):
            return [*arguments[:place], *arguments[place + 1 :], "--", word]
    return list(arguments)


def takes(parser: Parser, arguments: Sequence[str], place: int) -> bool:
    """Tell whether the word before `place` is an option that wants a value."""
    action = parser._option_string_actions.get(arguments[place - 1]) if place else None  # noqa: SLF001
    return action is not None and action.nargs != 0


def open_memory(options: argparse.Namespace) -> Memory:
    """Open the memory that the options name."""
    from lamina.memory import Memory

    return Memory.open(options.root, workspace=options.workspace)


def text_or_stdin(text: str) -> str:
    """Return `text`, or all of standard input when it is `-`."""
    if text != "-":
        return text
    return sys.stdin.buffer.read().decode("utf-8", errors="replace").lstrip("\ufeff")


def no_store(memory: Memory) -> str:
    """Return the line that tells that there is no store yet."""
    return f"there is no store at {memory.root} yet; `lamina import` or `lamina remember TEXT` makes one"
