"""`lamina review`: what waits for a person, and what the person decides about it."""

from __future__ import annotations

import os
import sys

from lamina.errors import Refused, UsageError
from lamina.interfaces.cli.arguments import (
    add_filters,
    command,
    filters_of,
    open_memory,
    open_reading,
    point_elsewhere,
    text_or_stdin,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from lamina.interfaces.cli.arguments import Parser
    from lamina.interfaces.cli.output import Output
    from lamina.memory import Memory

    Row = Mapping[str, Any]

FILTERS = {"limit", "scope", "layer", "topic", "since", "until"}
OWN = {
    "list": FILTERS,
    "show": set[str](),
    "approve": FILTERS | {"all", "yes", "keep_both"},
    "edit": {"text", "heading", "keep_both"},
    "reject": {"reason"},
}
"""The options that say something to each action."""

NOTHING = "nothing waits for you here"
VERBS = {"approved": "would approve", "edited": "would change and approve", "rejected": "would reject"}
VERBS |= {"filed": "would file"}


def run(name: str, arguments: list[str], out: Output) -> int:
    """List what waits, show one thing, or decide."""
    options = _parser(name).options(arguments)
    action = options.action or "list"
    for option in sorted(set().union(*OWN.values()) - OWN[action]):
        if getattr(options, option) not in (None, False):
            flag = "--" + option.replace("_", "-")
            raise UsageError(f"review {action} takes no {flag}", "`lamina review --help` shows what it takes")
    options.id = [word for item in options.id for word in text_or_stdin(item).split()]
    actions: dict[str, Callable[[argparse.Namespace, Output], int]] = {
        "list": listing, "show": show, "approve": approve, "edit": edit, "reject": reject,
    }  # fmt: skip
    return actions[action](options, out)


def _parser(name: str) -> Parser:
    parser = command(
        name,
        "Look at what waits for you and decide. Candidates rest on a model's words alone, hold everywhere or "
        "conflict with what is stored; they are found by search but never put on the card. Notes wait that "
        "no model could handle. Without an action: list, oldest first.",
        changes=True,
        examples=(
            "lamina review",
            "lamina review show harbor-dec-0002",
            "lamina review approve harbor-dec-0002 harbor-dec-0004",
            "lamina review approve --all --layer decisions --dry-run",
            'lamina review edit harbor-dec-0002 --text "Uploads are kept on disk, at most 5 GB"',
            'lamina review reject harbor-dec-0003 --reason "we never settled that"',
        ),
    )
    parser.add_argument(
        "action", nargs="?", choices=tuple(OWN), metavar="list|show|approve|edit|reject", help="what to do"
    )
    parser.add_argument("id", nargs="*", metavar="ID", help="a candidate's id, FILE:LINE, or a note's name")
    parser.add_argument("--text", help="edit: the new text (default on a terminal: your $VISUAL or $EDITOR)")
    parser.add_argument("--heading", help="edit: the new heading")
    parser.add_argument("--reason", metavar="TEXT", help="reject: why; told when the value comes back")
    parser.add_argument("--all", action="store_true", help="approve: every candidate that the filters choose")
    parser.add_argument("--yes", action="store_true", help="approve --all: do not ask")
    parser.add_argument(
        "--keep-both",
        action="store_true",
        help="approve, edit: keep in force what the candidate conflicts with (else it is superseded)",
    )
    add_filters(parser, trust=False)
    return parser


# --- looking ----------------------------------------------------------------------------------------


def listing(options: argparse.Namespace, out: Output) -> int:
    """List what waits, oldest first."""
    if options.id:
        raise UsageError("review list takes no ids", "`lamina review show ID` looks at one")
    memory = open_reading(options, out)
    found = memory.review(limit=options.limit, **filters_of(options))
    lines = [_candidate_line(each) for each in found["candidates"]]
    lines += [_note_line(each) for each in found["notes"]]
    out.result(found, "\n".join(lines) or (NOTHING if memory.exists else ""))
    if not lines:
        point_elsewhere(memory, options, out)
    for problem in memory.store.problems if memory.exists else ():
        out.note(str(problem))
    return 0


def _candidate_line(each: Row) -> str:
    name = each["id"] or f"{each['file']}:{each['line']}"
    why = ", ".join(each["why"])
    return f"{name:<20} {each['layer']} · {each['topic']} · {each['heading']}  {_age(each)}({why})"


def _note_line(each: Row) -> str:
    bullets = f"{each['bullets']} bullet{'' if each['bullets'] == 1 else 's'}"
    return f"{each['id']}  note · {each['scope']} · {bullets}  {_age(each)}({', '.join(each['why'])})"


def _age(each: Row) -> str:
    return "" if each["age_days"] is None else f"{each['age_days']} d "


def show(options: argparse.Namespace, out: Output) -> int:
    """Print one thing that waits, and beside it what it rests on."""
    found = open_memory(options, out).review_show(_one(options, "show"))
    if found["kind"] == "note":
        out.result(found, "\n".join([_note_line(found), "", *_bullets(found["said"])]))
        return 0
    told = ", ".join([found["trust"], found["freshness"], *found["why"]])
    parts = [out.style(f"{found['file']}:{found['line']}  ({told})", "dim"), "", found["text"].strip()]
    parts += ["", *_source(found, out)]
    if found["conflict"]:
        parts += ["", *_conflict(found["conflict"], out)]
    out.result(found, "\n".join(parts))
    return 0


def _bullets(said: Sequence[Row]) -> list[str]:
    lines = []
    for each in said:
        lines.append(f"- {each['label']}: {each['text']}" if each["label"] else f"- {each['text']}")
        if each["quote"]:
            lines.append(f"    “{each['quote']}” ({each['who']})")
    return lines


def _source(found: Row, out: Output) -> list[str]:
    """Return the words that an entry rests on: the transcript's, else what was kept of them."""
    said = found["passage"]
    if said:
        lines = [out.style(f"said in {said['file']}", "bold")]
        lines += [
            f"  {each['line']:>5} {each['who']}: {_indented(each['text'], 8)}" for each in said["lines"]
        ]
        return [*lines, "        …"] if said["more"] else lines
    lines = [out.style("kept of what was said (the transcript can't be read here)", "bold")]
    if found["evidence"]:
        lines.append(f"  “{found['evidence']['quote']}” ({found['evidence']['who']})")
    notes = [link["quote"] for link in found["chain"] if link["kind"] == "note" and link.get("quote")]
    lines += [f"  {line}" for quote in notes for line in quote.splitlines()]
    return lines if len(lines) > 1 else ["nothing was kept of what it rests on"]


def _conflict(other: Row, out: Output) -> list[str]:
    if other["trust"] is None:
        return [f"conflicts with {other['id']}, which is no longer there"]
    head = out.style(f"conflicts with {other['id']}  ({other['trust']})  {other['heading']}", "bold")
    text = other["text"] if other["diff"] is None else other["diff"]
    return [head, f"  {_indented(text, 2)}"]


def _indented(text: str, by: int) -> str:
    return ("\n" + " " * by).join(text.splitlines())


# --- deciding ---------------------------------------------------------------------------------------


def approve(options: argparse.Namespace, out: Output) -> int:
    """Approve candidates, file notes."""
    if bool(options.id) == options.all:
        raise UsageError("approve wants ids, or --all", "`lamina review` lists what waits")
    if not options.all and any(getattr(options, name) is not None for name in FILTERS):
        raise UsageError("filters choose with --all only", "leave out the ids, or the filters")
    memory = open_memory(options, out)
    ids = _chosen(memory, options, out) if options.all else options.id
    if not ids:
        out.result({"entries": [], "failed": []}, NOTHING)
        return 0
    done = memory.approve(ids, keep_both=options.keep_both, dry_run=options.dry_run)
    return _tell(done, options, out)


def _chosen(memory: Memory, options: argparse.Namespace, out: Output) -> list[str]:
    """Return the ids of all candidates that the filters choose, once the person agreed."""
    found = memory.review(limit=options.limit, **filters_of(options))["candidates"]
    if found and not options.yes and not options.dry_run:
        against = sum(each["conflicts_with"] is not None for each in found)
        what = f"{len(found)} candidate{'' if len(found) == 1 else 's'}"
        if against:
            what += (
                f", {against} of them over what {'it conflicts' if against == 1 else 'they conflict'} with"
            )
        if out.json or not (sys.stdin and sys.stdin.isatty() and out.live):
            raise Refused(f"this would approve {what}", "look first: `lamina review`; then add --yes")
        _ask(f"approve {what}?", out)
    return [each["id"] or f"{each['file']}:{each['line']}" for each in found]


def _ask(question: str, out: Output) -> None:
    """Ask on the terminal; raises Refused unless the answer is yes."""
    out.stderr.write(f"{question} [y/N] ")
    out.stderr.flush()
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise Refused("nothing was approved", "")


def edit(options: argparse.Namespace, out: Output) -> int:
    """Change a candidate and approve it."""
    id_ = _one(options, "edit")
    memory = open_memory(options, out)
    text, heading, seen = options.text, options.heading, None
    if text is None and heading is None:
        if out.json or not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("review edit wants --text or --heading", "on a terminal it opens your $EDITOR")
        heading, text, seen = _edited(memory.review_show(id_))
    done = memory.approve_edited(
        id_, text=text, heading=heading, keep_both=options.keep_both, seen=seen, dry_run=options.dry_run
    )
    return _tell(done, options, out)


def _edited(found: Row) -> tuple[str | None, str | None, str | None]:
    """Let the person change heading and text in an editor; returns both, and what the entry said before."""
    from lamina.interfaces.cli.editor import edited

    if found["kind"] != "entry" or found["trust"] != "candidate":
        return None, None, None  # the edit itself says why not
    before = f"## {found['heading']}\n\n{found['own']}\n"
    after = edited(before, env=os.environ)
    if after.strip() == before.strip():
        raise Refused("nothing was changed", f"`lamina review approve {found['id']}` takes it as it is")
    head, _, rest = after.lstrip().partition("\n")
    if not head.startswith("## "):
        return None, after, found["text"]
    body = rest.strip() if rest.strip() or found["own"] else None  # a heading may say all there is
    return head.removeprefix("## ").strip(), body, found["text"]


def reject(options: argparse.Namespace, out: Output) -> int:
    """Reject candidates and notes for a reason."""
    if not options.id:
        raise UsageError("reject wants ids", "`lamina review` lists what waits")
    if not (options.reason or "").strip():
        raise UsageError("reject wants a reason", "--reason TEXT; it is told when the value comes back")
    done = open_memory(options, out).reject(options.id, reason=options.reason, dry_run=options.dry_run)
    return _tell(done, options, out)


def _one(options: argparse.Namespace, action: str) -> str:
    if len(options.id) != 1:
        raise UsageError(f"review {action} wants one id", "`lamina review` lists what waits")
    return str(options.id[0])


def _tell(done: Mapping[str, Any], options: argparse.Namespace, out: Output) -> int:
    """Print what became of each id; what was refused goes beside the result."""
    lines = [line for row in done["entries"] for line in _told(row, dry_run=options.dry_run)]
    out.result(done, "\n".join(lines))
    for each in done["failed"] if not out.json else ():
        out.note(f"lamina: {each['message']}")
        if each["hint"]:
            out.note(f"  {each['hint']}")
    if not done["failed"]:
        return 0
    return 3 if any(each["kind"] != "no_entry" for each in done["failed"]) else 1


def _told(row: Row, *, dry_run: bool) -> list[str]:
    if row["status"] == "known":
        what = "was approved already" if row["heading"] else "was turned into memories already"
        return [f"known: {row['id']} {what}"]
    verb = VERBS[row["status"]] if dry_run else row["status"]
    lines = [f"{verb} {row['id']}  {row['heading']}".rstrip()]
    lines += [
        f"  {'would supersede' if dry_run else 'superseded'} {id_}" for id_ in row.get("superseded", ())
    ]
    if row["status"] == "filed":
        waits = f", {len(row['waiting'])} of them wait" if row["waiting"] else ""
        lines.append(f"  {len(row['entries'])} made{waits}: {', '.join(row['entries'])}".rstrip(": "))
    return lines
