"""The whole way to a real model: our client, HTTP, llama.cpp, and back into the store.

The model is far too small to be right, which is the point: what it makes up must not get anywhere. Nothing is
asserted of what it means.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.models.following import followed
from tests.models.gbnf import compiled
from tests.models.small import ROUTE, Small, small
from tests.pipeline.opening import holding, opened
from tests.pipeline.sessions import claude

from lamina.errors import ModelFailed
from lamina.formats.bullet import Bullet
from lamina.formats.note import Note, Section
from lamina.formats.reply import parse_reply
from lamina.hosts.base import detect
from lamina.hosts.render import Said
from lamina.memory import Memory, models
from lamina.models import exchange
from lamina.models.base import Prompt, Reply
from lamina.models.choose import model_for
from lamina.models.openai import OpenAI, _stream
from lamina.pipeline.asking import Answer, Climber
from lamina.pipeline.capture import Source, capture
from lamina.pipeline.consolidation.run import consolidate_with
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.relevance import Limits
from lamina.pipeline.summarise import summarise
from lamina.store import notes
from lamina.store.identity import Workspace
from lamina.store.store import Store

pytestmark = pytest.mark.model

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOTE = "codex_s-1"
SAID = (
    "We keep the order queue in Postgres, because Redis lost jobs twice.",
    "Never restart the mail worker by hand, since its supervisor does that.",
)
REPLY_TOKENS = 80
COUNT = Prompt("", "Count from one to ten.", tokens=12)


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Small]:
    with small(tmp_path_factory.mktemp("small")) as running:
        yield running


@pytest.fixture
def memory(server, tmp_path):
    memory = opened(tmp_path, env={"LAMINA_MODEL": ROUTE, "LAMINA_MODEL_BASE_URL": server.url})
    memory.init()
    return memory


class Short:
    """Asks what it is given in few words, and keeps the last prompt and reply; `change` changes the prompt."""

    def __init__(self, asker: Climber, system: str, **change: str) -> None:
        self.asker, self.system, self.change = asker, system, change
        self.prompt, self.reply = Prompt("", ""), Reply("")

    def ask(self, purpose: str, prompt: Prompt, *, own: str = "") -> Answer:
        self.prompt = replace(prompt, system=self.system, tokens=REPLY_TOKENS, **self.change)
        answer = self.asker.ask(purpose, self.prompt, own=own)
        self.reply = answer.reply
        return answer


def model(server: Small) -> OpenAI:
    made = model_for(ROUTE, env={}, base_url=server.url, folder=Path("/nowhere"))
    assert isinstance(made, OpenAI)
    return made


def noted(store: Store) -> Store:
    """Let one note wait; no number and no path stands in it."""
    bullets = tuple(
        Bullet("decision", text, NOW.date(), at, at, text, "user") for at, text in enumerate(SAID)
    )
    with store.writing(label="test", at=NOW) as batch:
        section = Section(NOW, bullets, 0, 4)
        notes.save(batch, Note("s-1", "codex", "workspace:shop", "/w", 0, 4, NOW, NOW, sections=(section,)))
    return store


def consolidated(store: Store, asker: Short):
    return consolidate_with(store, asker, now=NOW, neighbours=lambda: lambda _text, _scope: [])


def ungrounded(store: Store, material: str) -> list[str]:
    """Return what entries name that the material does not."""
    told = Shown(material)
    entries = [located.entry for located in store.entries()]
    return [value for entry in entries for value in inventions(f"{entry.heading}\n{entry.body}", told)]


def test_a_reply_comes_in_pieces_and_is_put_together(server):
    asked, pieces = model(server), []

    def stream(prompt, client, within_s):
        for piece in _stream(asked.endpoint, asked.shape, prompt, client, within_s):
            pieces.append(piece)
            yield piece

    talk = exchange.Talk(stream, (OSError,))
    reply = exchange.ask(asked.endpoint, COUNT, talk, env={}, within_s=60)
    texts = [piece.text for piece in pieces if piece.text]
    assert len(texts) > 3
    assert "".join(texts).strip() == reply.text != ""
    assert reply.cut, "the limit ends it"
    assert reply.counted
    assert (reply.tokens_out, 10 < reply.tokens_in < 60) == (12, True)


def test_what_it_used_is_metered(memory):
    reply = memory._at.asker.ask("rerank", COUNT).reply
    used = memory.status()["models"]
    assert (used["calls"], used["tokens_in"], used["tokens_out"]) == (1, reply.tokens_in, 12)
    assert used["by_purpose"]["rerank"]["calls"] == 1
    (day,) = (memory.store.root / "state" / "usage").glob("*.json")
    assert ROUTE in day.read_text()


def test_the_ladder_passes_from_a_dead_route_to_this_one(server, tmp_path):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        env = {"LAMINA_MODEL": "custom/dead", "LAMINA_MODEL_BASE_URL": dead, "LLAMACPP_BASE_URL": server.url}
        memory = opened(tmp_path, env=env | {"LAMINA_MODEL_ROUTES": ROUTE})
        memory.init()
        answer = memory._at.asker.ask("rerank", COUNT)
    assert (answer.route, bool(answer.reply.text)) == (ROUTE, True)
    used = memory.status()["models"]
    assert (used["calls"], used["failed"]) == (2, 1)
    assert next(row for row in models.listing(memory._at)["routes"] if row["route"] == ROUTE)["won"]


def test_the_time_limit_ends_a_call(server):
    started = time.monotonic()
    long = Prompt("", "word " * 200 + "Repeat that.", tokens=REPLY_TOKENS)
    with pytest.raises(ModelFailed, match=r"sent no text within 0\.05 s"):
        model(server).ask(long, within_s=0.05)
    assert time.monotonic() - started < 5


def test_a_grammar_that_the_server_refuses_costs_the_grammar_only(server):
    reply = followed(model(server), replace(COUNT, grammar="root ::= nowhere"), within_s=60)
    assert reply.text


def test_a_consolidation_held_to_its_grammar_is_read_line_by_line(memory):
    store = noted(memory.store)
    asker = Short(memory._at.asker, "Write each fact as: - [note | scope | layer | 3] topic :: text")
    done = consolidated(store, asker)
    text = asker.reply.text
    whole = text if not asker.reply.cut else text.rpartition("\n")[0]
    assert compiled(asker.prompt.grammar).fullmatch(f"{whole}\n") or not whole
    said = parse_reply(text, asker.reply.cut)
    assert said.usable is not done.parse_failed
    assert {fact.note for fact in said.facts} | set(said.done) <= {NOTE}
    assert done.entries + done.known + sum(done.rejected.values()) <= len(said.facts)
    assert ungrounded(memory.store, asker.prompt.text) == []
    (note,) = notes.notes(store)
    assert note.note.consolidated or note.note.attempts == 1


def test_what_it_makes_up_gets_nowhere(memory):
    store = noted(memory.store)
    invented = (
        f'root ::= "- [{NOTE} | workspace:shop | semantic | 3] Port :: The queue listens on " number '
        f'" in src/" name ".py\\n" "DONE {NOTE}\\n"\nnumber ::= [1-9] [0-9] [0-9] [0-9]\nname ::= [a-z]{{4,8}}'
    )
    asker = Short(memory._at.asker, "Name the port of the queue.", grammar=invented)
    done = consolidated(store, asker)
    (fact,) = parse_reply(asker.reply.text).facts
    port, _, path = fact.text.removeprefix("The queue ").partition(" in ")
    assert (done.rejected, done.entries, done.notes, done.unattributed) == ({"invented": 1}, 0, 0, 1)
    for word in (port, path):
        assert [
            each for each in holding(memory.store.root, word, history=True) if not each.startswith("logs/")
        ] == []
    (note,) = notes.notes(store)
    assert (note.note.consolidated, note.note.attempts) == (None, 1)


def test_a_free_reply_is_salvaged_or_refused(memory):
    store = noted(memory.store)
    asker = Short(memory._at.asker, "Tell what is worth keeping, with numbers and paths.", grammar="")
    done = consolidated(store, asker)
    assert done.calls == 1
    assert done.parse_failed is not parse_reply(asker.reply.text, asker.reply.cut).usable
    assert ungrounded(memory.store, asker.prompt.text) == []
    (note,) = notes.notes(store)
    assert note.note.consolidated or note.note.attempts == 1


def test_a_summary_held_to_its_grammar_keeps_what_was_said(memory, tmp_path):
    turns = [Said("user", SAID[0] * 3), Said("assistant", "Done."), Said("user", SAID[1] * 4)]
    path = claude(tmp_path / "t", "small", turns)
    asker = Short(memory._at.asker, "Sum up what the person decided, in bullets.")
    limits, shop = Limits(), Workspace("shop", "shop")
    done = capture(
        memory.store, [Source(path, detect(path))], workspace=lambda _: shop, now=NOW, final=True,
        limits=limits, summarise=lambda session, material: summarise(asker, session, material, limits),
    )  # fmt: skip
    assert done.asked
    assert done.status in {"captured", "nothing", "waiting"}
    for found in notes.notes(memory.store):
        for bullet in found.note.bullets:
            assert inventions(bullet.text, Shown(asker.prompt.text)) == []


def test_an_import_with_it_ends_in_a_store_that_holds_nothing_made_up(server, tmp_path):
    folder = tmp_path / "t"
    more = "The server of the shop listens on port 8080 and reads config/shop.toml. " * 6
    claude(folder, "long", [Said("user", SAID[0] + more), Said("assistant", "Noted."), Said("user", SAID[1])])
    claude(folder, "short", [Said("user", SAID[0]), Said("assistant", "Noted."), Said("user", SAID[1])])
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LAMINA_MODEL_BASE_URL": server.url}
    done = subprocess.run(
        [sys.executable, "-m", "lamina", "import", str(folder), "--model", ROUTE, "--json"],
        env=env, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["model"]["used"]
    memory = Memory.open(tmp_path / ".lamina", cwd=tmp_path, env={"HOME": str(tmp_path)})
    status = memory.status()
    assert set(status["models"]["by_purpose"]) == {"summarise", "consolidate"}
    assert 2 <= status["models"]["calls"] <= 3
    assert ungrounded(memory.store, "".join(path.read_text() for path in folder.iterdir())) == []
    assert all(located.entry.evidence for located in memory.store.entries())
    left = [found.note for found in notes.notes(memory.store)]
    assert left
    assert all(note.consolidated or note.attempts or note.needs_review for note in left)
