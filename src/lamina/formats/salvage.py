"""Objects out of JSON that a model wrote: exact, then repaired, then whatever whole objects stand in it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

# A string never fails to match (its closing quote is optional), so the scan is linear.
_TOKEN: Final = re.compile(
    r'"(?:[^"\\\n]++|\\.)*+"?'
    r"|,(?=\s*+[}\]])"
    r"|(?<![\w.])(?:None|undefined|NaN|-?Infinity|True|False)(?![\w.])"
    r"|(?<![\w.])\.\.\.(?![\w.])|…|<[^<>\"\n]{0,60}+>"
)
_WORDS: Final = {"True": "true", "False": "false"}
_BRACE: Final = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|[{}]')


def salvage(text: str) -> list[Any]:
    """Return the JSON values in `text`: the one it is, the one it means, or its innermost whole objects.

    Never fails; an empty list says that nothing could be recovered.
    """
    body = _body(text)
    for candidate in (body, _repaired(body)):
        value = _loads(candidate)
        if value is not None:
            return [value]
    found = []
    for part in _whole_objects(text):
        value = _loads(part)
        found.append(_loads(_repaired(part)) if value is None else value)
    return [value for value in found if value is not None]


def _body(text: str) -> str:
    """Cut from the first opening bracket to the last closing one: prose and fences fall away."""
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts else ""


def _loads(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def _repaired(text: str) -> str:
    return _TOKEN.sub(_repair, text)


def _repair(match: re.Match[str]) -> str:
    part = match[0]
    if part[0] == '"':
        return part
    return "" if part == "," else _WORDS.get(part, "null")


def _whole_objects(text: str) -> list[str]:
    """List the spans `{…}` that hold no other brace outside of strings; they never overlap."""
    found: list[str] = []
    start = -1
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            start = match.start()
        elif match[0] == "}" and start >= 0:
            if match.start() > start + 1:
                found.append(text[start : match.end()])
            start = -1
    return found
