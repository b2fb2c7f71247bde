"""A model's sentence is laid beside what was said: where, by whom, in which words."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.bullet import Bullet
from lamina.formats.note import Note, Section
from lamina.pipeline.checks.support import Passage, passages_of, passages_of_note, support
from lamina.pipeline.relevance import Failure, Material, Turn

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def turn(first: int, user: str, *gists: str, agreed: bool = False, failures=()) -> Turn:
    seqs = tuple(range(first + 1, first + 1 + len(gists)))
    return Turn(first, first + len(gists), NOW, user, gists, gist_seqs=seqs, agreed=agreed, failures=failures)


TALK = Material(
    (
        turn(
            0,
            "We keep the session cache in Redis on port 6379, because restarts must not lose it. Thanks!",
            "I moved the cache to Redis; `load_session` in src/cache.py reads it now.",
        ),
        turn(
            4,
            "Which index engine should we take?",
            "I would take Tantivy 0.22 for the full-text index, since it is embedded and fast.",
            agreed=True,
        ),
        turn(
            8,
            "Never force-push to main. Ask me first.",
            "Understood.",
            failures=(
                Failure(
                    "Bash",
                    "pytest -q",
                    "ModuleNotFoundError: No module named 'yaml'",
                    "pip install pyyaml",
                    9,
                    11,
                ),
            ),
        ),
        turn(12, "部署前必须先跑数据库迁移，否则 orders 服务会报错。", "好的，我把它写进了 deploy.sh。"),
        turn(16, "デプロイは毎週木曜日に東京リージョンから行います。", "わかりました。"),
    )
)
PASSAGES = passages_of(TALK)


@pytest.mark.parametrize(
    "text,who,first,quoted",
    [
        (
            "The session cache is kept in Redis on port 6379, because restarts must not lose it.",
            "user",
            0,
            "session cache in Redis",
        ),
        ("`load_session` in src/cache.py reads the cache from Redis", "assistant", 1, "load_session"),
        ("Tantivy 0.22 is the full-text index: embedded and fast", "assistant", 5, "Tantivy 0.22"),
        ("Never force-push to main", "user", 8, "Never force-push to main."),
        (
            "pytest failed with ModuleNotFoundError for yaml; pip install pyyaml",
            "tool",
            9,
            "ModuleNotFoundError",
        ),
        ("部署前必须先跑数据库迁移", "user", 12, "部署前必须先跑数据库迁移"),
        ("デプロイは木曜日に東京リージョンから行う", "user", 16, "東京リージョン"),
        ("Run the migrations, or the orders service fails", "assistant", 12, ""),
    ],
)
def test_a_sentence_is_found_where_it_was_said(text, who, first, quoted):
    found = support(text, PASSAGES)
    assert found is not None
    assert (found.who, found.first) == (who, first)
    assert quoted in found.quote


def test_nothing_shared_is_no_support():
    assert support("Bananas ripen best beside apples", PASSAGES) is None
    assert support("", PASSAGES) is None
    assert support("Redis", []) is None


def test_another_language_rests_on_names_and_numbers():
    found = support("会话缓存放在 Redis 的 6379 端口", PASSAGES)
    assert found is not None
    assert found.first == 0
    assert found.share < 0.5
    assert found.who != "user"


def test_a_value_that_the_person_did_not_name_is_not_the_persons():
    passages = [
        Passage(0, 0, "user", "Let us keep the cache in Redis, restarts must not lose the cache."),
        Passage(1, 1, "assistant", "The cache is kept in Redis on port 6380, restarts do not lose it."),
    ]
    told = support("Keep the cache in Redis, restarts must not lose it", passages)
    more = support("Keep the cache in Redis on port 6380, restarts must not lose it", passages)
    assert told is not None
    assert more is not None
    assert (told.who, more.who) == ("user", "assistant")


def test_a_value_that_the_person_said_yes_to_may_be_in_the_persons_sentence():
    asked = "Shall I put the session cache in Redis on port 6380?"
    said = "Keep the session cache in Redis, restarts must not lose the sessions."
    text = "Keep the session cache in Redis on port 6380, restarts must not lose the sessions"
    for agreed, who in ((True, "user"), (False, "assistant")):
        passages = [Passage(0, 0, "user", said), Passage(1, 1, "assistant", asked, agreed=agreed)]
        found = support(text, passages)
        assert found is not None
        assert found.who == who


def test_a_name_that_the_person_did_not_say_is_not_the_persons():
    said = "We keep the session cache in memory, restarts may lose the sessions."
    text = "We keep the session cache in memory with Memcached, restarts may lose the sessions"
    found = support(text, [Passage(0, 0, "user", said), Passage(1, 1, "assistant", text)])
    assert found is not None
    assert found.who == "assistant"


def test_two_passages_give_their_span():
    passages = [
        Passage(3, 3, "user", "The exporter writes Parquet files."),
        Passage(9, 9, "user", "Upload the exports to the bucket in Frankfurt every night."),
    ]
    found = support("The exporter writes Parquet files and uploads them to a bucket in Frankfurt", passages)
    assert found is not None
    assert (found.first, found.last, found.who) == (3, 9, "user")


def test_a_rare_word_weighs_more_than_a_frequent_one():
    passages = [Passage(at, at, "user", f"the service number {at} is slow") for at in range(20)]
    passages.append(Passage(20, 20, "user", "the kestrel is slow"))
    found = support("A kestrel service", passages)
    assert found is not None
    assert found.quote == "the kestrel is slow"


def test_a_quote_is_whole_words_of_the_passage():
    long = (
        "We looked at many things, " * 20
        + "and the payments ledger lives in CockroachDB, "
        + "so be it " * 40
    )
    found = support("The payments ledger lives in CockroachDB", [Passage(0, 0, "user", long)])
    assert found is not None
    assert len(found.quote) <= 200
    assert "payments ledger lives in CockroachDB" in found.quote
    assert found.quote.strip("…") in long


def test_an_explanation_is_the_models_and_a_remedy_the_tools():
    failures = (
        Failure(
            "Bash", "make", "ld: cannot find -lssl", "OpenSSL headers were missing.", 1, 5, explained=True
        ),
    )
    passages = passages_of(Material((turn(0, "Build it", failures=failures),)))
    assert [(one.who, one.first, one.last) for one in passages] == [
        ("user", 0, 0),
        ("tool", 1, 5),
        ("assistant", 5, 5),
    ]


def test_a_notes_bullets_are_its_passages():
    bullets = (
        Bullet(
            "decision",
            "Use plain ESM without a build step",
            date(2026, 11, 30),
            3,
            5,
            "plain ESM it is",
            "user",
        ),
        Bullet("finding", "The tests take 40 s", None, 7, 7),
    )
    note = Note("s", "claude-code", sections=(Section(NOW, bullets, 0, 9),))
    passages = passages_of_note(note)
    found = support("Plain ESM is used, without any build step", passages)
    assert found is not None
    assert (found.first, found.last, found.who, found.quote) == (3, 5, "user", "plain ESM it is")
    found = support("The tests take 40 s", passages)
    assert found is not None
    assert (found.who, found.quote) == ("assistant", "The tests take 40 s")


DENIED = "Don't use Redis for the session cache, it loses sessions."


@pytest.mark.parametrize(
    ("others", "who", "first"),
    [
        ([Passage(1, 1, "assistant", "I use Redis for the session cache then.")], "assistant", 1),
        ([Passage(2, 2, "user", "Fine, use Redis for the session cache.")], "user", 2),
        ([], "user", 0),
    ],
)
def test_what_is_on_the_texts_side_is_quoted_before_what_says_the_contrary(others, who, first):
    found = support("Use Redis for the session cache", [Passage(0, 0, "user", DENIED), *others])
    assert found is not None
    assert (found.who, found.first) == (who, first)


def test_words_from_all_over_a_long_passage_tell_less_than_a_sentence():
    long = (
        "The worker writes the orders. The server answers in time. The database was slow in March. " * 2
        + "We stop at noon. Everything else about the shop is written down in the handbook of the team."
    )
    mixed = support(
        "The worker stops the server when orders make the database slow", [Passage(0, 0, "user", long)]
    )
    told = support("The database was slow in March", [Passage(0, 0, "user", long)])
    assert mixed is not None
    assert told is not None
    assert mixed.share < told.share - 0.3


@given(st.text(max_size=300), st.lists(st.text(max_size=600), max_size=5))
def test_any_text_is_taken(text, said):
    sides = ("user", "assistant", "tool")
    found = support(text, [Passage(at, at, sides[at % 3], part) for at, part in enumerate(said)])
    if found is not None:
        assert 0 < found.share <= 1
        assert len(found.quote) <= 200


@pytest.mark.parametrize(
    "text", ["a_" * 30_000, "中" * 60_000, "a/b." * 15_000, "word, " * 10_000, "`" * 60_000]
)
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    support(text, [Passage(0, 0, "user", text), Passage(1, 1, "assistant", text * 2)])
    assert time.process_time() - begin < 3
