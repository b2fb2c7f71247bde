"""What a summary names must stand in the material it was made from."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.pipeline.ground import inventions

SHOWN = """2026-11-30 · claude-code
Please move src/lamina/index.py to src/lamina/index/embedded.py; commit 9fceb02d0ae598e95dc970b74767f19372d61af8.
The limit is 1,000 requests and 24k tokens, three retries, 0.5 seconds, 12.5% loss. Python 3.11, node v20.10.0, SQLite 3.45.1.
See https://docs.example.org/guide/setup#win and http://localhost:8080. Call `render_topic(topic)` with `--dry-run`.
Die Grenze liegt bei 2.500 Zeilen, also 1,5 GB. 上限は５００件、三回。端口是 9200。 C:\\Users\\ann\\notes.txt at 14:30
UTF8 and sha-256, 4f3a2b1c-0d9e-4f8a-9b7c-6d5e4f3a2b1c, read and write, 5 March 2025, package.json
"""


@pytest.mark.parametrize(
    "text",
    [
        "move src/lamina/index.py to src/lamina/index/embedded.py",
        "the folder src/lamina/ holds index.py",
        "commit 9fceb02 did it",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 did it",
        "at most 1000 requests",
        "at most 1 000 requests, 1_000 or 1'000",
        "24000 tokens, 24k tokens, 24,000 tokens",
        "3 retries",
        "0.5 s or 0,5 s",
        "12.5 percent, 12,5 %",
        "Python 3.11 and v3.11",
        "node 20.10.0",
        "see docs.example.org/guide/setup#win",
        "see <https://docs.example.org/guide/setup#win>.",
        "at http://localhost:8080/",
        "call `render_topic(topic)` and `render_topic`, `--dry-run`",
        "2500 Zeilen, 2.500 Zeilen, 1.5 GB, 1,5GB",
        "500件まで、3回",
        "端口 9200",
        "C:/Users/ann/notes.txt and notes.txt",
        "at 14:30",
        "UTF-8 and SHA256 hashes",
        "session 4f3a2b1c-0d9e-4f8a-9b7c-6d5e4f3a2b1c",
        "read/write access and/or more words",
        "1. first\n2. second\n- 3) third\n(4) fourth",
        "2026-11-30: decided; 30.11.2026; 11/30/2026; Nov 30, 2026; 30. November 2026; 30 de noviembre de 2026; 2026年11月30日",
        "2025-03-05",
        "use [redacted github-token] as before",
        "",
        "No values at all, just words — e.g. these, i.e. plain prose.",
        "Änderungen an package.json",
    ],
)
def test_what_was_shown_is_no_invention(text):
    extra = "" if "/or" not in text else " and or"
    assert inventions(text, SHOWN + extra) == []


@pytest.mark.parametrize(
    "text,invented",
    [
        ("move src/lamina/store.py", ["src/lamina/store.py"]),
        ("move it to /etc/passwd", ["/etc/passwd"]),
        ("see ~/.config/x.toml", ["~/.config/x.toml"]),
        ("the file embedded.rs", ["embedded.rs"]),
        ("commit 9fceb03 did it", ["9fceb03"]),
        ("commit deadbeef01 did it", ["deadbeef01"]),
        ("at most 1001 requests", ["1001"]),
        ("at most 100 requests", ["100"]),
        ("at most 10,000 requests", ["10,000"]),
        ("7 retries", ["7"]),
        ("version 3.12", ["3.12"]),
        ("node v20.10.1", ["v20.10.1"]),
        ("see https://docs.example.org/guide/other", ["https://docs.example.org/guide/other"]),
        ("see https://docs.example.org/guide/set", ["https://docs.example.org/guide/set"]),
        ("call `render_note`", ["render_note"]),
        ("nach 2.600 Zeilen", ["2.600"]),
        ("上限は600件", ["600"]),
        ("端口是9300", ["9300"]),
        ("2026-12-01: decided", ["2026-12-01"]),
        ("on 6 March 2025", ["6 March 2025"]),
        ("at 14:45", ["14:45"]),
        ("hash it with sha512", ["sha512"]),
        ("session 4f3a2b1c-0d9e-4f8a-9b7c-6d5e4f3a2b1d", ["4f3a2b1c-0d9e-4f8a-9b7c-6d5e4f3a2b1d"]),
        ("wait 30s, then 30s", ["30s"]),
        ("D:\\Users\\ann\\notes.txt", ["D:\\Users\\ann\\notes.txt"]),
        ("use src/other and 77 of 0.5", ["src/other", "77"]),
    ],
)
def test_an_invention_is_named(text, invented):
    assert inventions(text, SHOWN) == invented


WORDS = st.lists(
    st.sampled_from([*SHOWN.split(), "…", "5.", "(3)", "`x`", "a/b", "9" * 5, "１２"]), max_size=30
).map(" ".join)


@given(WORDS)
def test_a_text_never_invents_against_itself(text):
    assert inventions(text, text) == []


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_taken(text, material):
    assert isinstance(inventions(text, material), list)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 60_000,
        "a/" * 30_000,
        "1,000" * 12_000,
        "`" * 60_000,
        "a." * 30_000,
        "http://" * 9_000,
        "a1-" * 20_000,
        "abcdef0" * 9_000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    inventions(text[:30_000], text)
    assert time.process_time() - begin < 3


@pytest.mark.parametrize(
    ("material", "text"),
    [
        ("The server listens on port 8080.", "The server listens on port nine thousand ninety."),
        ("The server listens on port 8080.", "服务监听端口九千零九十。"),
        ("The pool holds 12 workers.", "The pool holds ninety-nine workers."),
        ("The pool holds 12 workers.", "The pool holds twelve hundred workers."),
        ("The pool holds 12 workers.", "The pool holds 12 million workers."),
        ("The pool holds 12 workers.", "线程池有12万个线程。"),
        ("The timeout is 30 seconds.", "The timeout is 30 hours."),
        ("The timeout is 30 seconds.", "The timeout is 30 ms."),
        ("The timeout is 30s.", "The timeout is 30ms."),
        ("Memory is 12 MB.", "Memory is 12 GB."),
        ("The server listens on port 8080.", "443) is the port."),
    ],
)
def test_a_number_in_words_or_with_another_unit_is_no_less_invented(material: str, text: str) -> None:
    assert inventions(text, material)


@pytest.mark.parametrize(
    ("material", "text"),
    [
        ("The timeout is 30 seconds.", "The timeout is 30 s, half a minute."),
        ("The timeout is 1.5 s.", "It waits 1500 ms."),
        ("The timeout is 30.", "The timeout is 30 seconds."),
        ("The table has 12 million rows.", "The table has 12,000,000 rows."),
        ("The table has 12,000 rows.", "The table has 12k rows."),
        ("The port is 9090.", "The port is nine thousand ninety."),
        ("There are twenty-five shards.", "There are 25 shards."),
        ("端口是九千零九十。", "The port is 9090."),
        ("超时是三十秒。", "超时是30秒。"),
        ("We have many users.", "千万不要在周五部署，十分危险。"),
        ("We have many users.", "There are a hundred reasons and a thousand questions."),
        ("Do it.", "1. Do it.\n2. Do it."),
    ],
)
def test_the_same_number_in_other_words_or_units_is_none(material: str, text: str) -> None:
    assert inventions(text, material) == []
