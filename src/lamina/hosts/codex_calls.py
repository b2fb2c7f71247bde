"""What Codex's tool calls were given and how they ended, in all the shapes it has used."""

from __future__ import annotations

import json
import re
from typing import Any

from lamina.hosts.jsonlines import Json, cleaned
from lamina.hosts.reading import dict_of, distinct_paths, joined_text, named_paths, result_text, text_of

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
# The lines that the shell tools put before a command's own output.
_PREFACE = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines): ?[^\n]*\n"
    r"|Process (?:exited with code|running with session ID) -?\d+\n)+Output:\n"
)
_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)


def arguments_of(item: Json) -> Any:
    """Give a call's arguments: an object, or a custom tool's free text."""
    if item.get("type") == "local_shell_call":
        return dict_of(item.get("action"))
    value = item.get("arguments", item.get("input"))
    if not isinstance(value, str):
        return value
    parsed = _parsed(value)
    return parsed or value


def paths_of(arguments: Any, cwd: str) -> tuple[str, ...]:
    """Collect the paths in path arguments and in the headers of a patch."""
    folder = text_of(dict_of(arguments).get("workdir"))
    headers = (match.group(1) or match.group(2) for match in _PATCHED.finditer(_patch(arguments)))
    found = (*named_paths(arguments, cwd, folder), *distinct_paths(headers, cwd, folder))
    return tuple(dict.fromkeys(found))


def outcome_of(item: Json) -> tuple[str, bool]:
    """Give a result's text and whether it failed: by flag or exit code, never by its words."""
    value = item.get("output")
    failed = item.get("success") is False
    if isinstance(value, str) and value.startswith("{") and ('"metadata"' in value or '"exit_code"' in value):
        wrapped = _parsed(value)
        value = wrapped if "output" in wrapped or "exit_code" in wrapped else value
    if isinstance(value, dict):
        code = dict_of(value.get("metadata")).get("exit_code", value.get("exit_code"))
        failed = failed or value.get("success") is False or value.get("is_error") is True
        return result_text(value), failed or _is_bad(code)
    text = joined_text(value) or result_text(item)
    preface = _PREFACE.match(text)
    if preface is None:
        return text, failed
    code = _CODE.search(preface.group())
    return text[preface.end() :], failed or bool(code and code.group(1) != "0")


def failure_of(payload: Json) -> str:
    """Give the call that this event says has failed, or the empty text."""
    item = dict_of(payload.get("item")) or payload
    call = text_of(item.get("call_id")) or text_of(item.get("id"))
    bad_code = _is_bad(item.get("exit_code"))
    bad_end = item.get("success") is False or item.get("status") == "failed"
    return call if bad_code or bad_end else ""


def _is_bad(code: Any) -> bool:
    return isinstance(code, int) and code != 0


def _parsed(text: str) -> Json:
    try:
        return dict_of(cleaned(json.loads(text)))
    except (ValueError, RecursionError):
        return {}


def _patch(arguments: Any) -> str:
    if isinstance(arguments, dict):
        value = arguments.get("input") or arguments.get("patch") or arguments.get("command")
        arguments = "\n".join(map(text_of, value)) if isinstance(value, list) else value
    return arguments if isinstance(arguments, str) and "*** Begin Patch" in arguments else ""
