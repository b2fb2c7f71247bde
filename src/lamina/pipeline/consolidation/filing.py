"""Writes what holds of a reply into one batch: entries, changes of entries, and the marks of the notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from lamina import errors
from lamina.formats.entry import Draft, Entry, with_field
from lamina.formats.note import Note, parse_note
from lamina.formats.reply import Change, Fact, Reply
from lamina.formats.scope import Scope
from lamina.pipeline import changes
from lamina.pipeline.checks.conflicts import Relation, Statement, relation
from lamina.pipeline.consolidate import Consolidated, file_away
from lamina.pipeline.consolidation.judge import (
    WRONG,
    Proof,
    Unfit,
    change_trust,
    clean,
    draft_of,
    ending_of,
    revision_of,
)
from lamina.pipeline.consolidation.sheet import Part, Sheet
from lamina.pipeline.filters import IN_FORCE
from lamina.store import notes
from lamina.store.store import Located
from lamina.store.tombstones import Graves
from lamina.store.write import Writing

Review = Callable[[Note], str]
Said = TypeVar("Said", Fact, Change)
_TURNED = frozenset({Relation.CHANGED, Relation.NEGATED})


@dataclass(frozen=True, slots=True)
class _Made:
    """An entry that this reply led to."""

    note: str
    id: str
    scope: Scope
    said: Statement


class Filing:
    """One reply on its way into one batch."""

    def __init__(self, batch: Writing, sheet: Sheet, *, review: Review, attempts: int) -> None:
        self.batch, self.sheet = batch, sheet
        self.review, self.attempts = review, attempts
        self.done = Consolidated()
        self.parts = {name: part for name, part in sheet.parts.items() if self._is_as_shown(part)}
        self.keys = frozenset(scope.key for scope in batch.store.scopes() if scope.key)
        self.kept: Counter[str] = Counter()
        self.unfit: Counter[str] = Counter()
        self.made: list[_Made] = []
        self._graves: dict[Scope, Graves] = {}

    def file(self, reply: Reply) -> Consolidated:
        """Write everything that holds, then mark the notes; returns what became of it."""
        for fact in reply.facts:
            self._try(self._fact, fact)
        for change in reply.updates:
            self._try(self._update, change)
        for change in reply.supersedes:
            self._try(self._supersede, change)
        handled = frozenset(reply.handled)
        for name, part in self.parts.items():
            settled = name in handled and (self.kept[name] or not self.unfit[name])
            self._mark(part, settled=bool(settled))
        return self.done

    def _is_as_shown(self, part: Part) -> bool:
        """Say whether a note still waits: another process may have been faster while the model thought."""
        text = self.batch.text(part.file.rel)
        if text is None:
            return False
        note = parse_note(text)
        return note.consolidated is None and note.through == part.file.note.through

    def _try(self, write: Callable[[Said, Part], None], said: Said) -> None:
        """Write one line of the reply; what may not be kept is counted and stops nothing."""
        name = said.note
        part = self.parts.get(name)
        if part is None:
            self.done.reject("unknown note" if name not in self.sheet.parts else "note changed meanwhile")
            return
        try:
            write(replace(said, text=clean(said.text)), part)
        except Unfit as reason:
            self.unfit[name] += str(reason) in WRONG
            self.done.reject(str(reason))
        except errors.UsageError as problem:  # of this line alone; what the disk refuses ends the batch
            self.unfit[name] += 1
            self.done.write_failed.append(problem.message)
        else:
            self.kept[name] += 1

    # -- facts

    def _fact(self, fact: Fact, part: Part) -> None:
        draft = draft_of(fact, part, keys=self.keys, review=self.review)
        if self._buried(draft.scope, draft.heading, draft.body):
            self.done.refused += 1
        elif changes.holder(self.batch, draft.scope, draft.heading, draft.body, day=draft.date) is not None:
            self.done.known += 1
        else:
            self._stand(draft, part, fact.text)

    def _stand(self, draft: Draft, part: Part, text: str) -> None:
        """Put a draft among the entries of its topic and those shown: one may say it, or say otherwise."""
        said = _said(draft)
        found = [(relation(said, _of(draft, entry)), entry) for entry in self._peers(draft)]
        same = next((entry for one, entry in found if one is Relation.SAME), None)
        turned = [entry for one, entry in found if one in _TURNED]
        refined = next((entry for one, entry in found if one is Relation.REFINED), None)
        if same is not None:
            self._confirm(same, draft)
        elif draft.replaces:
            self._describe(draft, [entry for _, entry in found], part)
        elif turned:
            self._turn(draft, turned, part)
        elif refined is not None and self._may_change(refined, draft):
            changes.update(
                self.batch, refined.id, changes.Revision(text, draft.source, draft.evidence, draft.date)
            )
            self.done.updated.append(refined.id)
            self._remember(part, refined.id, draft)
        else:
            self._add(draft, part)

    def _peers(self, draft: Draft) -> Iterator[Entry]:
        """Yield the entries in force that a draft may agree or disagree with."""
        seen: set[str] = set()
        change = self.batch.topic_change(draft.scope, draft.layer, draft.topic)
        for entry in change.work.topic.entries:
            seen.add(entry.id)
            if entry.id and entry.trust in IN_FORCE and _meets(entry, draft):
                yield entry
        for id_, located in self.sheet.entries.items():
            if located.scope == draft.scope and id_ not in seen:
                near = self.batch.find(id_)
                if near is not None and near.trust in IN_FORCE and _meets(near, draft):
                    yield near

    def _confirm(self, entry: Entry, draft: Draft) -> None:
        """Note that a later session said the same; a candidate that the person now says is approved."""
        self.done.known += 1
        approved = (
            draft.trust == "approved" and entry.trust == "candidate" and not changes.conflict_of(entry.body)
        )
        later = draft.date > changes.known_on(entry)
        if later or approved:

            def confirm(old: Entry) -> Entry:
                old = with_field(old, "Verified", str(draft.date)) if later else old
                return with_field(old, "Trust", None) if approved else old

            self.batch.change(entry.id, confirm)

    def _describe(self, draft: Draft, peers: list[Entry], part: Part) -> None:
        """Put a description of a path or subsystem in the place of the one before, if that may go."""
        firm = next((entry for entry in peers if not self._may_change(entry, draft)), None)
        if firm is None:
            self._add(draft, part)
        else:
            self._propose(changes.conflicting(draft, firm.id))

    def _turn(self, draft: Draft, turned: list[Entry], part: Part) -> None:
        """Settle a contradiction: the later value wins if it may, else both stand and a person decides."""
        old = turned[0]
        if draft.date < changes.known_on(old):
            self._add(draft, part, status=f"superseded by {old.id}")
        elif old.branch != (draft.branch or ""):
            self._add(draft, part)  # true on its branch only, until that is merged
        elif len(turned) > 1 or not self._may_change(old, draft):
            self._propose(changes.conflicting(draft, old.id))
        else:
            id_ = self._add(draft, part)
            changes.supersede(self.batch, old.id, day=draft.date, by=id_)
            self.done.superseded.append(old.id)

    def _may_change(self, old: Entry, draft: Draft) -> bool:
        """Say whether a draft may end an entry: never a person's, and no candidate an approved one."""
        firm = changes.is_firm(old) or (draft.trust == "candidate" and old.trust == "approved")
        return draft.date >= changes.known_on(old) and not firm and old.branch == (draft.branch or "")

    def _add(self, draft: Draft, part: Part, *, status: str = "") -> str:
        written = self.batch.add(draft, fields={"Status": status} if status else None)
        self.done.entries += 1
        self.done.candidates += draft.trust == "candidate"
        self._remember(part, written.id, draft)
        return written.id

    def _propose(self, draft: Draft) -> None:
        if self._buried(draft.scope, draft.heading, changes.without_conflict(draft.body)):
            self.done.refused += 1
        elif changes.propose(self.batch, draft) is None:
            self.done.known += 1
        else:
            self.done.entries += 1
            self.done.candidates += 1

    def _remember(self, part: Part, id_: str, draft: Draft) -> None:
        self.made.append(_Made(part.name, id_, draft.scope, _said(draft)))

    # -- changes of entries that were shown

    def _update(self, change: Change, part: Part) -> None:
        located, entry = self._shown(change.id)
        if changes.says(entry, change.text):
            self.done.known += 1
            return
        revision, proof = revision_of(change, part, entry)
        heading, body = changes.filed(located.layer, revision.text, revision.day)
        if self._buried(located.scope, heading, body):
            self.done.refused += 1
        elif self._stays(entry, located, proof, revision.text, part):
            self._put_beside(change.id, revision)
        elif changes.update(self.batch, change.id, revision) is not None:
            self.done.updated.append(change.id)

    def _supersede(self, change: Change, part: Part) -> None:
        located, entry = self._shown(change.id)
        if change.id in self.done.updated:
            raise Unfit("answered in two ways")
        revision, proof = ending_of(change, part, entry)
        if self._stays(entry, located, proof, revision.text, part):
            if self._buried(located.scope, *changes.filed(located.layer, revision.text, revision.day)):
                self.done.refused += 1
            else:
                self._put_beside(change.id, revision)
            return
        by = self._successor(part, located, entry)
        changes.supersede(self.batch, change.id, day=proof.day, by=by, reason="" if by else revision.text)
        self.done.superseded.append(change.id)

    def _put_beside(self, id_: str, revision: changes.Revision) -> None:
        if changes.beside(self.batch, id_, revision) is None:
            self.done.known += 1
        else:
            self.done.entries += 1
            self.done.candidates += 1

    def _shown(self, id_: str) -> tuple[Located, Entry]:
        """Give an entry that a reply may change: one that was shown and is still in force."""
        located = self.sheet.entries.get(id_)
        if located is None:
            raise Unfit("id not shown")
        entry = self.batch.find(id_)
        if entry is None or entry.trust not in IN_FORCE:
            raise Unfit("no longer in force")
        return located, entry

    def _stays(self, entry: Entry, located: Located, proof: Proof, text: str, part: Part) -> bool:
        """Say whether an entry stays in force whatever a reply says of it."""
        note = part.file.note
        elsewhere = entry.branch != note.branch or located.scope not in {part.scope, Scope(None)}
        if changes.is_firm(entry) or elsewhere:
            return True
        trust = change_trust(proof, text, located, self.review(note))
        return trust == "candidate" and entry.trust == "approved"

    def _successor(self, part: Part, located: Located, entry: Entry) -> str:
        """Find what this reply put in an entry's place, "" for nothing."""
        old = Statement(entry.heading, entry.body, located.topic, located.layer, entry.date)
        for made in self.made:
            if made.note == part.name and made.scope == located.scope and made.id != entry.id:
                said = replace(made.said, topic=located.topic)
                if made.said.topic == located.topic or relation(said, old) is not Relation.OTHER:
                    return made.id
        return ""

    def _buried(self, scope: Scope, heading: str, body: str) -> bool:
        if scope not in self._graves:
            self._graves[scope] = Graves.load(self.batch.store, scope)
        return self._graves[scope].refusal(heading, body) is not None

    # -- marks

    def _mark(self, part: Part, *, settled: bool) -> None:
        """Mark a note as handled through what was shown, or count one more attempt."""
        note = parse_note(self.batch.text(part.file.rel) or "")
        if settled:
            if part.left is None:
                self.done.notes += 1
            else:
                self._by_label(part, part.left)
            note = replace(note, through=part.through, attempts=0)
            if not note.waiting:
                note = replace(note, consolidated=self.batch.at)
        else:
            self.done.unattributed += 1
            note = replace(note, attempts=note.attempts + 1)
            if note.attempts >= max(1, self.attempts):
                note = replace(note, needs_review=True)
                self.done.needs_review += 1
        notes.save(self.batch, note, name=part.name)

    def _by_label(self, part: Part, left: Note) -> None:
        """File what did not fit into the prompt as without a model, so that nothing of a note is lost."""
        file_away(self.batch, part.file._replace(note=left), {}, self.done, review=self.review)


def _meets(entry: Entry, draft: Draft) -> bool:
    """Say whether an entry is seen where a draft is: one of another branch is not."""
    return entry.branch in ("", draft.branch or "")


def _said(draft: Draft) -> Statement:
    return Statement(draft.heading, draft.body, draft.topic, draft.layer, draft.date)


def _of(draft: Draft, entry: Entry) -> Statement:
    """Give an entry as a statement of the draft's topic: entries of other topics were shown as near ones."""
    body = changes.without_conflict(entry.body)
    return Statement(entry.heading, body, draft.topic, draft.layer, entry.date)
