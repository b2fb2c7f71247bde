"""The `lamina` command: find the command's module, run it, turn failures into one clear message.

Only the module of the command that was called is imported, since a cold `lamina search`
should cost little more than starting Python.
"""

from __future__ import annotations

import gc
import os
import sys

from lamina import __version__
from lamina.errors import LaminaError, NoSuchFile, UsageError
from lamina.formats.frozen import NamedTuple
from lamina.interfaces.cli.output import Output, Unprintable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Command(NamedTuple):
    """Where a command lives and the line that `lamina --help` shows for it."""

    module: str
    group: str
    summary: str


COMMANDS: dict[str, Command] = {
    "init": Command("setup", "Start", "make a store (other commands make it on first use)"),
    "import": Command("gather", "Start", "read the sessions that your agents left on this machine"),
    "search": Command("search", "Find", "find memories by words"),
    "list": Command("browse", "Find", "list memories, newest first"),
    "show": Command("browse", "Find", "print one memory with all its fields"),
    "why": Command("browse", "Find", "follow a memory back to where it came from"),
    "log": Command("browse", "Find", "what was learnt, session by session"),
    "card": Command("browse", "Find", "print the context block that a new session gets"),
    "remember": Command("write", "Write", "store one memory"),
    "decision": Command("write", "Write", "store a settled choice and why it won"),
    "codebase": Command("write", "Write", "store what a part of the repository is"),
    "state": Command("write", "Write", "show or replace a section of the repository's state"),
    "working": Command("write", "Write", "show or update what the agent is in the middle of"),
    "edit": Command("change", "Write", "change the text or the fields of one memory"),
    "move": Command("change", "Write", "move a memory to another layer, topic or scope"),
    "forget": Command("change", "Write", "forget memories, so that they do not come back"),
    "review": Command("review", "Write", "look at what waits for you, and approve, edit or reject it"),
    "undo": Command("change", "Write", "take back the last write"),
    "capture": Command("gather", "Work", "turn one transcript into a note"),
    "consolidate": Command("gather", "Work", "turn waiting notes into memories"),
    "refresh": Command("refresh", "Work", "check stale memories against what the repository says"),
    "history": Command("history", "Work", "take the commits of your projects into memory"),
    "hook": Command("hook", "Work", "answer an event of a host (hosts call this by themselves)"),
    "tick": Command("upkeep", "Work", "run whatever is due now"),
    "serve": Command("serve", "Work", "keep search warm for the other processes of this machine"),
    "mcp": Command("mcp", "Work", "serve memory to an agent over MCP (agents start this by themselves)"),
    "status": Command("upkeep", "Work", "what the store holds and what is waiting"),
    "doctor": Command("upkeep", "Work", "check everything that can be wrong"),
    "index": Command("upkeep", "Work", "check or rebuild the search index"),
    "record": Command("record", "Project", "append this session to the project's record of the day"),
    "digest": Command("digest", "Project", "consolidate the daily records of a project into its digest"),
    "refine": Command("refine", "Project", "make the digest shorter; you approve it, nothing is lost"),
    "semantic": Command("semantic", "Project", "store, refine and query project knowledge (JSON in and out)"),
    "install": Command("install", "Hosts", "put Lamina into your agents, so that memory works by itself"),
    "uninstall": Command("install", "Hosts", "take it out again, to the byte"),
    "workspaces": Command("setup", "Settings", "list the known workspaces"),
    "associate": Command("setup", "Settings", "bind a folder to a workspace by hand"),
    "trust": Command("setup", "Settings", "accept the .lamina.toml of a project"),
    "pause": Command("setup", "Settings", "stop capturing, for a while or until resumed"),
    "resume": Command("setup", "Settings", "capture again"),
    "config": Command("settings", "Settings", "show and change settings"),
    "export": Command("transfer", "Settings", "write memories out as one file"),
    "eval": Command("measure", "Settings", "measure search, the whole way, or behaviour on data"),
    "completion": Command("completion", "Settings", "print a completion script for your shell"),
}

LEADING_VALUES = ("--root", "--workspace")
LEADING_SWITCHES = ("--json", "--dry-run")
INTERRUPTED = 130
_OBJECTS = 50_000  # made before garbage is looked for: what a command imports is none


def usage() -> str:
    """Return the text of `lamina --help`."""
    lines = [
        "usage: lamina COMMAND [options]     (lamina COMMAND --help tells more)",
        "",
        "Memory for coding agents that people can read, diff and trust: plain Markdown in git.",
        "",
        "New here?  `lamina import` reads the sessions that your agents left on this machine,",
        "           then try `lamina list`, `lamina search WORDS` and `lamina why ID`;",
        "           `lamina install all` makes the next sessions remembered by themselves.",
    ]
    group = ""
    for name, command in COMMANDS.items():
        if command.group != group:
            group = command.group
            lines += ["", f"{group}:"]
        lines.append(f"  {name:<12} {command.summary}")
    lines += [
        "",
        "Everywhere:",
        "  --root DIR     the store (default ~/.lamina, or LAMINA_ROOT)",
        "  --workspace K  the workspace (default: found from the current folder)",
        "  --json         one JSON object on standard output",
        "  --dry-run      say what would change and change nothing",
        "  --version      print the version",
        "",
        "Exit codes: 0 done, 1 failed, 2 called wrongly, 3 refused or a person must decide.",
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (0 done, 1 failed, 2 usage, 3 refused)."""
    if argv is not None:
        return answer(argv)
    start_in_utf_8()
    gc.set_threshold(_OBJECTS)
    code = answer(sys.argv[1:])
    gc.freeze()  # the process ends: looking for cycles in all that it holds would cost a tenth of a search
    return code


def answer(arguments: Sequence[str]) -> int:
    """Run one command in this process."""
    out = Output(json=wants_json(arguments))
    try:
        code = run(list(arguments), out)
        out.flush()
    except BrokenPipeError:
        out.abandon()  # the reader went away (`lamina list | head`): end quietly
        return 0
    except Unprintable as problem:
        out.abandon()
        out.note(f"lamina: the result can't be written ({problem})")
        return 1
    return code


def run(arguments: list[str], out: Output) -> int:
    """Run one command; every failure becomes one message."""
    try:
        return dispatch(arguments, out)
    except LaminaError as problem:
        out.failure(problem)
        return problem.exit_code
    except KeyboardInterrupt:
        out.settle()
        out.note("interrupted; run it again to go on")
        return INTERRUPTED
    except (BrokenPipeError, Unprintable):
        raise
    except Exception as problem:
        if os.environ.get("LAMINA_DEBUG"):
            raise
        failure = stranded(problem) or LaminaError(
            f"unexpected {type(problem).__name__}: {problem}",
            "this is a fault of Lamina; LAMINA_DEBUG=1 shows where it happened",
        )
        out.failure(failure)
        return failure.exit_code


def stranded(problem: Exception) -> LaminaError | None:
    """Return the failure of a relative path in a folder that was removed, None for any other problem."""
    if not isinstance(problem, FileNotFoundError):
        return None
    try:
        os.getcwd()  # noqa: PTH109 - pathlib costs a cold start
    except FileNotFoundError:
        return NoSuchFile(
            "the current folder was removed, so a relative path names nothing",
            "go to a folder that exists, or give whole paths",
        )
    return None


def start_in_utf_8() -> None:
    """Start again in Python's UTF-8 mode where the locale is another one: files are named in any script."""
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        os.execv(  # noqa: S606 - the same program, no shell
            sys.executable, [sys.executable, "-P", "-X", "utf8", "-m", "lamina", *sys.argv[1:]]
        )


def wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether `--json` is among the options; behind `--` it is text."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def dispatch(arguments: list[str], out: Output) -> int:
    """Find the command that `arguments` name and run it."""
    name, rest = split_command(arguments)
    if name == "help" and rest and rest[0] in COMMANDS:
        name, rest = rest[0], ["--help"]
    if name in ("", "help", "-h", "--help"):
        out.text(usage())
        return 0
    if name in ("--version", "-V"):
        out.result({"version": __version__}, f"lamina {__version__}")
        return 0
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}", nearest(name))
    module = __import__(f"lamina.interfaces.cli.{COMMANDS[name].module}", fromlist=["run"])
    code: int = module.run(name, rest, out)
    return code


def split_command(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the command's name and its arguments, with leading global options moved behind it."""
    moved: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in LEADING_SWITCHES or word.startswith(tuple(f"{name}=" for name in LEADING_VALUES)):
            moved.append(word)
        elif word in LEADING_VALUES:
            if not rest:
                raise UsageError(f"{word} wants a value")
            moved += [word, rest.pop(0)]
        else:
            # The moved options go first, so that a `--` of the command's own keeps its meaning.
            return word, moved + rest
    return "", moved


def nearest(name: str) -> str:
    """Return a hint that names the command closest to `name`."""
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    return f"did you mean `lamina {close[0]}`?" if close else "`lamina --help` lists the commands"
