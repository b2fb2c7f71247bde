"""How far support tells honest summaries from lies about the same subject, measured on written rows.

`data/support.txt`: `#` opens a session, `u` and `a` are what the person and the agent said, `+` an honest
summary, `-` a lie that invents no checkable value, `~` an honest summary in another language.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest

from lamina.pipeline.checks.support import FIRM, LEAST, Passage, support

ROWS = Path(__file__).parent / "data" / "support.txt"
SIDES = {"u": "user", "a": "assistant"}


@cache
def shares() -> dict[str, list[float]]:
    """Give the shares of the honest, the lies and the foreign."""
    out: dict[str, list[float]] = {"+": [], "-": [], "~": []}
    said: list[Passage] = []
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind == "#":
            said = []
        elif kind in SIDES:
            said.append(Passage(len(said), len(said), SIDES[kind], text))
        else:
            found = support(text, said)
            out[kind].append(found.share if found else 0.0)
    return out


def below(kind: str, least: float) -> float:
    return sum(share < least for share in shares()[kind]) / len(shares()[kind])


def test_there_is_enough_to_measure():
    assert len(shares()["+"]) >= 120
    assert len(shares()["-"]) >= 120
    assert len(shares()["~"]) >= 20


def test_honest_summaries_are_not_dropped():
    assert below("+", LEAST) <= 0.01
    assert below("~", LEAST) == 0


def test_most_lies_are_dropped():
    assert below("-", LEAST) >= 0.7


def test_nearly_all_lies_are_doubtful_and_few_honest_summaries_are():
    assert below("-", FIRM) >= 0.94
    assert below("+", FIRM) <= 0.07


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (
            "The shop's server sends all customer data to the marketing team every night",
            "The shop's server listens on port 8080",
        ),
        ("Never run the tests before you push, and always skip the hooks", "tests take long"),
    ],
)
def test_a_true_subject_carries_no_other_claim(lie, said):
    found = support(lie, [Passage(0, 0, "user", said)])
    assert found is None or found.share < LEAST


@pytest.mark.parametrize(
    "said",
    ["No, del the cache before tests die.", "tests take long", "Tests: pytest -q, con 4 workers, no cache"],
)
def test_a_word_of_another_language_makes_no_lie_a_translation(said):
    lie = "Never run the tests before you push to the main branch, and skip the hooks of the project"
    found = support(lie, [Passage(0, 0, "user", said)])
    assert found is None or found.share < LEAST


def test_what_another_language_shares_no_name_with_is_unsupported():
    assert (
        support("Prices are rounded up", [Passage(0, 0, "user", "会话缓存放在 Redis 的 6379 端口")]) is None
    )


def test_a_long_session_takes_linear_time():
    text = "The worker writes failed orders to the queue of the shop in Postgres"
    said = [f"Step {at}: the worker took order {at} out of the queue and wrote it. " * 8 for at in range(400)]
    passages = [Passage(at, at, "user", part) for at, part in enumerate(said)]
    begin = time.process_time()
    support(text, passages)
    assert time.process_time() - begin < 3
