"""Which entries say nearly the same as something about to be written."""

from __future__ import annotations

import pytest
from tests.pipeline.opening import opened


@pytest.fixture
def memory(tmp_path):
    return opened(tmp_path)


def test_entries_that_share_most_words_are_named_best_first_and_three_at_most(memory):
    ids = [
        memory.remember(f"The staging server listens on port 80{n}0 behind the proxy").id for n in range(5)
    ]
    outcome = memory.remember("The staging server listens on port 9000 behind the proxy")
    assert len(outcome.similar) == 3
    assert set(outcome.similar) <= set(ids)


def test_one_subject_is_not_the_same_thing(memory):
    memory.remember("The staging server is restarted every night at two by a timer of systemd")
    assert memory.remember("The staging server has a certificate that expires in May").similar == ()


def test_other_scopes_are_not_asked(memory):
    memory.remember("The staging server listens on port 8081", scope="global")
    assert memory.remember("The staging server listens on port 8082").similar == ()


def test_scripts_without_spaces_are_compared_too(memory):
    first = memory.remember("服务器的备份每天凌晨两点自动执行一次").id
    assert memory.remember("服务器的备份每天凌晨三点自动执行一次").similar == (first,)


@pytest.mark.parametrize("text", ["!!!", "🚀", "the of and", "a"])
def test_text_that_says_nothing_is_like_nothing(memory, text):
    memory.remember("Something")
    assert memory.remember(text).similar == ()


def test_a_broken_index_does_not_stop_a_write(memory):
    memory.remember("One")
    (memory.root / "index" / "lamina.db").write_bytes(b"no database" * 1000)
    assert memory.remember("Two").status == "written"
    assert memory.search("Two").hits
