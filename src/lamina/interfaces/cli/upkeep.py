"""Commands that look after the store: tick, status, doctor, index."""

from __future__ import annotations

import os

from lamina.interfaces.cli.arguments import command, open_memory, open_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output
    from lamina.memory import Memory

BAR = 20


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the upkeep commands."""
    return {"tick": tick, "status": status, "doctor": doctor, "index": index}[name](arguments, out)


def tick(arguments: list[str], out: Output) -> int:
    """Run whatever is due now."""
    parser = command(
        "tick",
        "Run whatever is due now: consolidation, the check of stale memories where a model is named, "
        "new commits, pruning of old notes, SYSTEM.md, the git commit, vectors where some are in use. "
        "Safe to call as often as you like.",
        changes=True,
        examples=("lamina tick --dry-run", "lamina tick"),
    )
    options = parser.options(arguments)
    done = open_memory(options, out).tick(dry_run=options.dry_run)
    verb = "due" if options.dry_run else "ran"
    out.result(done, f"{verb}: {', '.join(done['ran'])}" if done["ran"] else "nothing is due")
    return 0


def status(arguments: list[str], out: Output) -> int:
    """Tell what the store holds and what is waiting."""
    parser = command(
        "status",
        "What the store holds, what is waiting and what is due.",
        examples=("lamina status", "lamina status --json"),
    )
    memory = open_reading(parser.options(arguments), out)
    facts = memory.status() | {"resident": resident(memory)}
    out.result(facts, render_status(facts))
    return 0


def render_status(facts: Mapping[str, Any]) -> str:
    """Return the status for a person to read."""
    entries = (
        ", ".join(f"{count} {layer}" for layer, count in facts["entries"].items() if count) or "none yet"
    )
    notes = facts["notes"]
    sync = facts["sync"]
    waiting = f"{notes['pending']} waiting, {notes['needs_review']} need review, {notes['failed']} failed"
    left = f"{facts['saved']['thin']} thin and {facts['saved']['trivial']} trivial"
    schema = f"schema {facts['schema_version']}" if facts["schema_version"] else "not made yet"
    lines = [
        f"store       {facts['root']} ({schema})",
        f"here        {facts['workspace']}",
        f"workspaces  {', '.join(facts['workspaces']) or 'none yet'}",
        f"memories    {entries}",
        f"notes       {waiting}",
        f"passed over {left} sessions, too little in them",
        f"commits     {sync['error'] or sync['at'] or 'none yet'}",
        f"hosts       {', '.join(facts['hosts']) or 'none: `lamina install` puts Lamina into your agents'}",
        f"capture     {facts['capture_off'] or 'on'}",
        f"due         {', '.join(facts['due']) or 'nothing'}",
    ]
    lines[6:6] = models_told(facts["models"])
    if facts["vectors"]["vectors"] or facts["vectors"]["problem"]:
        lines.insert(4, f"vectors     {vectors_told(facts['vectors'])}")
    if facts["resident"]:
        lines.insert(4, f"search      kept warm by lamina serve, process {facts['resident']}")
    if told := review_told(facts):
        lines.insert(lines.index(f"notes       {waiting}") + 1, f"review      {told}")
    if facts["system_doc_stale"]:
        lines.append("SYSTEM.md   out of date; `lamina tick` writes it anew")
    return "\n".join(lines)


def review_told(facts: Mapping[str, Any]) -> str:
    """Return what waits for a person's review and how to look at it, "" where nothing does."""
    candidates, notes = facts["review"]["candidates"], facts["notes"]["needs_review"]
    waiting = [f"{candidates} candidate{'' if candidates == 1 else 's'}"] if candidates else []
    waiting += [f"{notes} note{'' if notes == 1 else 's'}"] if notes else []
    return f"{' and '.join(waiting)} to look at: `lamina review`" if waiting else ""


def models_told(facts: Mapping[str, Any]) -> list[str]:
    """Return what the models did today and what keeps them waiting; nothing where none was ever named."""
    if not facts["named"] and not facts["calls"]:
        return []
    today, cap = facts["today"], facts["cap"]
    tokens = today["tokens_in"] + today["tokens_out"]
    unpriced = f", unpriced calls: {today['unpriced']}" if today["unpriced"] else ""
    named = ", ".join(facts["named"]) or "none named any more"
    used = f"{today['calls']} of {cap['calls']} calls and {tokens} of {cap['tokens']} tokens today"
    line = f"models      {named}: {used}, about ${today['cost']:.4f}{unpriced}"
    return [line, f"            waiting: {facts['waiting']}"] if facts["waiting"] else [line]


def resident(memory: Memory) -> int | None:
    """Return the number of the process that keeps this store's search warm, None if there is none."""
    from lamina.resident.client import ask

    answer = ask(memory.standpoint, {"do": "ping"}, env=os.environ) if memory.exists else None
    return int(answer["pid"]) if answer else None


def vectors_told(facts: Mapping[str, Any]) -> str:
    """Return how many memories have a vector, of what embedder, or why there is none."""
    if facts["problem"]:
        return str(facts["problem"])
    missing = f", {facts['missing']} missing" if facts["missing"] else ""
    return f"{facts['vectors']} by {facts['embedder']}{missing}"


def doctor(arguments: list[str], out: Output) -> int:
    """Check everything that can be wrong."""
    parser = command(
        "doctor",
        "Check everything that can be wrong and say what to do. Exit code 1 says that something is wrong.",
        examples=("lamina doctor", "lamina doctor --fix"),
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="make derived data anew (the index, SYSTEM.md, state/bin); memory is not touched",
    )
    options = parser.options(arguments)
    memory = open_memory(options, out)
    findings = [*memory.doctor(fix=options.fix), *hosts_of(memory, fix=options.fix)]
    marks = {
        "ok": out.style("ok", "green"),
        "warning": out.style("!!", "yellow"),
        "error": out.style("XX", "red"),
    }
    lines = []
    for finding in findings:
        lines.append(f"{marks[finding['level']]}  {finding['message']}")
        if finding["hint"]:
            lines.append(f"    {finding['hint']}")
    out.result({"findings": findings}, "\n".join(lines))
    return 1 if any(finding["level"] == "error" for finding in findings) else 0


def hosts_of(memory: Memory, *, fix: bool) -> list[Mapping[str, Any]]:
    """Return what the check of the hosts finds."""
    from lamina.install import check
    from lamina.interfaces.cli.install import site_of

    return [each._asdict() for each in check.findings(site_of(memory), fix=fix)]


def index(arguments: list[str], out: Output) -> int:
    """Check or rebuild the search index."""
    parser = command(
        "index",
        "Check the search index against the files, or build it anew. It is derived: deleting it loses "
        "nothing, and a search brings it up to date by itself. Vectors are made with --vectors only; "
        "that may be stopped at any time, and the next run goes on from there.",
        examples=("lamina index check", "lamina index rebuild", "lamina index rebuild --vectors"),
    )
    parser.add_argument(
        "action",
        metavar="check|rebuild",
        choices=("check", "rebuild"),
        help="compare with the files, or build anew",
    )
    parser.add_argument(
        "--vectors", action="store_true", help="with rebuild: make all vectors that are missing, too"
    )
    options = parser.options(arguments)
    memory = open_reading(options, out)
    if options.action == "rebuild":
        return rebuild(memory, out, vectors=options.vectors)
    differences = memory.check_index() if memory.exists else []
    facts = memory.vectors()
    lines = differences or ["the index agrees with the files"]
    if facts["missing"] and facts["vectors"]:  # whoever uses none misses none
        of = facts["vectors"] + facts["missing"]
        way = "`lamina index rebuild --vectors` makes them"
        lines = [*lines, f"{facts['missing']} of {of} memories have no vector yet: {way}"]
    out.result({"action": "check", "differences": differences, "vectors": facts}, "\n".join(lines))
    return 1 if differences else 0


def rebuild(memory: Memory, out: Output, *, vectors: bool) -> int:
    """Build the words anew, and with `vectors` what has none."""
    entries = memory.rebuild_index() if memory.exists else 0
    done: dict[str, Any] = {"action": "rebuild", "entries": entries}
    text = f"rebuilt the index: {entries} memories"
    if vectors:
        try:
            made, left = memory.embed(progress=progress(out))
        finally:
            out.settle()
        done["vectors"] = {"made": made, "missing": left}
        text += f"; made {made} vectors" + (f", {left} are missing" if left else "")
    out.result(done, text)
    return 0


def progress(out: Output) -> Callable[[int, int], None]:
    """Return what shows a bar on a terminal."""

    def show(done: int, of: int) -> None:
        out.progress(f"{'█' * (BAR * done // of):·<{BAR}} {done}/{of}  vectors")

    return show
