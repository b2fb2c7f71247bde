"""What a refresh's answer may change: whatever the language, only what the evidence carries."""

from __future__ import annotations

import time
from datetime import date

import pytest

from lamina.formats.reply import parse_refresh
from lamina.pipeline.verdict import Verdict, unfit, verdicts

DAY = date(2026, 11, 30)
COMMIT = "commit 0123456789 2026-08-01:"


def judged(verb: str, text: str, old: str, *proof: str) -> str:
    return unfit(Verdict(verb, text), old, proof, day=DAY)


@pytest.mark.parametrize(
    ("old", "text", "proof"),
    [
        ("Der Server lauscht auf `PORT_X` 8081", "Der Server lauscht auf `PORT_X` 9090", "a.py:1: PORT_X = 9090"),
        ("サーバーは `PORT_X` 8081 で動く", "サーバーは `PORT_X` 9090 で動く", "a.py:1: PORT_X = 9090"),
        ("项目使用 Redis 作为「缓存后端」", "项目使用 Valkey 作为「缓存后端」", '设置.py:1: 缓存 = "Valkey"  # 缓存后端'),
        ("서버는 `PORT_X` 8081 을 사용한다", "서버는 `PORT_X` 9090 을 사용한다", "a.py:1: PORT_X = 9090"),
        ("The API uses Node 18", "The API uses Node 20", "Dockerfile:1: FROM node:20-alpine"),
        ("Releases are built by ci/jenkins.groovy", "Releases are built by GitHub Actions",
         f"{COMMIT} Build releases with GitHub Actions (ci/jenkins.groovy)"),
    ],
)  # fmt: skip
def test_a_value_that_the_evidence_gives_is_taken(old, text, proof):
    assert judged("update", text, old, proof) == ""


@pytest.mark.parametrize(
    ("old", "text", "proof"),
    [
        ("项目使用 Redis 作为「缓存后端」", "项目不使用 Redis 作为「缓存后端」", '设置.py:1: 缓存 = "Redis"  # 缓存后端'),
        ("Der Server `PORT_X` ist nie offen", "Der Server `PORT_X` ist immer offen", "a.py:1: PORT_X = 9090"),
        ("The `PORT_X` server is never open", "The `PORT_X` server is open", "a.py:1: PORT_X = 9090"),
        ("서버는 `PORT_X` 8081 을 사용한다", "부엌에서 로봇이 커피를 준다", "a.py:1: PORT_X = 9090"),
        ("サーバーは `PORT_X` 8081 で動く", "台所でロボットがコーヒーを出す 😀", "a.py:1: PORT_X = 9090"),
        ("Ports are in `PORT_X`", "Ports are in `PORT_X`, and every password is fine", "a.py:1: PORT_X = 9090"),
    ],
)  # fmt: skip
def test_what_turns_round_or_brings_in_something_else_is_not(old, text, proof):
    assert judged("update", text, old, proof) != ""


@pytest.mark.parametrize(
    ("old", "reason", "line"),
    [
        ("项目使用 Redis 作为「缓存后端」", "不再使用 Redis", f"{COMMIT} 不再使用 Redis 作为缓存后端"),
        ("The server reads `PORT_X`", "Remove PORT_X", f"{COMMIT} Remove PORT_X (a.py)"),
        ("Built by ci/jenkins.groovy", "ci/jenkins.groovy is no longer tracked",
         "ci/jenkins.groovy: was deleted or moved, is no longer tracked"),
    ],
)  # fmt: skip
def test_a_line_that_ends_an_entry_ends_it_and_the_reason_alone_does_not(old, reason, line):
    assert judged("supersede", reason, old, line) == ""
    assert judged("supersede", reason, old, "ci/jenkins.groovy:1: Redis, PORT_X = 1", "a.py:1: x") != ""


def test_a_reason_that_rests_on_nothing_shown_is_not_written_though_the_evidence_ends_the_entry():
    old, line = "The server reads `PORT_X`", f"{COMMIT} Remove PORT_X (a.py)"
    why_not = judged("supersede", "Everybody in the kitchen agreed to drop this rule", old, line)
    assert why_not == "the reply rests on too little of what was shown"


def test_a_name_that_stands_nowhere_is_not_written():
    old, line = "The server listens on `PORT_X` 8081", "a.py:1: PORT_X = 9090"
    why_not = judged("update", "The server listens on `PORT_X` 9090 behind Cloudflare", old, line)
    assert why_not == "the reply names 'Cloudflare', which stands nowhere in what was shown"


def test_a_commit_that_only_touches_the_file_ends_nothing():
    old = "The staging server reads `PORT_X` from config.py"
    line = f"{COMMIT} Changed how the server logs (config.py)"
    assert judged("supersede", "The server changed", old, line) == "nothing in the evidence ends it"


def test_two_answers_for_one_entry_are_none_and_the_same_one_twice_is_one():
    said = verdicts(
        parse_refresh("KEEP a-sem-0001\nSUPERSEDE a-sem-0001 :: x\n" + "UPDATE a-sem-0002 :: y\n" * 2)
    )
    assert said == {"a-sem-0001": Verdict("both"), "a-sem-0002": Verdict("update", "y")}


def test_long_texts_take_little_time():
    start = time.monotonic()
    for piece in ("a_b ", "9,", "`x` ", "never do it. ", "字", "(", "commit 0123456789 2026-08-01: "):
        for verb in ("update", "supersede"):
            judged(verb, piece * 4_000, piece * 900, *[piece * 40] * 12)
    assert time.monotonic() - start < 20
