"""Qwen's side of rendering: the records of Qwen Code 0.24."""

from __future__ import annotations

from dataclasses import dataclass, field
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

QWEN_VERSION = "0.24.4"
QWEN_MODEL = "qwen3-coder-plus"
_PROVENANCE = {"user": "real_user", "assistant": "assistant_output", "tool_result": "tool_result"}


@dataclass
class QwenTape:
    """Writes one session the way Qwen Code does: linked records with the parts of Gemini's API."""

    tape: Tape
    session: str
    cwd: str
    branch: str
    agent: str = ""
    parent: str | None = None
    hooked: list[str] = field(default_factory=list)

    def write(self, turn: Turn) -> None:
        """Add the records of one turn."""
        match turn:
            case Said("user", text):
                self._person(text)
            case Said(_, text):
                self._model([{"text": "A hidden thought.", "thought": True}, {"text": text}], text)
            case Tool():
                self._tool(turn)
            case Injected(text, event):
                if event != "SessionStart":  # that goes into the system prompt, which is not noted
                    self.hooked.append(text)
            case Compacted(summary):
                self._compact(summary)
            case Pause(minutes):
                self.tape.wait(minutes * 60)

    def _record(self, kind: str, body: Json, *, seconds: float = 0.02) -> None:
        own = self.tape.uuid()
        base: Json = {
            "uuid": own,
            "parentUuid": self.parent,
            "sessionId": self.session,
            "timestamp": self.tape.wait(seconds),
            "type": kind,
        }
        if not self.agent:
            base["provenance"] = _PROVENANCE.get(kind, "system")
        base |= {"cwd": self.cwd, "version": QWEN_VERSION, "gitBranch": self.branch}
        if self.agent:
            base |= {"agentId": self.agent, "agentName": "general-purpose", "isSidechain": True}
        self.tape.lines.append(base | body)
        self.parent = own

    def _person(self, text: str) -> None:
        parts: list[Json] = [{"text": text}]
        payload: Json = {"displayText": text}
        if self.hooked:
            said = "\n".join(self.hooked)
            around = f"<qwen:user-prompt-submit-context>\n{said}\n</qwen:user-prompt-submit-context>"
            parts.append({"text": around})
            payload["hookContext"] = said
            self.hooked = []
        body: Json = {"message": {"role": "user", "parts": parts}}
        self._record(
            "user", body if self.agent else body | {"systemPayload": payload}, seconds=typing_time(text)
        )
        if not self.agent:
            snapshot = {"type": "attribution-snapshot", "version": 1, "surface": "cli", "fileStates": {}}
            about = {"subtype": "attribution_snapshot", "systemPayload": {"snapshot": snapshot}}
            self._record("system", about)

    def _model(self, parts: list[Json], text: str) -> None:
        used = {"promptTokenCount": tokens(text), "candidatesTokenCount": tokens(text)}
        body = {"model": QWEN_MODEL, "message": {"role": "model", "parts": parts}, "usageMetadata": used}
        self._record("assistant", body, seconds=thinking_time(text))

    def _tool(self, tool: Tool) -> None:
        shell = tool.name in {"Bash", "run_shell_command"}
        name = "run_shell_command" if shell else tool.name
        call = self.tape.code("call_")
        arguments = {"input": tool.arguments} if isinstance(tool.arguments, str) else dict(tool.arguments)
        self._model([{"functionCall": {"id": call, "name": name, "args": arguments}}], tool.result[:400])
        output = tool.result
        if shell:
            output = (
                f"Command: {arguments.get('command', '')}\nDirectory: (root)\nOutput: {tool.result}\n"
                f"Error: (none)\nExit Code: {int(tool.failed)}\nSignal: (none)\nProcess Group PGID: (none)"
            )
        wrong = tool.failed and not shell
        response: Json = {"error" if wrong else "output": output}
        part = {"functionResponse": {"id": call, "name": name, "response": response}}
        shown: Any = tool.result
        if shell:
            shown = {"type": "shell_result", "version": 1, "exitCode": int(tool.failed), "output": "…"}
        about = {"callId": call, "status": "error" if wrong else "success", "resultDisplay": shown}
        body = {"message": {"role": "user", "parts": [part]}, "toolCallResult": about}
        self._record("tool_result", body, seconds=1.5 if shell else 0.1)

    def _compact(self, summary: str) -> None:
        history = [
            {"role": "user", "parts": [{"text": f"<state_snapshot>\n{summary}\n</state_snapshot>"}]},
            {"role": "model", "parts": [{"text": "Got it. Thanks for the additional context!"}]},
        ]
        info = {"originalTokenCount": 90_000, "newTokenCount": 4_000, "compressionStatus": 1}
        payload = {"info": info, "compressedHistory": history}
        self._record("system", {"subtype": "chat_compression", "systemPayload": payload}, seconds=20)
