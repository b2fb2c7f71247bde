import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.pieces import hostile, lines

from lamina.formats.frontmatter import FrontMatter, join, new_front_matter, split

PAGE = """\
---
title: Governance: X
name: "abc "def" ghi"
sha: 0123456
flag: no
# a comment
criteria:
- criterion: "tests: pass"
  status: pending

written_at: 2026-11-30T12:00:00Z
---

Body
---
more
"""


def header_of(text: str) -> FrontMatter:
    header, _ = split(text)
    assert header is not None
    return header


def test_values_with_colons_and_quotes_are_read() -> None:
    values = header_of(PAGE).texts
    assert values["title"] == "Governance: X"
    assert values["name"] == 'abc "def" ghi'
    assert values["criteria"] == [{"criterion": "tests: pass", "status": "pending"}]


def test_texts_are_what_stands_there() -> None:
    sound = header_of("---\nsha: 0123456\nflag: no\nexp: 12e4\nnone: ~\n---\n")
    assert sound.texts == {"sha": "0123456", "flag": "no", "exp": "12e4", "none": "~"}
    assert sound.values == {"sha": 42798, "flag": False, "exp": "12e4", "none": None}


@pytest.mark.parametrize(
    "text",
    [
        "---\nA thematic break, then prose.\n---\n",
        "---\n\n# Title\n\n---\ntext",
        "---\n- a\n- list\n---\n",
        "---\n---\n",
        "---\n# only a comment\n---\n",
        "---\nopen: never closed\n",
        "--- \n",
        "----\nkey: value\n---\n",
        " ---\nkey: value\n---\n",
        "text\n---\nkey: value\n---\n",
        "---",
        "",
    ],
)
def test_content_that_only_looks_like_a_header_is_content(text: str) -> None:
    assert split(text) == (None, text)


@pytest.mark.parametrize(
    "text", ["\ufeff---\r\nkey: v\r\n---\r\nbody\r\n", "---\nkey: v\n---", "--- \nkey: v\n---\t\n---\n"]
)
def test_a_header_may_have_any_line_ends_and_a_byte_order_mark(text: str) -> None:
    header, body = split(text)
    assert header is not None
    assert header.values == {"key": "v"}
    assert join(header, body) == text


def test_read_edit_save_keeps_the_header_byte_for_byte() -> None:
    header, body = split(PAGE)
    assert join(header, body.replace("more", "less")) == PAGE.replace("more", "less")


def test_setting_one_key_changes_one_span() -> None:
    header = header_of(PAGE)
    assert header.setting("title", "Y").raw == header.raw.replace("Governance: X", "Y")
    assert header.setting("criteria", None).raw == header.raw.replace(
        'criteria:\n- criterion: "tests: pass"\n  status: pending\n', "criteria: null\n"
    )
    assert header.setting("new", 1).raw == header.raw[:-4] + "new: 1\n---\n"
    assert header.without("criteria").without("absent").raw == header.raw.replace(
        'criteria:\n- criterion: "tests: pass"\n  status: pending\n', ""
    )


def test_a_flow_mapping_is_rewritten_as_lines() -> None:
    assert header_of("---\n{a: 1}\n---\n").setting("b", "x").raw == "---\na: 1\nb: x\n---\n"


def test_a_key_must_be_a_plain_word() -> None:
    with pytest.raises(ValueError, match="no key"):
        header_of(PAGE).setting("a: b\nc", 1)


def test_a_header_without_a_last_line_end_takes_a_body() -> None:
    assert join(header_of("---\na: 1\n---"), "body") == "---\na: 1\n---\nbody"


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [{', '.join(['*' + old] * 9)}]}}\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "inner",
    [
        BOMB,
        MERGES,
        "a: !!python/object/apply:os.system [true]\n",
        "a: !!int ''\n",
        "a: !!timestamp x\n",
        "a: !custom {b: c}\n",
        "a: " + "[" * 50_000 + "\n",
        "a: " + "{" * 5_000 + "\n",
        "a: " + "[" * 900 + "\n",
        "- " * 20_000 + "\n",
        "a:\n " + "- " * 20_000 + "\n",
        "a:\n " + "? " * 20_000 + "\n",
        "a: " + '"x": ' * 9_000 + "\n",
        "a: " + "9" * 6_000 + "\n",
        "a: 2026-13-45\n",
        "a: =\n",
        "a: " + "x" * 100_000 + "\n",
        "? [a]\n: b\n",
        "".join(f"k{n}: 'x\n" for n in range(5_000)),
    ],
)
def test_hostile_yaml_costs_little_and_runs_nothing(inner: str) -> None:
    text = f"---\nok: fine\n{inner}---\nbody"
    start = time.process_time()
    header, body = split(text)
    if header is not None:
        assert len(str(header.values)) < 3 * len(text)
        assert len(str(header.texts)) < 3 * len(text)
    assert time.process_time() - start < 5
    assert join(header, body) == text


@given(lines)
def test_any_text_survives_splitting(text: str) -> None:
    for each in (text, f"---\n{text}\n---\nx", f"---\nkey: value\n{text}\n---\r\nx"):
        assert join(*split(each)) == each


plain = st.text(alphabet=st.characters(codec="utf-8"), max_size=8) | hostile
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["title", "no", "session_id", "x.y-z", "key"])


@given(st.dictionaries(keys, values, min_size=1, max_size=4))
def test_what_is_written_reads_back(written: dict[str, object]) -> None:
    header, body = split(new_front_matter(written).raw + "body")
    assert header is not None
    assert (header.values, body) == (written, "body")


@given(st.dictionaries(keys, values, min_size=1, max_size=4), keys, values)
def test_setting_sets_that_key_alone(written: dict[str, object], key: str, value: object) -> None:
    header = new_front_matter(written).setting(key, value)
    assert header.values == {**written, key: value}
    again, rest = split(header.raw)
    assert (again, rest) == (header, "")
