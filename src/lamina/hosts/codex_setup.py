"""What Lamina changes in Codex: hooks.json, the MCP server in config.toml, skills.

Seen on Codex 0.171: hooks do not run before the person has trusted them; a hook at the end of a session
gets 3 seconds at most; tool calls and prompts inside a subagent have `agent_id` in their payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shutil import which

from lamina.hosts.dialect import Dialect
from lamina.hosts.setup import SERVER, Edit, Say, TomlTable, Where, hook_items, writing_tools
from lamina.hosts.skill import skill_files

NAME = "codex"
_TIMEOUT_S, _END_S = 10, 3
_WRITING = f"mcp__.*lamina.*__{writing_tools()}"
_ACTING = "Bash|apply_patch"

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
    prompt_id=("turn_id",),
    subagent=("agent_id",),
)
TRUST = (
    "Codex runs hooks only after you trust them: start codex, type /hooks, look at Lamina's and trust them. "
    "Until then nothing is captured and no memory is shown; the memory tools work at once."
)


def folder(home: Path, env: Mapping[str, str]) -> Path:
    """Return the folder of the user's settings."""
    return Path(env.get("CODEX_HOME") or home / ".codex")


def present(home: Path, env: Mapping[str, str]) -> bool:
    """Tell whether Codex is there for this user."""
    return folder(home, env).is_dir() or which("codex", path=env.get("PATH", "")) is not None


def setup(where: Where) -> list[Edit]:
    """Say what an install changes."""
    base = folder(where.home, where.env) if where.project is None else where.project / ".codex"
    server = {"command": str(where.program), "args": ["mcp"]}
    return [
        *_hooks(where, base / "hooks.json"),
        TomlTable(base / "config.toml", ("mcp_servers", SERVER), server),
        *skill_files(where, _skills(where)),
        Say(TRUST),
    ]


def _hooks(where: Where, file: Path) -> list[Edit]:
    tools = f"^(?:{_ACTING}|{_WRITING})$" if where.recall else _WRITING
    found: list[Edit] = []
    for event, moment in DIALECT.events.items():
        timeout = _END_S if moment == "end" else _TIMEOUT_S
        matcher = tools if moment == "tool" else None
        found += hook_items(where, NAME, file, {event: matcher}, timeout=timeout)
    return found


def _skills(where: Where) -> Path:
    if where.project is not None:
        return where.project / ".agents" / "skills"
    return folder(where.home, where.env) / "skills"


def doubt(home: Path, env: Mapping[str, str]) -> str:
    """Return why the hooks may not run: Codex notes those that were trusted under `hooks.state`."""
    import tomllib

    base = folder(home, env)
    try:
        said = tomllib.loads((base / "config.toml").read_text("utf-8-sig"))
    except (OSError, ValueError):
        return ""
    hooks = said.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    trusted = isinstance(state, dict) and any("hooks.json" in key for key in state)
    return "" if trusted else "its hooks are perhaps not trusted yet, and run only then"
