"""What it costs an agent that `lamina mcp` is there: `python -m benchmarks.mcp`.

The handshake is what every session of every agent pays: start, initialize, initialized, tools/list. The first
call that needs memory loads the SDK. CPU is that of the server's process, read while it runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from benchmarks.search import cpu_ms, make_store

SIZES = (1_000, 100_000)
TIMES = 9
CALLED = 10_000
"""The largest store whose first search is measured: it would build the index of a larger one."""


class Cost(NamedTuple):
    """CPU in milliseconds and resident memory in MB, at one moment of a process."""

    cpu_ms: float
    memory_mb: float


class Server:
    """A process of `lamina mcp`, for one client of the handshake era."""

    def __init__(self, root: Path, home: Path) -> None:
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "lamina", "mcp", "--root", str(root)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home, env=env
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process as process:
            assert process.stdin is not None
            process.stdin.close()

    def ask(self, method: str, id: int | None = None, **params: Any) -> dict[str, Any]:
        """Send a message and return the answer to it; a notification has none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id})
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = {} if id is None else json.loads(self.process.stdout.readline())
        return answer

    def shake_hands(self) -> None:
        """Do what every client does before its first turn."""
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.ask("notifications/initialized")
        assert len(self.ask("tools/list", 1)["result"]["tools"]) == 14

    def cost(self) -> Cost:
        """Return what the process has cost so far."""
        proc = Path(f"/proc/{self.process.pid}")
        fields = (proc / "stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        pages = int((proc / "statm").read_text().split()[1])
        page = os.sysconf("SC_PAGE_SIZE")
        return Cost(1000 * ticks / os.sysconf("SC_CLK_TCK"), pages * page / 1e6)


def measure(entries: int, times: int = TIMES) -> list[tuple[str, Cost]]:
    """Return the least cost of the handshake, and of a first search behind it in a store not too large."""
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        root = Path(folder) / "store"
        make_store(root, entries)
        hands, called = [], []
        for _ in range(times):
            with Server(root, Path(folder)) as server:
                server.shake_hands()
                hands.append(server.cost())
                if entries <= CALLED:
                    server.ask("tools/call", 2, name="memory_search", arguments={"query": "port"})
                    called.append(server.cost())
    rows = [("handshake", min(hands))]
    return [*rows, ("and a first search", min(called[1:]))] if called else rows


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    bare = cpu_ms([sys.executable, "-c", "pass"])
    print("| entries | what | CPU of the process | ratio to bare Python | memory |")
    print("| ---: | --- | ---: | ---: | ---: |")
    for entries in [int(size) for size in arguments] or SIZES:
        for what, cost in measure(entries):
            ratio = f"{cost.cpu_ms / bare:.1f}"
            print(f"| {entries:,} | {what} | {cost.cpu_ms:.0f} ms | {ratio} | {cost.memory_mb:.0f} MB |")


if __name__ == "__main__":
    main(sys.argv[1:])
