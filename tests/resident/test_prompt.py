"""Questions are embedded in time or not at all, and a slow embedder is noticed both ways."""

from __future__ import annotations

import threading
import time

import pytest
from tests.resident.bag import Bag
from tests.resident.running import answered, until

from lamina import errors
from lamina.embed.question import Weighing, ask
from lamina.resident import client
from lamina.resident.prompt import Prompt


class Gate(Bag):
    """Embeds questions only while it is open."""

    def __init__(self):
        super().__init__()
        self.open = threading.Event()
        self.questions = 0

    def embed(self, texts, *, query=False):
        if query:
            self.questions += 1
            self.open.wait(60)
        return super().embed(texts, query=query)


def within(prompt, seconds):
    prompt.until = time.monotonic() + seconds
    return ask(prompt, "which port", {"port": 1.0})


def test_a_question_that_takes_too_long_is_given_up_and_made_behind():
    embedder = Gate()
    prompt = Prompt(embedder)
    start = time.monotonic()
    with pytest.raises(errors.EmbedderUnavailable, match="too long"):
        within(prompt, 0.1)
    assert prompt.late
    for _ in range(20):  # it is busy for longer than these may take: nobody waits, and nothing piles up
        with pytest.raises(errors.EmbedderUnavailable):
            within(prompt, 0.05)
    assert time.monotonic() - start < 5
    assert (embedder.questions, prompt.takes_s > 0.1) == (1, True)
    embedder.open.set()
    until(lambda: prompt.takes_s == 0)  # the slower of two: it was once only
    assert within(prompt, 20).any()


def test_a_slow_one_is_tried_behind_until_it_is_fast_again():
    embedder = Bag()
    prompt = Prompt(embedder)
    embedder.slow_question_s = 0.3
    for _ in range(2):
        within(prompt, 20)
    assert prompt.takes_s >= 0.3
    start = time.monotonic()
    with pytest.raises(errors.EmbedderUnavailable):
        within(prompt, 0.2)
    assert time.monotonic() - start < 0.2
    embedder.slow_question_s = 0.0

    def fast():
        try:
            return within(prompt, 0.2).any()
        except errors.EmbedderUnavailable:
            return False

    until(fast)
    assert prompt.takes_s < 0.2


def test_what_fails_is_told_to_who_waits_for_it():
    class Broken(Bag):
        def embed(self, texts, *, query=False):
            raise errors.EmbedderUnavailable(f"no model for {len(texts)} texts, query {query}", "get one")

    with pytest.raises(errors.EmbedderUnavailable, match="no model"):
        within(Prompt(Broken()), 20)


def test_words_are_weighed_where_the_embedder_can():
    class Weighs(Bag):
        def weigh(self, text, worth):
            return self.embed([" ".join(word for word in worth if word in text)])[0]

    assert not isinstance(Prompt(Bag()), Weighing)
    prompt = Prompt(Weighs())
    assert isinstance(prompt, Weighing)
    assert (within(prompt, 20) == Bag().embed(["port"])[0]).all()


def test_with_a_slow_embedder_words_answer_in_time_and_vectors_by_name(site):
    memory = site.filled()
    embedder = Bag()
    embedder.slow_question_s = 0.6
    with site.server(embedder=embedder):
        until(lambda: embedder.embedded == 5)
        for _ in range(3):
            found = client.ask(
                memory.standpoint,
                {"do": "search", "query": "port", "within_s": 0.3},
                env=site.env,
                within_s=20,
            )["found"]
            assert (found["engines"], found["notes"]) == (["words"], [])
        assert answered(memory, vectors=True).hits
        pong = client.ask(memory.standpoint, {"do": "ping"}, env=site.env, within_s=20)
        assert "--vectors" in pong["problem"]
        log = site.root / "logs" / "memory.log"
        assert "vectors_failed" not in (log.read_text() if log.exists() else "")
        embedder.slow_question_s = 0.0
        assert answered(memory).hits
