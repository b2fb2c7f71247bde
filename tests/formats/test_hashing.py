"""The content hash: the published vectors, the rule, and linear time."""

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.hashing import content_hash, entry_hash, knowledge_text

VECTORS = {
    "- Decision: use the shared adapter, because both runtimes consume the same contract."
    " Source: `memory/2026-08-23-topic-memory.md#session-2026-08-23T14-20`.": (
        "656b16d8e28554f064a80ce06fca88992e19a57e1d7b9110d6a19713dc9049cd"
    ),
    "- Cafe\u0301 port is 8080. See Source: notes inside text.": (
        "c5c615a1fb22d69b4b69cbf5477ccaf255917b1fb293201877d1640195965c97"
    ),
    "- Keep files under 4 MB, because the mirror refuses larger ones. Evidence: `session`"
    " Source: `memory/a.md#session-2026-09-03T09:00:00Z`.": (
        "7d25d255c1c2a68b7bf0ffdc7bd0448fc46d9dd15b026e93930102073bafd472"
    ),
}
PIECES = (
    "Source:",
    "Evidence:",
    " ",
    "\n",
    "`",
    "`a`",
    "``",
    ",",
    ".",
    "x",
    "- ",
    " Source: `a`",
    " Evidence: `b`, `c`",
)


@pytest.mark.parametrize(("bullet", "digest"), VECTORS.items())
def test_the_published_vectors(bullet, digest):
    assert content_hash(bullet) == digest


@pytest.mark.parametrize(
    ("bullet", "text"),
    [
        ("- x", "x"),
        ("* x", "x"),
        ("+ x", "x"),
        ("12. x", "x"),
        ("3) x", "x"),
        ("-x", "-x"),
        ("8080.5 x", "8080.5 x"),
        ("  - a\r\n   b ", "a b"),
        ("- Source: `a`", ""),
        ("- x Source: `a`, `b` `c`.", "x"),
        ("- x Source: `a` Source: `b`", "x Source: `a`"),
        ("- x Source: `a` Evidence: `b`", "x Source: `a`"),
        ("- x Evidence: `b` Source: `a`", "x"),
        ("- xSource: `a`", "xSource: `a`"),
        ("- x Source: a", "x Source: a"),
        ("- use `x` Source:\n`a` .", "use `x`"),
        ("- x Source: ``", "x Source: ``"),
    ],
)
def test_the_knowledge_text(bullet, text):
    assert knowledge_text(bullet) == text


def by_pattern(text, word):
    """The rule's own pattern, slow but literal."""
    tail = r"(?:^|\s+)" + word + r":\s*`[^`]+`(?:(?:\s*,\s*|\s+)`[^`]+`)*\s*\.?\s*$"
    return re.sub(tail, "", text)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_the_tail_is_that_of_the_pattern(text):
    text = "x " + text
    expected = by_pattern(by_pattern(text, "Source"), "Evidence")
    assert knowledge_text(text) == " ".join(expected.split())


@pytest.mark.parametrize(
    "text",
    [
        "`" * 200_000,
        "Source:" * 30_000,
        "x Source: `a` " * 15_000,
        " " * 200_000 + "x",
        "x Source: `a`" + " , `b`" * 33_000 + "!",
        "Source: `" * 22_000,
        "1" * 200_000,
        "x " + "` `" * 66_000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    start = process_time()
    content_hash(text)
    assert process_time() - start < 1


def test_an_entry_is_hashed_on_heading_and_body():
    assert entry_hash("A  b", "c\r\nd") == content_hash("A b c d")
    assert entry_hash("A", "b") != entry_hash("A", "c")
