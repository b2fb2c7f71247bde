"""What of a person's environment a host's program gets: no credentials but those that it may need itself.

The program is to answer one prompt. What lies in the environment for git, for Lamina or for other vendors is
none of its business, and a tool of its own that was not switched off could read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

_NESTED = frozenset(
    """
    CLAUDECODE AI_AGENT CLAUDE_CODE_CHILD_NOTES_DIR CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT
    CLAUDE_CODE_EXECPATH CLAUDE_CODE_MESSAGING_SOCKET CLAUDE_CODE_MESSAGING_TOKEN CLAUDE_CODE_SESSION_ATTENDED
    CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SSE_PORT CLAUDE_EFFORT CLAUDE_PID CLAUDE_ENV_FILE CLAUDE_PROJECT_DIR
    CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA
    CODEX_CI CODEX_SESSION_ID CODEX_THREAD_ID CODEX_TOOL_CALL_ID CODEX_MANAGED_BY_NPM
    CODEX_MANAGED_PACKAGE_ROOT CODEX_VERSION CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED
    CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS
    GEMINI_CLI GEMINI_CLI_NO_RELAUNCH GEMINI_SESSION_ID GEMINI_PROJECT_DIR GEMINI_CWD
    QWEN_CODE QWEN_CODE_AGENT_ID QWEN_CODE_CLI QWEN_CODE_LAUNCHER_PID QWEN_CODE_MANAGED_NPM_PIN
    QWEN_CODE_MANAGED_NPM_ROOT QWEN_CODE_MODEL QWEN_CODE_MODEL_IDENTITY QWEN_CODE_NO_RELAUNCH
    QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE QWEN_CODE_PROJECT_DIR QWEN_CODE_PROMPT_ID QWEN_CODE_SESSION_ID
    QWEN_CODE_STARTUP_VERSION
    OPENCODE OPENCODE_PID AGENT FORCE_COLOR CLICOLOR_FORCE
    """.split()
)
"""What the hosts give to the programs that they start (read off each of them), and what asks for colours."""
_CREDENTIAL = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|_KEY$|_PAT$|_AUTH$"
)
_CLOUDS = ("AWS_*", "GOOGLE_*", "AZURE_*")
_OWN: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("ANTHROPIC_*", "CLAUDE_*", "VERTEX_*", "MAX_THINKING_TOKENS", *_CLOUDS),
    "codex": ("OPENAI_*", "CODEX_*", "AZURE_OPENAI_*", "AWS_BEARER_TOKEN_BEDROCK"),
    "gemini": ("GEMINI_*", "GOOGLE_*"),
    "qwen": (
        *("QWEN_*", "OPENAI_*", "DASHSCOPE_*", "BAILIAN_*", "MODELSCOPE_*"),
        *("ANTHROPIC_*", "GEMINI_*", "GOOGLE_*"),
    ),
    "opencode": (
        "OPENCODE_*",
        *(
            f"{vendor}_API_KEY"
            for vendor in """
                AI_GATEWAY ANTHROPIC CEREBRAS COHERE DASHSCOPE DEEPINFRA DEEPSEEK FIREWORKS GEMINI GROQ
                MINIMAX MISTRAL MOONSHOT NVIDIA OPENAI OPENROUTER PERPLEXITY TOGETHER XAI ZHIPU
            """.split()
        ),
        *_CLOUDS,
    ),
}
"""Credentials that a host itself signs in with: at its vendor, at a cloud, at the vendors it can route to."""


def given(host: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return what a host's program gets of the environment.

    What looks like a credential stays only if it is the host's own kind, or if the person's settings of that
    host name it for a provider. Nothing of Lamina's goes along.
    """
    own, find = _OWN[host], _NAMED.get(host)
    named = find(env) if find else frozenset()
    return {
        key: value
        for key, value in env.items()
        if key not in _NESTED
        and not key.upper().startswith("LAMINA_")
        and (not _CREDENTIAL.search(key.upper()) or key in named or _is_own(key.upper(), own))
    }


def _is_own(key: str, own: tuple[str, ...]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in own)


def _codex(env: Mapping[str, str]) -> frozenset[str]:
    """Return the variables that the providers of Codex's settings are said to take keys from."""
    import tomllib

    try:
        providers = tomllib.loads(_text(_home(env, "CODEX_HOME", ".codex") / "config.toml"))[
            "model_providers"
        ]
        each = [provider for provider in providers.values() if isinstance(provider, dict)]
        keys = [provider.get("env_key") for provider in each]
        headers = [name for provider in each for name in provider.get("env_http_headers", {}).values()]
    except (ValueError, KeyError, AttributeError, RecursionError):
        return frozenset()
    return frozenset(name for name in (*keys, *headers) if isinstance(name, str))


def _qwen(env: Mapping[str, str]) -> frozenset[str]:
    text = _text(_home(env, "QWEN_HOME", ".qwen") / "settings.json")
    return frozenset(re.findall(r'"envKey"\s*:\s*"(\w{1,200})"', text))


def _opencode(env: Mapping[str, str]) -> frozenset[str]:
    settings = _home(env, "XDG_CONFIG_HOME", ".config") / "opencode"
    files = [settings / name for name in ("opencode.json", "opencode.jsonc", "config.json")]
    if own := env.get("OPENCODE_CONFIG"):
        files.append(Path(own))
    return frozenset(name for file in files for name in re.findall(r"\{env:(\w{1,200})\}", _text(file)))


_NAMED: Mapping[str, Callable[[Mapping[str, str]], frozenset[str]]] = {
    "codex": _codex,
    "qwen": _qwen,
    "opencode": _opencode,
}


def _home(env: Mapping[str, str], variable: str, folder: str) -> Path:
    return Path(env.get(variable) or Path(env.get("HOME", "")) / folder)


def _text(file: Path) -> str:
    """Return a file's text, "" if it can't be read: the host itself says what is wrong with its settings."""
    try:
        return file.read_text("utf-8-sig")
    except (OSError, ValueError):
        return ""
