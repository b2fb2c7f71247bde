"""Copilot's side of rendering: the events of Copilot CLI 1.0."""

from __future__ import annotations

from dataclasses import dataclass

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

COPILOT_VERSION = "1.0.102"
COPILOT_MODEL = "gpt-5.2"
_SYSTEM = "You are the GitHub Copilot CLI, a terminal assistant built by GitHub."


@dataclass
class CopilotTape:
    """Writes one session the way Copilot does, each event linked to the one before."""

    tape: Tape
    session: str
    cwd: str
    branch: str = "main"
    agent: str = ""
    call: str = ""
    turn: int = -1
    last: str = ""

    def begin(self) -> None:
        """Write the head of the transcript."""
        own = {"sessionId": self.session, "version": 1, "producer": "copilot-agent"}
        started = {"copilotVersion": COPILOT_VERSION, "startTime": self.tape.stamp()}
        self._event("session.start", own | started | {"context": self._context()})

    def write(self, turn: Turn) -> None:
        """Add the events of one turn."""
        match turn:
            case Said("user", text):
                self.end_turn()
                self._person(text)
            case Said(_, text):
                self._reply(text, [], thinking_time(text))
            case Tool():
                self._tool(turn)
            case Injected(text, event):
                self._hook(event[:1].lower() + event[1:], {"additionalContext": text})
            case Compacted(summary):
                self._event("session.compaction_start", {"trigger": "threshold"})
                done = {"success": True, "outcome": "applied", "summaryContent": summary}
                self._event("session.compaction_complete", done, seconds=20)
            case Pause(minutes):
                self.end_turn()
                self._event("session.shutdown", {"shutdownType": "routine"})
                self.tape.wait(minutes * 60)
                self._event("session.resume", {"resumeTime": self.tape.stamp(), "context": self._context()})

    def end_turn(self) -> None:
        """Write what the host notes when the model has answered."""
        if self.turn >= 0:
            self._event("assistant.turn_end", {"turnId": str(self.turn)})
            self._hook("agentStop", {})
        self.turn = -1

    def _context(self) -> Json:
        return {"cwd": self.cwd, "gitRoot": self.cwd, "branch": self.branch}

    def _event(self, kind: str, data: Json, *, seconds: float = 0.02) -> None:
        own = self.tape.uuid()
        stamp = self.tape.wait(seconds)
        data = data | ({"parentToolCallId": self.call} if self.agent else {})
        line: Json = {
            "type": kind,
            "data": data,
            "id": own,
            "timestamp": stamp,
            "parentId": self.last or None,
        }
        self.tape.lines.append(line | ({"agentId": self.agent} if self.agent else {}))
        self.last = own

    def _hook(self, event: str, output: Json) -> None:
        own = {"hookInvocationId": self.tape.uuid(), "hookType": event}
        self._event("hook.start", own | {"input": {"sessionId": self.session, "cwd": self.cwd}})
        self._event("hook.end", own | {"success": True} | ({"output": output} if output else {}))

    def _person(self, text: str) -> None:
        first = not any(line["type"] == "user.message" for line in self.tape.lines)
        self.tape.wait(typing_time(text))
        whole = f"<current_datetime>{self.tape.stamp()}</current_datetime>\n\n{text}"
        source = {"source": f"agent-{self.session}"} if self.agent else {}
        words = {"content": text, "transformedContent": whole, "messageId": self.tape.uuid()}
        self._event("user.message", words | source | {"delivery": "idle"})
        if first:
            self._event("system.message", {"role": "system", "content": _SYSTEM})

    def _reply(self, text: str, requests: list[Json], seconds: float) -> None:
        self.turn += 1
        self._event("assistant.turn_start", {"turnId": str(self.turn)})
        own = {"messageId": self.tape.uuid(), "model": COPILOT_MODEL, "content": text}
        more = {"toolRequests": requests, "turnId": str(self.turn), "outputTokens": tokens(text)}
        self._event("assistant.message", own | more, seconds=seconds)

    def _tool(self, tool: Tool) -> None:
        shell = tool.name in {"Bash", "bash", "shell"}
        name = "bash" if shell else tool.name
        arguments = tool.arguments if isinstance(tool.arguments, str) else dict(tool.arguments)
        call = {"toolCallId": self.tape.code("call_")}
        self._reply("", [call | {"name": name, "arguments": arguments, "type": "function"}], 3)
        self._event("tool.execution_start", call | {"toolName": name, "arguments": arguments})
        done: Json = {"success": shell or not tool.failed}
        if shell:
            code = int(tool.failed)
            text = f"{tool.result}\n<shellId: 0 completed with exit code {code}>"
            done |= {"shellExecution": {"exitCode": code}, "result": {"content": text}}
        elif tool.failed:
            done["error"] = {"message": tool.result, "code": "failure"}
        else:
            done["result"] = {"content": tool.result, "detailedContent": tool.result}
        self._event("tool.execution_complete", call | done, seconds=1.5)
