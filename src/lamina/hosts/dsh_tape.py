"""DSH's side of rendering: the log of a session of DeepSeek Harness 0.2."""

from __future__ import annotations

import json
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

DSH_FORMAT = 4
_MODEL = {"provider": "deepseek", "model": "deepseek-chat"}
_SYSTEM = "You are an AI agent powered by DeepSeek Harness."


@dataclass
class DshTape:
    """Writes one session the way DSH does, each record numbered."""

    tape: Tape
    session: str
    cwd: str
    parent: str = ""
    seq: int = 0
    turn: int = 0
    step: int = 0
    open: bool = False

    def begin(self) -> None:
        """Write the head of the transcript."""
        line: Json = {"type": "session", "version": DSH_FORMAT, "id": self.session}
        line |= {"createdAt": self._now(), "cwd": self.cwd, "isSeeded": False}
        if self.parent:
            line |= {"parentSession": self.parent, "origin": "subagent"}
        self.tape.lines.append(line | {"delegationDepth": int(bool(self.parent))})
        self._record("permission/preset", {"preset": "workspace-write"})

    def write(self, turn: Turn) -> None:
        """Add the records of one turn."""
        match turn:
            case Said("user", text):
                self.end_turn()
                self._person(text)
            case Said(_, text):
                self._reply([{"type": "text", "text": text}], thinking_time(text))
            case Tool():
                self._tool(turn)
            case Injected(text):
                self._message(text, {"kind": "plugin", "plugin": "lamina"})
            case Compacted(summary):
                self._compact(summary)
            case Pause(minutes):
                self.end_turn()
                self.tape.wait(minutes * 60)

    def end_turn(self) -> None:
        """Write what the host notes when the model has answered."""
        if self.open:
            self._record("step/end", self._place())
            self._record("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})
        self.open = False

    def _now(self) -> int:
        return int(self.tape.now.timestamp() * 1000)

    def _place(self) -> Json:
        return {"turn": self.turn, "step": self.step}

    def _record(self, kind: str, data: Json, *, seconds: float = 0.02, **more: object) -> int:
        self.tape.wait(seconds)
        self.tape.lines.append({"type": kind, "seq": self.seq, "time": self._now(), "data": data, **more})
        self.seq += 1
        return self.seq - 1

    def _message(self, text: str, source: Json, surface: object = "append") -> None:
        data = {"content": [{"type": "text", "text": text}], "source": source, "role": "user"}
        self._record("user/message", data | {"id": self.tape.uuid()}, surfaceOp=surface)

    def _person(self, text: str) -> None:
        self.tape.wait(typing_time(text))
        self.turn, self.step, self.open = self.turn + 1, 1, True
        self._record("turn/start", {"turn": self.turn})
        self._record("step/start", self._place())
        if self.turn == 1:
            prompt = {"role": "system", "content": [{"type": "text", "text": _SYSTEM}]}
            self._record("system/message", self._place() | {"message": prompt})
        self._message(text, {"kind": "user"})

    def _reply(self, content: list[Json], seconds: float) -> None:
        said = {"role": "assistant", "content": content, "source": {"kind": "model", **_MODEL}}
        usage = {"inputTokens": 1200, "outputTokens": tokens(json.dumps(content))}
        data = self._place() | {"message": said | {"id": self.tape.uuid()}, "usage": usage}
        self._record("assistant/message", data, seconds=seconds, surfaceOp="append")

    def _tool(self, tool: Tool) -> None:
        shell = tool.name in {"Bash", "bash", "shell"}
        name, call = "bash" if shell else tool.name, self.tape.code("call_")
        given = tool.arguments
        arguments = given if isinstance(given, str) else json.dumps(dict(given), ensure_ascii=False)
        asked = {"name": name, "arguments": arguments}
        self._reply([{"type": "tool-call", "id": call, **asked}], 3)
        number = self._record("tool/call", self._place() | {"callId": call, **asked})
        text = f"{tool.result}\n[exit code: 1]" if shell and tool.failed else tool.result
        message: Json = {"role": "tool", "source": {"kind": "tool", "callId": call}, "toolCallId": call}
        message |= {"content": [{"type": "text", "text": text}], "isError": tool.failed and not shell}
        data = self._place() | {"message": message | {"id": self.tape.uuid()}}
        self._record("tool/result", data, seconds=1.5, sourceEventSeqs=[number], surfaceOp="append")
        self._record("step/end", self._place())
        self.step += 1
        self._record("step/start", self._place())

    def _compact(self, summary: str) -> None:
        own = {"compactionId": self.tape.uuid(), "turn": self.turn}
        self._record("compaction/start", own)
        done = {"summary": [{"type": "text", "text": summary}], **_MODEL, "shadowedTokenCount": 9000}
        self._record("compaction/summary", own | done, seconds=20)
        span = {"op": "replace", "startSeq": 1, "endSeq": self.seq - 2}
        self._message(f"<summary>\n{summary}\n</summary>", {"kind": "compact-checkpoint"}, span)
        self._record("compaction/end", own)
