"""What a batch does to one file: the text it started from, the changes, the text it ends with.

The changes are kept as functions, so they can be applied again to a text that a person saved meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

from lamina import errors
from lamina.formats.entry import Entry, Topic, new_topic, parse_topic, render_topic, with_field
from lamina.store import files
from lamina.store.record import canonical
from lamina.store.store import Store

Op = Callable[["Work"], object]


class Work:
    """One file's text while it is changed, parsed only when entries are asked for."""

    def __init__(self, text: str | None, title: str) -> None:
        self.title = title
        self._text = text
        self._topic: Topic | None = None
        self._changed = False
        self._places: dict[str, int] | None = None
        self._replaced = False
        self.first: Topic | None = None
        """The topic as it was first parsed; None if the whole text was replaced before that."""

    @property
    def topic(self) -> Topic:
        """The entries; a file that does not exist has none."""
        if self._topic is None:
            self._topic = new_topic(self.title) if self._text is None else parse_topic(self._text)
            if not self._replaced:
                self.first = self.first or self._topic
        return self._topic

    @property
    def text(self) -> str | None:
        """The text as it would be written; None: there is no file."""
        if self._changed and self._topic is not None:
            bare = not self._topic.entries and is_bare(self._topic.preamble)
            self._text = None if bare else render_topic(self._topic)
            self._changed = False
        return self._text

    def set(self, text: str | None) -> None:
        """Replace the whole text."""
        self._text, self._topic, self._places, self._changed = text, None, None, False
        self._replaced = True

    def has(self, id_: str) -> bool:
        """Tell whether an entry of this id stands here."""
        return id_ in self._index()

    def entry(self, id_: str) -> Entry:
        """Return the first entry of this id."""
        return self.topic.entries[self._place(id_)]

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        places = self._index()
        if entry.id:
            places.setdefault(canonical(entry.id), len(self.topic.entries))
        self._become(self.topic.adding(entry))

    def change(self, id_: str, fn: Callable[[Entry], Entry]) -> Entry:
        """Replace an entry by what `fn` makes of it, and return that."""
        place = self._place(id_)
        old = self.topic.entries[place]
        new = fn(old)
        if new is not old:
            self._become(self.topic.replacing(place, new))
        if new.id != old.id:
            self._places = None
        return self.topic.entries[place]

    def remove(self, id_: str) -> None:
        """Take an entry out."""
        self._become(self.topic.removing(self._place(id_)))
        self._places = None

    def name_unnamed(self, new_id: Callable[[], str]) -> None:
        """Give each entry that a person wrote without an id its id."""
        self.replace(
            {
                place: with_field(entry, "Id", new_id())
                for place, entry in enumerate(self.topic.entries)
                if not entry.id
            }
        )

    def replace(self, changes: dict[int, Entry]) -> None:
        """Put entries in the places of others."""
        if changes:
            self._become(self.topic.replacing_all(changes))
            self._places = None

    def _become(self, topic: Topic) -> None:
        self._topic = topic
        self._changed = True

    def _place(self, id_: str) -> int:
        place = self._index().get(id_)
        if place is None:
            raise errors.NoEntry(f"no entry has the id {id_} any more", "`lamina list` shows the ids")
        return place

    def _index(self) -> dict[str, int]:
        if self._places is None:
            self._places = {}
            for place, entry in enumerate(self.topic.entries):
                if entry.id:
                    self._places.setdefault(canonical(entry.id), place)
        return self._places


class Change:
    """What a batch does to one file."""

    def __init__(self, store: Store, rel: str) -> None:
        self.rel = rel
        self.path = store.layout.path(rel)
        self.base = store.settled(rel)
        """The text on disk that the result replaces."""
        self.before = self.base
        """The text that an undo brings back."""
        self.work = Work(self.base, "")
        self.exact = False
        """Whether a whole text was set, which can't be joined with somebody else's change."""
        self.foreign = False
        """Whether ids that nobody has seen may have come in with a text."""
        self._ops: list[Op] = []
        self._store = store

    @property
    def changed(self) -> bool:
        """Whether anything is to be written."""
        return self.work.text != self.base

    @property
    def expected(self) -> str | None:
        """The fingerprint of what is replaced."""
        return None if self.base is None else files.fingerprint(self.base)

    def entitle(self, title: str) -> None:
        """Say the title that the file gets if it is made."""
        self.work.title = self.work.title or title

    def do(self, op: Op) -> None:
        """Apply a change now, and again after every `rebase`."""
        op(self.work)
        self._ops.append(op)

    def again(self, op: Op) -> None:
        """Apply a change, that was already made, after every `rebase`."""
        self._ops.append(op)

    def put(self, text: str | None) -> None:
        """Set the whole text."""
        self.exact = self.foreign = True
        self._ops.clear()
        self.do(lambda work: work.set(text))

    def is_stale(self) -> bool:
        """Tell whether the file on disk is no longer what the changes were made on."""
        return self._store.text(self.rel) != self.base

    def rebase(self) -> None:
        """Apply the changes to the text that is on disk now."""
        self.base = self.before = self._store.settled(self.rel)
        self.work = Work(self.base, self.work.title)
        self.foreign = True
        try:
            for op in self._ops:
                op(self.work)
        except errors.NoEntry as problem:
            raise errors.ChangedMeanwhile(
                f"{self.path}: an entry was taken out while it was being changed", problem.hint
            ) from problem

    def placed(self) -> None:
        """Note that the result stands on disk."""
        self.base = self.work.text


def is_bare(preamble: str) -> bool:
    """Tell whether the text before the entries is no more than a title."""
    lines = [line.strip() for line in preamble.lstrip("\ufeff").splitlines()]
    return sum(1 for line in lines if line) <= 1 and all(not line or line.startswith("# ") for line in lines)
