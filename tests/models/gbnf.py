"""Grammars in GBNF, as llama.cpp reads them, turned into regular expressions: for those without recursion."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'\s+|"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[a-z]+|[()|*+?]')


def compiled(grammar: str) -> re.Pattern[str]:
    """Return what matches exactly the texts that the grammar's root allows."""
    rules = dict(re.split(r"\s*::=\s*", line, maxsplit=1) for line in grammar.strip().split("\n"))
    return re.compile(_expanded(rules, "root", frozenset()))


def _expanded(rules: dict[str, str], name: str, above: frozenset[str]) -> str:
    assert name not in above, f"{name} is recursive"
    text, at, parts = rules[name], 0, []
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token, f"no GBNF: {text[at:]}"
        at, found = token.end(), token[0]
        if found[0] == '"':
            parts.append(f"(?:{re.escape(json.loads(found))})")
        elif found.isalpha():
            parts.append(_expanded(rules, found, above | {name}))
        elif found.strip():
            parts.append("(?:" if found == "(" else found)
    return f"(?:{''.join(parts)})"
