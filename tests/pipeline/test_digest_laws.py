"""Laws of the digest over whatever records are written, edited and digested, in any order."""

from __future__ import annotations

import re
import shutil
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lamina.formats.daily import Session, appended, render_session, render_title
from lamina.formats.digestreader import parse_digest
from lamina.formats.hashing import content_hash
from lamina.formats.origin import key_of
from lamina.pipeline.digest import drafts
from lamina.pipeline.digest.run import run
from lamina.pipeline.digest.view import look
from lamina.pipeline.semantic import Outcome
from lamina.store.memoryfolder import resolve

START = datetime(2026, 11, 30, 8, tzinfo=UTC)
WORDS = st.sampled_from(
    "esm port server queue Postgres Redis 9090 guide mirror tests `file.py` Source: `x` Evidence: 漢字 Café ``` "
    "<!-- digest:item id=x --> ## Digest **Decisions**: - [redacted Done: Nothing".split(" ")
)
SAID = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
BULLETS = st.lists(st.tuples(SAID, st.sampled_from(["`session`", ""])), max_size=3).map(tuple)
HEADER = re.compile(r"(?m)^\ufeff?<!-- digest(?:-refine:state|:state|:sync) .*-->\r?\n")


class Core:
    """A core that takes a part of what it gets, and knows what it took."""

    name, broken = "builtin", ""

    def __init__(self):
        self.held, self.mood = set(), 0

    def ingest(self, facts):
        return [self._one(fact, number) for number, fact in enumerate(facts)]

    def refine(self, operations):
        self.held -= {each.hash for each in operations}
        return [Outcome(each.hash, ok=True) for each in operations]

    def rebuild(self, records):
        raise AssertionError(records)

    def _one(self, fact, number):
        assert fact.hash == content_hash(f"- {fact.content}")
        if self.mood == 1 or (self.mood == 2 and number % 2):
            return Outcome(fact.hash, ok=False, error="busy")
        self.held.add(fact.hash)
        return Outcome(fact.hash, ok=True, status="candidate")


class Digesting(RuleBasedStateMachine):
    """A project whose records grow while somebody digests them now and then."""

    @initialize(end=st.sampled_from(["\n", "\r\n"]))
    def begin(self, end):
        self.root = Path(tempfile.mkdtemp())
        self.folder = resolve(self.root)
        self.folder.path.mkdir()
        self.end, self.now, self.core = end, START, Core()
        self.days: dict[str, str] = {}
        self.edited: set[str] = set()

    def teardown(self):
        shutil.rmtree(self.root, ignore_errors=True)

    # --- what people and agents do

    @rule(back=st.integers(0, 9), name=st.sampled_from("ab"), done=BULLETS, decisions=BULLETS, open=BULLETS)
    def record(self, back, name, done, decisions, open):
        """Append a session to today's file, to an older one, or to a new one with an older date."""
        self.now += timedelta(minutes=7)
        day = (self.now - timedelta(days=back)).date()
        file = f"{day}-{name}-memory.md"
        text = render_session(
            Session(
                f"{self.now:%Y-%m-%dT%H:%M:%SZ}", "10:00", "work", "Some context.", done, decisions, (), open
            )
        )
        old = self.days.get(file, "")
        self.days[file] = appended(old, render_title("harbor", day).replace("\n", self.end), text)
        (self.folder.path / file).write_bytes(self.days[file].encode())

    @rule(back=st.integers(0, 9))
    def record_by_hand(self, back):
        """Put a file there that has no session marks."""
        day = (self.now - timedelta(days=back)).date()
        self.days[f"{day}-hand-memory.md"] = text = f"# Notes\n\n**Decisions**:\n- Keep {day} in mind.\n"
        (self.folder.path / f"{day}-hand-memory.md").write_bytes(text.encode())

    @rule(days=st.integers(1, 4))
    def wait(self, days):
        self.now += timedelta(days=days)

    @rule(mood=st.integers(0, 2))
    def trouble(self, mood):
        self.core.mood = mood

    @precondition(lambda self: self._digest() is not None)
    @rule(data=st.data())
    def edit_a_bullet(self, data):
        """Change a bullet of the digest by hand."""
        items = [item for item in self._digest().items if item.bullet]
        if items:
            item = data.draw(st.sampled_from(items))
            lines = self._text().split("\n")
            lines[item.line - 1] = "- Somebody changed this." + (
                "\r" if lines[item.line - 1].endswith("\r") else ""
            )
            self.folder.digest.write_bytes("\n".join(lines).encode())
            self.edited.add(item.hash)

    @rule(core=st.booleans())
    def digest_by_labels(self, core):
        self._run(lambda view: drafts.labelled(view.new), core=core)

    @rule(core=st.booleans(), data=st.data())
    def digest_what_an_agent_chose(self, core, data):
        """Name some of the sessions, some of them with an item in the very words of its record."""
        items, nothing = [], []
        for each in look(self.folder).new:
            how = data.draw(st.integers(0, 2))
            told = [bullet for bullet in each.bullets if bullet.kind and drafts.knowledge_text(bullet.text)]
            if how == 1:
                nothing.append(each.source)
            elif how == 2 and told:
                items.append({"kind": "decision", "text": told[0].text, "source": each.source})
        self._run(lambda view: self._given(view, items, nothing), core=core)

    # --- what must hold after each run

    @staticmethod
    def _given(view, items, nothing):
        try:
            return drafts.given(view, {"items": items, "nothing": nothing})
        except drafts.errors.BadInput:
            return drafts.given(view, {"nothing": [*nothing, *(item["source"] for item in items)]})

    def _run(self, choose, *, core):
        self.now += timedelta(minutes=1)
        before, old, new = self._text(), self._digest(), [each.source for each in look(self.folder).new]
        told = run(self.folder, choose, lambda: (self.core if core else None, "off"), now=self.now)
        after, digest = self._text(), self._digest()
        assert told.wrote == (after != before)
        if digest is None:
            assert not told.wrote
            return
        assert HEADER.sub("", after).startswith(HEADER.sub("", before or ""))
        sections = len(old.sections) if old else 0
        if told.section is None:
            assert len(digest.sections) == sections
            assert HEADER.sub("", after) == HEADER.sub("", before)
        else:
            assert len(digest.sections) == sections + 1
            self._check_section(digest, told, new)
        if told.wrote:
            self._check_header(digest, told, core=core)
        again = run(self.folder, lambda _: drafts.Selection((), ()), lambda: (None, "off"), now=self.now)
        assert not again.wrote

    def _check_section(self, digest, told, new):
        section = digest.sections[-1]
        assert section.id == told.section.id
        assert set(section.sources) <= set(new)
        assert all(item.hash == item.content and item.sources for item in section.items)
        ids = [item.id for item in section.items]
        assert len(set(ids)) == len(ids)
        assert len({item.content for item in section.items}) == len(ids)

    def _check_header(self, digest, told, *, core):
        assert digest.places["digest:state"] == 0
        assert digest.state.get("last-run") == f"{self.now:%Y-%m-%dT%H:%M:%SZ}"
        assert (digest.status, digest.pending) == (told.sync.status, told.sync.pending)
        if not core:
            assert digest.status == "unavailable"
        else:
            assert digest.status == ("pending" if digest.pending else "synced")
            wanted = {item.content for item in digest.current.values() if not item.edited}
            assert wanted - set(digest.pending) <= self.core.held
        latest = max(date.fromisoformat(key_of(ref)[0][:10]) for s in digest.sections for ref in s.sources)
        assert digest.processed == latest

    @invariant()
    def records_never_change(self):
        if hasattr(self, "days"):
            on_disk = {
                each.name: each.read_bytes()
                for each in self.folder.path.iterdir()
                if each != self.folder.digest
            }
            assert on_disk == {name: text.encode() for name, text in self.days.items()}

    @invariant()
    def every_session_is_covered_at_most_once(self):
        digest = self._digest() if hasattr(self, "days") else None
        if digest is not None:
            assert digest.fatal is None
            named = [key_of(ref) for section in digest.sections for ref in section.sources]
            assert len(set(named)) == len(named)
            assert set(named) == set(digest.covered)

    def _text(self):
        path = self.folder.digest
        return path.read_bytes().decode() if path.exists() else None

    def _digest(self):
        text = self._text()
        return None if text is None else parse_digest(text)


TestDigesting = Digesting.TestCase
TestDigesting.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
