"""The hosts' own programs, and how each is asked for text alone: no tools, hooks, MCP servers, context files.

Every line was tried on the program in the version that the guide on host models names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lamina.models import heard
from lamina.models.heard import Heard, Json

_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PLAIN = "Answer the request itself, as text, in the form that it asks for. You have no tools."


@dataclass(frozen=True, slots=True)
class Program:
    """A host's command line.

    `{room}` in an argument, or in a variable, stands for the run's own folder, where `files` are written
    beside the working directory. `more` are arguments that depend on the person's own settings.
    """

    host: str
    name: str
    args: tuple[str, ...]
    hear: Callable[[Heard, Json], None]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    more: Callable[[Mapping[str, str]], tuple[str, ...]] = lambda _: ()


_CLAUDE_SETTINGS = {
    "disableAllHooks": True,
    "permissions": {"deny": ["Read", "Edit", "Write", "Bash", "WebFetch"]},  # @path reads, too
}
_CODEX_OFF = (
    "hooks shell_tool unified_exec multi_agent apps plugins view_image image_generation goals sleep_tool "
    "tool_suggest memories browser_use computer_use"
).split()
_CODEX_SET = (
    "project_doc_max_bytes=0",
    'web_search="disabled"',
    "notify=[]",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false",
    "include_environment_context=false",
    "tools.experimental_request_user_input.enabled=false",
    *(f"features.{name}=false" for name in _CODEX_OFF),
)
_GEMINI = {
    "hooksConfig": {"enabled": False},
    "context": {
        "fileName": ["LAMINA-NONE.md"],
        "includeDirectoryTree": False,
        "discoveryMaxDirs": 0,
        "memoryBoundaryMarkers": [],
    },
    "tools": {"core": []},
    "skills": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}
_GEMINI_POLICY = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
_QWEN_TOOLS = (
    "read_mcp_resource skill grep_search glob cron_create cron_list cron_delete task_stop read_file "
    "zoom_image enter_worktree exit_worktree record_artifact loop_wakeup get_goal update_goal agent "
    "list_agents send_message report_findings web_fetch tool_search tool_call edit write_file "
    "run_shell_command notebook_edit"
).split()
_OPENCODE = {
    "permission": {"*": "deny"},
    "share": "disabled",
    "snapshot": False,
    "autoupdate": False,
    "agent": {
        "lamina": {"mode": "primary", "prompt": _PLAIN, "tools": {"*": False}, "permission": {"*": "deny"}}
    },
}


def _codex_servers(env: Mapping[str, str]) -> tuple[str, ...]:
    """Switch off each MCP server of the person's settings by name: Codex has no switch for all."""
    import tomllib

    home = Path(env.get("CODEX_HOME") or Path(env.get("HOME", "")) / ".codex")
    try:
        servers = tomllib.loads((home / "config.toml").read_text("utf-8-sig")).get("mcp_servers")
    except (OSError, ValueError):
        return ()  # Codex itself says what is wrong with its settings
    names = [name for name in servers if _NAME.fullmatch(name)] if isinstance(servers, dict) else []
    return tuple(part for name in names for part in ("-c", f"mcp_servers.{name}.enabled=false"))


def _each(option: str, values: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        yield from (option, value)


_ALL = (
    Program(
        "claude-code",
        "claude",
        (
            *("-p", "--output-format=stream-json", "--verbose", "--tools=", "--safe-mode"),
            *("--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"),
            *("--settings", json.dumps(_CLAUDE_SETTINGS), "--system-prompt", _PLAIN),
        ),
        heard.hear_claude,
        env={
            "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",  # else @path in the material sends that file
            "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",  # retries are the ladder's
        },
    ),
    Program(
        "codex",
        "codex",
        (
            *("exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules"),
            *("--sandbox=read-only", *_each("-c", _CODEX_SET)),
        ),
        heard.hear_codex,
        more=_codex_servers,
    ),
    Program(
        "gemini",
        "gemini",
        (
            *("--output-format=stream-json", "--approval-mode=default", "--extensions=none", "--skip-trust"),
            *("--allowed-mcp-server-names=none", "--policy={room}/policy.toml", "--prompt="),
        ),
        heard.hear_gemini,
        env={
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "{room}/settings.json",
            "GEMINI_SYSTEM_MD": "{room}/system.md",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        files={"settings.json": json.dumps(_GEMINI), "policy.toml": _GEMINI_POLICY, "system.md": _PLAIN},
    ),
    Program(
        "qwen",
        "qwen",
        (
            *("--output-format=stream-json", "--safe-mode", "--chat-recording=false", "--max-tool-calls=0"),
            *(f"--exclude-tools={','.join(_QWEN_TOOLS)}", "--system-prompt", _PLAIN),
        ),
        heard.hear_qwen,
    ),
    Program(
        "opencode",
        "opencode",
        (
            "run",
            "--format=json",
            "--pure",
            "--agent=lamina",
            "--title=Lamina",
        ),  # no title is made
        heard.hear_opencode,
        env={
            "OPENCODE_DB": ":memory:",
            "OPENCODE_PURE": "1",
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
            "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_CONFIG_CONTENT": json.dumps(_OPENCODE),
        },
    ),
)
PROGRAMS: Mapping[str, Program] = {program.host: program for program in _ALL}
"""Each host that can be a model, by its name."""
