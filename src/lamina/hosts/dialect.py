"""How a host's hooks speak: what the hook command needs to know of each host, as plain data.

The hook command runs on the standard library alone, so this is handed to it as literals; nothing here
may hold code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Moment = Literal["start", "prompt", "tool", "turn", "end", "compact", "subagent", "none"]
"""What an event means to Lamina.

`start`: a session begins, resumes, or goes on after `/clear` or a compaction: the card is printed.
`prompt`: the person typed something. `tool`: before a tool call. `turn`: the model has answered.
`end`: the session ended. `compact`: the conversation is about to be shortened. `subagent`: one starts.
`none`: heard and passed over.
"""

Answer = Literal["hookSpecificOutput", "additionalContext", "additional_context", "none"]
"""Under which key a host takes context: Claude's object, Copilot's text, Cursor's text, or not at all."""


WRITING = (
    *(
        "memory_remember",
        "memory_forget",
        "memory_codebase",
        "memory_decision",
        "memory_state",
        "memory_working",
    ),
    *("memory_associate", "memory_sync", "memory_consolidate", "memory_refresh", "memory_history"),
)
"""The tools of Lamina's server that write: never for a subagent."""
SHOWING = ("memory_state", "memory_working")
"""Those of them that only show without arguments of their own."""


class Dialect(NamedTuple):
    """One host's events and the keys of its payloads."""

    events: Mapping[str, Moment]
    """The host's own event name → what it means. Unknown events are passed over."""
    answer: Answer = "hookSpecificOutput"
    takes: tuple[Moment, ...] = ("start", "prompt", "tool", "subagent")
    """The moments at which the host takes context."""
    session: tuple[str, ...] = ("session_id",)
    """Keys of the payload, the first that holds a text counts; the same for those below."""
    cwd: tuple[str, ...] = ("cwd",)
    transcript: tuple[str, ...] = ("transcript_path",)
    prompt: tuple[str, ...] = ("prompt",)
    prompt_id: tuple[str, ...] = ("prompt_id",)
    """What names one prompt, for hosts that tell the same one several times."""
    tool: tuple[str, ...] = ("tool_name",)
    arguments: tuple[str, ...] = ("tool_input",)
    not_typed: tuple[str, ...] = ("<task-notification>", "<system-reminder>", "Stop hook feedback:")
    """A prompt that begins so came from the host."""
    subagent: tuple[str, ...] = ()
    """Keys that hold a text exactly if the event happened inside a subagent; () if the host does not tell."""
    depth: tuple[str, ...] = ()
    """Keys that hold a number above 0 inside a subagent."""
    refusal: Literal["hookSpecificOutput", "permissionDecision", "decision", "none"] = "hookSpecificOutput"
    """How a hook before a tool call keeps it from being made."""
    restarts: bool = True
    """Whether `start` comes again after a compaction; if not, the card is shown at the next prompt."""
    ends: bool = True
    """Whether a host tells the end of every session; if not, each turn may have been the last."""
    shortened: str = ""
    """What a transcript holds once the conversation was shortened, for a host that has no event for it."""
    writing: tuple[str, ...] = WRITING
    showing: tuple[str, ...] = SHOWING

    def literal(self) -> dict[str, Any]:
        """Return it as what the hook command reads."""
        return {**self._asdict(), "events": dict(self.events)}
