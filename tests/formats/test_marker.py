import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.pieces import hostile

from lamina.formats.fences import fences
from lamina.formats.marker import (
    Marker,
    decode,
    encode,
    escape,
    markers,
    parse_marker,
    render_marker,
    unescape,
)
from lamina.formats.structure import split_lines

SESSION = "<!-- memory:session id=2026-11-30T09:00:00Z-2 -->"
keys = st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True)
attributes = st.dictionaries(keys, hostile, max_size=4).map(lambda found: tuple(found.items()))


def test_a_marker_reads_back_with_its_name_and_attributes() -> None:
    marker = parse_marker(SESSION + "\r\n")
    assert marker == Marker("memory:session", (("id", "2026-11-30T09:00:00Z-2"),))
    assert str(marker) == SESSION


@pytest.mark.parametrize(
    "line",
    [
        "<!-- digest:sync status=pending pending=a,b-->",
        "<!--digest:sync  status=pending\tpending=none -->  ",
        "<!-- digest:sync pending= -->",
        "<!-- digest:item source=caf%C3%A9.md#x%zz later=unknown -->",
        "<!-- system-doc version=3 -->",
        "<!-- fde-digest:state last-run=2026-11-30T09:00:00Z -->",
    ],
)
def test_other_spellings_are_read_and_kept(line: str) -> None:
    assert str(parse_marker(line)) == line


def test_older_names_mean_the_same() -> None:
    marker = parse_marker("<!-- fde-digest:state a=b -->")
    assert marker is not None
    assert marker.is_("digest:state")
    assert str(marker.setting("a", "c")) == "<!-- fde-digest:state a=c -->"


@pytest.mark.parametrize(
    "line",
    [
        " " + SESSION,
        "x " + SESSION,
        "<!-- a comment in prose -->",
        "<!-- a:b c=d --> text",
        "<!-- a:b c=d --> <!-- e:f g=h -->",
        "<!-- a:b c=d",
        '<!-- a:b c="d" -->',
        "<!-- a:b c=d c=e -->",
        "<!-- a:b c -->",
        "<!-- -->",
        "<!-->",
        "",
    ],
)
def test_other_lines_are_no_markers(line: str) -> None:
    assert parse_marker(line) is None


def test_malformed_markers_are_told_apart_from_comments() -> None:
    text = "<!-- a comment -->\n<!-- digest:state last-run -->\n<!-- digest:sync a=b\n"
    assert [(each.line, each.marker, bool(each.problem)) for each in markers(text)] == [
        (1, None, True),
        (2, None, True),
    ]


def test_markers_count_only_at_column_0_outside_of_fences() -> None:
    text = f"\ufeff{SESSION}\n```\n{SESSION}\n```\n  {SESSION}\n- {SESSION}\n{SESSION}"
    assert [each.line for each in markers(text)] == [0, 6]


def test_changing_one_attribute_changes_one_span() -> None:
    line = "<!--  digest:sync   status=pending   pending=a,b   x=%zz -->"
    marker = parse_marker(line)
    assert marker is not None
    assert str(marker.setting("status", "synced")) == line.replace("   status=pending", " status=synced")
    assert str(marker.setting("pending", None)) == line.replace("   pending=a,b", "")
    assert str(marker.setting("new", "a b")) == line.replace(" -->", " new=a%20b -->")


def test_a_program_cannot_write_a_marker_of_another_shape() -> None:
    with pytest.raises(ValueError, match="no marker"):
        render_marker("a b", {})
    with pytest.raises(ValueError, match="no marker"):
        render_marker("a:b", {"x -->": "y"})


def test_only_what_must_be_is_encoded() -> None:
    assert encode('a/b#c,d=é&"<>% \n') == "a/b#c,d=é&%22%3C%3E%25%20%0A"


@given(hostile)
def test_values_survive(value: str) -> None:
    assert decode(encode(value)) == value


@given(attributes)
def test_a_marker_is_one_line_and_reads_back(attrs: tuple[tuple[str, str], ...]) -> None:
    line = render_marker("a:b", attrs)
    assert len(line.splitlines()) == 1
    assert parse_marker(line) == Marker("a:b", attrs)


@given(attributes, keys, hostile)
def test_setting_sets_that_one(attrs: tuple[tuple[str, str], ...], key: str, value: str) -> None:
    marker = parse_marker(render_marker("a:b", attrs))
    assert marker is not None
    again = parse_marker(str(marker.setting(key, value)))
    assert again is not None
    assert dict(again.attrs) == {**dict(attrs), key: value}


@given(hostile)
def test_escaped_text_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text


@given(hostile, hostile)
def test_no_text_forges_or_hides_a_marker(before: str, after: str) -> None:
    text = f"{SESSION}\n{escape(before)}\n{SESSION}\n{escape(after)}\n{SESSION}\n"
    found = markers(text)
    assert [str(each.marker) for each in found] == [SESSION] * 3


@given(hostile)
def test_escaped_text_leaves_no_fence_open(text: str) -> None:
    assert not fences([line.rstrip("\r\n") for line in split_lines(escape(text))]).loose
