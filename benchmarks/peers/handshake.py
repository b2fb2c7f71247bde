"""What an MCP server costs before the first question: time to its first answers, text of its tool list."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers.processes import ProcessFailed, Worker

CHARACTERS_PER_TOKEN = 4
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "lamina-benchmark", "version": "1"},
}


class Handshake(NamedTuple):
    """Seconds from the start of the process to both answers, number of tools, tokens of their schemas."""

    first_s: float
    listed_s: float
    tools: int
    tokens: int


def shake_hands(command: Sequence[str], env: Mapping[str, str], cwd: Path) -> Handshake:
    """Start a server on stdio, greet it, ask for its tools, and end it; raises ProcessFailed."""
    with Worker(command, env, cwd, "mcp") as server:
        _ask(server, 1, "initialize", HELLO)
        first = time.perf_counter() - server.started
        server.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed = _ask(server, 2, "tools/list", {})
        seconds = time.perf_counter() - server.started
    tools = listed.get("tools", [])
    size = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")))
    return Handshake(first, seconds, len(tools), size // CHARACTERS_PER_TOKEN)


def _ask(server: Worker, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    server.say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    while True:
        answer = server.hear(120)
        if answer.get("id") == number:
            if "error" in answer:
                raise ProcessFailed(f"{method}: {answer['error']}")
            return answer["result"]
