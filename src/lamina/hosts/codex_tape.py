"""Codex's side of rendering: the rollout lines of Codex 0.171."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

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

CODEX_VERSION = "0.171.0"
CODEX_MODEL = "gpt-5.2-codex"
_INSTRUCTIONS = "You are a coding agent working in the person's terminal."
_USER = ("user.text", {"type": "user"})
_HOOK = ("hooks.additional_context", {"type": "harness", "hook": True})
_HARNESS = ("permissions.instructions", {"type": "harness", "hook": False})
_AGENTS = ("agents_md.instructions", {"type": "agents_md"})
_PLACE = ("environments.environment_context", {"type": "harness", "hook": False})


class Origin(NamedTuple):
    """Where a rollout comes from: forked off another session, or started by one as its subagent."""

    forked_from: str = ""
    parent: str = ""


@dataclass
class CodexTape:
    """Writes one session the way Codex does: texts both as a response item and as an event."""

    tape: Tape
    session: str
    cwd: str
    turn: str = ""
    asked: int = 0
    said: str = ""
    used: int = 0

    def begin(self, branch: str, remote: str, origin: Origin) -> None:
        """Write the head of the rollout."""
        fork = {"forked_from_id": origin.forked_from} if origin.forked_from else {}
        source: str | Json = "cli"
        if origin.parent:
            source = {"subagent": {"thread_spawn": {"parent_thread_id": origin.parent, "depth": 1}}}
        git = {"commit_hash": self.tape.digest().hex()[:40], "branch": branch}
        self._line(
            "session_meta",
            {"session_id": self.session, "id": self.session}
            | fork
            | {
                "timestamp": self.tape.stamp(),
                "cwd": self.cwd,
                "runtime_workspace_roots": [self.cwd],
                "originator": "codex_cli_rs",
                "cli_version": CODEX_VERSION,
                "source": source,
                "thread_source": "subagent" if origin.parent else "user",
                "model_provider": "openai",
                "base_instructions": {"text": _INSTRUCTIONS},
                "history_mode": "paginated",
                "git": git | ({"repository_url": remote} if remote else {}),
            },
        )

    def write(self, turn: Turn) -> None:
        """Add the records of one turn."""
        match turn:
            case Said("user", text):
                self.end_turn()
                self._person(text)
            case Said(_, text):
                self._agent(text)
            case Tool():
                self._tool(turn)
            case Injected(text, _):
                self._message("developer", [(text, *_HOOK)])
            case Compacted(summary):
                self._line("compacted", {"message": summary}, seconds=20)
            case Pause(minutes):
                self.end_turn()
                self.tape.wait(minutes * 60)

    def end_turn(self) -> None:
        """Write what the host notes when the model has answered."""
        if not self.turn:
            return
        usage = {"input_tokens": self.used, "cached_input_tokens": 0, "output_tokens": tokens(self.said)}
        usage |= {"reasoning_output_tokens": 0, "total_tokens": self.used + tokens(self.said)}
        info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 258400}
        self._event("token_count", {"info": info, "rate_limits": None})
        done = {"turn_id": self.turn, "last_agent_message": self.said, "completed_at": self._seconds()}
        self._event("task_complete", done | {"duration_ms": (self._seconds() - self.asked) * 1000})
        self.turn = ""

    def _seconds(self) -> int:
        return int(self.tape.now.timestamp())

    def _line(self, kind: str, payload: Json, *, seconds: float = 0.02) -> None:
        ordinal = len(self.tape.lines)
        line = {"timestamp": self.tape.wait(seconds), "ordinal": ordinal, "type": kind, "payload": payload}
        self.tape.lines.append(line)

    def _event(self, kind: str, body: Json, *, seconds: float = 0.02) -> None:
        self._line("event_msg", {"type": kind} | body, seconds=seconds)

    def _message(self, role: str, parts: list[tuple[str, str, Json]], *, seconds: float = 0.02) -> None:
        passed = {
            "turn_id": self.turn,
            "content_item_kinds": [kind for _, kind, _ in parts],
            "content_item_metadata": [{"provenance": provenance} for _, _, provenance in parts],
        }
        content = [{"type": "input_text", "text": text} for text, _, _ in parts]
        body = {"type": "message", "id": f"msg_{self.tape.uuid()}", "role": role, "content": content}
        self._line(
            "response_item", body | {"internal_chat_message_metadata_passthrough": passed}, seconds=seconds
        )

    def _item(self, item: Json) -> None:
        self._event("item_completed", {"thread_id": self.session, "turn_id": self.turn, "item": item})

    def _person(self, text: str) -> None:
        first = len(self.tape.lines) == 1
        self.tape.wait(typing_time(text))
        self.turn, self.asked = self.tape.uuid(), self._seconds()
        self._event("task_started", {"turn_id": self.turn, "started_at": self.asked})
        if first:
            self._start()
        settings = {"approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write"}}
        context = {"turn_id": self.turn, "cwd": self.cwd, "model": CODEX_MODEL} | settings
        self._line("turn_context", context | {"summary": "auto"})
        self._message("user", [(text, *_USER)])
        content = [{"type": "text", "text": text, "text_elements": []}]
        self._item({"type": "UserMessage", "id": self.tape.uuid(), "content": content})
        self.used += tokens(text)

    def _start(self) -> None:
        """Write what the host tells the model with the first prompt."""
        sandbox = (
            "<permissions instructions>\n`sandbox_mode` is `workspace-write`.\n</permissions instructions>"
        )
        day = self.tape.now.strftime("%Y-%m-%d")
        place = f"<cwd>{self.cwd}</cwd>\n  <shell>bash</shell>\n  <current_date>{day}</current_date>"
        agents = "Run the tests before saying that something works."
        self._message("developer", [(sandbox, *_HARNESS)])
        told = f"# AGENTS.md instructions for {self.cwd}\n\n<INSTRUCTIONS>\n{agents}\n</INSTRUCTIONS>"
        context = f"<environment_context>\n  {place}\n</environment_context>"
        self._message("user", [(told, *_AGENTS), (context, *_PLACE)])

    def _agent(self, text: str) -> None:
        own = self.tape.code("msg_")
        self.tape.wait(thinking_time(text))
        self._item({"type": "AgentMessage", "id": own, "content": [{"type": "Text", "text": text}]})
        content = [{"type": "output_text", "text": text, "annotations": []}]
        body = {"type": "message", "status": "completed", "id": own, "role": "assistant", "content": content}
        passed = {"turn_id": self.turn, "content_item_kinds": ["unknown"]}
        self._line("response_item", body | {"internal_chat_message_metadata_passthrough": passed})
        self.said = text
        self.used += tokens(text)

    def _tool(self, tool: Tool) -> None:
        call = self.tape.code("call_")
        if isinstance(tool.arguments, str):
            body: Json = {"type": "custom_tool_call", "status": "completed", "call_id": call}
            self._line("response_item", body | {"name": tool.name, "input": tool.arguments}, seconds=3)
            metadata = {"exit_code": int(tool.failed), "duration_seconds": 0.1}
            output = json.dumps({"output": tool.result, "metadata": metadata}, ensure_ascii=False)
            answer = {"type": "custom_tool_call_output", "call_id": call, "output": output}
            self._line("response_item", answer, seconds=0.2)
            return
        shell = tool.name in {"Bash", "shell", "exec_command"}
        arguments = dict(tool.arguments)
        if shell:
            arguments = {"cmd": arguments.get("command", arguments.get("cmd", ""))}
        name = "exec_command" if shell else tool.name
        body = {"type": "function_call", "name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        self._line("response_item", body | {"call_id": call}, seconds=3)
        if shell:
            self._executed(call, str(arguments["cmd"]), tool)
        answer = {"type": "function_call_output", "call_id": call, "output": self._output(tool, shell=shell)}
        self._line("response_item", answer, seconds=1.5)
        self.used += tokens(tool.result)

    def _executed(self, call: str, command: str, tool: Tool) -> None:
        item = {"type": "CommandExecution", "id": call, "command": ["/bin/bash", "-lc", command]}
        status = "failed" if tool.failed else "completed"
        self._item(item | {"cwd": f"file://{self.cwd}", "status": status, "exit_code": int(tool.failed)})

    def _output(self, tool: Tool, *, shell: bool) -> str:
        if not shell:
            return tool.result
        head = f"Chunk ID: {self.tape.digest().hex()[:6]}\nWall time: 1.2000 seconds"
        code = f"Process exited with code {int(tool.failed)}"
        return f"{head}\n{code}\nOriginal token count: {tokens(tool.result)}\nOutput:\n{tool.result}\n"
