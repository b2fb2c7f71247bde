"""One batch of changes to the store: collected in memory, then written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from lamina import errors
from lamina.formats.entry import Draft, Entry, with_field
from lamina.formats.ids import EntryId, parse_id
from lamina.formats.layers import LAYERS, TOPIC_LAYERS, layer_named
from lamina.formats.scope import GLOBAL, Scope
from lamina.formats.slug import topic_slug
from lamina.store import git, journal, locks, log, migrate
from lamina.store.change import Change, Work
from lamina.store.commit import commit
from lamina.store.files import Problem, Stamp
from lamina.store.layout import place_of, safe_name
from lamina.store.ledger import Ledger, folded, nfc, slug_of
from lamina.store.numbers import Numbers
from lamina.store.record import HASH_SIZE, canonical
from lamina.store.store import Store, legacy_topic

Step = Callable[[str], None]


@dataclass(slots=True, eq=False)
class Written:
    """What became of a change. `line` and `entry` are as on disk once the batch has ended; 0: gone."""

    id: str
    rel: str
    line: int
    entry: Entry


@contextmanager
def writing(
    store: Store,
    *,
    label: str,
    at: datetime,
    timeout_s: float = 30.0,
    step: Step | None = None,
    dry_run: bool = False,
) -> Iterator[Writing]:
    """Hold the store's lock, finish what a killed writer left, and write the batch when the block ends.

    With `dry_run`, nothing is finished and nothing written; the batch can be asked what it would change.
    """
    if store.read_only:
        raise errors.ReadOnlyStore(
            f"{store.root}: was written by a newer Lamina (schema {store.schema}) and is read-only here",
            "upgrade Lamina to write to it",
        )
    with locks.lock(store.layout.store_lock, timeout_s=timeout_s) as held:
        recovered = [] if dry_run else _recover(store, at)
        batch = Writing(store, label=label, at=at, recovered=recovered)
        yield batch
        if not dry_run:
            commit(batch, held, step or _no_step)


def _recover(store: Store, at: datetime) -> list[Problem]:
    if not journal.is_unfinished(store.layout):
        return journal.recover(store.layout)
    with suppress(errors.LaminaError):
        git.mark_dirty(store.layout, at, "recover")  # the killed writer may not have come that far
    recovered = journal.recover(store.layout)
    for problem in recovered:
        store.problems.append(problem)
        log.log(store.layout, "recover", at=at, problem=str(problem))
    return recovered


class Writing:
    """An open batch. Nothing is on disk before it ends.

    `recovered` tells what of a killed writer's batch could not be written because a person had changed
    the file meanwhile; `touched` names the files that were written, once the batch has ended.
    """

    def __init__(self, store: Store, *, label: str, at: datetime, recovered: list[Problem]) -> None:
        self.store = store
        self.label = label
        self.at = at
        self.recovered = recovered
        self.touched: set[str] = set()
        self.changes: dict[str, Change] = {}
        self.ledgers: dict[tuple[Scope, str], Ledger] = {}
        self.written: list[Written] = []
        self.numbers = Numbers(store)
        self.undoes: int | None = None
        self.due: set[tuple[Scope, str]] = set()
        """Layers whose generated file must be written even if no topic changes."""
        self.generated: dict[str, str] = {}
        self.moved: dict[str, set[str]] = {}
        self.singles: dict[str, Stamp] | None = None
        self._titles: dict[tuple[Scope, str], dict[str, str]] = {}
        self._added: dict[str, str] = {}
        self._hashes: dict[tuple[Scope, str], str] = {}

    def add(self, draft: Draft, *, fields: dict[str, str] | None = None) -> Written:
        """Add an entry with the next free id to the draft's topic; `fields` are set on it as well.

        With `replaces`, what is in force in the topic is superseded by it.
        """
        layer = layer_named(draft.layer).name
        scope = draft.scope
        if not LAYERS[layer].many or (LAYERS[layer].workspace_only and scope.key is None):
            raise _no_entries(layer, scope)
        id_ = self.new_id(scope, layer)
        entry = draft.entry(id_)
        for label, value in (fields or {}).items():
            entry = with_field(entry, label, value)
        rel = self._topic_rel(scope, layer, draft.topic.strip() or draft.heading)
        if draft.replaces:
            self._change(rel).do(lambda work: _supersede_all(work, id_))
        return self._put_entry(rel, id_, entry)

    def change(self, id_: str, fn: Callable[[Entry], Entry]) -> Written:
        """Change an entry; `fn` is applied again if a person changed the file meanwhile."""
        rel, own = self._where(id_)
        change = self._change(rel)
        entry = change.work.change(own, fn)
        change.again(lambda work: work.change(own, fn))
        new = canonical(entry.id)
        if new != own:
            self.numbers.reserve([new])
            self._added.pop(own, None)
            self._added[new] = rel
        return self._note(Written(new, rel, 0, entry))

    def remove(self, id_: str) -> None:
        """Remove an entry, and its topic's file with the last one unless a person wrote prose into it."""
        rel, own = self._where(id_)
        self._change(rel).do(lambda work: work.remove(own))
        self._added.pop(own, None)

    def move(
        self, id_: str, *, scope: Scope | None = None, layer: str | None = None, topic: str | None = None
    ) -> Written:
        """Move an entry. In another scope or layer it gets a new id and keeps the old one as an alias."""
        rel, own = self._where(id_)
        place = place_of(rel)
        assert place is not None
        to_scope, to_layer = scope or place.scope, layer_named(layer).name if layer else place.layer
        if not LAYERS[to_layer].many or (LAYERS[to_layer].workspace_only and to_scope.key is None):
            raise _no_entries(to_layer, to_scope)
        change = self._change(rel)
        entry = change.work.entry(own)
        target = self._topic_rel(to_scope, to_layer, topic or change.work.topic.title or entry.heading)
        if target == rel:
            return self._note(Written(own, rel, entry.line, entry))
        new = own
        if (to_scope, to_layer) != (place.scope, place.layer):
            new = self.new_id(to_scope, to_layer)
            entry = with_field(with_field(entry, "Id", new), "Alias", ", ".join((*entry.aliases, own)))
        self.remove(own)
        return self._put_entry(target, new, entry)

    def text(self, rel: str) -> str | None:
        """Return a file's text as this batch would leave it, or None where there is none."""
        return self._change(rel).work.text

    def put(self, rel: str, text: str | None) -> None:
        """Set the whole text of a file; None removes it.

        The batch fails with ChangedMeanwhile if a person changes a committed file after it was read here.
        """
        change = self._change(rel)
        if change.base is None:
            for part in rel.split("/"):
                safe_name(part)
        change.put(text)

    def edit(self, rel: str, fn: Callable[[str | None], str | None]) -> None:
        """Change a file's text; `fn` is applied again if a person changed the file meanwhile."""
        change = self._change(rel)
        change.foreign = True
        change.do(lambda work: work.set(fn(work.text)))

    def new_id(self, scope: Scope, layer: str) -> str:
        """Take the next free id of a layer."""
        number = self.numbers.next(self.ledger(scope, layer))
        return str(EntryId(scope.id_key, LAYERS[layer].abbreviation, number))

    def reserve(self, id_: str) -> None:
        """Never give out an id that is known to be in use elsewhere (another clone, a reference)."""
        self.numbers.reserve([id_])

    def find(self, id_: str) -> Entry | None:
        """Return an entry as this batch would leave it."""
        try:
            rel, own = self._where(id_)
        except errors.NoEntry:
            return None
        return self._change(rel).work.entry(own)

    def place(self, id_: str) -> tuple[Scope, str, str]:
        """Return scope, layer and topic's title of an entry as this batch would leave it; raises NoEntry."""
        rel, own = self._where(id_)
        place = place_of(rel)
        assert place is not None
        work = self._change(rel).work
        return place.scope, place.layer, work.topic.title or work.entry(own).heading

    def ledger(self, scope: Scope, layer: str) -> Ledger:
        """Return what a layer's files hold; the first call moves an old single file into topics."""
        known = self.ledgers.get((scope, layer))
        if known is None:
            known = self.ledgers[scope, layer] = self.store.ledger(scope, layer)
            self.numbers.reserve_held(known)
            migrate.layer(self, scope, layer)
        return known

    def known(self, scope: Scope, hash_: str) -> str | None:
        """Return the id of an entry of this scope whose content hash is `hash_` ("": it has none yet)."""
        return next(self.holders(scope, hash_), None)

    def holders(self, scope: Scope, hash_: str) -> Iterator[str]:
        """Yield the ids of all entries of this scope with this content, what this batch added first."""
        added = self._hashes.get((scope, hash_[:HASH_SIZE]))
        if added is not None:
            yield added
        for each in TOPIC_LAYERS:
            if scope.key is not None or not each.workspace_only:
                yield from self.ledger(scope, each.name).with_hash(hash_)

    def move_in(self, scope: Scope, layer: str, entry: Entry) -> None:
        """Add an entry of an old single file to its topic, its id included."""
        title, _ = legacy_topic(entry, layer)
        self.numbers.reserve([entry.id or "", *entry.aliases])
        self._put_entry(self._topic_rel(scope, layer, title), canonical(entry.id or ""), entry)

    def topic_change(self, scope: Scope, layer: str, title: str) -> Change:
        """Return the change of the topic file that a title belongs to."""
        return self._change(self._topic_rel(scope, layer, title))

    def generate(self, scope: Scope, layer: str, text: str) -> None:
        """Set the generated file of a layer."""
        rel = f"{scope.folder}/{layer}.md"
        self.generated[rel] = text
        self._change(rel).work.set(text)

    def _put_entry(self, rel: str, id_: str, entry: Entry) -> Written:
        if id_:
            self._added[id_] = rel
        self._hashes.setdefault((_scope_of(rel), entry.content_hash[:HASH_SIZE]), id_)
        self._change(rel).do(lambda work: work.add(entry))
        return self._note(Written(id_, rel, 0, entry))

    def _note(self, written: Written) -> Written:
        self.written.append(written)
        return written

    def _change(self, rel: str) -> Change:
        change = self.changes.get(rel)
        if change is None:
            place = place_of(rel)
            if place is not None and place.slug is not None:
                self.ledger(place.scope, place.layer)  # an old single file may bring entries into this one
            change = self.changes.get(rel) or Change(self.store, rel)
            self.changes[rel] = change
        return change

    def _where(self, id_: str) -> tuple[str, str]:
        """Return the file that holds an entry in this batch, and the entry's own id."""
        own = canonical(id_)
        rel = self._added.get(own) or self._at_home(own)
        if rel is None and (located := self.store.find(own)) is not None:
            self.ledger(located.scope, located.layer)
            own = canonical(located.entry.id or own)
            rel = self._added.get(own, located.rel)
        if rel is None or not self._change(rel).work.has(own):
            raise errors.NoEntry(f"no entry has the id {id_}", "`lamina list` shows the ids")
        return rel, own

    def _at_home(self, id_: str) -> str | None:
        """Look an id up in the layer that it names."""
        wanted = parse_id(id_)
        if wanted is None:
            return None
        scope = Scope(None if wanted.key == GLOBAL else wanted.key)
        layer = wanted.layer.name
        names = self.ledger(scope, layer).files_with(id_)
        if id_ in self._added or not names:
            return self._added.get(id_)
        rel = f"{scope.folder}/{layer}/{names[0]}"
        return rel if self._change(rel).work.has(id_) else None

    def _topic_rel(self, scope: Scope, layer: str, title: str) -> str:
        """Return the topic file that a title belongs to: by its title, then by its slug, else a new one."""
        ledger = self.ledger(scope, layer)
        title = nfc(" ".join(title.split()))
        if (scope, layer) not in self._titles and (name := ledger.file_of(title)):
            return f"{scope.folder}/{layer}/{name}"
        names = self._names(ledger)
        name = names.get("=" + title) or self._by_slug(names, title)
        if name is None:
            slug = topic_slug(title)
            if "!" + folded(slug) in names:
                slug = topic_slug(title, {key[1:] for key in names if key[0] == "!"})
            name = names.get("/" + folded(slug)) or safe_name(f"{slug}.md")
            _name(names, name, title)
        rel = f"{scope.folder}/{layer}/{name}"
        self._change(rel).entitle(title)
        return rel

    @staticmethod
    def _by_slug(names: dict[str, str], title: str) -> str | None:
        """Return the file whose slug was given for a title, unless that only differs in case from a title."""
        name = names.get("/" + folded(title))
        return name if name and slug_of(name) == title and "~" + folded(title) not in names else None

    def _names(self, ledger: Ledger) -> dict[str, str]:
        """Map `=title`, `~folded title`, `/slug` and, where the file has its own title, `!slug` to names."""
        names = self._titles.get((ledger.scope, ledger.layer))
        if names is None:
            names = self._titles[ledger.scope, ledger.layer] = {}
            for name, record in sorted(ledger.records.items()):
                _name(names, name, nfc(" ".join(record.title.split())))
        return names


def _name(names: dict[str, str], name: str, title: str) -> None:
    slug = folded(slug_of(name))
    names.setdefault("/" + slug, name)
    if title:
        names.setdefault("=" + title, name)
        names.setdefault("~" + folded(title), name)
        names.setdefault("!" + slug, name)


def _scope_of(rel: str) -> Scope:
    place = place_of(rel)
    assert place is not None, rel
    return place.scope


def _no_entries(layer: str, scope: Scope) -> errors.UnknownScope:
    return errors.UnknownScope(f"the layer {layer} takes no entries in {scope.name}", "choose another layer")


def _supersede_all(work: Work, by: str) -> None:
    for entry in work.topic.entries:
        if entry.id and entry.trust not in ("superseded", "forgotten"):
            work.change(entry.id, lambda old: with_field(old, "Status", f"superseded by {by}"))


def _no_step(name: str) -> None:
    """Nobody watches."""
