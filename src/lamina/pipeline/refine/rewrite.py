"""The refined digest: one list for each kind, every source kept, the first line as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.formats.dates import render_time
from lamina.formats.digest import (
    BOM,
    CONFLICT,
    CONFLICT_NOTE,
    COVERED,
    HEADINGS,
    ITEM,
    KINDS,
    REFINE,
    REFINED,
    Digest,
    Item,
    made,
    render_item,
    sync_marker,
    without_sources,
)
from lamina.formats.hashing import knowledge_text
from lamina.formats.lines import newline_of
from lamina.formats.marker import Marker, render_marker
from lamina.formats.origin import key_of, section_origin
from lamina.pipeline.refine.plan import Choice, Plan

MERGED = "merged"
"""The attribute that names the items which were merged into one."""
_A_LINE = 40  # sources of one `digest:covered` marker


@dataclass(frozen=True, slots=True)
class Final:
    """An item of the refined digest.

    `fused` says that it took in others, `before` are the hashes under which it was approved already.
    """

    item: Item
    fused: bool = False
    before: tuple[str, ...] = ()


def finals(digest: Digest, plan: Plan) -> list[Final]:
    """Return the items that stay, in the digest's order, with their new words and all their sources."""
    older: dict[str, list[Item]] = {}
    for item in digest.items:
        older.setdefault(item.id, []).append(item)
    return [_final(choice, plan.merged_into(choice.item.id), older) for choice in plan.kept]


def rewritten(digest: Digest, stays: Iterable[Final], *, target: str, now: datetime, status: str,
              pending: Iterable[str]) -> str:  # fmt: skip
    """Return the refined digest's text; the bytes of its first line are those of the digest."""
    listed = [each.item for each in stays]
    state = digest.state
    assert state is not None
    refine = (digest.refine or Marker(REFINE)).setting("last-run", render_time(now))
    refine = refine.setting("refined-through", state.get("processed-through"))
    sync, title = sync_marker(digest.sync, status, pending), digest.title or f"Memory digest — {target}"
    blocks = [
        f"{state}\n{refine}\n{sync}\n# {title}\n",
        f"{REFINED}{state.get('processed-through')}._\n",
        *(f"{paragraph}\n" for paragraph in digest.preamble),
        *_lists(listed),
    ]
    kept = list(_covered(digest, listed))
    text = "\n".join([*blocks, *(["\n".join(kept) + "\n"] if kept else [])])
    end = newline_of(digest.text)
    return (BOM if digest.text.startswith(BOM) else "") + (text if end == "\n" else text.replace("\n", end))


def _final(choice: Choice, merged: list[Choice], older: dict[str, list[Item]]) -> Final:
    item = choice.item
    parts = [*older[item.id], *(each for one in merged for each in older[one.item.id])]
    refs: dict[tuple[str, str], str] = {}
    for part in [item, *parts]:
        for ref in part.sources:
            refs.setdefault(key_of(ref), ref)
    sources = tuple(refs.values()) or (section_origin(item.section or "refined"),)
    bullet = _worded(item, choice.text) if choice.text else item.bullet
    new = made(item.id, item.kind, bullet, sources)
    marker = item.marker or Marker(ITEM)
    names = [*marker.get(MERGED).split(","), *(one.item.id for one in merged)]
    marker = marker.setting(MERGED, ",".join(dict.fromkeys(filter(None, names))) or None)
    marker = marker.setting(CONFLICT, ",".join(choice.conflict) or None)
    approved = tuple(dict.fromkeys(part.hash for part in parts if part.sync == "approved" and part.hash))
    sync = "approved" if new.hash in approved else "candidate"
    return Final(replace(new, sync=sync, marker=marker), bool(merged), approved)


def _worded(item: Item, text: str) -> str:
    """Return an item's bullet with other words, and the evidence that it had."""
    bare = without_sources(item.bullet)
    told = without_evidence(bare)
    return f"{knowledge_text(text)}{bare[len(told) :]}"


def without_evidence(bullet: str) -> str:
    """Return a bullet without the evidence behind it."""
    from lamina.formats.hashing import without_tail

    return without_tail(bullet, "Evidence:").rstrip()


def _lists(items: list[Item]) -> Iterator[str]:
    for kind in KINDS:
        own = [item for item in items if item.kind == kind]
        if own:
            told = "".join(map(render_item, own)) + "".join(_notes(own))
            yield f"**{HEADINGS[kind]}**:\n{told}"


def _notes(items: list[Item]) -> Iterator[str]:
    """Yield a line for each pair of items that contradict each other, once."""
    told: set[frozenset[str]] = set()
    for item in items:
        for other in item.conflicts:
            pair = frozenset((item.id, other))
            if pair not in told:
                told.add(pair)
                yield f"{CONFLICT_NOTE} `{item.id}` and `{other}` disagree; nobody has decided yet._\n"


def _covered(digest: Digest, items: list[Item]) -> Iterator[str]:
    """Yield the markers of the sources that no item names any more, so that no session is read again."""
    held = {key_of(ref) for item in items for ref in item.sources}
    refs: dict[tuple[str, str], str] = {}
    for ref in digest.named:
        if key_of(ref) not in held:
            refs.setdefault(key_of(ref), ref)
    listed = list(refs.values())
    for start in range(0, len(listed), _A_LINE):
        yield render_marker(COVERED, {"source": ",".join(listed[start : start + _A_LINE])})
