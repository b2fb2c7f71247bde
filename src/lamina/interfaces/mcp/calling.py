"""Who calls a tool, and from where: read from the request, as far as hosts tell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from json import loads
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

CODEX = "x-codex-turn-metadata"
CLAUDE = "claudecode/"
_MOST = 4096  # characters of a path


class Caller(NamedTuple):
    """What a request tells: `folder` that the session works in ("" if it does not), `subagent` says why."""

    folder: str = ""
    subagent: str = ""


def caller(meta: Any) -> Caller:
    """Read the metadata of a request; whatever is not understood tells nothing.

    Codex sends an object (or its JSON text) with cwd or workspaces, and thread_source, subagent_kind or
    parent_thread_id for the threads of subagents. Claude Code names agentId for a subagent alone, and only
    to some servers; DSH has delegationDepth and origin.
    """
    if not isinstance(meta, Mapping):
        return Caller()
    codex = _object(meta.get(CODEX))
    return Caller(_folder(codex) or _folder(meta), _codex(codex) or _claude(meta) or _other(meta))


def folder_of(uri: str) -> str:
    """Return the folder that a file URI names, "" for any other."""
    if len(uri) > _MOST:
        return ""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    return _path(unquote(parts.path))


def _codex(turn: Mapping[str, Any]) -> str:
    for name in ("subagent_kind", "parent_thread_id"):
        if isinstance(turn.get(name), str) and turn[name]:
            return f"{CODEX} has {name}"
    return f"{CODEX} says subagent" if turn.get("thread_source") == "subagent" else ""


def _claude(meta: Mapping[str, Any]) -> str:
    return f"{CLAUDE}agentId is set" if meta.get(f"{CLAUDE}agentId") else ""


def _other(meta: Mapping[str, Any]) -> str:
    depth = meta.get("delegationDepth")
    if isinstance(depth, int | float) and depth > 0:
        return "the delegation is deeper than 0"
    if meta.get("origin") == "subagent" or meta.get("lamina/subagent") is True:
        return "the request says subagent"
    return ""


def _folder(said: Mapping[str, Any]) -> str:
    named = said.get("cwd")
    if isinstance(named, str) and _path(named):
        return _path(named)
    spaces = said.get("workspaces")
    only = [*spaces] if isinstance(spaces, Mapping) and len(spaces) == 1 else []
    return _path(only[0]) if only and isinstance(only[0], str) else ""


def _path(text: str) -> str:
    usable = len(text) <= _MOST and "\0" not in text and os.path.isabs(text)  # noqa: PTH117
    return text if usable else ""


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str) and len(value) < 1 << 20:
        try:
            value = loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}
