"""Cursor, EXPERIMENTAL: hooks and settings from its documentation alone, never tried on the program.

Its transcripts are not read, so its sessions are not captured: they get the card and the memory tools.
A payload holds the person's e-mail address (`user_email`), which no key here names, so it is never kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from lamina.hosts.dialect import Dialect
from lamina.hosts.setup import SERVER, Edit, JsonItem, JsonMember, Say, Where

NAME = "cursor"


class Cursor:
    """What Lamina sets up in Cursor."""

    name = NAME

    #: Only what leads to the card. A payload names its folders in the list `workspace_roots`, which the hook
    #: reads by itself, and does not tell whether a subagent is at work.
    hooks = Dialect(
        events={"sessionStart": "start", "beforeSubmitPrompt": "prompt"},
        answer="additional_context",
        takes=("start", "prompt"),
        session=("conversation_id", "session_id"),
        transcript=(),
        prompt_id=("generation_id",),
        refusal="none",
        restarts=False,
    )

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell by its folder, or by one of its programs on PATH."""
        path = env.get("PATH", "")
        programs = ("cursor", "cursor-agent")
        return (home / ".cursor").is_dir() or any(shutil.which(name, path=path) for name in programs)

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes: two hooks and the MCP server."""
        base = (where.home if where.project is None else where.project) / ".cursor"
        hooks = [
            JsonItem(
                base / "hooks.json",
                ("hooks", event),
                {"command": where.command(NAME, event), "timeout": 10},
            )
            for event in self.hooks.events
        ]
        server = {"command": str(where.program), "args": ["mcp"]}
        return [
            JsonMember(base / "hooks.json", ("version",), 1),
            *hooks,
            JsonMember(base / "mcp.json", ("mcpServers", SERVER), server),
            Say(
                "Cursor is experimental: written from its documentation, not tried on the program. "
                "Sessions get the card and the memory tools; they are not captured."
            ),
            Say(
                "If Cursor also runs Claude Code's hooks (a setting of Cursor), the card comes twice: "
                "install into one of the two."
            ),
        ]


HOST = Cursor()
