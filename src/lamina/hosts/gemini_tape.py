"""Gemini's side of rendering: the lines of Gemini CLI 0.61."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
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

GEMINI_MODEL = "gemini-2.5-pro"


@dataclass
class GeminiTape:
    """Writes one session the way Gemini CLI does: a message again when its tool calls arrive."""

    tape: Tape
    session: str
    cwd: str
    parent: str = ""
    told: list[Json] = field(default_factory=list)
    before: list[str] = field(default_factory=list)  # what hooks gave at the start
    behind: list[str] = field(default_factory=list)  # … and with the prompt
    reply: Json = field(default_factory=dict)

    def begin(self) -> None:
        """Write the head of the file."""
        start = self.tape.stamp()
        about: Json = {
            "sessionId": self.session,
            "projectHash": sha256(self.cwd.encode()).hexdigest(),
            "startTime": start,
            "lastUpdated": start,
            "kind": "subagent" if self.parent else "main",
        }
        if self.parent:
            about["directories"] = [self.cwd]
        self.tape.lines.append(about)
        text = (
            "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"
            f"- **Workspace Directories:**\n  - {self.cwd}\n</session_context>"
        )
        self._tell_again([self._message("user", [{"text": text}])])

    def write(self, turn: Turn) -> None:
        """Add the records of one turn."""
        match turn:
            case Said("user", text):
                self._person(text)
            case Said(_, text):
                self._model(text)
            case Tool():
                self._tool(turn)
            case Injected(text, event):
                (self.before if event == "SessionStart" else self.behind).append(text)
            case Compacted(summary):
                self._compact(summary)
            case Pause(minutes):
                self.tape.wait(minutes * 60)

    def _message(self, kind: str, content: Any, seconds: float = 0.02) -> Json:
        return {
            "id": self.tape.uuid(),
            "timestamp": self.tape.wait(seconds),
            "type": kind,
            "content": content,
        }

    def _line(self, message: Json) -> None:
        self.tape.lines.append(message)
        self.told = [other for other in self.told if other["id"] != message["id"]] + [message]

    def _updated(self) -> None:
        self.tape.lines.append({"$set": {"lastUpdated": self.tape.stamp()}})

    def _tell_again(self, messages: list[Json]) -> None:
        self.told = messages
        self.tape.lines.append({"$set": {"messages": messages, "lastUpdated": self.tape.stamp()}})

    def _person(self, text: str) -> None:
        prefix = "".join(f"<hook_context>{said}</hook_context>\n\n" for said in self.before)
        parts = [{"text": prefix + text}]
        more = [{"text": f"<hook_context>{said}</hook_context>"} for said in self.behind]
        self.before, self.behind, self.reply = [], [], {}
        message = self._message("user", parts + more, typing_time(text))
        self._line(message | ({"displayContent": parts} if more else {}))
        self._updated()

    def _model(self, text: str) -> None:
        used = {"input": tokens(text), "output": tokens(text), "cached": 0, "thoughts": 0, "tool": 0}
        thought = {"subject": "Thinking", "description": "A hidden thought.", "timestamp": self.tape.stamp()}
        self.reply = self._message("gemini", text, thinking_time(text))
        self.reply |= {"thoughts": [thought], "tokens": used, "model": GEMINI_MODEL}
        self._line(self.reply)
        self._updated()

    def _tool(self, tool: Tool) -> None:
        if not self.reply:
            self.reply = self._message("gemini", "", 2) | {"thoughts": [], "model": GEMINI_MODEL}
        shell = tool.name in {"Bash", "run_shell_command"}
        name = "run_shell_command" if shell else tool.name
        call = f"{name}__{self.tape.digest().hex()[:12]}"
        output = f"Output: {tool.result}" if shell else tool.result
        output += "\nExit Code: 1" if shell and tool.failed else ""
        output += "\nProcess Group PGID: 4211" if shell else ""
        wrapped = {"output": f"<untrusted_context>\n{output}\n</untrusted_context>"}
        response = {"error": tool.result} if tool.failed and not shell else wrapped
        result = [{"functionResponse": {"id": call, "name": name, "response": response}}]
        arguments = {"input": tool.arguments} if isinstance(tool.arguments, str) else dict(tool.arguments)
        status = "error" if tool.failed and not shell else "success"
        about: Json = {"id": call, "name": name, "args": arguments, "result": result, "status": status}
        about |= {"timestamp": self.tape.wait(1.5 if shell else 0.1), "renderOutputAsMarkdown": False}
        self._line(self.reply | {"toolCalls": [*self.reply.get("toolCalls", []), about]})
        self._line(self._message("user", result))
        self._updated()
        self.reply = {}

    def _compact(self, summary: str) -> None:
        text = f"<state_snapshot>\n{summary}\n</state_snapshot>"
        self.reply = {}
        kept = [
            {**message, "content": message["content"] or [{"text": "…"}]}
            for message in self.told[-2:]
            if message["type"] == "gemini"
        ]
        told = self._message("user", [{"text": text}], 20)
        understood = self._message("gemini", [{"text": "Got it. Thanks for the additional context!"}])
        self._tell_again([self.told[0], told, understood, *kept])
