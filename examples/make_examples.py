# ruff: noqa: INP001 - a script, not a package
"""Write the transcripts in `sessions/` from the readable dialogues in `dialogues/`.

    python examples/make_examples.py [FOLDER]

A dialogue is a head of `name: value` lines, a blank line, and turns. A turn begins with a label
at the start of a line and goes on to the next label:

    PERSON: words            AGENT: words
    RUN: command             FAIL: command        the rest is its output
    READ: path               the rest is what stands there
    EDIT: path               lines with - and + are the change
    HOOK: words              COMPACTED: summary   PAUSE: minutes

The same dialogues give the same bytes.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime
from pathlib import Path

from lamina.hosts.render import (
    Compacted,
    Injected,
    Pause,
    Said,
    Tool,
    Turn,
    render_claude,
    render_codex,
    session_uuid,
)

HERE = Path(__file__).parent
_LABEL = re.compile(r"^(PERSON|AGENT|RUN|FAIL|READ|EDIT|HOOK|COMPACTED|PAUSE): ?", re.MULTILINE)


def parse(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Split a dialogue into its head and its labelled turns."""
    head, _, body = text.partition("\n\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    parts = _LABEL.split(body)[1:]
    return facts, [(label, said.strip()) for label, said in zip(parts[::2], parts[1::2], strict=True)]


def turn(label: str, said: str, facts: dict[str, str]) -> Turn:  # noqa: PLR0911 - one for each label
    """Make a turn as this dialogue's host would have recorded it."""
    first, _, rest = said.partition("\n")
    codex = facts["host"] == "codex"
    match label:
        case "PERSON":
            return Said("user", said)
        case "AGENT":
            return Said("assistant", said)
        case "HOOK":
            return Injected(said, "SessionStart")
        case "COMPACTED":
            return Compacted(said)
        case "PAUSE":
            return Pause(int(said))
        case "READ" if codex:
            return Tool("Bash", {"command": f"sed -n '1,200p' {first}"}, rest)
        case "READ":
            return Tool("Read", {"file_path": f"{facts['cwd']}/{first}"}, _numbered(rest))
        case "EDIT":
            return _edit(first, rest, facts)
    return Tool("Bash", {"command": first}, rest, failed=label == "FAIL")


def _numbered(text: str) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.splitlines(), 1))


def _edit(path: str, change: str, facts: dict[str, str]) -> Tool:
    if facts["host"] == "codex":
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{change}\n*** End Patch"
        return Tool("apply_patch", patch, f"Success. Updated the following files:\nM {path}")
    lines = change.splitlines()
    sides = {
        name: "\n".join(line[1:] for line in lines if line.startswith((sign, " ")))
        for name, sign in (("old_string", "-"), ("new_string", "+"))
    }
    place = f"{facts['cwd']}/{path}"
    return Tool("Edit", {"file_path": place} | sides, f"The file {place} has been updated successfully.")


def render(text: str, name: str) -> tuple[str, str]:
    """Render one dialogue; give its file below `sessions/` and its text."""
    facts, labelled = parse(text)
    turns = [turn(label, said, facts) for label, said in labelled]
    started = datetime.fromisoformat(facts["started"])
    cwd, branch = facts["cwd"], facts["branch"]
    if facts["host"] == "codex":
        session = session_uuid(name, 7)
        stamp = started.strftime("%Y-%m-%dT%H-%M-%S")
        remote = facts.get("remote", "")
        text = render_codex(session, turns, cwd=cwd, started=started, branch=branch, remote=remote)
        return f"codex/rollout-{stamp}-{session}.jsonl", text
    session = session_uuid(name)
    title = facts.get("title", "")
    text = render_claude(session, turns, cwd=cwd, started=started, branch=branch, title=title)
    return f"claude-code/{session}.jsonl", text


def make(folder: Path) -> list[Path]:
    """Write every transcript below `folder`."""
    written = []
    for source in sorted((HERE / "dialogues").glob("*.txt")):
        name, text = render(source.read_text(encoding="utf-8"), source.stem)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        written.append(path)
    return written


if __name__ == "__main__":
    for made in make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "sessions"):
        print(f"{made.stat().st_size:7,} {made}")  # noqa: T201
