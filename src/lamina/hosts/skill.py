"""The skill that tells an agent how to use Lamina: one text for all hosts that read Agent Skills."""

from __future__ import annotations

from lamina.hosts.setup import SERVER, Where

NAME = "lamina-memory"
"""The skill's name where skills of several origins stand side by side."""

_TEXT = """\
---
name: {name}
description: Looks up and writes the memory of this project and this person (Lamina). Use it when asked what \
was decided, tried or learnt before, when the person says "remember" or "forget", and before work that \
earlier sessions may have settled.
---

# Memory

Earlier sessions left memories as Markdown files: facts, decisions, lessons, ways to do things. What you were
given at the start of the session is a part of it.

Look first. With the tools of the `{server}` server:

- `memory_search` with the words of the matter; narrow by `layer` or `topic` if there is too much.
- `memory_remember` for one durable thing that the person told you or that was settled, in a sentence or two.
- `memory_decision` for a choice and why it won; `memory_forget` for what is wrong.
- `memory_working` for what you are in the middle of.

Without these tools, the same by command:

```sh
{program} search "words"
{program} show ID
{program} why ID
{program} remember "text" --layer learnings
{program} forget ID
```

Each hit names its trust and its age: a candidate or stale one is a hint to check, not a fact. What the person
and the files say now counts more. Never store something to fill a gap: writing nothing is a correct result.
A subagent only reads.
"""


def skill(where: Where, name: str = NAME) -> str:
    """Return the text of a SKILL.md."""
    from shlex import quote

    return _TEXT.format(name=name, server=SERVER, program=quote(str(where.program)))
