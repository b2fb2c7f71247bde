"""Two models made of the fixtures: one that answers as it should, and one that lies in every way it can."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from tests.models.scripted import Request, Say

from lamina.evaluation.consolidation.cases import Chain, Fact, Talk
from lamina.evaluation.consolidation.scene import uuid_named
from lamina.formats.note import note_name
from lamina.hosts.tape import Said

_NOTE = re.compile(r"(?m)^## (\S+) · (\S+)$")
_SHOWN = re.compile(r"(?m)^\[(\S+)\] \(([^,]+), (\w+), topic (.*?), \S+, \w+\) (.*)$")
Shown = tuple[str, str, str, str]  # id, scope, layer, text


def honest(chains: Sequence[Chain]) -> Callable[[Request], Say]:
    """Answer with the facts that the fixtures say, each filed where it belongs."""

    def answer(request: Request) -> Say:
        if "EXISTING ENTRIES" not in request.text:
            return Say("\n".join(_bullets(chains, request.text)) or "NO_DURABLE_CONTENT")
        shown = shown_in(request.text)
        lines = [
            line
            for note, chain, talk in notes_in(chains, request.text)
            for line in (*_lines(note, chain, talk, shown), f"DONE {note}")
        ]
        return Say("\n".join(lines))

    return answer


def liar(chains: Sequence[Chain]) -> Callable[[Request], Say]:
    """Answer with everything that must not be kept."""

    def answer(request: Request) -> Say:
        if "EXISTING ENTRIES" not in request.text:
            return Say("\n".join(_lying_bullets(chains, request.text)))
        shown = shown_in(request.text)
        lines = [
            line
            for note, chain, talk in notes_in(chains, request.text)
            for line in (*_lies(note, chain, talk, chains, shown), f"DONE {note}")
        ]
        return Say("\n".join(lines))

    return answer


def facts_of(chain: Chain, talk: Talk) -> list[Fact]:
    return [fact for fact in chain.facts if talk.name in fact.sessions]


def notes_in(chains: Sequence[Chain], text: str) -> Iterator[tuple[str, Chain, Talk]]:
    """Yield the notes that a prompt shows, each with its session."""
    by_name = {
        note_name(talk.host, uuid_named(chain, talk.name)): (chain, talk)
        for chain in chains
        for talk in chain.talks
    }
    for match in _NOTE.finditer(text):
        yield match[1], *by_name[match[1]]


def shown_in(text: str) -> list[Shown]:
    return [(match[1], match[2], match[3], match[5]) for match in _SHOWN.finditer(text)]


def _session(chains: Iterable[Chain], text: str) -> tuple[Chain, Talk]:
    """Find the session whose first words of the person a prompt shows."""
    for chain in chains:
        for talk in chain.talks:
            first = next(turn.text for turn in talk.turns if isinstance(turn, Said))
            if f"PERSON: {first[:40]}" in text:
                return chain, talk
    raise AssertionError(f"no session of the fixtures: {text[:200]}")


def _bullets(chains: Sequence[Chain], text: str) -> Iterator[str]:
    for fact in facts_of(*_session(chains, text)):
        yield f"- **{fact.label}:** {fact.say}"


def _lines(note: str, chain: Chain, talk: Talk, shown: Sequence[Shown]) -> Iterator[str]:
    own = f"workspace:{chain.project}"
    for fact in facts_of(chain, talk):
        if any(fact.anchors.hold(text) for _, _, _, text in shown):
            continue
        old = _ended_by(fact, chain, talk, [each for each in shown if each[1] == own])
        if old:
            yield f"UPDATE [{note}] {old} :: {fact.say}"
        else:
            scope = "global" if fact.scopes[0] == "global" else own
            yield f"- [{note} | {scope} | {fact.layers[0]} | 4 | stable] {fact.topic} :: {fact.say}"


def _ended_by(fact: Fact, chain: Chain, talk: Talk, shown: Sequence[Shown]) -> str:
    """Give the id of the shown entry that a fact puts an end to."""
    ended = [each for each in chain.facts if each.until == talk.name and each.topic == fact.topic]
    return next((id_ for id_, _, _, text in shown for each in ended if each.anchors.hold(text)), "")


# --- lies -------------------------------------------------------------------------------------------

_TURNS = (
    (" must ", " must not "), ("Always ", "Never "), ("never by hand", "always by hand"),
    ("not to local storage", "to local storage"), (" muss ", " muss nicht "), ("niemals ", "immer "),
    ("必须", "不必"), ("不用 Java", "用 Java"), ("しなければならない", "しなくてよい"), ("使わない", "使う"), ("쓰지 않는다", "쓴다"),
    ("not in React", "also in React"), ("immer auf", "nie auf"), ("항상", "절대"),
)  # fmt: skip
_HARDENED = {
    "harbor": "Redis is the session cache.",
    "lantern": "The disk of the build agent is full because of old images.",
    "muehle": "Wir steigen auf Kubernetes um.",
    "chaguan": "用 Kafka 做队列。",
    "onsen": "通知はLINEに変える。",
    "hanok": "나중에 GraphQL로 바꾼다.",
    "drohne": "A Kalman filter helps.",
}


def flipped(text: str) -> str:
    for was, lie in _TURNS:
        text = text.replace(was, lie)
    return text


def falsified(text: str) -> str:
    """Change each number of a text, and add a path, a hash and a version."""
    changed = re.sub(r"\d+", lambda match: str(int(match[0]) + 1317), text)
    return f"{changed} See `src/made/up_{len(text)}.py`, commit 9c1f0e7ab3, version 7.13.2."


def _said_by_lies(chain: Chain, talk: Talk) -> Iterator[str]:
    for fact in facts_of(chain, talk):
        yield falsified(fact.say)
        if flipped(fact.say) != fact.say:
            yield flipped(fact.say)
    yield _HARDENED.get(chain.project, "Everything was rewritten in Haskell.")
    yield "Use Haskell, because the deploy tool must be rewritten; the region is us-moon-1."


def _lying_bullets(chains: Sequence[Chain], text: str) -> Iterator[str]:
    chain, talk = _session(chains, text)
    for said in _said_by_lies(chain, talk):
        yield f"- **decision:** {said}"
    yield from _bullets(chains, text)


def _lies(
    note: str, chain: Chain, talk: Talk, chains: Sequence[Chain], shown: Sequence[Shown]
) -> Iterator[str]:
    own = f"workspace:{chain.project}"
    other = next(each.project for each in chains if each.project != chain.project)
    for said in _said_by_lies(chain, talk):
        yield f"- [{note} | {own} | decisions | 5 | stable] Lies :: {said}"
        yield f"- [{note} | global | decisions | 5 | stable] Lies :: {said}"
    for fact in facts_of(chain, talk):
        yield f"- [{note} | workspace:{other} | {fact.layers[0]} | 5 | stable] {fact.topic} :: {fact.say}"
        yield f"- [{note} | workspace:nowhere | {fact.layers[0]} | 5 | stable] {fact.topic} :: {fact.say}"
        yield f"UPDATE [{note}] {chain.project}-sem-4711 :: {fact.say}"
    for id_, _, _, text in shown:
        yield f"UPDATE [{note}] {id_} :: {falsified(text)}"
        if flipped(text) != text:
            yield f"UPDATE [{note}] {id_} :: {flipped(text)}"
        yield f"SUPERSEDE [{note}] {id_} :: It no longer holds."
    yield f"SUPERSEDE [{note}] {chain.project}-dec-0815 :: It no longer holds."
