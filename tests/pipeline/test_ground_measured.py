"""How often an honest sentence is called an invention, and how often a changed value passes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.pipeline.checks.names import doubts
from lamina.pipeline.ground import inventions

SESSION = """2026-11-30 claude-code /srv/shop
The upload worker in src/shop/upload_worker.py crashed with commit 4be91c7d02aa; maxRetries was 7 and MAX_UPLOAD_MB is 25.
Logs: https://logs.example.org/shop/run/8841 on host 10.20.30.40:9443, ticket SHOP-381, pull request #512.
pnpm add @acme/queue-kit@2.14.3, then `pnpm run build --frozen-lockfile`. Python 3.11, Node v20.10.0.
queue.flush() waits 1,500 ms; 500 MB of memory; 12.5% of requests; retried at 14:30; mail ops@example.org.
We keep sessions in Redis; Postgres has 2 replicas in us-east-1. Der Port ist 8080. 上限は300件です。制限は 45 秒。재시도는 6회.
"""

SAYINGS = [
    "The upload worker (src/shop/upload_worker.py) crashed at {commit}.",
    "`maxRetries` was {retries}, see {path}",
    "Uploads are limited by MAX_UPLOAD_MB to {size} MB",
    "See {url} for ticket {ticket}",
    "Pull request #{pull} fixed {path} on Node {node}",
    "Use @acme/queue-kit {kit} with {flag}",
    "{call} waits {wait}; then it flushes again",
    "The host {host} uses {memory} at {time}",
    "{percent} of requests fail; write to {mail}",
    "{camel} is too low, and {constant} too high",
    "上传失败的提交是 {commit}，端口是 {port}",
    "上传文件在 {path}，重试 {retries} 次",
    "工单 {ticket} 见 {url}",
    "{camel} 的默认值太小，{constant} 是 {size}",
    "上限は{limit}件で、{path} にあります",
    "{call} は {wait} 待ちます",
    "ポートは{port}、ホストは {host} です",
    "포트는 {port}이고 파일은 {path}입니다",
    "{camel} 값은 {retries}입니다. {ticket} 참고",
    "Der Port ist {port}, die Datei heißt {path}",
    "Die Version {kit} von @acme/queue-kit wartet {wait}",
    "{constant} steht auf {size}, {flag} ist nötig",
    "Ticket {ticket} 和 {pull} 都用 Python {python}",
    "\"{camel}\" and '{constant}' are read by “{call}”",
    "Region {region}: {memory}, {percent}",
]
HONEST = {
    "commit": ("4be91c7d02aa", "4be91c7"), "retries": ("7", "seven"), "path": ("src/shop/upload_worker.py", "shop/upload_worker.py", "upload_worker.py"),
    "size": ("25",), "url": ("https://logs.example.org/shop/run/8841", "logs.example.org/shop/run/8841"), "ticket": ("SHOP-381",),
    "pull": ("512",), "node": ("v20.10.0", "20.10.0"), "kit": ("2.14.3", "v2.14.3"), "flag": ("--frozen-lockfile",), "call": ("queue.flush()", "`queue.flush()`", "flush()"),
    "wait": ("1500 ms", "1.5 s", "1,500 ms"), "host": ("10.20.30.40", "10.20.30.40:9443"), "memory": ("500 MB", "500MB", "0.5 GB"), "time": ("14:30",),
    "percent": ("12.5%", "12,5 %"), "mail": ("ops@example.org",), "camel": ("maxRetries", "max_retries"), "constant": ("MAX_UPLOAD_MB", "max_upload_mb"),
    "port": ("8080",), "limit": ("300",), "python": ("3.11",), "region": ("us-east-1",),
}  # fmt: skip
CHANGED = {
    "commit": ("4be91c7d02ab", "9aa01c7"), "retries": ("9",), "path": ("src/shop/upload_walker.py", "shop/core/upload_worker.py"), "size": ("35",),
    "url": ("https://logs.example.org/shop/run/8842", "https://log.example.org/shop/run/8841"), "ticket": ("SHOP-382", "SHOP-38"), "pull": ("513",),
    "node": ("v20.11.0",), "kit": ("2.14.4", "2.41.3"), "flag": ("--frozen-lock", "--no-lockfile"), "call": ("queue.drain()", "queue.flushAll()"),
    "wait": ("1800 ms", "2.5 s"), "host": ("10.20.30.41", "10.20.31.40"), "memory": ("600 MB", "0.6 GB"), "time": ("14:35",), "percent": ("13.5%",),
    "mail": ("dev@example.org",), "camel": ("maxRetrials", "minRetries"), "constant": ("MAX_UPLOAD_KB", "MIN_UPLOAD_MB"), "port": ("8081",),
    "limit": ("400",), "python": ("3.13",), "region": ("us-east-7",),
}  # fmt: skip


def names(saying: str) -> list[str]:
    return [name for name in HONEST if "{" + name + "}" in saying]


def honest() -> list[str]:
    """Every sentence with every way to write its values."""
    texts = dict.fromkeys(
        saying.format(**{name: forms[turn % len(forms)] for name, forms in HONEST.items()})
        for saying in SAYINGS
        for turn in range(7)
    )
    return [*texts, *(f"We found: {text}" for text in texts)]


def changed() -> list[str]:
    """Every sentence with one value changed, the others as they were."""
    return [
        saying.format(**({name: forms[0] for name, forms in HONEST.items()} | {one: form}))
        for saying in SAYINGS
        for one in names(saying)
        for form in CHANGED[one]
    ] + [
        f"We found: {saying}".format(**({name: forms[-1] for name, forms in HONEST.items()} | {one: form}))
        for saying in SAYINGS
        for one in names(saying)
        for form in CHANGED[one]
    ]


def test_honest_sentences_are_let_through():
    texts = honest()
    alarms = [(text, found) for text in texts if (found := inventions(text, SESSION))]
    assert len(texts) >= 150
    assert len(alarms) < 0.02 * len(texts), alarms


def test_changed_values_are_found():
    texts = changed()
    missed = [text for text in texts if not inventions(text, SESSION)]
    assert len(texts) >= 150
    assert len(missed) < 0.02 * len(texts), missed


@pytest.mark.parametrize(
    "text,found",
    [
        ("We keep sessions in Redis and PostgreSQL", []),
        ("Sessions are kept in Memcached", ["Memcached"]),
        ("会话放在 Redis 里，用 Kafka 做队列", ["Kafka"]),
        ("The release is done by Maria", ["Maria"]),
        ("It is served by FastAPI", ["FastAPI"]),
        ("Der Port steht in der Datei", []),
        ("Everything is fine on Monday", []),
        ("キューはRabbitMQです", ["RabbitMQ"]),
    ],
)
def test_a_name_that_was_not_said_is_doubted(text, found):
    assert doubts(text, SESSION) == found


@pytest.mark.parametrize(
    "text,said",
    [
        ("It runs on Kubernetes", "k8s it is"),
        ("We use TypeScript", "in TS, please"),
        ("We use JS", "JavaScript"),
    ],
)
def test_a_common_short_form_is_the_name(text, said):
    assert doubts(text, said) == []


@pytest.mark.parametrize(
    "text",
    [
        "The `readme` says 'quite good' and \"well-known\" things",
        "macOS and iOS and npm",
        "users' data, rock 'n' roll",
        "Postgres replicas",
    ],
)
def test_prose_is_no_code(text):
    assert inventions(text, "") in ([], ["readme"])


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_taken(text, material):
    assert isinstance(doubts(text, material), list)
    assert doubts(text, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "1" * 100_000,
        "[(" * 50_000,
        "`" * 50_000,
        "a+" * 100_000,
        "a+." * 66_000,
        "+a" * 100_000,
        "a_" * 50_000,
        "aB" * 50_000,
        '"a-' * 33_000,
        "a@" * 50_000,
        "A-1 " * 25_000,
        "x() " * 25_000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    inventions(text, text * 2)
    doubts(text, text * 2)
    assert time.process_time() - begin < 5


def test_a_large_material_is_read_in_about_a_second():
    material = "".join(
        f"record {n} in src/part_{n % 97}/file{n}.py took {n % 50} ms at v1.{n % 9}.{n}\n"
        for n in range(18_000)
    )
    text = "".join(f"src/part_{n % 97}/file{n}.py took {n % 50} ms. " for n in range(2_500))
    begin = time.process_time()
    inventions(text, material)
    assert time.process_time() - begin < 5
