"""Generates what the front knows by heart: the server is asked, and its answers are kept.

`python -m lamina.interfaces.mcp.answers` writes the files anew; a test compares them with the server.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from lamina.interfaces.mcp.front import HANDSHAKES, MODERN
from lamina.interfaces.mcp.tools import PROFILES

Json = dict[str, Any]

FOLDER = Path(__file__).parent / "answers"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
ENVELOPE: Json = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "lamina", "version": "0"},
}


def known_of(profile: str, *, version: str = HANDSHAKES[-1]) -> dict[str, dict[str, Json]]:
    """Return the server's answers by era and method; `version` is the one to shake hands with."""
    hello = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "lamina", "version": "0"},
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    old = [_request("initialize", hello), ready, *(_request(name, {}) for name in LISTS)]
    new = [_request(name, {"_meta": ENVELOPE}) for name in ("server/discover", *LISTS)]
    handshake, modern = _asked(profile, old), _asked(profile, new)
    handshake["initialize"].pop("protocolVersion")
    return {"handshake": handshake, MODERN: modern}


def text_of(profile: str) -> str:
    """Return the file of a profile."""
    return json.dumps(known_of(profile), ensure_ascii=False, indent=1) + "\n"


def write() -> None:
    """Write all files anew."""
    FOLDER.mkdir(exist_ok=True)
    for profile in PROFILES:
        (FOLDER / f"{profile}.json").write_text(text_of(profile), encoding="utf-8", newline="")


def _request(method: str, params: Json) -> Json:
    return {"jsonrpc": "2.0", "id": method, "method": method, "params": params}


def _asked(profile: str, messages: list[Json]) -> dict[str, Json]:
    import anyio

    return anyio.run(_ask, profile, messages)


async def _ask(profile: str, messages: list[Json]) -> dict[str, Json]:
    import anyio
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    from lamina.interfaces.mcp.server import build

    server = build(profile)
    inbox, reads = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    writes, outbox = anyio.create_memory_object_stream[SessionMessage](math.inf)
    results: dict[str, Json] = {}
    wanted = sum("id" in message for message in messages)
    async with anyio.create_task_group() as group:
        group.start_soon(server.run, reads, writes, server.create_initialization_options())
        for message in messages:
            read = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
            await inbox.send(SessionMessage(read))
        while len(results) < wanted:
            said = (await outbox.receive()).message.model_dump(by_alias=True, exclude_unset=True, mode="json")
            results[said["id"]] = said["result"]
        await inbox.aclose()
        await outbox.aclose()
    return results


if __name__ == "__main__":
    write()
