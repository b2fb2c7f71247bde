"""Render plain sessions as the transcripts that the hosts would have left.

For examples, tests and measurements. Every record has the envelope of the real program
(Claude Code 2.1, Codex 0.171, Copilot CLI 1.0, DSH 0.2, Gemini CLI 0.61, Qwen Code 0.24); the records that
repeat the whole prompt (request blobs, prompt snapshots, base instructions) are left out or short,
since they hold no words of the conversation. The same arguments give the same bytes: ids are hashes,
and time passes with the length of what is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lamina.hosts.claude_tape import ClaudeTape
from lamina.hosts.codex_tape import CodexTape, Origin
from lamina.hosts.copilot_tape import CopilotTape
from lamina.hosts.dsh_tape import DshTape
from lamina.hosts.gemini_tape import GeminiTape
from lamina.hosts.qwen_tape import QwenTape
from lamina.hosts.tape import Compacted, Injected, Pause, Said, Tape, Tool, Turn, session_uuid

__all__ = [
    "Compacted",
    "Injected",
    "Origin",
    "Pause",
    "Said",
    "Tool",
    "Turn",
    "render_claude",
    "render_codex",
    "render_copilot",
    "render_dsh",
    "render_gemini",
    "render_qwen",
    "session_uuid",
]


def render_claude(  # noqa: PLR0913 - the head of a transcript tells that many facts
    session_id: str,
    turns: Iterable[Turn],
    *,
    cwd: str,
    started: datetime,
    branch: str = "main",
    title: str = "",
    agent: str = "",
) -> str:
    """Render a session as Claude Code's JSON Lines; with `agent`, as the file of that subagent of it."""
    claude = ClaudeTape(Tape(f"{session_id}{agent}", started), session_id, cwd, branch, agent)
    for turn in turns:
        claude.write(turn)
    claude.end_turn()
    if title:
        claude.loose({"type": "custom-title", "customTitle": title})
    return claude.tape.text()


def render_codex(  # noqa: PLR0913 - the head of a transcript tells that many facts
    session_id: str,
    turns: Iterable[Turn],
    *,
    cwd: str,
    started: datetime,
    branch: str = "main",
    remote: str = "",
    origin: Origin | None = None,
) -> str:
    """Render a session as a Codex rollout; `origin` makes it a fork or a subagent of another."""
    codex = CodexTape(Tape(session_id, started), session_id, cwd)
    codex.begin(branch, remote, origin or Origin())
    for turn in turns:
        codex.write(turn)
    codex.end_turn()
    return codex.tape.text()


def render_copilot(
    session_id: str, turns: Iterable[Turn], *, cwd: str, started: datetime, branch: str = "main"
) -> str:
    """Render a session as the events of Copilot CLI."""
    copilot = CopilotTape(Tape(session_id, started), session_id, cwd, branch)
    copilot.begin()
    for turn in turns:
        copilot.write(turn)
    copilot.end_turn()
    return copilot.tape.text()


def render_dsh(
    session_id: str, turns: Iterable[Turn], *, cwd: str, started: datetime, parent: str = ""
) -> str:
    """Render a session as the log of DeepSeek Harness; with `parent`, as that of a subagent of it."""
    dsh = DshTape(Tape(session_id, started), session_id, cwd, parent)
    dsh.begin()
    for turn in turns:
        dsh.write(turn)
    dsh.end_turn()
    return dsh.tape.text()


def render_gemini(
    session_id: str, turns: Iterable[Turn], *, cwd: str, started: datetime, parent: str = ""
) -> str:
    """Render a session as Gemini CLI's JSON Lines; with `parent`, as the file of a subagent of it."""
    gemini = GeminiTape(Tape(session_id, started), session_id, cwd, parent)
    gemini.begin()
    for turn in turns:
        gemini.write(turn)
    return gemini.tape.text()


def render_qwen(
    session_id: str,
    turns: Iterable[Turn],
    *,
    cwd: str,
    started: datetime,
    branch: str = "main",
    agent: str = "",
) -> str:
    """Render a session as Qwen Code's JSON Lines; with `agent`, as the file of that subagent of it."""
    qwen = QwenTape(Tape(f"{session_id}{agent}", started), session_id, cwd, branch, agent)
    for turn in turns:
        qwen.write(turn)
    return qwen.tape.text()
