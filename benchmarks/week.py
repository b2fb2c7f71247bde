"""What a week of work asks of a model, and what the gates save.

    python -m benchmarks.week [SESSIONS]      prints a Markdown table (default 200)

The sessions are generated, of five projects: pings and small talk, thin ones, middling and long ones, and
some that go on for days. After every exchange, and once more at a session's end, the transcript is captured,
as the hooks have it done; the tick runs every half hour. The model is a script in this process that takes
over what people said. Calls and tokens are Lamina's own count, estimated from the texts.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from lamina.hosts.render import Said, Tool, Turn, render_claude, render_codex, session_uuid
from lamina.memory import Memory
from lamina.models.base import TIMEOUT_S, Prompt, Reply

MONDAY = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
PROJECTS = ("shop", "harbor", "atlas", "mailer", "docs")
MIX = (("ping", 3), ("trivial", 3), ("thin", 4), ("medium", 6), ("long", 3), ("days", 1))
"""Kinds of sessions, and how many of 20 are of each."""
LENGTHS = {
    "ping": (1, 1), "trivial": (1, 2), "thin": (1, 2), "medium": (3, 8), "long": (12, 30), "days": (15, 40),
}  # fmt: skip
"""Exchanges that a session of each kind has."""
SHOWN = ("summarise", "consolidate")
TICK = timedelta(minutes=30)

_SMALL = ("ok, thanks", "ping", "run the tests please", "continue", "yes, go on", "looks good")
_PARTS = ("parser", "queue", "billing page", "login", "search index", "importer", "cache", "mail worker")
_THINGS = ("Redis", "SQLite", "Postgres", "a ring buffer", "plain files", "a worker pool", "UTC days")
_REASONS = (
    "it needs no server",
    "one file is easy to back up",
    "the old one loses events",
    "tests run faster",
)
_TALK = (
    "Look at the {part} and tell me why step {mark} takes so long on a cold start, then list its slow calls.",
    "Let's use {thing} for the {part} in step {mark}, because {reason}. Never go back to what there was.",
    "No, step {mark} of the {part} must listen on port {port}, not on the default one, since that is taken.",
    "I prefer short functions in the {part}; step {mark} has one of {port} lines that nobody can read now.",
)
_KEPT = re.compile(r"\b(?:because|never|must|prefer)\b", re.IGNORECASE)


class Stop(NamedTuple):
    """A moment at which a host says that something ended, and the transcript as it is then."""

    at: datetime
    session: str
    path: str
    text: str
    final: bool


@dataclass
class Scripted:
    """A model that takes over what the person said, and remembers what it was shown."""

    route: str = "script/week"
    asked: list[tuple[str, Prompt]] = field(default_factory=list)

    def ask(self, prompt: Prompt, *, within_s: float = TIMEOUT_S) -> Reply:
        """Answer a summary or a consolidation; the limit of time is kept without trying."""
        del within_s
        purpose = "consolidate" if "\nNOTES\n" in prompt.text else "summarise"
        self.asked.append((purpose, prompt))
        lines = filed(prompt.text) if purpose == "consolidate" else summed(prompt.text)
        return Reply("\n".join(lines))


def summed(text: str) -> list[str]:
    """Make bullets of what the person decided, wants or forbids: twelve at most."""
    said = [line.removeprefix("PERSON: ") for line in text.splitlines() if line.startswith("PERSON: ")]
    bullets = [f"- **decision:** {each}" for each in said if _KEPT.search(each)]
    return bullets[:12] or ["NO_DURABLE_CONTENT"]


def filed(text: str) -> list[str]:
    """Make a fact of every bullet of every note, then call the note done."""
    lines: list[str] = []
    for note in text.partition("\nNOTES\n")[2].split("\n## "):
        head, _, bullets = note.removeprefix("## ").partition("\n")
        name, _, scope = head.partition(" · ")
        for bullet in re.findall(r"(?m)^- (?:\*\*[^*]+\*\* )?(?:\d{4}-\d\d-\d\d: )?(.+) \[\w+\]$", bullets):
            topic = next((part for part in _PARTS if part in bullet), "project")
            lines.append(f"- [{name} | {scope} | decisions | 3 | stable] {topic} :: {bullet}")
        lines.append(f"DONE {name}")
    return lines


def exchange(kind: str, mark: str, rng: random.Random) -> list[Turn]:
    """Return what is said and done between two stops; `mark` stands in nothing else."""
    part, thing, reason = rng.choice(_PARTS), rng.choice(_THINGS), rng.choice(_REASONS)
    if kind in ("ping", "trivial"):
        return [Said("user", rng.choice(_SMALL)), Said("assistant", "Done.")]
    words = {"part": part, "thing": thing, "reason": reason, "mark": mark, "port": rng.randrange(3000, 9000)}
    asked = rng.choice(_TALK).format(**words)
    if kind == "thin":
        return [Said("user", asked), Said("assistant", f"Step {mark} is done.")]
    output = "\n".join(f"{part}.py:{n}: value {rng.random():.6f}" for n in range(rng.randrange(5, 60)))
    told = f"The {part} now uses {thing}: {reason}. All tests of step {mark} pass, and the log is quiet. "
    return [
        Said("user", asked),
        Tool("Bash", {"command": f"make {part.split()[0]}"}, output),
        Said("assistant", told * rng.randrange(1, 4)),
    ]


def stops(number: int, count: int) -> Iterator[Stop]:
    """Yield the stops of one of `count` sessions: one after every exchange, and its end."""
    rng = random.Random(number)
    kinds = [kind for kind, share in MIX for _ in range(share)]
    kind = kinds[number * 7 % len(kinds)]  # 7 and 20 share no factor: all kinds are spread over the week
    name, project = session_uuid(f"week-{number}"), PROJECTS[number % len(PROJECTS)]
    render = render_codex if number % 4 == 0 else render_claude
    at = MONDAY + timedelta(days=number * 5 // count, minutes=rng.randrange(540))
    started, said = at, list[Turn]()
    for step in range(rng.randint(*LENGTHS[kind])):
        said += exchange(kind, f"s{number}x{step}", rng)
        text = render(name, said, cwd=f"/home/dev/{project}", started=started)
        at += timedelta(minutes=rng.randrange(2, 12) if kind != "days" else rng.randrange(20, 200))
        yield Stop(at, name, f"{project}/{name}.jsonl", text, final=False)
    yield Stop(at + timedelta(minutes=1), name, f"{project}/{name}.jsonl", text, final=True)


@dataclass
class Week:
    """What came of a week: `passes` counts captures by what became of them, `status` is the memory's own."""

    sessions: int
    passes: Counter[str]
    model: Scripted
    status: dict[str, Any]

    @property
    def stops(self) -> int:
        """How often a host said that something ended."""
        return sum(self.passes.values())

    def largest(self, purpose: str) -> int:
        """Return the bytes of the largest prompt."""
        return max((prompt.size for name, prompt in self.model.asked if name == purpose), default=0)

    def twice(self) -> list[str]:
        """Name the exchanges that stood in two summaries' prompts."""
        prompts = [prompt.text for name, prompt in self.model.asked if name == "summarise"]
        marks = Counter(mark for text in prompts for mark in set(re.findall(r"\bs\d+x\d+\b", text)))
        return [mark for mark, count in marks.items() if count > 1]


def live(folder: Path, count: int, **settings: str) -> Week:
    """Live through a week of so many sessions, in a store below `folder`; `settings` are variables."""
    clock = _Clock(MONDAY)
    model = Scripted()
    home = folder / "home"
    home.mkdir(parents=True)
    env = {"HOME": str(home), **settings}
    memory = Memory.open(folder / "store", cwd=home, env=env, clock=clock, model=model)
    passes: Counter[str] = Counter()
    ticked = MONDAY
    for stop in sorted(_all(count), key=lambda each: (each.at, each.session)):
        clock.now = stop.at
        path = folder / "transcripts" / stop.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stop.text, encoding="utf-8", newline="")
        before = len(model.asked)
        done = memory.capture(path, final=stop.final)
        passes["asked" if len(model.asked) > before else done["status"]] += 1
        if stop.at - ticked >= TICK:
            ticked = stop.at
            memory.tick()
    memory.consolidate()
    return Week(count, passes, model, memory.status())


def _all(count: int) -> Iterator[Stop]:
    for number in range(count):
        yield from stops(number, count)


@dataclass
class _Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


def table(week: Week, limits: dict[str, int]) -> list[str]:
    """Return the table's lines."""
    passes, used = week.passes, week.status["models"]
    share: Callable[[int], str] = lambda n: f"{100 * n / week.stops:.1f} %"  # noqa: E731
    rows = [("stops of a host: calls without gates", week.stops, "100 %")]
    rows += [
        (f"saved: {told}", passes[status], share(passes[status]))
        for status, told in (
            ("thin", "too little yet, joined with what follows"),
            ("captured", "still thin at the end, kept without a model"),
            ("trivial", "small talk"),
            ("known", "nothing new"),
        )
    ]
    rows.append(("summaries asked for", passes["asked"], share(passes["asked"])))
    out = [f"| {week.sessions} sessions | number | share |", "| --- | ---: | ---: |"]
    out += [f"| {name} | {number:,} | {part} |" for name, number, part in rows]
    out += ["", "| purpose | calls | tokens in | tokens out | largest prompt | limit |"]
    out.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    for purpose, use in used["by_purpose"].items():
        sizes = f"{week.largest(purpose):,} | {limits[purpose]:,}"
        out.append(f"| {purpose} | {use['calls']} | {use['tokens_in']:,} | {use['tokens_out']:,} | {sizes} |")
    calls = used["calls"]
    out += ["", f"{calls} calls in all, {share(week.stops - calls)} fewer than one for every stop."]
    out.append(f"Exchanges that were summarised twice: {len(week.twice())}.")
    return out


LIMITS = {"summarise": 24_000, "consolidate": 48_000}
"""Bytes that a prompt may have (SPEC section 12)."""


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        week = live(Path(scratch), int(arguments[0]) if arguments else 200)
    print("\n".join(table(week, LIMITS)))


if __name__ == "__main__":
    main(sys.argv[1:])
