"""Refining stays quick where a digest has grown for years: the bound is generous, benchmarks print figures."""

from __future__ import annotations

import random
import time

from tests.pipeline.scripted import Script

from lamina.formats.digestreader import parse_digest
from lamina.pipeline.builtin import Builtin
from lamina.pipeline.refine.account import sound
from lamina.pipeline.refine.asked import asked
from lamina.pipeline.refine.plan import as_json, proposed
from pipeline.refined import NOW, Desk, digest_of, item

BOUND_S = 15.0
KINDS = ("decision", "state", "learning", "open")
WORDS = "port server queue index worker cache replica socket buffer token build release mirror config script".split(
    " "
)


def text_of(number: int, some: random.Random) -> str:
    one, two, three = some.sample(WORDS, 3)
    return (
        f"Use {one} {number} for the {two} of the {three}, because the {one} {number * 7} failed twice in the run "
        f"before the release and nobody had seen that the {two} of the {three} was missing there for so long."
    )


def large(count: int, *, twice: int = 0) -> str:
    some = random.Random(1)
    items = [item(f"{KINDS[n % 4]}-n{n}", text_of(n, some), day=n // 40 % 28 + 1) for n in range(count)]
    items += [item(f"{each.id}-again", each.text.lower(), day=28, kind=each.kind) for each in items[:twice]]
    return digest_of(*(items[at : at + 40] for at in range(0, len(items), 40)))


def timed(what):
    start = time.perf_counter()
    done = what()
    return done, time.perf_counter() - start


def test_two_megabytes_are_refined_in_seconds(tmp_path):
    text = large(5_000, twice=500)
    assert len(text) > 2_000_000
    desk = Desk(tmp_path, text)
    desk.core = Builtin(desk.folder.path / "vectors.db", lambda: None, lambda: NOW)
    report, took_s = timed(desk.refine)
    print(f"\nrefine {len(text) / 1e6:.1f} MB, {len(report.plan.choices)} items: {took_s:.2f} s")
    assert len(report.plan.kept) == 5_000
    assert report.sync.status == "synced"
    assert took_s < BOUND_S


def test_a_core_that_knows_all_of_it_is_asked_in_seconds(tmp_path):
    from lamina.pipeline.digest.sync import records

    desk = Desk(tmp_path, large(4_000, twice=1_000))
    desk.core = Builtin(desk.folder.path / "vectors.db", lambda: None, lambda: NOW)
    facts = [each.fact for each in records(desk.digest)]
    desk.core.ingest([fact for n, fact in enumerate(facts) if n % 10])
    report, took_s = timed(desk.refine)
    print(f"\nrefine with {len(facts)} records, some of them lost: {took_s:.2f} s")
    assert report.sync.status == "synced"
    assert took_s < BOUND_S


def test_plans_and_a_model_that_talks_much_take_seconds(tmp_path):
    text = large(3_000)
    digest = parse_digest(text)
    plan, took_s = timed(lambda: as_json("", (), sound(proposed(digest))))
    print(f"\nplan of {len(plan['items'])} items: {took_s:.2f} s")
    assert took_s < BOUND_S
    desk = Desk(tmp_path, text)
    _, took_s = timed(lambda: desk.refine(plan))
    print(f"apply: {took_s:.2f} s")
    assert took_s < BOUND_S
    lines = "\n".join(
        f"CONFLICT {a['id']}, {b['id']}" for a, b in zip(plan["items"], plan["items"][1:], strict=False)
    )
    _, took_s = timed(lambda: asked(Script(lines), sound(proposed(digest)), limit=10_000_000))
    print(f"a reply of {len(plan['items'])} lines: {took_s:.2f} s")
    assert took_s < BOUND_S
