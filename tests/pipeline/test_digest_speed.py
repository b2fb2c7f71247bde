"""A digest stays quick where a project has years of records: the bound is generous, benchmarks print figures."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

from lamina.formats.daily import Session, appended, render_session, render_title
from lamina.formats.digestreader import parse_digest
from lamina.pipeline.digest.drafts import labelled
from lamina.pipeline.digest.run import run
from lamina.pipeline.semantic import Outcome
from lamina.store.memoryfolder import resolve

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
SESSIONS, FILES = 5_000, 500
NAMES = ("queue", "port", "mirror", "importer", "index", "card", "hook", "parser", "lock", "ledger")
BOUND_S = 5.0


class Core:
    """A core that takes everything at once."""

    name, broken = "builtin", ""

    def ingest(self, facts):
        return [Outcome(fact.hash, ok=True, status="candidate") for fact in facts]

    def refine(self, operations):
        return [Outcome(each.hash, ok=True) for each in operations]

    def rebuild(self, records):
        raise AssertionError(records)


def session(number, moment):
    name, other = NAMES[number % 10], NAMES[number // 10 % 10]
    return render_session(
        Session(
            f"{moment:%Y-%m-%dT%H:%M:%SZ}",
            f"{moment:%H:%M}",
            f"the {name}",
            f"The {name} was looked at because the {other} was slow.",
            done=((f"The {name} {number} takes {number % 97} ms less than the {other}.", "`session`"),),
            decisions=(
                (f"Keep the {name} {number} apart from the {other}, because both grow.", "`session`"),
            ),
            commits=(f"abc{number:04} the {name}",),
            open=((f"Measure the {other} {number} once more.", "`session`"),),
        )
    )


def written(folder, first, count, files):
    """Write `count` sessions into daily files, ten a file where there are as many."""
    start = date(2025, 1, 1) + timedelta(days=first)
    for number in range(files):
        day = start + timedelta(days=number)
        text = ""
        for each in range(number, count, files):
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(minutes=each // files)
            text = appended(text, render_title("harbor", day), session(first * 1_000 + each, moment))
        (folder.path / f"{day}-work-memory.md").write_text(text)


def timed(folder):
    begun = time.perf_counter()
    told = run(folder, lambda view: labelled(view.new), lambda: (Core(), ""), now=NOW)
    return told, time.perf_counter() - begun


def test_five_thousand_sessions_are_digested_in_seconds_and_again_with_a_big_digest(tmp_path):
    folder = resolve(tmp_path)
    folder.path.mkdir()
    written(folder, 0, SESSIONS, FILES)
    told, first_s = timed(folder)
    assert len(told.section.sources) == SESSIONS
    assert len(told.section.items) == 3 * SESSIONS
    assert folder.digest.stat().st_size > 2_000_000
    written(folder, FILES, 10, 1)
    told, second_s = timed(folder)
    assert len(told.section.sources) == 10
    told, third_s = timed(folder)
    assert told.section is None
    print(f"\nfirst {first_s:.2f} s, ten more {second_s:.2f} s, nothing new {third_s:.2f} s")
    assert max(first_s, second_s, third_s) < 2 * BOUND_S


def test_a_digest_of_many_sections_is_as_quick(tmp_path):
    folder = resolve(tmp_path)
    folder.path.mkdir()
    written(folder, 0, 1_000, 100)
    timed(folder)
    head, _, section = folder.digest.read_text().partition("\n<!-- digest:section")
    sections = [
        f"\n<!-- digest:section id=2026-01-01T00:00:00Z-{n} -->\n## Digest 2026-01-01 00:00\n\n"
        f"_Sources: `memory/2024-01-01-x-memory.md#session-{n}`_\n\nNothing durable was found in these sources.\n"
        for n in range(2, 5_000)
    ]
    folder.digest.write_text(head + "".join(sections) + "\n<!-- digest:section" + section)
    assert len(parse_digest(folder.digest.read_text()).sections) == 4_999
    written(folder, 100, 10, 1)
    told, took_s = timed(folder)
    assert len(told.section.sources) == 10
    print(f"\nmany sections {took_s:.2f} s")
    assert took_s < 2 * BOUND_S
