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
from lamina.formats.digestreader import parse_digest
from lamina.formats.hashing import knowledge_text, without_tail
from lamina.formats.lines import fold, newline_of
from lamina.formats.marker import Marker, render_marker
from lamina.formats.origin import key_of, quote_origins, render_origins, section_origin
from lamina.pipeline.digest.sync import is_fused
from lamina.pipeline.refine.plan import Choice, Plan

MERGED = "merged"
"""The attribute that names the items which were merged into one; its own id stands for earlier wordings."""
EVIDENCE = "Evidence:"
_A_LINE = 40  # sources of one `digest:covered` marker


@dataclass(frozen=True, slots=True)
class Final:
    """An item of the refined digest.

    `fused` says that it took in others, `before` are the hashes under which it was approved already, its own
    latest one last.
    """

    item: Item
    fused: bool = False
    before: tuple[str, ...] = ()


def finals(plan: Plan) -> list[Final]:
    """Return the items that stay, in the digest's order, with their new words and all their sources.

    Two that say the same stand for one record: what approves one of them approves both.
    """
    found = [_final(choice, plan.merged_into(choice.item.id)) for choice in plan.kept]
    approved = {each.item.hash for each in found if each.item.sync == "approved"}
    return [
        replace(each, item=replace(each.item, sync="approved")) if each.item.hash in approved else each
        for each in found
    ]


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


def _final(choice: Choice, merged: list[Choice]) -> Final:
    item = choice.item
    others = [each for one in merged for each in (*one.older, one.item)]
    own = (*choice.older, item)
    refs: dict[tuple[str, str], str] = {}
    for part in (item, *choice.older, *others):
        for ref in part.sources:
            refs.setdefault(key_of(ref), ref)
    sources = tuple(refs.values()) or (section_origin(item.section or "refined"),)
    new = made(item.id, item.kind, _bullet(choice, merged), sources)
    marker = item.marker or Marker(ITEM)
    names = [name for part in own if part.marker for name in part.marker.get(MERGED).split(",")]
    names += [one.item.id for one in merged]
    names += [item.id] if choice.text and choice.older else []
    marker = marker.setting(MERGED, ",".join(dict.fromkeys(filter(None, names))) or None)
    marker = marker.setting(CONFLICT, ",".join(choice.conflict) or None)
    approved = tuple(
        dict.fromkeys(part.hash for part in (*others, *own) if part.sync == "approved" and part.hash)
    )
    raw = item.raw if not choice.text else ""
    new = replace(new, sync="approved" if new.hash in approved else "candidate", marker=marker, raw=raw)
    return Final(new, is_fused(new), approved)


def _bullet(choice: Choice, merged: list[Choice]) -> str:
    """Return the bullet of an item that stays: its own, with the evidence of all that it took in."""
    bare = without_sources(choice.item.bullet)
    evidence = _evidence(bare)
    more = [each for one in merged for each in _evidence(one.item.bullet) if each not in evidence]
    if not choice.text and not more:
        return choice.item.bullet
    told = knowledge_text(choice.text) if choice.text else without_tail(bare, EVIDENCE).rstrip()
    named = ", ".join(f"`{each}`" for each in dict.fromkeys((*evidence, *more)))
    return f"{told} {EVIDENCE} {named}" if named else told


def _evidence(bullet: str) -> list[str]:
    """List the backticked evidence at the end of a bullet."""
    bare = without_sources(bullet)
    return bare[len(without_tail(bare, EVIDENCE)) :].split("`")[1::2]


def _lists(items: list[Item]) -> Iterator[str]:
    for kind in KINDS:
        own = [item for item in items if item.kind == kind]
        if own:
            told = "".join(map(_rendered, own)) + "".join(_notes(own))
            yield f"**{HEADINGS[kind]}**:\n{told}"


def _rendered(item: Item) -> str:
    """Write an item; a bullet of several lines keeps them, if it then reads as the same item."""
    if not item.raw:
        return render_item(item)
    marker, bullet = render_item(item).rstrip("\n").split("\n", 1)
    body = without_tail(item.raw, "Source:").rstrip()
    text = f"{marker}\n{body}\n  Source: {quote_origins(item.sources)}.\n"
    read = parse_digest(f"**{HEADINGS[item.kind]}**:\n{text}\n- Next.\n").refined
    same = len(read) == 2 and (read[0].hash, read[0].content, read[0].sources) == (
        item.hash,
        item.hash,
        item.sources,
    )
    return text if same else f"{marker}\n{bullet}\n"


def _notes(items: list[Item]) -> Iterator[str]:
    """Yield a line for each pair of items that contradict each other, once."""
    told: set[frozenset[str]] = set()
    for item in items:
        for other in item.conflicts:
            pair = frozenset((item.id, other))
            if pair not in told:
                told.add(pair)
                both = " and ".join(f"`{fold(name)}`" for name in (item.id, other))
                yield f"{CONFLICT_NOTE} {both} disagree; nobody has decided yet._\n"


def _covered(digest: Digest, items: list[Item]) -> Iterator[str]:
    """Yield the markers of the sources that no item names any more, so that no session is read again."""
    held = {key_of(ref) for item in items for ref in item.sources}
    refs: dict[tuple[str, str], str] = {}
    for ref in digest.named:
        if key_of(ref) not in held:
            refs.setdefault(key_of(ref), ref)
    listed = list(refs.values())
    for start in range(0, len(listed), _A_LINE):
        yield render_marker(COVERED, {"source": render_origins(tuple(listed[start : start + _A_LINE]))})
