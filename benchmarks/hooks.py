"""What a call of the hook costs, beside starting Python alone: `python -m benchmarks.hooks`."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from benchmarks.search import LAYERS, Text, topic_text
from lamina.live import cards, disk, program

ENTRIES = 10_000
PER_TOPIC = 30
TIMES = 25


def make_workspace(root: Path, entries: int, key: str = "project") -> None:
    """Write a store whose entries all belong to one workspace, so that its card chooses among all."""
    root.mkdir(parents=True, exist_ok=True)
    known = {"schemaVersion": 2, "workspaces": {key: {"title": key, "created": "2026-01-01"}}}
    (root / "memory.json").write_text(json.dumps(known))
    text = Text(1)
    for topic in range(entries // PER_TOPIC):
        layer = LAYERS[topic % len(LAYERS)]
        path = root / "workspaces" / key / layer / f"topic-{topic}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(topic_text(text, topic, key, layer, PER_TOPIC))


def cpu_ms(command: Sequence[str], raw: bytes, env: Mapping[str, str], times: int = TIMES) -> float:
    """Return the least user and system time of a command, in milliseconds."""
    spent = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=raw, stdout=subprocess.DEVNULL, check=True, env=env)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return 1000 * min(spent)


def measure(entries: int = ENTRIES, times: int = TIMES) -> list[tuple[str, float, float]]:
    """Return for each kind of call: what it is, its CPU in milliseconds, and how many times bare Python's."""
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        home = Path(folder)
        root, cwd = home / "store", home / "project"
        make_workspace(root, entries)
        cwd.mkdir()
        env = {"HOME": folder, "PATH": os.environ["PATH"]}
        program.write(root)
        cards.make(root, str(cwd), env=env)
        disk.take(str(root / "state" / "locks" / "worker.lock"))  # no worker beside what is measured
        base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        bare = cpu_ms([base, "-I", "-S", "-c", "pass"], b"", env, times)
        rows = [("python -I -S -c pass", bare, 1.0)]
        for label, event, more in CALLS:
            payload: dict[str, Any] = {"session_id": "bench", "cwd": str(cwd), "transcript_path": "/t.jsonl"}
            raw = json.dumps(payload | more).encode()
            hook = quote(str(program.hook(root)))
            command = ["sh", "-c", f"test -x {hook} && {hook} claude-code {event} || true"]
            cost = cpu_ms(command, raw, env, times)
            rows.append((label, cost, cost / bare))
    return rows


CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("session start with the card", "SessionStart", {"source": "startup"}),
    ("before a tool call, no output", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    ("a prompt, no output", "UserPromptSubmit", {"prompt": "go on"}),
    ("end of a turn, no output", "Stop", {"stop_hook_active": False}),
)


def table(rows: Sequence[tuple[str, float, float]], entries: int = ENTRIES) -> str:
    """Return the rows as Markdown."""
    lines = [f"| a call of the hook, {entries:,} entries | CPU, ms | × bare Python |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {label} | {cost:.1f} | {ratio:.2f} |" for label, cost, ratio in rows)])


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    entries = int(arguments[0]) if arguments else ENTRIES
    print(table(measure(entries), entries))


if __name__ == "__main__":
    main(sys.argv[1:])
