"""Topic titles: sensible, few, and the same whatever the order inside a note."""

from __future__ import annotations

import pytest

from lamina.formats.bullet import Bullet
from lamina.pipeline.topics import Known, join, keys, phrases, subject_of, titles


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
        [bullet("Never rebase.", "preference"), bullet("Next: docs.", "open"), bullet("Map tiles.")], []
    )
    assert found == ["Preferences", "Status", "Map tiles"]


def test_a_later_session_joins_an_earlier_topic_about_the_same():
    known = [Known("Map tiles", keys("Map tiles are cached")), Known("Bird calls", keys("Bird calls"))]
    assert join("Tile cache", known) == "Map tiles"
    assert join("Login page", known) == "Login page"
    assert titles([bullet("The map tiles are blurred.")], known) == ["Map tiles"]


def test_a_session_stays_with_the_topic_it_wrote_to():
    assert titles([bullet("Login page is slow.")], [], own="Map tiles") == ["Map tiles"]


def test_the_order_of_earlier_topics_changes_nothing():
    known = [Known("Map tiles", frozenset()), Known("Tile server", frozenset())]
    assert join("Map tile server", known) in {"Map tiles", "Tile server"}
    assert join("Map tiles", known) == join("Map tiles", known[::-1]) == "Map tiles"


def test_phrases_leave_code_out_of_words_and_hold_three_words():
    assert [*phrases("Move very large tile archive files to cold storage.")] == [
        "large tile archive",
        "cold storage",
    ]
