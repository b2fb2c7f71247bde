"""Words that are found nowhere, and those of the store that were meant."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.conformance import source_of

from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.spelling import similar


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    index = Embedded(tmp_path_factory.mktemp("index"))
    index.refresh(
        source_of(
            "The database listens on 5433",
            "Deployment happens on Fridays",
            "Redis keeps sessions",
            "日本語の設定",
        )
    )
    yield index
    index.close()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("databse", "The database listens on 5433"),
        ("dtaabase", "The database listens on 5433"),
        ("Frydays", "Deployment happens on Fridays"),
        ("redsi", "Redis keeps sessions"),
        ("sesions", "Redis keeps sessions"),
    ],
)
def test_a_slip_of_the_fingers_finds_what_was_meant(index: Embedded, typed: str, found: str) -> None:
    assert [match.document.text for match in index.search(Query(typed)).matches] == [found]


@pytest.mark.parametrize(
    "typed",
    [
        "used",
        "uses",
        "added",
        "aging",
        "eyes",
        "dies",
        "ices",
        "zeppelin",
        "red1s",
        "rxy",
        "настройка",
        "Xedis",
    ],
)
def test_what_nobody_meant_finds_nothing(index: Embedded, typed: str) -> None:
    assert index.search(Query(typed)).matches == []


def test_a_word_that_is_there_is_not_corrected(index: Embedded) -> None:
    texts = [match.document.text for match in index.search(Query("sessions")).matches]
    assert texts == ["Redis keeps sessions"]


@given(st.text(max_size=30))
def test_no_word_raises(word: str) -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE vocabulary (term TEXT)")
    db.execute("INSERT INTO vocabulary VALUES ('databas'), ('redi')")
    assert len(similar(db, word)) <= 3
    db.close()


def test_a_long_text_is_not_searched_for_slips(index: Embedded) -> None:
    """A question in another language would have each of its words looked up in vain."""
    query = Query("databse wird hier nirgends jemals irgendwo gefunden werden koennen")
    assert index.search(query).matches == []


def test_no_more_than_two_words_are_taken_for_slips(index: Embedded) -> None:
    assert index.search(Query("zzxqa zzxqb databse")).matches == []
    assert index.search(Query("zzxqa databse")).matches != []
