"""Laws of refining over whatever is recorded, digested, edited by hand and refined, in any order."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from tests.pipeline.test_digest_laws import START, Digesting

from lamina import errors
from lamina.formats.digest import (
    KINDS,
    Item,
    appended,
    render_new,
    render_section,
    setting_header,
    state_marker,
    sync_marker,
)
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import key_of
from lamina.pipeline.digest.sync import records
from lamina.pipeline.refine.account import sound
from lamina.pipeline.refine.plan import DROP, KEEP, MERGE, as_json, proposed
from lamina.pipeline.refine.run import Target, run
from lamina.store.memoryfolder import resolve
from pipeline.refined import Desk, Kept, item

NOW = datetime(2026, 12, 20, 12, tzinfo=UTC)


class Moody(Kept):
    """A core that takes a part of what it is told, and knows what it holds."""

    def __init__(self):
        super().__init__(self._why)
        self.mood = 0

    def _why(self, each):
        found = getattr(each, "hash", "") or each.fact.hash
        return "busy" if self.mood == 1 or (self.mood == 2 and int(found[:2], 16) % 2) else ""

    @property
    def held(self):
        return {found for found, status in self.status.items() if status in ("candidate", "approved")}


class Refining(Digesting):
    """A project whose records grow while somebody digests and refines them now and then."""

    @initialize(end=st.sampled_from(["\n", "\r\n"]))
    def begin(self, end):
        self.root = Path(tempfile.mkdtemp())
        self.folder = resolve(self.root)
        self.folder.path.mkdir()
        self.end, self.now, self.core = end, START, Moody()
        self.days: dict[str, str] = {}
        self.edited: set[str] = set()
        self.coreless = False

    @precondition(lambda self: self._digest() is not None)
    @rule(core=st.booleans(), force=st.booleans(), data=st.data())
    def refine(self, core, force, data):
        """Refine by our own plan, or by one that somebody edited at random."""
        before, old = self._text(), self._digest()
        edited = data.draw(st.booleans())
        make = self._edited(data) if edited else lambda digest: sound(proposed(digest))
        self.now += timedelta(minutes=1)
        self.coreless |= not core
        try:
            told = run(
                Target(self.folder, self.folder.digest, canonical=True),
                make,
                lambda: (self.core if core else None, "off"),
                now=self.now,
                approve=lambda _: True,
                force=force,
            )
        except (errors.Undecided, errors.BadInput):
            assert self._text() == before
            return
        after = self._digest()
        assert (told.sync.status, told.sync.pending) == (after.status, after.pending)
        assert self._text().splitlines()[0] == before.splitlines()[0]
        assert key_of_all(old) <= after.covered
        assert after.fatal is None
        assert not after.sections
        if told.retried:
            assert [each.text for each in after.items] == [each.text for each in old.items]
            return
        accounted(told.plan, old, after)
        if core:
            approved = {each.hash for each in after.refined if each.sync == "approved"}
            assert approved <= self.core.approved
            assert {each.hash for each in after.refined} - approved <= set(after.pending)
        self._twice()

    def _twice(self):
        """Refine once more: not a byte but those of the markers changes."""
        before = self._text()
        run(
            Target(self.folder, self.folder.digest, canonical=True),
            lambda digest: sound(proposed(digest)),
            lambda: (None, "off"),
            now=self.now,
            approve=lambda _: True,
            force=True,
        )
        assert unmarked(self._text()) == unmarked(before)
        self.folder.digest.write_bytes(before.encode())

    def _edited(self, data):
        def make(digest):
            from lamina.pipeline.refine.account import accounted

            plan = as_json("", (), proposed(digest))
            for row in plan["items"]:
                if row["action"] == KEEP and data.draw(st.booleans()):
                    other = data.draw(st.sampled_from(plan["items"]))["id"]
                    changed = data.draw(
                        st.sampled_from(
                            [
                                {"action": MERGE, "into": other},
                                {"action": DROP, "reason": f"duplicate of {other}"},
                                {"action": DROP, "reason": "noise: of no use later"},
                                {"conflict": [other]},
                            ]
                        )
                    )
                    row.update(changed)
            return accounted(plan, digest)

        return make

    # --- what is no law of a digest that is refined

    def _check_header(self, digest, told, *, core):
        self.coreless |= not core
        assert digest.places["digest:state"] == 0
        assert (digest.status, digest.pending) == (told.sync.status, told.sync.pending)

    @invariant()
    def every_session_is_covered_at_most_once(self):
        digest = self._digest() if hasattr(self, "days") else None
        if digest is not None:
            assert digest.fatal is None
            named = [key_of(ref) for section in digest.sections for ref in section.sources]
            assert len(set(named)) == len(named)
            refined = {key_of(ref) for each in digest.refined for ref in each.sources}
            assert not set(named) & (refined | {key_of(ref) for ref in digest.kept})

    @invariant()
    def records_made_anew_are_those_that_there_are(self):
        digest = self._digest() if hasattr(self, "days") else None
        if digest is None or digest.status != "synced" or self.coreless or self.edited:
            return
        wanted = {each.fact.hash: "approved" if each.approved else "candidate" for each in records(digest)}
        held = {found: self.core.status[found] for found in self.core.held}
        assert held == wanted


TestRefining = Refining.TestCase
TestRefining.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


# --- over digests as anybody may have written them

WORDS = "esm port queue Postgres 9090 v2.1 not `a.py` 漢字 Café C++ C# Done: never because Source: `x` ``` <!-- -- > ## - *".split(
    " "
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])


@st.composite
def digests(draw):
    text = render_new("harbor", state_marker(NOW, date(2026, 11, 30)), sync_marker(None, "synced", ()))
    for number in range(draw(st.integers(1, 4))):
        items: dict[str, Item] = {}
        for name, said in draw(st.lists(st.tuples(NAMES, TEXTS), max_size=4)):
            kind = draw(st.sampled_from(KINDS))
            made = item(f"{kind}-{name}", f"x {said}", day=number + 1)
            sync = draw(st.sampled_from(["approved", "candidate"]))
            items[made.id] = Item(**{**vars_of(made), "sync": sync})
        refs = tuple(dict.fromkeys(ref for each in items.values() for ref in each.sources)) or (
            "memory/x.md",
        )
        text = appended(
            text, render_section(f"2026-11-{number + 1:02}T10:00:00Z", "2026-11-01", refs, items.values())
        )
        text += draw(st.sampled_from(["", "\n- A bullet of a person.\n", "\nA line\nof a person.\n"]))
    if draw(st.booleans()):
        text = text.replace("# Memory", "A line above.\n\n# Memory", 1)
    if draw(st.booleans()):
        text = text.replace("<!-- digest:", "<!-- fde-digest:", 1)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", end)


def vars_of(each):
    return {name: getattr(each, name) for name in each.__dataclass_fields__}


def key_of_all(digest):
    return {key_of(ref) for ref in digest.named}


def unmarked(text):
    return [
        line
        for line in text.splitlines()
        if not line.startswith("<!-- digest:sync") and "last-run" not in line
    ]


def accounted(plan, before, after):
    """Check that each item is there, or was merged into one that is, or dropped for one that is."""
    assert list(plan.choices) == list(before.current)
    stays = {each.id: each for each in after.refined}
    assert len(stays) == len(after.refined)
    assert set(stays) == {name for name, choice in plan.choices.items() if choice.action == KEEP}
    for name, choice in plan.choices.items():
        old = before.current[name]
        if choice.action == KEEP:
            assert stays[name].text == (choice.text or old.text)
            assert {*map(key_of, old.sources)} <= {*map(key_of, stays[name].sources)}
            assert stays[name].kind == old.kind
        elif choice.action == MERGE:
            assert {*map(key_of, old.sources)} <= {*map(key_of, stays[choice.into].sources)}
            assert name in stays[choice.into].marker.get("merged").split(",")
        else:
            assert choice.reason
            assert old.kind == "state" or any(other in choice.reason for other in stays)
    for each in after.refined:
        assert each.hash == each.content
        assert each.sources


@pytest.mark.parametrize("core", [True, False])
@given(text=digests())
@settings(max_examples=150, deadline=None)
def test_whatever_a_digest_holds_is_accounted_for(core, text):
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), text, Kept() if core else None)
        before = parse_digest(text)
        if before.fatal is not None:
            with pytest.raises(errors.Undecided):
                desk.refine()
            assert desk.text == text
            return
        report = desk.refine()
        after = desk.digest
        accounted(report.plan, before, after)
        assert desk.text.splitlines(keepends=True)[0] == text.splitlines(keepends=True)[0]
        assert after.covered == before.covered | {
            key_of(ref) for each in after.refined for ref in each.sources
        }
        assert after.preamble == before.preamble
        assert after.title == before.title
        assert desk.text.count("\n") == desk.text.count("\r\n" if "\r\n" in text else "\n")
        labels = re.findall(r"(?m)^\*\*[^*]+\*\*:", desk.text)
        assert len(set(labels)) == len(labels)
        once = desk.text
        desk.refine()
        assert desk.text == once
        assert setting_header(after) == once
