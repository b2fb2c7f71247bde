"""What the commands of a project's memory share: where it is, what they are given, how a core stands."""

from __future__ import annotations

from lamina.errors import BadInput, UsageError
from lamina.interfaces.cli.arguments import text_or_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from lamina.interfaces.cli.arguments import Parser

MOST_BYTES = 64 << 20
"""The largest file that is read as a plan or a body."""


def add_place(parser: Parser) -> None:
    """Add the options that say which project is meant."""
    parser.add_argument("--project", metavar="DIR", help="the project's folder (default: the current one)")
    parser.add_argument(
        "--memory-path",
        metavar="DIR",
        help="its memory folder (default: as AGENTS.md, CLAUDE.md or .lamina.toml say, else memory/)",
    )


def add_core(parser: Parser) -> None:
    """Add the option that names another semantic core than the settings."""
    parser.add_argument(
        "--semantic-env",
        metavar="NAME",
        help="the environment variable that names the folder of an external semantic core",
    )


def read_text(name: str) -> str:
    """Read a file that was named, `-` for standard input. Raises BadInput, NoSuchFile, UnreadableFile."""
    from pathlib import Path

    from lamina.errors import NoSuchFile, UnreadableFile

    if name == "-":
        return text_or_stdin("-")
    path = Path(name)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"{name}: is larger than {MOST_BYTES >> 20} MB", "give a smaller file")
        if not path.is_file():
            raise BadInput(f"{name}: is no plain file", "check the path")
        return path.read_bytes().decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnreadableFile(f"{name}: is not UTF-8 text", "save it as UTF-8") from None
    except FileNotFoundError:
        raise NoSuchFile(f"{name}: no such file", "use - to read from standard input") from None
    except OSError as problem:
        raise BadInput(f"{name}: can't be read ({problem.strerror})", "check the path") from None


def read_json(name: str) -> Any:
    """Read a JSON file that was named, `-` for standard input."""
    import json

    shown = "standard input" if name == "-" else name
    try:
        value = json.loads(read_text(name))
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{shown}: is no JSON ({problem})", "give it as the plan printed it") from None
    if value is None:
        raise BadInput(f"{shown}: is null, no object", "give it as the plan printed it")
    return value


def either(**chosen: object) -> None:
    """Raise UsageError if two options were given that exclude each other."""
    named = [f"--{name.replace('_', '-')}" for name, value in chosen.items() if value]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} exclude each other", "use one of them")


def core_line(sync: Mapping[str, Any]) -> str:
    """Say how the semantic core stands."""
    waiting = len(sync["pending"])
    status = sync["status"] or "not asked"
    return f"semantic core: {status}" + (f", {waiting} waiting" if waiting else "")


def limits(limitations: Iterable[str], most: int = 8) -> list[str]:
    """Return the lines that tell of limitations; many are cut short."""
    told = list(limitations)
    more = [f"   and {len(told) - most} more (--json lists all)"] if len(told) > most else []
    return [*(f"   note: {each}" for each in told[:most]), *more]
