"""Topic titles: sensible, few, and the same whatever the order inside a note."""

from __future__ import annotations

import pytest

from lamina.formats.bullet import Bullet
from lamina.pipeline.topics import Shelf, phrases, subject_of, titles


def bullet(text: str, label: str = "finding") -> Bullet:
    return Bullet(label, text, None, 0, 1)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Add rate limiting to the gateway. Rate limiting counts per tenant.", "Rate limiting"),
        ("We're seeing memory leaks in the image worker.", "Memory leaks"),
        ("Build the search index. The search index is rebuilt nightly.", "Search index"),
        (
            "The 'foo bar baz went wrong' message comes from the mail queue. The mail queue retries.",
            "Mail queue",
        ),
        ("Tomas called: berth B12 was sold twice. Berth B12 is small.", "Berth B12"),
        (
            "CI has been flaky since monday. The self-hosted runners lack the font.",
            "Self-hosted runners lack",
        ),
        ("日本の人たちが使うので、予約画面を変えたい。", "予約画面"),
        ("Wir nehmen Redis statt Memcached.", "Redis"),
        ("我们决定用 Redis 做缓存。", "Redis"),
        ("キャッシュにはRedisを使います。", "キャッシュ"),
    ],
)
def test_a_subject_is_the_telling_phrase_of_the_lead(text, title):
    assert subject_of([bullet(text)]) == title


def test_the_projects_own_name_is_no_subject():
    assert subject_of([bullet("Get started on the bird-atlas project.")], "bird-atlas") == "Overview"
    assert subject_of([bullet("Add maps to bird-atlas.")], "bird-atlas") == "Maps"


def test_without_a_telling_word_there_is_still_a_title():
    assert subject_of([bullet("It works now.")]) == "Overview"
    assert subject_of([]) == "Overview"


def test_preferences_and_status_have_topics_of_their_own():
    found = titles(
        [bullet("Never rebase.", "preference"), bullet("Next: docs.", "open"), bullet("Map tiles.")], Shelf()
    )
    assert found == ["Preferences", "Open points", "Map tiles"]


def test_a_later_session_joins_an_earlier_topic_about_the_same():
    shelf = Shelf([("Map tiles", "Map tiles are cached"), ("Bird calls", "Bird calls")])
    assert shelf.join("Tile cache") == "Map tiles"
    assert shelf.join("Login page") == "Login page"
    assert titles([bullet("The map tiles are blurred.")], shelf) == ["Map tiles"]


def test_a_session_stays_with_the_topic_it_wrote_to():
    assert titles([bullet("Login page is slow.")], Shelf(), own="Map tiles") == ["Map tiles"]


def test_the_order_of_earlier_topics_changes_nothing():
    known = [("Map tiles", ""), ("Tile server", "")]
    assert Shelf(known).join("Map tile server") == Shelf(known[::-1]).join("Map tile server")
    assert Shelf(known).join("Map tiles") == Shelf(known[::-1]).join("Map tiles") == "Map tiles"


def test_phrases_leave_code_out_of_words_and_hold_three_words():
    assert [*phrases("Move very large tile archive files to cold storage.")] == [
        "large tile archive",
        "cold storage",
    ]
