"""The hook command: `hook HOST EVENT` with the payload on standard input, on the standard library alone.

It runs as `python -I -S` from a copy in the store's `state/bin`, beside the dialects of the hosts, so it
imports nothing of Lamina and as little as it can of anything else: a call costs little more than starting
Python. It always ends with exit code 0, prints nothing but what the host is to show its model, and leaves
the work to the worker.
"""

from __future__ import annotations

import os
import time

from .cardfile import Card, card_key, key_of, read_card
from .disk import append, ask, read_from, read_input, read_text, replace, start, take, write_output
from .payload import folder_of, harmless, is_on, number, path_of, payload_of, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

MAX_SESSION = 200
MAX_SUBJECT = 4096
LIMIT_S = 8
"""Seconds after which the hook ends whatever it does: the host waits for it."""
WAIT_S = 5.0
"""Seconds that the full program may take to make a card."""
CAPTURE_S, CARD_S = 300, 1800  # the defaults of capture_interval_s and card_interval_s

NOTE = (
    "Memory (Lamina) belongs to the main agent. Read it freely with memory_search; do not write to it: "
    "report what you find to your caller."
)
REFUSED = (
    "{tool} refused: memory belongs to the main agent. A subagent reads it freely and reports to its caller."
)
WRITING = frozenset(
    f"memory_{name}"
    for name in (
        *("remember", "forget", "codebase", "decision", "state", "working"),
        *("associate", "sync", "consolidate", "refresh", "history"),
    )
)


def main(
    arguments: Sequence[str],
    *,
    state: str,
    dialects: Mapping[str, Mapping[str, Any]],
    program: Sequence[str],
) -> None:
    """Answer one event of a host. `state` is the store's folder of that name, `program` starts Lamina."""
    host, event = (*arguments, "", "")[:2]
    try:
        _limit()
        text = Hook(state, dialects, program).answer(host, event, dict(os.environ), read_input())
        write_output(text)
    except BaseException as problem:  # noqa: BLE001 - whatever happens, the host goes on
        complain(state, host, event, problem)


class Hook:
    """What one call knows: where the store's state is, how the hosts speak, how Lamina is started."""

    def __init__(self, state: str, dialects: Mapping[str, Mapping[str, Any]], program: Sequence[str]) -> None:
        self.state = state
        self.dialects = dialects
        self.program = program

    def answer(self, host: str, event: str, env: Mapping[str, str], raw: bytes) -> str:
        """Do what an event asks for; returns what is printed."""
        dialect = self.dialects.get(host)
        moment = dialect["events"].get(event, "none") if dialect else "none"
        if dialect is None or moment == "none" or is_on(env, "LAMINA_CHILD") or is_on(env, "LAMINA_OFF"):
            return ""
        said = payload_of(raw)
        if said is None:
            return ""
        call = Call(self, host, event, dialect, said, env)
        act: Callable[[Call], str] = MOMENTS[moment]
        return act(call)


class Call:
    """One event of a session, as far as the payload tells."""

    def __init__(
        self,
        hook: Hook,
        host: str,
        event: str,
        dialect: Mapping[str, Any],
        said: Mapping[str, Any],
        env: Mapping[str, str],
    ) -> None:
        self.hook, self.host, self.event, self.dialect, self.said, self.env = (
            hook, host, event, dialect, said, env,
        )  # fmt: skip
        session = self.text("session")
        self.session = session if session.isprintable() and len(session) <= MAX_SESSION else ""
        self.cwd = path_of(self.text("cwd")) or folder_of(said)
        self.transcript = path_of(self.text("transcript"))
        self.record = f"{hook.state}/hooked/{host}-{key_of(session)}" if session else ""

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
            replace(self.record, text)

    def was_shortened(self, kept: dict[str, str]) -> bool:
        """Tell whether the transcript says so since the last look, for a host that has no event for it."""
        sign = self.dialect["shortened"]
        if not sign or not self.transcript:
            return False
        before = int(number(kept.get("read", -1)))
        text, kept["read"] = read_from(self.transcript, before)
        return before >= 0 and sign.encode() in text

    def spool(self, kind: str) -> None:
        """Add the event to the spool."""
        fields = {
            "time": f"{time.time():.3f}", "host": self.host, "event": kind, "session": harmless(self.session),
            "cwd": harmless(self.cwd), "transcript": harmless(self.transcript),
        }  # fmt: skip
        line = "{" + ", ".join(f'"{name}": {quoted(value)}' for name, value in fields.items()) + "}\n"
        append(f"{self.hook.state}/spool.jsonl", line.encode("utf-8", "replace"))

    # -- the card

    def card(self, *, make: bool) -> Card | None:
        """Return the card as it is now; None if there is none that is still true and none may be made."""
        key = card_key(self.cwd, self.env)
        path = f"{self.hook.state}/cards/{key_of(key)}"
        found = read_card(path, key)
        if found is None and make and self.run("card", self.cwd, wait_s=WAIT_S):
            found = read_card(path, key)
        return found

    def run(self, *words: str, wait_s: float = 0.0) -> bool:
        """Start the full program beside this process; returns whether it ended well within the time."""
        return start((*self.hook.program, *words), self.env, wait_s=wait_s)

    def work(self) -> None:
        """Make sure that one worker runs: the lock is taken here, before it is started, and goes with it."""
        handle = take(f"{self.hook.state}/locks/worker.lock")
        if handle is not None:
            start((*self.hook.program, "worker", str(handle)), self.env, keep=handle)
            os.close(handle)


# -- what each moment does


def on_start(call: Call) -> str:
    """Print the card: a session begins, or goes on after a compaction."""
    if call.in_subagent:
        return call.context(NOTE)
    call.spool("start")
    if "start" not in call.dialect["takes"]:  # the card comes with the next prompt
        call.keep({name: value for name, value in call.recall().items() if name != "shown"})
        call.work()
        return ""
    card = call.card(make=False)
    if card is None:
        call.keep(call.recall() | {"begun": f"{time.time():.0f}"})
        card = call.card(make=True)
    call.work()
    return _shown(call, card, call.recall())


def on_prompt(call: Call) -> str:
    """Print the card if it was never shown, or was long ago and has changed since; nudges if wanted."""
    if call.in_subagent or not call.is_typed:
        return ""
    kept = call.recall()
    named = call.text("prompt_id") and key_of(call.text("prompt_id"))
    if named and kept.get("prompt") == named:
        return ""  # the same prompt told again
    kept["prompt"] = named
    missing = call.was_shortened(kept) or "shown" not in kept
    if not missing and time.time() - number(kept["shown"]) < number(kept.get("interval", CARD_S)):
        call.keep(kept)
        return _nudge(call, kept)
    if missing and abs(time.time() - number(kept.get("begun", 0))) <= WAIT_S:
        return _nudge(call, kept)  # Copilot tells the first prompt while the start still makes the card
    card = call.card(make=missing)
    if card is None or (not missing and card.mark == kept.get("card")):
        call.keep(kept | ({"shown": f"{time.time():.0f}"} if card else {}))
        return _nudge(call, kept)
    return _shown(call, card, kept)


def on_tool(call: Call) -> str:
    """Refuse a subagent's write; say what memory knows of a file or a command if that is wanted."""
    tool = call.text("tool")
    name = tool[tool.rfind("memory_") :] if "memory_" in tool else ""
    if name in WRITING:
        return call.refusal(name) if call.in_subagent else ""
    return _ask(call, "recall", call.recall())


def on_turn(call: Call) -> str:
    """Note that there is something new; a session gives work only so often."""
    if not call.in_subagent:
        call.spool("turn")
        kept = call.recall()
        now = time.time()
        if now - number(kept.get("worked", 0)) >= number(kept.get("capture", CAPTURE_S)):
            call.keep(kept | {"worked": f"{now:.0f}"})
            call.work()
    return ""


def on_end(call: Call) -> str:
    """Note that the session ended."""
    if not call.in_subagent:
        call.spool("end")
        call.work()
    return ""


def on_compact(call: Call) -> str:
    """Note that the conversation is about to be shortened; the card has to come again after it."""
    if not call.in_subagent:
        call.spool("compact")
        if not call.dialect["restarts"]:
            call.keep({name: value for name, value in call.recall().items() if name != "shown"})
        call.work()
    return ""


def on_subagent(call: Call) -> str:
    """Print one note for a subagent; one without a type is the host's own (a compaction)."""
    unnamed = "agent_type" in call.said and not call.said["agent_type"]
    return "" if unnamed else call.context(NOTE)


MOMENTS: Mapping[str, Callable[[Call], str]] = {
    "start": on_start,
    "prompt": on_prompt,
    "tool": on_tool,
    "turn": on_turn,
    "end": on_end,
    "compact": on_compact,
    "subagent": on_subagent,
}


def _shown(call: Call, card: Card | None, kept: dict[str, str]) -> str:
    """Give the card out and remember that it was."""
    if card is None:
        return ""
    kept |= {"shown": f"{time.time():.0f}", "card": card.mark, "begun": "", **card.settings}
    call.keep(kept)
    return call.context(card.text)


def _nudge(call: Call, kept: dict[str, str]) -> str:
    return _ask(call, "nudges", kept)


def _ask(call: Call, what: str, kept: dict[str, str]) -> str:
    """Let the full program say what it knows about a prompt or a tool call, if the person wants that."""
    if kept.get(what) != "1" or call.in_subagent or not call.record:
        return ""
    subject = call.text("prompt") if what == "nudges" else _subject(call)
    if not subject:
        return ""
    question = "\n".join((what, call.record, call.cwd, subject[:MAX_SUBJECT]))
    return call.context(ask((*call.hook.program, "ask"), call.env, question, wait_s=WAIT_S))


def _subject(call: Call) -> str:
    """Return the file or the command that a tool call is about."""
    found = [call.said[key] for key in call.dialect["arguments"] if isinstance(call.said.get(key), dict)]
    arguments = found[0] if found else {}
    for name in ("file_path", "path", "filePath", "notebook_path", "absolute_path", "command", "cmd"):
        value = arguments.get(name)
        if isinstance(value, list):
            value = " ".join(word for word in value if isinstance(word, str))
        if isinstance(value, str) and value:
            return f"{'command' if name in ('command', 'cmd') else 'file'} {value}"
    return ""


def _limit() -> None:
    """End the process in time, whatever it waits for: a host may never close our input."""
    import _signal  # type: ignore[import-not-found]  # `signal` itself imports `enum`, which costs a third

    def end(*_: object) -> None:
        os._exit(0)

    if hasattr(_signal, "SIGALRM"):
        _signal.signal(_signal.SIGALRM, end)
        _signal.alarm(LIMIT_S)


def complain(state: str, host: str, event: str, problem: BaseException) -> None:
    """Note in the log that a call failed: the kind of the failure, never what the payload said."""
    place, step = 0, problem.__traceback__
    while step is not None:
        place, step = step.tb_lineno, step.tb_next
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    words = {"time": when, "event": "hook_failed", "host": host[:40], "hook": event[:40]}
    words |= {"problem": type(problem).__name__, "line": str(place)}
    line = "{" + ", ".join(f'"{name}": {quoted(value)}' for name, value in words.items()) + "}\n"
    try:
        append(f"{state}/../logs/memory.log", line.encode("utf-8", "replace"))
    except OSError:
        return
