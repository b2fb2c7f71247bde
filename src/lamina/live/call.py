"""One event of a session, as its payload tells it: who and where, what was said, how the host is answered.

Standard library only, and little of it: a copy of this module runs as `python -I -S`.
"""

from __future__ import annotations

import os
import time

from .cardfile import Card, card_key, key_of, read_card
from .disk import append, read_from, read_text, replace, start, take
from .payload import folder_of, harmless, is_on, number, path_of, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

MAX_SESSION = 200
WAIT_S = 4.5
"""Seconds that the full program may take to make a card."""
POLL_S = 0.05
PATIENCE_S = 600
"""Seconds for which a session does without a card that could not be made in time."""
SERVER = "lamina"
FILES = ("file_path", "path", "filePath", "notebook_path", "absolute_path")
COMMANDS = ("command", "cmd")

REFUSED = (
    "{tool} refused: memory belongs to the main agent. A subagent reads it freely and reports to its caller."
)


class Place:
    """What every call shares: the store's state, how the hosts speak, how Lamina is started."""

    def __init__(self, state: str, dialects: Mapping[str, Mapping[str, Any]], program: Sequence[str]) -> None:
        self.state = state
        self.dialects = dialects
        self.program = program

    def complain(self, host: str, event: str, problem: BaseException) -> None:
        """Note in the log that a call failed: the kind of the failure, never what the payload said."""
        at, step = 0, problem.__traceback__
        while step is not None:
            at, step = step.tb_lineno, step.tb_next
        words = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": "hook_failed"}
        words |= {"host": host[:40], "hook": event[:40], "problem": type(problem).__name__, "line": str(at)}
        line = "{" + ", ".join(f'"{name}": {quoted(value)}' for name, value in words.items()) + "}\n"
        try:
            append(f"{self.state.removesuffix('/state')}/logs/memory.log", line.encode("utf-8", "replace"))
        except OSError:
            return


class Call:
    """One event of a session, as far as the payload tells."""

    def __init__(
        self, place: Place, host: str, event: str, said: Mapping[str, Any], env: Mapping[str, str]
    ) -> None:
        self.place, self.host, self.event, self.said, self.env = place, host, event, said, env
        self.dialect = place.dialects[host]
        session = self.text("session")
        self.session = session if session.isprintable() and len(session) <= MAX_SESSION else ""
        self.cwd = path_of(self.text("cwd")) or folder_of(said)
        self.transcript = path_of(self.text("transcript"))
        self.record = f"{place.state}/hooked/{host}-{key_of(session)}" if session else ""

    def text(self, name: str) -> str:
        """Return the first text under the keys that the dialect names."""
        for key in self.dialect[name]:
            value = self.said.get(key)
            if isinstance(value, str) and value:
                return value
        return ""

    @property
    def in_subagent(self) -> bool:
        """Whether the payload tells that a subagent is at work."""
        return bool(self.text("subagent")) or any(
            number(self.said.get(key)) > 0 for key in self.dialect["depth"]
        )

    @property
    def writes(self) -> str:
        """The tool of Lamina's own server that this call writes with, "" for any other call."""
        before, _, name = self.text("tool").rpartition("memory_")
        tool = f"memory_{name}"
        if tool not in self.dialect["writing"] or SERVER not in before or before[-1:].isalnum():
            return ""
        shows = tool in self.dialect["showing"] and not set(self.given) - {"workspace"}
        return "" if shows else tool

    @property
    def given(self) -> Mapping[str, Any]:
        """The arguments of a tool call."""
        found = [said for key in self.dialect["arguments"] if isinstance(said := self.said.get(key), dict)]
        return found[0] if found else {}

    @property
    def subject(self) -> str:
        """The file or the command that a tool call is about, with its kind in front; "" for none."""
        for name in (*FILES, *COMMANDS):
            value = self.given.get(name)
            if isinstance(value, list):
                value = " ".join(word for word in value if isinstance(word, str))
            if isinstance(value, str) and value:
                return f"{'command' if name in COMMANDS else 'file'} {value}"
        return ""

    @property
    def is_off(self) -> bool:
        """Whether the person switched capture off for the process that this session runs in."""
        said = self.env.get("LAMINA_CAPTURE", "").strip()
        return is_on(self.env, "LAMINA_OFF") or (said != "" and not is_on(self.env, "LAMINA_CAPTURE"))

    def silence(self) -> None:
        """Note that this session is never to be captured, whoever comes upon its transcript later."""
        if self.session:
            path = f"{self.place.state}/off/{self.host}-{key_of(self.session)}"
            if not os.access(path, os.F_OK):
                replace(path, "")

    @property
    def is_typed(self) -> bool:
        """Whether the prompt is a person's."""
        prompt = self.text("prompt").lstrip()
        return bool(prompt) and not prompt.startswith(tuple(self.dialect["not_typed"]))

    def context(self, text: str) -> str:
        """Return a text as the host takes context, "" where it takes none at this moment."""
        moment = self.dialect["events"][self.event]
        kind = self.dialect["answer"]
        if not text or moment not in self.dialect["takes"] or kind == "none":
            return ""
        if kind == "hookSpecificOutput":
            inner = f'"hookEventName": {quoted(self.event)}, "additionalContext": {quoted(text)}'
            return '{"hookSpecificOutput": {' + inner + "}}\n"
        return "{" + f"{quoted(kind)}: {quoted(text)}" + "}\n"

    def refusal(self, tool: str) -> str:
        """Return the answer that keeps a tool from being called."""
        why = quoted(REFUSED.format(tool=tool))
        flat = f'"permissionDecision": "deny", "permissionDecisionReason": {why}'
        match self.dialect["refusal"]:
            case "hookSpecificOutput":
                return '{"hookSpecificOutput": {"hookEventName": ' + f"{quoted(self.event)}, {flat}" + "}}\n"
            case "permissionDecision":
                return "{" + flat + "}\n"
            case "decision":
                return '{"decision": "deny", "reason": ' + why + "}\n"
        return ""

    # -- what is remembered of a session between its events

    def recall(self) -> dict[str, str]:
        """Read what earlier events of the session left: name → text."""
        lines = read_text(self.record).split("\n") if self.record else []
        return {name: value for line in lines if (pair := line.partition(" ")) for name, _, value in [pair]}

    def keep(self, kept: Mapping[str, str]) -> None:
        """Write it down for the next event."""
        if self.record:
            text = "\n".join(f"{name} {value}" for name, value in kept.items() if name and value)
            self.try_to(lambda: replace(self.record, text))

    def try_to(self, write: Callable[[], None]) -> None:
        """Write what is only kept for later: a full disk is no reason to show no card."""
        try:
            write()
        except OSError as problem:
            self.place.complain(self.host, self.event, problem)

    def was_shortened(self, kept: dict[str, str]) -> bool:
        """Tell whether the transcript says so since the last look, for a host that has no event for it."""
        sign = self.dialect["shortened"]
        if not sign or not self.transcript:
            return False
        before = int(number(kept.get("read", -1)))
        text, kept["read"] = read_from(self.transcript, before)
        return before >= 0 and sign.encode() in text

    def spool(self, kind: str) -> None:
        """Add the event to the spool, unless the session is not to be captured."""
        if self.is_off:
            return
        fields = {
            "time": f"{time.time():.3f}", "host": self.host, "event": kind, "session": harmless(self.session),
            "cwd": harmless(self.cwd), "transcript": harmless(self.transcript),
            "workspace": harmless(self.env.get("LAMINA_WORKSPACE", "")[:MAX_SESSION]),
        }  # fmt: skip
        line = "{" + ", ".join(f'"{name}": {quoted(value)}' for name, value in fields.items()) + "}\n"
        self.try_to(lambda: append(f"{self.place.state}/spool.jsonl", line.encode("utf-8", "replace")))

    # -- the card

    def card(self, *, make: bool) -> Card | None:
        """Return the card as it is now; None if there is none that is still true and none may be made."""
        if harmless(self.cwd) != self.cwd:
            return None  # the folder's name would be written down
        key = card_key(self.cwd, self.env)
        path = f"{self.place.state}/cards/{key_of(key)}"
        found = read_card(path, key)
        if found is not None or not make:
            return found
        end = time.monotonic() + WAIT_S
        lock = f"{self.place.state}/locks/card-{key_of(key)}.lock"
        maker = take(lock)
        if maker is not None:
            start((*self.place.program, "card", self.cwd), self.env, wait_s=WAIT_S, keep=maker)
            os.close(maker)
            return read_card(path, key)
        while found is None and time.monotonic() < end:  # another session has it made at this moment
            time.sleep(POLL_S)
            found = read_card(path, key)
        return found

    def may_wait(self, kept: Mapping[str, str]) -> bool:
        """Tell whether a card may be made now; where that took too long, not again for a while."""
        return not 0 <= time.time() - number(kept.get("missed", 0)) < PATIENCE_S

    def missed(self) -> dict[str, str]:
        """Return what is kept of a card that could not be made in time."""
        return {"missed": str(int(time.time()))}

    def work(self) -> None:
        """Make sure that one worker runs: the lock is taken here, before it is started, and goes with it."""
        handle = take(f"{self.place.state}/locks/worker.lock")
        if handle is not None:
            start((*self.place.program, "worker", str(handle)), self.env, keep=handle)
            os.close(handle)
