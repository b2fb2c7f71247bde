"""Parsing of a command's options, with the options every command has and help for somebody new."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from lamina.errors import BadInput, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from lamina.interfaces.cli.output import Output
    from lamina.memory import Memory

OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?")
GUARD = "\0"
"""Stands before text that begins with a dash; no argument of a process can hold it."""

WIDTH = 96
INDENT = 20
EVERYWHERE = "everywhere"


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` in place of printing and exiting.

    Text that begins with a dash is text unless it looks like an option, so `->`, `-1.5` and `- item` need no
    `--` in front, and `--limt` is still a mistake. Its help is the same on every version of Python.
    """

    def __init__(self, name: str, summary: str, examples: Sequence[str]) -> None:
        super().__init__(
            prog=f"lamina {name}", description=summary, allow_abbrev=False, formatter_class=formatter
        )
        self.examples = examples

    def error(self, message: str) -> NoReturn:
        """Raise the message with the way to the command's help."""
        told = message.replace(GUARD, "").replace("\\x00", "")
        raise UsageError(f"{self.prog}: {told}", f"`{self.prog} --help` shows how to call it")

    def options(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse a command's arguments."""
        parsed = self.parse_args(guarded(arguments))
        for name, value in vars(parsed).items():
            setattr(parsed, name, unguarded(value))
        return parsed

    def format_help(self) -> str:
        """Return the help: what it does, how it is called, what each option means, examples."""
        import textwrap

        lines = [f"usage: {self.prog} {' '.join(self._shapes())}", ""]
        lines += textwrap.wrap(self.description or "", WIDTH)
        for group in self._action_groups:
            shown = [action for action in group._group_actions if action.help != argparse.SUPPRESS]  # noqa: SLF001
            if shown:
                title = group.title or ""
                lines += ["", f"{'arguments' if title == 'positional arguments' else title}:"]
                lines += [line for action in shown for line in described(action)]
        if self.examples:
            lines += ["", "examples:", *(f"  {example}" for example in self.examples)]
        return "\n".join(lines) + "\n"

    def _shapes(self) -> list[str]:
        named = [action for action in self._actions if action.option_strings]
        needed = [f"{named_as(action)}" for action in named if action.required]
        return [
            *(shape(action) for action in self._actions if not action.option_strings),
            *needed,
            "[options]",
        ]


def formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter that knows its width; argparse would ask the terminal with each argument it adds."""
    return argparse.HelpFormatter(prog, width=WIDTH)


def described(action: argparse.Action) -> list[str]:
    """Return the lines that explain an argument."""
    import textwrap

    name = named_as(action) if action.option_strings else shape(action).strip("[]").split(" ")[0]
    text = textwrap.wrap(action.help or "", WIDTH - INDENT - 4) or [""]
    first = f"  {name:<{INDENT}}  {text[0]}" if len(name) <= INDENT else f"  {name}"
    rest = text[1:] if len(name) <= INDENT else text
    return [first.rstrip(), *(f"  {'':<{INDENT}}  {line}" for line in rest)]


def named_as(action: argparse.Action) -> str:
    """Return an option as it is written, with its value."""
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value_of(action)}"


def value_of(action: argparse.Action) -> str:
    """Return what stands for an argument's value."""
    if action.choices is not None and action.metavar is None:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def shape(action: argparse.Action) -> str:
    """Return how a positional argument is written."""
    value = value_of(action)
    return {"?": f"[{value}]", "*": f"[{value} …]", "+": f"{value} …"}.get(str(action.nargs), value)


def command(name: str, summary: str, *, changes: bool = False, examples: Sequence[str] = ()) -> Parser:
    """Return a parser with the global options; `changes` adds `--dry-run`."""
    parser = Parser(name, summary, examples)
    shared = parser.add_argument_group(EVERYWHERE)
    shared.add_argument("--root", metavar="DIR", help="the store (default ~/.lamina, or LAMINA_ROOT)")
    shared.add_argument("--workspace", metavar="KEY", help="the workspace (default: found from the folder)")
    shared.add_argument("--json", action="store_true", help="one JSON object on standard output")
    if changes:
        shared.add_argument("--dry-run", action="store_true", help="say what would change, change nothing")
    return parser


def add_filters(parser: Parser, *, trust: bool = True) -> None:
    """Add the filters that `search`, `list`, `export` and (without `trust`) `review` share."""
    group = parser.add_argument_group("filters")
    group.add_argument("--limit", type=positive, metavar="N", help="at most N results")
    group.add_argument(
        "--scope", help="all, global, workspace, or workspace:KEY (default: this workspace and global)"
    )
    group.add_argument(
        "--layer", help="semantic, episodic, procedural, learnings, decisions, codebase or history"
    )
    group.add_argument("--topic", help="only this topic (its title or file name)")
    if trust:
        group.add_argument(
            "--trust",
            help="approved, candidate, superseded, forgotten, several with commas, or all "
            "(default: approved and candidate)",
        )
    group.add_argument(
        "--since", metavar="WHEN", help="from this UTC day on (YYYY-MM-DD), or 7d, 2w, 3m for that long ago"
    )
    group.add_argument("--until", metavar="WHEN", help="up to this UTC day")


def filters_of(options: argparse.Namespace) -> Any:
    """Return the filters that were given."""
    names = ("scope", "layer", "topic", "trust", "since", "until")
    return {name: getattr(options, name, None) for name in names}


def positive(text: str) -> int:
    """Parse a whole number of at least one."""
    plain = text.removeprefix(GUARD)
    number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 10 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{plain!r} is not a whole number of at least 1")
    return number


def guarded(arguments: Sequence[str]) -> list[str]:
    """Put a guard before words that begin with a dash and are no options."""
    words: list[str] = []
    for place, word in enumerate(arguments):
        if word == "--":
            return [*words, *arguments[place:]]
        text = len(word) > 1 and word.startswith("-") and not OPTION.fullmatch(word)
        words.append(GUARD + word if text else word)
    return words


def unguarded(value: Any) -> Any:
    """Take the guard away again."""
    if isinstance(value, str):
        return value.removeprefix(GUARD)
    if isinstance(value, list):
        return [unguarded(each) for each in value]
    return Path(str(value).removeprefix(GUARD)) if isinstance(value, Path) else value


def open_memory(options: argparse.Namespace, out: Output) -> Memory:
    """Open the memory that the options name, and tell once what of the settings could not be used."""
    from lamina.memory import Memory

    memory = Memory.open(options.root, workspace=options.workspace)
    for warning in memory.warnings:
        out.warn(warning)
    return memory


def open_reading(options: argparse.Namespace, out: Output) -> Memory:
    """Open the memory for a command that only reads, saying so when store or workspace is not there yet."""
    memory = open_memory(options, out)
    if not memory.exists:
        out.beside(
            f"there is no store at {memory.root} yet; `lamina import` or `lamina remember TEXT` makes one"
        )
    elif options.workspace and not memory.workspace.known:
        out.beside(f"the store knows no workspace {options.workspace!r}; `lamina workspaces` lists them")
    return memory


def point_elsewhere(memory: Memory, options: argparse.Namespace, out: Output) -> None:
    """Name the way to the other projects, if nothing was found here and there are any."""
    if options.scope is not None or not memory.exists:
        return
    if any(scope.name not in ("global", memory.scope.name) for scope in memory.store.scopes()):
        out.note("looked in this workspace and global; `--scope all` looks in every project")


def joined(words: Sequence[str]) -> str:
    """Return the words as one text, or standard input for a lone `-`."""
    text = text_or_stdin(" ".join(words))
    if not text.strip():
        raise UsageError("there is no text to store", "give the text, or - and text on standard input")
    return text


def text_or_stdin(text: str) -> str:
    """Return `text`, or all of standard input when it is `-`."""
    if text != "-":
        return text
    if sys.stdin is None:
        raise UsageError("standard input is closed", "give the text, or pipe it in")
    try:
        return sys.stdin.buffer.read().decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        raise BadInput(
            f"standard input is not UTF-8 text (byte {problem.start} is "
            f"0x{problem.object[problem.start]:02x})",
            "convert it first: iconv -t UTF-8",
        ) from None
