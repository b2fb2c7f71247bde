"""Tables in TOML texts."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.install import tomltext

AT = ("mcp_servers", "lamina")
TABLE = {"command": "/a 'b' \"c\"/state/bin/lamina", "args": ["mcp"]}

PIECES = st.lists(
    st.sampled_from(
        [
            'model = "x"\n',
            "# a comment\n",
            "\n",
            "[features]\nhooks = true\n",
            '[projects."/a [b]"]\ntrust_level = "trusted"\n',
            '[mcp_servers.other]\ncommand = "x"\n',
            '[mcp_servers.other2.env]\nA = "1"\n\n',
            "[[list]]\na = 1\n",
            'text = """\n[mcp_servers.lamina]\n"""\n',
        ]
    ),
    max_size=6,
    unique=True,
)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(PIECES, st.sampled_from(["", "\ufeff"]), st.booleans())
def test_a_table_goes_in_and_comes_out_to_the_byte(pieces, bom, crlf):
    text = "".join(pieces)
    if not _is_toml(text):
        return
    text = bom + (text.replace("\n", "\r\n") if crlf else text)
    with_it = tomltext.put(text, AT, TABLE)
    assert tomltext.find(with_it, AT) == TABLE
    assert with_it.startswith(text)
    assert tomltext.put(with_it, AT, TABLE) == with_it
    assert tomltext.take(with_it, AT) == text


@given(PIECES, PIECES)
def test_what_others_wrote_around_it_stays(before, after):
    text = "".join(before)
    behind = "".join(piece for piece in after if piece not in before and piece[0] == "[")
    if not _is_toml(text) or not _is_toml(text + behind):
        return
    with_it = tomltext.put(text, AT, TABLE) + "[mcp_servers.lamina.tools.x]\nmode = 1\n\n# theirs\n" + behind
    if not _is_toml(with_it):
        return
    rest = tomltext.take(with_it, AT)
    assert tomllib.loads(rest) == tomllib.loads(text + behind)
    assert rest.endswith("# theirs\n" + behind)


@pytest.mark.parametrize(
    "text", ['mcp_servers = {a = {command = "x"}}\n', 'mcp_servers.a.command = "x"\n', "[mcp_servers]\n"]
)
def test_other_ways_to_write_tables_are_understood(text):
    with_it = tomltext.put(text, AT, TABLE)
    assert tomltext.find(with_it, AT) == TABLE
    assert tomllib.loads(tomltext.take(with_it, AT)) == tomllib.loads(text)


def test_an_older_table_of_ours_is_replaced():
    text = '[mcp_servers."lamina"]\ncommand = "/old/state/bin/lamina"\n\n[x]\ny = 1\n'
    with_it = tomltext.put(text, AT, TABLE)
    assert tomllib.loads(with_it) == {"mcp_servers": {"lamina": TABLE}, "x": {"y": 1}}


def test_no_toml_is_refused():
    with pytest.raises(ValueError, match="line 1"):
        tomltext.put("a = \n", AT, TABLE)
