"""Topic slugs and headings: any title gives a file name that every system takes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.scope import is_device_name
from lamina.formats.slug import heading_of, topic_slug, whole_words

titles = st.one_of(st.text(max_size=40), st.text(alphabet="aAé/. -_🚀漢ก\u0301\u200dßİ", max_size=30))


@given(titles)
def test_a_slug_is_a_safe_file_name(title):
    slug = topic_slug(title)
    assert 0 < len(slug.encode()) <= 64
    assert unicodedata.is_normalized("NFC", slug)
    assert not is_device_name(slug)
    assert not slug.startswith("-")
    assert not slug.endswith("-")
    assert not set(slug) & set('/\\:*?"<>|. \n\t\x00')
    assert slug == topic_slug(title)


@given(titles)
def test_the_unicode_form_of_a_title_does_not_matter(title):
    assert topic_slug(unicodedata.normalize("NFC", title)) == topic_slug(unicodedata.normalize("NFD", title))


@given(
    st.lists(titles, max_size=8, unique_by=lambda t: unicodedata.normalize("NFC", " ".join(t.split()) or t))
)
def test_different_titles_never_share_a_file(titles):
    taken: list[str] = []
    for title in titles:
        slug = topic_slug(title, taken)
        assert slug.casefold() not in {other.casefold() for other in taken}
        taken.append(slug)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Store root", "store-root"),
        ("Plugin config rows", "plugin-config-rows"),
        ("2026-09-27", "2026-09-27"),
        ("  Store   root ", "store-root"),
        ("漢字の話", "漢字の話"),
        ("Café", "café"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
    ],
)
def test_plain_titles_are_plain_slugs(title, slug):
    assert topic_slug(title) == slug


@pytest.mark.parametrize(
    ("title", "start"),
    [
        ("🚀", "topic-"),
        ("🎯", "topic-"),
        ("", "topic-"),
        ("   ", "topic-"),
        ("a/b", "a-b-"),
        ("a.b", "a-b-"),
        ("con", "con-"),
        ("NUL", "nul-"),
        ("aux.txt", "aux-txt-"),
        ("com1", "com1-"),
        ("Governance: X", "governance-x-"),
        ("../../etc/passwd", "etc-passwd-"),
        ("x" * 100, "x" * 57 + "-"),
        ("漢" * 40, "漢" * 19 + "-"),
    ],
)
def test_a_title_that_lost_something_carries_a_hash(title, start):
    slug = topic_slug(title)
    assert slug.startswith(start)
    assert len(slug) == len(start) + 6


def test_titles_that_look_alike_have_files_of_their_own():
    assert len({topic_slug(t) for t in ("a/b", "a.b", "a b", "a_b", "a:b")}) == 5
    assert len({topic_slug(t) for t in ("🚀", "🎯", "", "   ")}) == 4


def test_a_title_held_by_another_topic_gets_a_hash():
    assert topic_slug("Hello") == topic_slug("hello") == "hello"
    second = topic_slug("Hello", ["hello"])
    assert second.startswith("hello-")
    assert topic_slug("Hello", ["hello", second]) not in ("hello", second)
    assert topic_slug("Straße", ["strasse"]) != "straße"


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Use port 8080. Then restart.", "Use port 8080."),
        ("First line\nsecond line", "First line"),
        ("\n\n  - **port:** is 8080\n", "**port:** is 8080"),
        ("# Title\n\ntext", "Title"),
        ("1. Do this. Then that.", "Do this."),
        ("#hashtag first", "#hashtag first"),
        ("Use e.g. v1.2.3 of it. Not 2", "Use e.g. v1.2.3 of it."),
        ("```sh\nls\n```", "ls"),
        ("端口是8080。然后重启。", "端口是8080。"),
        ("", ""),
        ("   \n ", ""),
    ],
)
def test_headings(text, heading):
    assert heading_of(text) == heading


def test_a_long_heading_ends_with_a_whole_word():
    assert heading_of("word " * 40) == ("word " * 16).rstrip()
    assert heading_of("漢" * 100) == "漢" * 80
    assert heading_of("see https://example.org/" + "x" * 100).startswith("see")


@given(st.text(max_size=300))
def test_a_heading_is_one_short_line(text):
    heading = heading_of(text)
    assert len(heading) <= 80
    assert heading == " ".join(heading.split())


@given(st.text(max_size=60), st.integers(2, 40))
def test_a_cut_never_separates_a_mark_from_its_letter(text, limit):
    cut = whole_words(text, limit)
    assert len(cut) <= limit
    assert text.startswith(cut)
    rest = text[len(cut) :]
    if rest and cut and len(cut) > 1:
        assert unicodedata.category(rest[0])[0] != "M"


def test_a_heading_does_not_cut_a_redaction_mark():
    text = "The deploy script pushes the image to https://deploy:[redacted password]@registry.example today"
    assert heading_of(text) == "The deploy script pushes the image to https://deploy:"
