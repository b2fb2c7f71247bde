"""What a call costs: never an invented sum."""

from __future__ import annotations

from datetime import date

import pytest

from lamina.models.base import Reply
from lamina.models.prices import Price, load

REPLY = Reply("yes", tokens_in=1_000_000, tokens_out=100_000)


def test_the_prices_that_come_with_the_package_are_whole_and_dated():
    prices = load()
    assert prices.as_of is not None
    assert prices.as_of > date(2026, 10, 1)
    assert len(prices.shipped) > 50
    assert not prices.problems


@pytest.mark.parametrize(
    ("route", "cost"),
    [
        ("openai/gpt-5-mini", 0.25 + 0.2),
        ("openai/gpt-5-mini-2025-08-07", 0.25 + 0.2),
        ("anthropic/claude-haiku-4-5-20251001", 1 + 0.5),
        ("anthropic/claude-haiku-4-5-latest", 1 + 0.5),
        ("ollama/qwen3:8b", 0),
        ("host/claude-code", 0),
        ("openai/gpt-5-mini-but-another-one", None),
        ("openai/", None),
        ("custom/anything", None),
        ("lent/lambda", None),
        ("", None),
    ],
)
def test_what_a_route_costs(route, cost):
    price = load().of(route)
    assert (None if price is None else round(price.of(REPLY), 9)) == cost


def test_a_hosts_own_program_is_part_of_a_plan():
    assert load().of("host/codex").note == "part of your plan"


def test_the_vendors_price_says_nothing_of_another_address():
    prices = load()
    assert prices.of("openai/gpt-5-mini", address="http://127.0.0.1:8080/v1").of(REPLY) == 0
    assert prices.of("openai/gpt-5-mini", address="http://localhost").of(REPLY) == 0
    assert prices.of("openai/gpt-5-mini", address="https://proxy.example/v1") is None
    assert prices.of("openai/gpt-5-mini", address="http://localhost.example/v1") is None


def test_a_persons_own_file_wins(tmp_path):
    mine = tmp_path / "prices.toml"
    mine.write_text('[routes]\n"openai/gpt-5-*" = { in = 1, out = 2 }\n"custom/*" = { in = 3, out = 4 }\n')
    prices = load(mine)
    assert prices.of("openai/gpt-5-mini") == Price(1, 2)
    assert prices.of("openai/gpt-5-mini", address="https://proxy.example/v1") == Price(1, 2)
    assert prices.of("custom/x", address="https://proxy.example/v1") == Price(3, 4)
    assert prices.of("openai/gpt-4.1") == load().of("openai/gpt-4.1")


@pytest.mark.parametrize(
    "text",
    [
        "not toml at all",
        "routes = 3",
        '[routes]\n"a/b" = 3',
        '[routes]\n"a/b" = { in = -1, out = 2 }',
        '[routes]\n"a/b" = { in = nan, out = 2 }',
        '[routes]\n"a/b" = { in = inf, out = 2 }',
        '[routes]\n"a/b" = { in = true, out = 2 }',
        '[routes]\n"a/b" = { in = "1", out = 2 }',
        '[routes]\n"a/b" = { in = 1 }',
        "a = " + "[" * 100_000,
    ],
)
def test_a_damaged_file_prices_nothing_and_the_others_count(tmp_path, text):
    mine = tmp_path / "prices.toml"
    mine.write_text(text)
    prices = load(mine)
    assert prices.of("a/b") is None
    assert prices.of("openai/gpt-5-mini") == load().of("openai/gpt-5-mini")
    assert prices.problems or text == "routes = 3"


def test_a_file_that_is_a_folder_or_no_text_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    assert load(tmp_path / "folder").problems
    assert load(tmp_path / "bytes").problems
    assert not load(tmp_path / "none").problems
