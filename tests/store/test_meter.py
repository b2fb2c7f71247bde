"""Counting what the models were used for, by many processes at once and whatever the disk does."""

from __future__ import annotations

import json
import multiprocessing
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from lamina import errors
from lamina.formats.standing import Bench, Standing
from lamina.store import locks, meter, standing
from lamina.store.layout import Layout
from lamina.store.meter import Caps, Use

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TODAY = NOW.date()
WIDE = Caps(calls=10_000, tokens=10**12)


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path / "store")


def call(layout, *, tokens=100, caps=WIDE, at=NOW, purpose="summarise", route="openai/gpt-5-mini"):
    return meter.reserve(layout, purpose, route, at=at, tokens=tokens, caps=caps)


def test_a_call_is_counted_before_it_is_sent_and_settled_after(layout):
    made = call(layout)
    assert meter.total(meter.load(layout, TODAY)) == Use(calls=1, tokens_in=100)
    assert meter.settle(layout, made, Use(tokens_in=90, tokens_out=20, cost=0.5))
    assert meter.load(layout, TODAY) == {
        ("summarise", "openai/gpt-5-mini"): Use(calls=1, tokens_in=90, tokens_out=20, cost=0.5)
    }


def test_purposes_and_routes_are_kept_apart(layout):
    for purpose in ("summarise", "consolidate"):
        for route in ("a/模型", 'b/"x"\n', "c/\ud800"):
            call(layout, purpose=purpose, route=route)
    assert len(meter.load(layout, TODAY)) == 6
    assert meter.total(meter.load(layout, TODAY)).calls == 6


@pytest.mark.parametrize(
    ("caps", "allowed"),
    [
        (Caps(3, 10**9), 3),
        (Caps(0, 10**9), 0),
        (Caps(100, 250), 2),
        (Caps(100, 99), 0),
        (Caps(100, 0), 0),
    ],
)
def test_no_call_goes_over_a_cap(layout, caps, allowed):
    made = [call(layout, caps=caps) for _ in range(5)]
    assert [each is not None for each in made] == [True] * allowed + [False] * (5 - allowed)
    assert meter.total(meter.load(layout, TODAY)).calls == allowed


def test_each_utc_day_begins_with_nothing(layout):
    one = Caps(1, 10**9)
    tokyo = datetime.fromisoformat("2026-12-01T08:00:00+09:00")  # still the 30th in UTC
    assert call(layout, caps=one)
    assert not call(layout, caps=one, at=tokyo)
    assert call(layout, caps=one, at=NOW + timedelta(hours=12))


def test_a_call_over_midnight_belongs_to_the_day_it_began(layout):
    made = call(layout, at=datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC))
    meter.settle(layout, made, Use(tokens_in=7))
    assert meter.total(meter.load(layout, TODAY)).tokens_in == 7
    assert not meter.load(layout, date(2026, 12, 1))


def test_two_months_are_kept(layout):
    for days in range(70):
        call(layout, at=NOW + timedelta(days=days))
    (layout.state / "usage" / "notes.json").write_text("a person's own")
    call(layout, at=NOW + timedelta(days=70))
    assert len(list(meter.kept(layout))) == 61
    assert (layout.state / "usage" / "notes.json").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "", "{", "[]", "null", '{"use": 3}', '{"use": {"summarise": {"a": {"calls": -1}}}}',
        '{"use": {"summarise": {"a": {"calls": true}}}}', '{"use": {"summarise": {"a": {"cost": NaN}}}}',
        '{"use": {"summarise": {"a": {"calls": 1e400}}}}', '{"use": {"s": {"a": {"calls": ' + "9" * 4000 + "}}}}",
        '{"use": {"summarise": {"a": {"nonsense": 1}}}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_damaged_day_is_told_and_no_call_is_sent(layout, damage):
    call(layout, at=NOW - timedelta(days=1))
    path = meter.path_of(layout, TODAY)
    path.write_text(damage)
    with pytest.raises(errors.UnreadableFile, match="does not hold a day's use") as told:
        call(layout)
    assert "remove it" in told.value.hint
    assert path.read_text() == damage
    assert [day for day, _ in meter.kept(layout)] == [TODAY - timedelta(days=1)]


def test_settling_never_raises(layout):
    made = call(layout)
    meter.path_of(layout, TODAY).write_text("damaged")
    assert not meter.settle(layout, made, Use(tokens_in=1))


def test_no_count_falls_below_zero(layout):
    made = call(layout)
    meter.path_of(layout, TODAY).unlink()
    meter.settle(layout, made, Use(tokens_out=3))
    assert meter.total(meter.load(layout, TODAY)) == Use(tokens_out=3)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_the_place_of_a_day_is_refused(layout, tmp_path):
    call(layout, at=NOW - timedelta(days=1))
    (tmp_path / "elsewhere").write_text('{"use": {}}')
    meter.path_of(layout, TODAY).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.UnsafePath):
        call(layout)


def test_a_file_in_the_place_of_the_folder_is_no_licence(layout):
    layout.state.mkdir(parents=True)
    (layout.state / "usage").write_text("a file")
    with pytest.raises(errors.LaminaError):
        call(layout)
    assert list(meter.kept(layout)) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_takes_nothing_sends_nothing(tmp_path):
    (tmp_path / "dev").symlink_to("/dev")
    with pytest.raises(errors.LaminaError):
        call(Layout(tmp_path / "dev" / "full"))


def work(root, number, start) -> None:
    layout = Layout(root)
    start.wait()
    for turn in range(20):
        made = meter.reserve(
            layout, "summarise", f"vendor/{number % 3}", at=NOW, tokens=10, caps=Caps(10_000, 10**9)
        )
        assert made is not None
        meter.settle(layout, made, Use(tokens_in=11, tokens_out=2, cost=0.25))
        standing.change(
            layout,
            lambda before, turn=turn: Standing(
                benched={**before.benched, f"{number}/{turn}": Bench(NOW + timedelta(minutes=5))}
            ),
        )


def spend(root, start, queue) -> None:
    start.wait()
    caps = Caps(25, 10**9)
    queue.put(sum(call(Layout(root), caps=caps) is not None for _ in range(10)))


def at_once(target, *args) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Event()
    processes = [context.Process(target=target, args=args_of(start)) for args_of in args]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0


def test_ten_processes_at_once_lose_nothing(layout):
    at_once(work, *(lambda start, number=number: (layout.root, number, start) for number in range(10)))
    used = meter.total(meter.load(layout, TODAY))
    assert used == Use(calls=200, tokens_in=2200, tokens_out=400, cost=50.0)
    assert len(standing.load(layout).benched) == 100  # the newest, of 200 that were all written
    assert not list((layout.state / "usage").glob(".lamina-*"))


def test_ten_processes_together_keep_to_one_cap(layout):
    queue = multiprocessing.get_context("spawn").Queue()
    at_once(spend, *(lambda start: (layout.root, start, queue) for _ in range(10)))
    assert sum(queue.get(timeout=10) for _ in range(10)) == 25
    assert meter.total(meter.load(layout, TODAY)).calls == 25


def test_a_standing_that_is_damaged_starts_anew(layout):
    standing.change(layout, lambda _: Standing("a/b", NOW, "wishes"))
    assert standing.load(layout).winner == "a/b"
    for damage in (b"", b"{", b"\xff", b"[1]", b'{"benched": {"a": 3}, "winner": 4}'):
        standing.path_of(layout).write_bytes(damage)
        assert standing.load(layout) == Standing()
    standing.change(layout, lambda _: Standing("c/d"))
    assert json.loads(standing.path_of(layout).read_text())["winner"] == "c/d"


def test_a_standing_that_can_t_be_written_stops_nothing(layout):
    layout.state.mkdir(parents=True)
    standing.path_of(layout).mkdir()
    standing.change(layout, lambda _: Standing("a/b"))
    assert standing.load(layout) == Standing()


def test_another_process_that_holds_the_meter_for_long_is_waited_for_and_then_told(layout, monkeypatch):
    monkeypatch.setattr(meter, "_WAIT_S", 0.1)
    with locks.lock(layout.lock("usage")), pytest.raises(errors.Busy):
        call(layout)
