"""How far an entry made from a session may be trusted before a person has seen it (SPEC section 7)."""

from __future__ import annotations


def trust_of(*, layer: str, label: str, everywhere: bool, who: str, review: str = "doubtful") -> str:
    """Return `approved` or `candidate`.

    What rests on the person's own words is approved. What rests only on a model's or a tool's is a candidate
    when it is a decision, a preference or global (`everywhere`). `review` moves that line: `off` lets nothing
    wait, `decisions` holds every decision, `all` everything.
    """
    if review == "off":
        return "approved"
    if review == "all" or (review == "decisions" and layer == "decisions"):
        return "candidate"
    doubtful = layer == "decisions" or label == "preference" or everywhere
    return "candidate" if doubtful and who != "user" else "approved"
