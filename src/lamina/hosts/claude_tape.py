"""Claude Code's side of rendering: the envelopes of Claude Code 2.1."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lamina.hosts.tape import (
    Compacted,
    Injected,
    Json,
    Pause,
    Said,
    Tape,
    Tool,
    Turn,
    thinking_time,
    tokens,
    typing_time,
)

CLAUDE_VERSION = "2.1.332"
CLAUDE_MODEL = "claude-opus-5-5"


@dataclass
class ClaudeTape:
    """Writes one session the way Claude Code does: linked records, one for each content block."""

    tape: Tape
    session: str
    cwd: str
    branch: str
    agent: str
    parent: str | None = None
    prompt: str = ""
    prompts: int = 0
    asked: datetime | None = None
    reply: str = ""  # the running response's message id; a person's or a tool's record ends it
    context: int = 14_000

    def write(self, turn: Turn) -> None:
        """Add the records of one turn."""
        match turn:
            case Said("user", text):
                self.end_turn()
                self._person(text)
            case Said(_, text):
                self._block({"type": "text", "text": text}, text)
            case Tool():
                self._tool(turn)
            case Injected(text, event):
                self._hook(text, event)
            case Compacted(summary):
                self.end_turn()
                self._compact(summary)
            case Pause(minutes):
                self.end_turn()
                self.tape.wait(minutes * 60)

    def end_turn(self) -> None:
        """Write what the host notes when the model has answered."""
        if self.asked is None or self.agent:
            return
        took = self.tape.now - self.asked
        self._record(
            {
                "type": "system",
                "subtype": "turn_duration",
                "durationMs": int(took.total_seconds() * 1000),
                "isMeta": False,
            }
        )
        self.loose({"type": "last-prompt", "lastPrompt": self.prompt[:200], "leafUuid": self.parent})
        self.asked = None

    def _record(self, body: Json, *, seconds: float = 0.02) -> str:
        own = self.tape.uuid()
        agent = {"agentId": self.agent} if self.agent else {}
        self.tape.lines.append(
            {"parentUuid": self.parent, "isSidechain": bool(self.agent), **agent}
            | body
            | {
                "uuid": own,
                "timestamp": self.tape.wait(seconds),
                "userType": "external",
                "entrypoint": "cli",
                "cwd": self.cwd,
                "sessionId": self.session,
                "version": CLAUDE_VERSION,
                "gitBranch": self.branch,
            }
        )
        self.parent = own
        return own

    def loose(self, body: Json) -> None:
        """Write a record that is not linked to the others."""
        self.tape.lines.append(body | {"sessionId": self.session})

    def _person(self, text: str) -> None:
        first, self.prompts, self.prompt = not self.prompts, self.prompts + 1, text
        if first and not self.agent:
            self.loose({"type": "mode", "mode": "normal"})
        self.reply, self.context = "", self.context + tokens(text)
        prompt = {"promptId": self.tape.uuid(), "type": "user", "message": {"role": "user", "content": text}}
        if self.agent:
            self._record(prompt | {"rowSource": "recorded"})
        else:
            typed = {"permissionMode": "default", "promptSource": "typed", "turnOrigin": "human"}
            self._record(prompt | typed | {"rowSource": "local"}, seconds=typing_time(text))
        self.asked = self.tape.now
        if first:
            self._start()

    def _start(self) -> None:
        """Write what the host tells the model with the first prompt."""
        day = self.tape.now.strftime("%Y-%m-%d")
        place = {"workingDirectory": self.cwd, "isWorktree": False, "isGitRepo": True, "platform": "linux"}
        self._attach(
            {"type": "environment", "snapshot": place | {"shell": "bash"}},
            f"# Environment\nWorking directory: {self.cwd}\nIs a git repository: true\nPlatform: linux",
        )
        self._attach({"type": "model", "identity": {"modelId": CLAUDE_MODEL}}, f"Model: {CLAUDE_MODEL}")
        status = f"Current branch: {self.branch}\n\nStatus:\n(clean)"
        self._attach({"type": "session_context", "context": {"gitStatus": status}}, f"# gitStatus\n{status}")
        self._attach({"type": "date", "date": day}, f"Today's date is {day}.")

    def _attach(self, attachment: Json, text: str) -> None:
        rendered = [{"content": f"<system-reminder>\n{text}\n</system-reminder>"}]
        self._record(
            {"attachment": attachment, "type": "attachment", "rendered": rendered, "renderedRole": "system"}
        )

    def _hook(self, text: str, event: str) -> None:
        names = {"hookName": event, "toolUseID": f"hook-{self.tape.uuid()}", "hookEvent": event}
        self._attach(
            {"type": "hook_additional_context", "content": [text]} | names,
            f"{event} hook additional context: {text}",
        )

    def _block(self, block: Json, text: str) -> str:
        """Write one content block of a response; the blocks of one response share its message id."""
        if not self.reply:
            self.reply = self.tape.code("msg_01")
        written = tokens(text)
        self.context += written
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self.context,
            "output_tokens": written,
            "service_tier": "standard",
        }
        message = {
            "id": self.reply,
            "type": "message",
            "role": "assistant",
            "model": CLAUDE_MODEL,
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
        request = {"requestId": self.tape.code("req_01"), "type": "assistant", "madeBy": "model"}
        return self._record({"message": message} | request, seconds=thinking_time(text))

    def _tool(self, tool: Tool) -> None:
        call = self.tape.code("toolu_01")
        arguments = {"input": tool.arguments} if isinstance(tool.arguments, str) else dict(tool.arguments)
        block = {"type": "tool_use", "id": call, "name": tool.name, "input": arguments}
        asked = self._block(block, json.dumps(arguments, ensure_ascii=False))
        self.reply, self.context = "", self.context + tokens(tool.result)
        shell = tool.name == "Bash"
        said = f"Exit code 1\n{tool.result}" if tool.failed and shell else tool.result
        result = {"tool_use_id": call, "type": "tool_result", "content": said, "is_error": tool.failed}
        output: Any = f"Error: {said}" if tool.failed else {"type": "text"}
        if shell and not tool.failed:
            output = {"stdout": tool.result, "stderr": "", "interrupted": False, "isImage": False}
        self._record(
            {
                "type": "user",
                "message": {"role": "user", "content": [result]},
                "toolUseResult": output,
                "sourceToolAssistantUUID": asked,
            },
            seconds=1.5 if shell else 0.1,
        )

    def _compact(self, summary: str) -> None:
        leaf, self.parent, self.reply = self.parent, None, ""
        about = {"trigger": "auto", "preTokens": self.context}
        self._record(
            {
                "logicalParentUuid": leaf,
                "type": "system",
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "isMeta": False,
                "level": "info",
                "compactMetadata": about,
            },
            seconds=20,
        )
        text = (
            "This session is being continued from a previous conversation that ran out of context. "
            f"The summary below covers the earlier portion of the conversation.\n\n{summary}"
        )
        flags = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        self._record({"type": "user", "message": {"role": "user", "content": text}} | flags)
        self.context = 14_000 + tokens(summary)
