"""The hook command: `hook HOST EVENT` with the payload on standard input, on the standard library alone.

It runs as `python -I -S` from a copy in the store's `state/bin`, beside the dialects of the hosts, so it
imports nothing of Lamina and as little as it can of anything else: a call costs little more than starting
Python. It always ends with exit code 0, prints nothing but what the host is to show its model, and leaves
the work to the worker.
"""

from __future__ import annotations

import os
import time

from .call import WAIT_S, Call, Place
from .cardfile import Card, key_of
from .disk import ask, end_in, read_input, read_text, replace, write_output
from .payload import is_on, number, payload_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

MAX_SUBJECT = 4096
MOST_ASKED = 200
LIMIT_S = 6
"""Seconds after which the hook ends whatever it does: the host waits for it."""
CAPTURE_S, CARD_S = 300, 1800  # the defaults of capture_interval_s and card_interval_s

NOTE = (
    "Memory (Lamina) belongs to the main agent. Read it freely with memory_search; do not write to it: "
    "report what you find to your caller."
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
    place = Place(state, dialects, program)
    try:
        raw = read_input()
        end_in(LIMIT_S)
        text = answer(place, host, event, dict(os.environ), raw)
        write_output(text)
    except BaseException as problem:  # noqa: BLE001 - whatever happens, the host goes on
        place.complain(host, event, problem)


def answer(place: Place, host: str, event: str, env: Mapping[str, str], raw: bytes) -> str:
    """Do what an event asks for; returns what is printed."""
    dialect = place.dialects.get(host)
    moment = dialect["events"].get(event, "none") if dialect else "none"
    if moment == "none" or is_on(env, "LAMINA_CHILD"):
        return ""
    said = payload_of(raw)
    if said is None:
        return ""
    call = Call(place, host, event, said, env)
    if call.is_off:
        call.silence()
    if is_on(env, "LAMINA_OFF"):
        return ""
    act: Callable[[Call], str] = MOMENTS[moment]
    return act(call)


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
        call.keep(call.recall() | {"begun": str(int(time.time()))} | call.missed())  # until it is made
        card = call.card(make=True)
    call.work()
    return _shown(call, card, call.recall())


def on_prompt(call: Call) -> str:
    """Print the card if it was never shown, or was long ago and has changed since; nudges if wanted."""
    if call.in_subagent or not call.is_typed or not call.record:
        return ""
    kept = call.recall()
    named = call.text("prompt_id") and key_of(call.text("prompt_id"))
    if named and kept.get("prompt") == named:
        return ""  # the same prompt told again
    kept["prompt"] = named
    missing = call.was_shortened(kept) or "shown" not in kept
    if not missing and 0 <= time.time() - number(kept["shown"]) < number(kept.get("interval", CARD_S)):
        call.keep(kept)
        return _nudge(call, kept)
    if missing and abs(time.time() - number(kept.get("begun", 0))) <= WAIT_S:
        return _nudge(call, kept)  # Copilot tells the first prompt while the start still makes the card
    make = missing and call.may_wait(kept)
    if make:
        call.keep(kept | call.missed())  # until it is made
    card = call.card(make=make)
    if card is None or (not missing and card.mark == kept.get("card")):
        call.keep(kept | ({"shown": str(int(time.time()))} if card else call.missed()))
        return _nudge(call, kept)
    return _shown(call, card, kept)


def on_tool(call: Call) -> str:
    """Refuse a subagent's write; say what memory knows of a file or a command if that is wanted."""
    if call.writes:
        return call.refusal(call.writes) if call.in_subagent else ""
    return _ask(call, "recall", call.recall()) if "tool" in call.dialect["takes"] else ""


def on_turn(call: Call) -> str:
    """Note that there is something new; a session gives work only so often."""
    if not call.in_subagent:
        call.spool("turn")
        kept = call.recall()
        now = time.time()
        if not 0 <= now - number(kept.get("worked", 0)) < number(kept.get("capture", CAPTURE_S)):
            call.keep(kept | {"worked": str(int(now))})
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
        call.keep(kept | call.missed())
        return ""
    kept |= {"missed": "", "shown": str(int(time.time())), "card": card.mark, "begun": "", **card.settings}
    call.keep(kept)
    return call.context(card.text)


def _nudge(call: Call, kept: dict[str, str]) -> str:
    return _ask(call, "nudges", kept)


def _ask(call: Call, what: str, kept: dict[str, str]) -> str:
    """Let the full program say what it knows about a prompt or a tool call, if the person wants that."""
    if kept.get(what) != "1" or call.in_subagent or not call.record:
        return ""
    subject = call.text("prompt") if what == "nudges" else call.subject
    if not subject or (what == "recall" and _asked(call, subject)):
        return ""
    question = "\n".join((what, call.record, call.cwd, subject[:MAX_SUBJECT]))
    return call.context(ask((*call.place.program, "ask"), call.env, question, wait_s=WAIT_S))


def _asked(call: Call, subject: str) -> bool:
    """Tell whether the session asked about this file or command before; note that it did."""
    path, key = f"{call.record}.asked", key_of(subject)
    before = read_text(path).split("\n")
    if key in before:
        return True
    replace(path, "\n".join([*before, key][-MOST_ASKED:]))
    return False
