"""What Lamina changes in OpenCode: a plugin file, the MCP server, skills.

OpenCode has no hooks by command; a plugin of plain JavaScript calls Lamina's hook command with payloads of
its own. Seen on OpenCode 1.18: the card goes into the system prompt of each request, so it outlives a
compaction; nothing tells that a session ended; a tool call that a plugin throws at is refused with the
error's words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from shutil import which

from lamina.hosts.dialect import WRITING, Dialect
from lamina.hosts.setup import SERVER, Edit, JsonMember, OwnFile, Where
from lamina.hosts.skill import skill_files

DIALECT = Dialect(
    events={"start": "start", "prompt": "prompt", "tool": "tool", "turn": "turn", "compact": "compact"},
    subagent=("parent_id",),
    ends=False,
)
_NAMES = ("opencode.jsonc", "opencode.json")


def folder(home: Path, env: Mapping[str, str]) -> Path:
    """Return the folder of the user's settings."""
    if own := env.get("OPENCODE_CONFIG_DIR"):
        return Path(own)
    return Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"


def present(home: Path, env: Mapping[str, str]) -> bool:
    """Tell by its folder, or by the program on PATH."""
    return folder(home, env).is_dir() or which("opencode", path=env.get("PATH", "")) is not None


def setup(where: Where) -> list[Edit]:
    """Say what an install changes."""
    if where.project is None:
        base = folder(where.home, where.env)
        settings = base
    else:
        base, settings = where.project / ".opencode", where.project
    server = {"type": "local", "command": [str(where.program), "mcp"], "enabled": True}
    return [
        OwnFile(base / "plugin" / "lamina.js", plugin(where)),
        *skill_files(where, base / "skill"),
        JsonMember(_settings_file(settings), ("mcp", SERVER), server),
    ]


def plugin(where: Where) -> str:
    """Return the plugin's text for one store."""
    text = (files("lamina.hosts") / "assets" / "opencode" / "lamina.js").read_text("utf-8")
    writing = "|".join(name.removeprefix("memory_") for name in WRITING)
    for mark, value in (
        ('"@HOOK@"', json.dumps(str(where.hook), ensure_ascii=False)),
        ("@RECALL@", str(where.recall).lower()),
        ("@WRITING@", writing),
    ):
        text = text.replace(mark, value)
    return text


def _settings_file(base: Path) -> Path:
    """Return the settings that are there, else the one to be made."""
    return next((base / name for name in _NAMES if (base / name).is_file()), base / _NAMES[-1])
