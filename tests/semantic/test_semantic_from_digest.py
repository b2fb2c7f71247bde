"""`vectors.db` made anew from `digest.md` answers like the one that digesting and refining made."""

from __future__ import annotations

import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.standin import Hashed
from tests.semantic.cores import Talk, is_sound, rows

from lamina.formats.daily import Session, appended, render_session, render_title
from lamina.formats.digestreader import parse_digest
from lamina.pipeline.builtin import Builtin
from lamina.pipeline.digest import sync
from lamina.pipeline.digest.drafts import labelled
from lamina.pipeline.digest.run import run as digest
from lamina.pipeline.refine import run as refining
from lamina.pipeline.refine.plan import proposed
from lamina.pipeline.semantic import Record
from lamina.store.memoryfolder import resolve

START = datetime(2026, 11, 1, 8, tzinfo=UTC)
SAID = st.lists(
    st.sampled_from("gateway proxy port 8080 queue retries Postgres car 倉庫".split()), min_size=2, max_size=5
).map(" ".join)
BULLETS = st.lists(SAID.map(lambda said: (said + ".", "")), max_size=2).map(tuple)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), BULLETS, BULLETS, BULLETS), st.just(("digest",)), st.just(("refine",))
    ),
    min_size=3,
    max_size=9,
)
QUERIES = ("gateway", "vehicle", "port 8080 queue", "倉庫", "retries of Postgres", "proxy car")


class Project:
    """A project with the real core behind its digest."""

    def __init__(self, root: Path) -> None:
        (root / "memory").mkdir()
        self.folder = resolve(root)
        self.now = START
        self.embedder = Hashed()
        self.core = Builtin(self.folder.vectors, lambda: self.embedder, lambda: self.now)

    def record(self, done, decisions, still_open):
        path = self.folder.path / f"{self.now:%Y-%m-%d}-port-memory.md"
        text = path.read_text() if path.exists() else ""
        session = Session(
            f"{self.now:%Y-%m-%dT%H:%M:%SZ}", f"{self.now:%H:%M}", "port", "", done, decisions, (), still_open
        )
        path.write_text(appended(text, render_title("harbor", self.now.date()), render_session(session)))

    def digest(self):
        digest(self.folder, lambda view: labelled(view.new), lambda: (self.core, ""), now=self.now)

    def refine(self):
        if self.folder.digest.exists():
            target = refining.Target(self.folder, self.folder.digest, canonical=True)
            refining.run(
                target,
                proposed,
                lambda: (self.core, ""),
                now=self.now,
                approve=lambda _: True,
                given=False,
                force=True,
            )

    def step(self, name, *bullets):
        self.now += timedelta(hours=5)
        getattr(self, name)(*bullets)

    def answers(self):
        talk = Talk(self.folder.vectors, self.embedder)
        return [
            talk.query(each, includeCandidates=candidates, limit=1000)
            for each in QUERIES
            for candidates in (True, False)
        ]


@settings(max_examples=60)
@given(steps=STEPS)
def test_records_made_anew_from_the_digest_answer_like_the_ones_before(steps):
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        for step in (
            ("record", (("gateway port.", ""),), (("car queue.", ""),), ()),
            ("digest",),
            *steps,
            ("digest",),
        ):
            project.step(*step)
        before = project.answers()
        assert is_sound(project.folder.vectors)
        held = sync.records(parse_digest(project.folder.digest.read_text()))
        project.folder.vectors.unlink()
        assert all(each.ok for each in project.core.rebuild(held))
        assert project.answers() == before
        project.digest()
        assert project.answers() == before


def test_what_is_said_is_asked_of_everything(tmp_path):
    project = Project(tmp_path)
    for step in (
        ("record", (("gateway port.", ""),), (("car queue.", ""),), (("port queue.", ""),)),
        ("digest",),
        ("refine",),
    ):
        project.step(*step)
    sure = dict(rows(project.folder.vectors, "SELECT content, confidence FROM record"))
    assert sorted(sure.values()) == [0.6, 0.8, 0.8], sure
    held = sync.records(parse_digest(project.folder.digest.read_text()))
    assert all(isinstance(each, Record) and each.approved for each in held)
    assert {each.fact.content: each.fact.confidence for each in held} == sure
    assert date(2026, 11, 1) == project.now.date()
