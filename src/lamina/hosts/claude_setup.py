"""What Lamina changes in Claude Code: a plugin that is read in place, or its settings.

Seen on Claude Code 2.1: a plugin of a local folder is loaded from `extraKnownMarketplaces` and
`enabledPlugins` alone, at the first start and without a question; in a project only once its folder is
trusted. Every tool call inside a subagent has `agent_id` in its payload.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Any

from lamina.hosts.dialect import Dialect
from lamina.hosts.setup import SERVER, Edit, JsonItem, JsonMember, OwnFile, Where, hook_items, writing_tools
from lamina.hosts.skill import skill_files

NAME = "claude-code"
MODES = ("plugin", "settings")
PLUGIN = "lamina"
_VERSION = "1.0.0"  # of the plugin itself: an upgrade of Lamina leaves its files as they are
_TIMEOUT_S = 10
_WRITING = f"mcp__.*lamina.*__{writing_tools()}"
_ACTING = "Edit|Write|MultiEdit|NotebookEdit|Bash"

DIALECT = Dialect(
    events={
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "tool",
        "Stop": "turn",
        "SessionEnd": "end",
        "PreCompact": "compact",
        "SubagentStart": "subagent",
    },
    subagent=("agent_id",),
)


def folder(home: Path, env: Mapping[str, str]) -> Path:
    """Return the folder of the user's settings."""
    return Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude")


def present(home: Path, env: Mapping[str, str]) -> bool:
    """Tell whether Claude Code is there for this user."""
    return folder(home, env).is_dir() or which("claude", path=env.get("PATH", "")) is not None


def setup(where: Where) -> list[Edit]:
    """Say what an install changes."""
    return _settings(where) if where.mode == "settings" else _plugin(where)


def traces(where: Where) -> list[Edit]:
    """Say what Claude Code itself notes of the plugin, for an uninstall to take out."""
    source = {"installLocation": str(where.assets)}
    known = folder(where.home, where.env) / "plugins" / "known_marketplaces.json"
    used = ("pluginUsage", f"{PLUGIN}@{PLUGIN}")
    return [JsonMember(known, (PLUGIN,), source), JsonMember(_config_file(where), used, 0)]


def _config_file(where: Where) -> Path:
    inside = where.env.get("CLAUDE_CONFIG_DIR")
    return (Path(inside) if inside else where.home) / ".claude.json"


def _settings_file(where: Where) -> Path:
    """Return the settings that are the person's own: those of a project that are not shared with others."""
    if where.project is not None:
        return where.project / ".claude" / "settings.local.json"
    return folder(where.home, where.env) / "settings.json"


def _events(where: Where) -> dict[str, str | None]:
    tools = f"^(?:{_ACTING}|{_WRITING})$" if where.recall else _WRITING
    return {event: tools if moment == "tool" else None for event, moment in DIALECT.events.items()}


def _server(where: Where) -> dict[str, Any]:
    return {"type": "stdio", "command": str(where.program), "args": ["mcp"], "alwaysLoad": True}


def _settings(where: Where) -> list[Edit]:
    """Write hooks, server and skills where a person would put them."""
    base = folder(where.home, where.env)
    skills = base if where.project is None else where.project / ".claude"
    servers: list[Edit] = [_server_member(where)]
    return [
        *hook_items(where, NAME, _settings_file(where), _events(where), timeout=_TIMEOUT_S),
        *servers,
        *skill_files(where, skills / "skills"),
    ]


def _server_member(where: Where) -> Edit:
    """Name the server; one of a project stands in the user's file, so nobody has to approve it."""
    file = _config_file(where)
    at = ("mcpServers", SERVER)
    return JsonMember(
        file, at if where.project is None else ("projects", str(where.project), *at), _server(where)
    )


def _plugin(where: Where) -> list[Edit]:
    """Write a plugin below the store and two lines that enable it."""
    settings = _settings_file(where)
    plugin = where.assets / PLUGIN
    source = {"source": {"source": "directory", "path": str(where.assets)}}
    return [
        OwnFile(where.assets / ".claude-plugin" / "marketplace.json", _json(_marketplace())),
        OwnFile(plugin / ".claude-plugin" / "plugin.json", _json(_manifest())),
        OwnFile(plugin / "hooks" / "hooks.json", _json(_hooks(where))),
        OwnFile(plugin / ".mcp.json", _json({"mcpServers": {SERVER: _server(where)}})),
        *skill_files(where, plugin / "skills", prefix=""),
        JsonMember(settings, ("extraKnownMarketplaces", PLUGIN), source),
        JsonMember(settings, ("enabledPlugins", f"{PLUGIN}@{PLUGIN}"), True),
    ]


def _marketplace() -> dict[str, Any]:
    about = "Memory for coding agents that people can read, diff and trust"
    plugin = {"name": PLUGIN, "source": f"./{PLUGIN}", "description": about}
    return {"name": PLUGIN, "owner": {"name": "Lamina"}, "plugins": [plugin]}


def _manifest() -> dict[str, Any]:
    about = (
        "Captures sessions, shows the next one what it needs, and gives the agent tools to search and write"
    )
    return {"name": PLUGIN, "version": _VERSION, "description": about, "author": {"name": "Lamina"}}


def _hooks(where: Where) -> dict[str, Any]:
    hooks: dict[str, Any] = {}
    for item in hook_items(where, NAME, where.assets, _events(where), timeout=_TIMEOUT_S):
        if isinstance(item, JsonItem):
            hooks[item.at[-1]] = [item.value]
    return {"description": "Lamina: memory", "hooks": hooks}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
