"""A week of work with a model: asked once for what is new, in bounds, and the count is the one that is shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from benchmarks.week import LIMITS, SHOWN, live, stops

COUNT = 20


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    folder = tmp_path_factory.mktemp("week")
    return folder, live(folder, COUNT)


def test_no_prompt_is_longer_than_its_limit(lived):
    _, week = lived
    for purpose in SHOWN:
        assert 0 < week.largest(purpose) <= LIMITS[purpose]


def test_small_limits_hold_too(tmp_path):
    week = live(
        tmp_path,
        9,
        LAMINA_NOTE_BYTES="3300",
        LAMINA_CONSOLIDATE_BYTES="6000",
        LAMINA_NOTE_SIGNAL_CHARS="2000",
    )
    assert 3000 < week.largest("summarise") <= 3300
    assert 4000 < week.largest("consolidate") <= 6000
    assert week.twice() == []


def test_nothing_is_summarised_twice_and_no_stop_costs_two_calls(lived):
    _, week = lived
    assert week.twice() == []
    assert sum(name == "summarise" for name, _ in week.model.asked) == week.passes["asked"]
    shown = "\n".join(prompt.text for name, prompt in week.model.asked if name == "summarise")
    assert "s5x" in shown, "the marks by which it would be seen are shown at all"


def test_every_stop_is_a_call_or_a_saved_one_as_the_status_tells(lived):
    folder, week = lived
    assert week.stops == sum(len(list(stops(number, COUNT))) for number in range(COUNT))
    assert set(week.passes) == {"asked", "thin", "trivial", "captured", "known"}
    done = subprocess.run(
        [sys.executable, "-m", "lamina", "--root", str(folder / "store"), "status", "--json"],
        env={"PATH": os.environ["PATH"], "HOME": str(folder / "home")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["saved"] == {"thin": week.passes["thin"], "trivial": week.passes["trivial"]}
    used = told["models"]
    assert used["by_purpose"]["summarise"]["calls"] == week.passes["asked"]
    assert used["calls"] == len(week.model.asked)
    assert (used["failed"], used["empty"], told["notes"]["pending"]) == (0, 0, 0)


def test_the_gates_save_a_third_of_the_calls(lived):
    _, week = lived
    assert week.status["models"]["calls"] < week.stops * 2 / 3
