"""What `lamina install` changes for a host, as values: the host says what, `lamina.install` does it.

Every edit is ours alone, can be told again from the other bytes of its file, and is taken back by
`uninstall` to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lamina.hosts.dialect import WRITING

SERVER = "lamina"
"""The name of the MCP server in every host."""


class Where(NamedTuple):
    """What a host's setup depends on."""

    home: Path
    env: Mapping[str, str]
    hook: Path
    """`<store>/state/bin/hook`, an executable: called as `hook HOST EVENT` with the payload on stdin."""
    program: Path
    """`<store>/state/bin/lamina`, an executable: the `lamina` command bound to this store."""
    assets: Path
    """`<store>/state/hosts/<host>`: a folder for what a host reads in place (a plugin, a package)."""
    project: Path | None = None
    """The project to install into; None: for the user."""
    recall: bool = False
    """Whether the hook before a tool call is wanted for every tool (setting `recall`)."""
    mode: str = ""
    """A host's own way (`plugin`, `settings`); "" for its default."""

    def command(self, host: str, event: str) -> str:
        """Return the shell command of a hook: it does nothing and exits 0 once Lamina is gone."""
        from shlex import quote

        hook = quote(str(self.hook))
        return f"test -x {hook} && {hook} {host} {event} || true"


def writing_tools() -> str:
    """Return the names of the tools that write, as a regular expression."""
    names = "|".join(name.removeprefix("memory_") for name in WRITING)
    return f"memory_(?:{names})"


class JsonMember(NamedTuple):
    """A member of an object in a JSON (or JSON with comments) file, under a path of keys."""

    file: Path
    at: tuple[str, ...]
    value: Any


class JsonItem(NamedTuple):
    """An item appended to the array under a path of keys; those that others put there stay."""

    file: Path
    at: tuple[str, ...]
    value: Any


class TomlTable(NamedTuple):
    """A table of a TOML file, under a path of keys."""

    file: Path
    at: tuple[str, ...]
    value: Mapping[str, Any]


class YamlItem(NamedTuple):
    """An item appended to the list that a YAML file is; `id` names it, or the first entry of its `insert`."""

    file: Path
    id: str
    value: Mapping[str, Any]


class OwnFile(NamedTuple):
    """A file that is Lamina's alone; the folders made for it go with it."""

    file: Path
    content: str | bytes
    executable: bool = False


class Say(NamedTuple):
    """A sentence for the person: what they still have to do or should know."""

    text: str


Edit = JsonMember | JsonItem | TomlTable | YamlItem | OwnFile | Say


def hook_items(
    where: Where,
    host: str,
    file: Path,
    events: Mapping[str, str | None],
    *,
    more: Mapping[str, Any] | None = None,
    timeout: int = 10,
) -> list[Edit]:
    """Return hooks in the shape that Claude Code, Codex, Gemini and Qwen share; event → matcher or None.

    `timeout` is in the host's own unit; `more` stands beside each command.
    """
    return [
        JsonItem(
            file,
            ("hooks", event),
            {
                **({} if matcher is None else {"matcher": matcher}),
                "hooks": [
                    {
                        **(more or {}),
                        "type": "command",
                        "command": where.command(host, event),
                        "timeout": timeout,
                    }
                ],
            },
        )
        for event, matcher in events.items()
    ]
