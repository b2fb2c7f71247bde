"""What a test has to know of each client: how an empty home is seeded, one headless turn, its tools' names.

Seeding is what a person did before Lamina came (a sign-in, a trusted folder); all of Lamina's own comes from
`lamina install`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

WAITING = "timeout 40 tail -f a.txt"
"""The command of a turn that is to be cut short; some clients refuse a plain `sleep`."""
CONTEXT = 100_000
"""Tokens after which a client shortens the conversation, where that can be set."""


class Seat(NamedTuple):
    """Where a client runs: an empty home, a project, the stub's URL, and the programs by name."""

    home: Path
    project: Path
    url: str
    programs: Mapping[str, Path]


class Kind(NamedTuple):
    """One host's client."""

    needs: tuple[str, ...]
    """Names for `tests.clients.install`; the first is the client."""
    seed: Callable[[Seat], None]
    words: Callable[[str, str], list[str]]
    """(prompt, session to go on with or "") → the arguments."""
    env: Callable[[Seat], dict[str, str]]
    memory: str
    """A regular expression for a memory tool's name, with `{}` for the part behind `memory_`."""
    shell: str
    """A script's call that sleeps in a shell."""
    agent: str = ""
    """The tool that starts a subagent."""
    task: Callable[[str], dict[str, Any]] = lambda _prompt: {}
    """A subagent's prompt → the arguments of that tool."""
    wrapped: bool = False
    """Memory tools are called through a tool of the host's, by name."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return a script that calls a memory tool."""
        if self.wrapped:
            inner = {"name": f"mcp__lamina__memory_{tool}", "arguments": arguments}
            return f"@@call tool_call {coded(inner)}@@"
        return f"@@call {self.memory.format(tool)} {coded(arguments)}@@"

    def delegate(self, prompt: str) -> str:
        """Return a script that has a subagent do something."""
        return f"@@call {self.agent} {coded(self.task(prompt))}@@"


def coded(arguments: Mapping[str, Any]) -> str:
    """Return JSON with letters escaped: what a tool is given must not be the person's own words."""
    return json.dumps(arguments).replace("i", "\\u0069")


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2) + "\n")


# -- Claude Code


def _claude_seed(seat: Seat) -> None:
    trusted = {str(seat.project): {"hasTrustDialogAccepted": True}}
    _write(seat.home / ".claude.json", {"hasCompletedOnboarding": True, "projects": trusted})
    _write(seat.home / ".claude" / "settings.json", {"cleanupPeriodDays": 90})


def _claude_words(prompt: str, session: str) -> list[str]:
    allowed = "Bash,Task,Agent,mcp__plugin_lamina_lamina,mcp__lamina"
    resumed = ["--resume", session] if session else []
    return ["-p", prompt, "--output-format", "json", "--allowedTools", allowed, *resumed]


def _claude_env(seat: Seat) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": seat.url,
        "ANTHROPIC_API_KEY": "sk-ant-" + "stub",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


# -- Codex


def _codex_seed(seat: Seat) -> None:
    _write(
        seat.home / ".codex" / "config.toml",
        f"""# a person's own
model = "gpt-5.2-codex"
model_provider = "stub"
model_auto_compact_token_limit = {CONTEXT}

[model_providers.stub]
name = "stub"
base_url = "{seat.url}/v1"
env_key = "STUB_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[projects."{seat.project}"]
trust_level = "trusted"
""",
    )


def _codex_words(prompt: str, session: str) -> list[str]:
    # Hooks run once a person has trusted them; the flag stands for that.
    flags = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    resumed = ["resume", session] if session else []
    return ["exec", *resumed, *flags, "--skip-git-repo-check", "--json", prompt]


def _codex_env(seat: Seat) -> dict[str, str]:
    return {"CODEX_HOME": str(seat.home / ".codex"), "STUB_KEY": "stub"}


# -- Gemini CLI and Qwen Code


def _settings(auth: str) -> dict[str, Any]:
    return {
        "security": {"auth": {"selectedType": auth}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"compressionThreshold": 0.05},
    }


def _gemini_seed(seat: Seat) -> None:
    _write(seat.home / ".gemini" / "settings.json", _settings("gemini-api-key"))


def _gemini_words(prompt: str, session: str) -> list[str]:
    resumed = ["--resume", session] if session else []
    return ["-m", "gemini-2.5-flash", "-y", "-o", "json", *resumed, "-p", prompt]


def _gemini_env(seat: Seat) -> dict[str, str]:
    return {
        "GEMINI_API_KEY": "stub",
        "GOOGLE_GEMINI_BASE_URL": seat.url,
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _qwen_seed(seat: Seat) -> None:
    # Qwen shortens well below its window, and fails above 23,000 tokens less than that.
    _write(
        seat.home / ".qwen" / "settings.json",
        {
            "$version": 4,
            **_settings("openai"),
            "model": {"generationConfig": {"contextWindowSize": CONTEXT + 30_000}},
        },
    )


def _qwen_words(prompt: str, session: str) -> list[str]:
    resumed = ["--resume", session] if session else []
    return ["--auth-type", "openai", "-y", "-o", "json", *resumed, "-p", prompt]


def _qwen_env(seat: Seat) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "stub",
        "OPENAI_BASE_URL": f"{seat.url}/v1",
        "OPENAI_MODEL": "qwen3-coder-plus",
    }


# -- OpenCode


def _opencode_seed(seat: Seat) -> None:
    limit = {"context": CONTEXT, "output": 8000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stub",
        "options": {"baseURL": f"{seat.url}/v1", "apiKey": "stub"},
        "models": {"stub": {"name": "stub", "tool_call": True, "limit": limit}},
    }
    config = seat.home / ".config" / "opencode"
    _write(
        config / "opencode.json",
        {
            "$schema": "https://opencode.ai/config.json",
            "model": "stub/stub",
            "small_model": "stub/stub",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"*": "allow", "bash": "allow"},
            "provider": {"stub": provider},
        },
    )
    # A folder of settings waits for this package to be installed, which nothing can be here.
    modules = seat.programs["opencode-plugin"].parents[2]
    shutil.copytree(modules, config / "node_modules", symlinks=True)
    for name in ("package.json", "package-lock.json"):
        if (modules.parent / name).exists():
            shutil.copy(modules.parent / name, config / name)


def _opencode_words(prompt: str, session: str) -> list[str]:
    resumed = ["--session", session] if session else []
    return ["run", "--format", "json", *resumed, prompt]


def _opencode_env(seat: Seat) -> dict[str, str]:
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE")
    return {
        **{f"OPENCODE_DISABLE_{name}": "1" for name in off},
        "npm_config_registry": "http://127.0.0.1:9",
    }


# -- Copilot CLI


def _copilot_seed(seat: Seat) -> None:
    trusted = [str(seat.project)]
    _write(seat.home / ".copilot" / "config.json", {"trusted_folders": trusted, "trustedFolders": trusted})


def _copilot_words(prompt: str, session: str) -> list[str]:
    resumed = [f"--resume={session}"] if session else []
    return ["--allow-all", "--no-color", "--output-format", "json", *resumed, "-p", prompt]


def _copilot_env(seat: Seat) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{seat.url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "stub",
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_AUTO_UPDATE": "false",
    }


# -- DSH


def _dsh_seed(seat: Seat) -> None:
    base = seat.home / ".dsh"
    provider = {
        "apiKeyEnv": "STUB_KEY",
        "api": "openai-completions",
        "baseURL": f"{seat.url}/v1",
        "models": [{"id": "stub", "contextWindow": CONTEXT + 30_000}],
    }
    _write(base / "settings.yaml", {"llm-pi-ai": {"providers": {"stub": provider}}})
    _write(
        base / "profiles" / "headless" / "cordis.patch.yml",
        "- id: agent-default-model\n  config:\n    provider: stub\n    model: stub\n"
        "- id: compaction-basic\n  config:\n    thresholdRatio: 0.7\n    retainRatio: 0.0001\n",
    )


def _dsh_words(prompt: str, session: str) -> list[str]:
    resumed = ["--session-id", session] if session else []
    return ["--profile", "headless", "--json", *resumed, prompt]


def _dsh_env(seat: Seat) -> dict[str, str]:
    free = {"DSH_PERMISSION_MODE": "danger-full-access"}  # else it wants a sandbox before it runs a command
    return {"DSH_HOME": str(seat.home / ".dsh"), "STUB_KEY": "stub", **free}


def _agent(kind: str, prompt: str) -> dict[str, Any]:
    return {"description": "a part", "prompt": prompt, "subagent_type": kind}


def _sleep(tool: str, key: str = "command", **more: Any) -> str:
    return f"@@call {tool} {json.dumps({key: WAITING, **more})}@@"


KINDS: Mapping[str, Kind] = {
    "claude-code": Kind(
        ("claude-code", "node"), _claude_seed, _claude_words, _claude_env,
        "mcp__plugin_lamina_lamina__memory_{}",
        _sleep("Bash", description="wait"),
        "(Task|Agent)", lambda prompt: _agent("general-purpose", prompt),
    ),
    "codex": Kind(
        ("codex", "node"), _codex_seed, _codex_words, _codex_env,
        r"(mcp__lamina(__|\.))?memory_{}",
        _sleep("(exec_command|shell_command)", "cmd", command=WAITING, yield_time_ms=30_000),
        r"multi_agent_v1\.spawn_agent", lambda prompt: {"message": prompt},
    ),
    "gemini": Kind(
        ("gemini-cli", "node"), _gemini_seed, _gemini_words, _gemini_env,
        "(mcp_lamina_|lamina__)?memory_{}",
        _sleep("run_shell_command", description="wait"),
        "invoke_agent", lambda prompt: {"agent_name": "generalist", "prompt": prompt},
    ),
    "qwen": Kind(
        ("qwen-code", "node"), _qwen_seed, _qwen_words, _qwen_env,
        "mcp__lamina__memory_{}",
        _sleep("run_shell_command", description="wait", is_background=False),
        "(task|agent)", lambda prompt: _agent("general-purpose", prompt),
        wrapped=True,
    ),
    "opencode": Kind(
        ("opencode", "opencode-plugin", "node"), _opencode_seed, _opencode_words, _opencode_env,
        "lamina_memory_{}",
        _sleep("bash", description="wait"),
        "task", lambda prompt: _agent("general", prompt),
    ),
    "copilot": Kind(
        ("copilot", "node"), _copilot_seed, _copilot_words, _copilot_env,
        "lamina-memory_{}",
        _sleep("bash", description="wait"),
        "task",
        lambda prompt: {"name": "part", "description": "a part", "prompt": prompt, "agent_type": "general-purpose"},
    ),
    "dsh": Kind(
        ("dsh",), _dsh_seed, _dsh_words, _dsh_env,
        "mcp__lamina__memory_{}",
        _sleep("bash", description="wait"),
        "subagent", lambda prompt: {"prompt": prompt, "description": "a part"},
    ),
}  # fmt: skip
