"""JSON texts are edited around what people and hosts wrote into them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.install import jsontext
from lamina.install.jsontree import NotJson, parse

HOOK = {"matcher": "x", "hooks": [{"type": "command", "command": "/s/state/bin/hook codex Stop"}]}
AT = ("hooks", "Stop")

SPACES = st.sampled_from(["", " ", "\n", "\r\n", "\t", "\n\n  ", ' // note, "a": {\n', " /* } */ "])
WORDS = st.sampled_from(["a", "b", "hooks", "Stop", "名前", "e\\u00e9", 'x\\"y'])
PLAIN = st.sampled_from(["1", "-0.5e3", "true", "null", '"text"', '"🦊 \\" }"', '"//no comment"'])


@st.composite
def containers(draw, inner):
    kind = draw(st.booleans())
    values = draw(st.lists(inner, max_size=3))
    parts = []
    for value in values:
        name = f'"{draw(WORDS)}"{draw(SPACES)}:{draw(SPACES)}' if kind else ""
        parts.append(f"{draw(SPACES)}{name}{value}{draw(SPACES)}")
    text = ",".join(parts) + ("," + draw(SPACES) if parts and draw(st.booleans()) else "")
    text = text or draw(SPACES)
    return f"{{{text}}}" if kind else f"[{text}]"


VALUES = st.recursive(PLAIN, containers, max_leaves=8)
TEXTS = st.builds(
    lambda bom, before, value, after: bom + before + value + after,
    st.sampled_from(["", "\ufeff"]),
    SPACES,
    VALUES.filter(lambda text: text.startswith("{")),
    SPACES,
)


def mine(value: object) -> bool:
    return "/state/bin/" in json.dumps(value)


@given(TEXTS)
def test_what_was_put_in_is_there_and_comes_out_to_the_byte(text):
    before = parse(text).value
    try:
        with_it = jsontext.put_member(text, ("mcp", "lamina"), {"command": "/s/state/bin/lamina"})
        with_it = jsontext.put_item(with_it, AT, HOOK)
    except jsontext.WrongShape:
        return
    after = parse(with_it).value
    assert after["hooks"]["Stop"][-1] == HOOK
    assert after["mcp"]["lamina"] == {"command": "/s/state/bin/lamina"}
    rest = jsontext.take_items(with_it, AT, mine, text)
    rest = jsontext.take_members(rest, ("mcp", "lamina"), mine, text)
    assert parse(rest).value == before
    assert rest == text


@given(TEXTS)
def test_a_text_is_only_added_to(text):
    try:
        with_it = jsontext.put_item(text, AT, HOOK)
    except jsontext.WrongShape:
        return
    letters = iter(with_it)
    assert all(letter in letters for letter in text if letter not in " \t\r\n")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        '{"a" 1}',
        '{"a": 1} x',
        "{'a': 1}",
        '{"a": }',
        '{"a": 01}',
        '{"a": "\n"}',
        '{"a": "\\x"}',
        "[1,,2]",
        "{,}",
        "{" + '"a":{' * 3000,
        "nul",
        "/* never closed",
    ],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(NotJson):
        parse(text)


def test_the_layout_of_a_file_is_kept():
    text = '{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{"a": 1} // mine\r\n\t\t]\r\n\t}\r\n}'
    with_it = jsontext.put_item(text, AT, {"b": [2]})
    assert with_it == (
        '{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{"a": 1}, // mine\r\n\t\t\t{\r\n\t\t\t\t"b": [\r\n'
        "\t\t\t\t\t2\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}"
    )


def test_a_file_in_one_line_stays_one():
    assert jsontext.put_item('{"a":1}', AT, {"b": 2}) == '{"a":1,"hooks":{"Stop":[{"b":2}]}}'
    assert jsontext.put_member('{"a": [1]}', ("b",), [2]) == '{"a": [1], "b": [2]}'


def test_of_a_key_that_stands_twice_the_last_counts_and_both_are_cleaned():
    text = '{"hooks": {"Stop": [{"h": "/s/state/bin/hook"}]}, "hooks": {"Stop": [1]}}'
    assert parse(jsontext.put_item(text, AT, 2)).value == {"hooks": {"Stop": [1, 2]}}
    rest = jsontext.take_items(text, AT, mine, "")
    assert rest == '{"hooks": {"Stop": [1]}}'


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks": null}', "[]"])
def test_a_wrong_shape_is_refused_and_not_overwritten(text):
    with pytest.raises(jsontext.WrongShape):
        jsontext.put_item(text, AT, HOOK)
