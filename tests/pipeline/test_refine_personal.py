"""Taking personal data out of an item: what counts as nothing but that, however many pieces there are."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.pipeline.refine.personal import REMOVED, cleaned, is_cleaned, personal

MAILS = [f"jane{n}@harbor.io" for n in range(60)]


@pytest.mark.parametrize("form", ["{}", "({})", "<{}>"])
def test_many_pieces_are_compared_at_once(form):
    text = f"Ask {' '.join(map(form.format, MAILS))} now."
    start = time.monotonic()
    assert is_cleaned(text, f"Ask {'[removed] ' * len(MAILS)}now.")
    assert is_cleaned(text, "Ask now.")
    assert not is_cleaned(text, f"Ask {'[removed] ' * (len(MAILS) - 1)}then.")
    assert not is_cleaned(text, text.replace("now", "never"))
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    ("text", "other", "holds"),
    [
        ("Ask a.b@harbor.io now.", "Ask now.", True),
        ("Ask a.b@harbor.io now.", "Ask [removed] now.", True),
        ("Ask a.b@harbor.io now.", "Ask [removed][removed] now.", False),
        ("Ask a.b@harbor.io now.", "Ask c.d@harbor.io now.", False),
        ("Ask a.b@harbor.io now.", "Ask now", False),
        ("Ask (a.b@harbor.io) now.", "Ask now.", True),
        ("Ask a.b@harbor.io or c.d@harbor.io.", "Ask or c.d@harbor.io.", True),
        ("Ask a.b@harbor.io or c.d@harbor.io.", "Ask c.d@harbor.io.", False),
        ("Ask nobody.", "Ask nobody.", False),
    ],
)
def test_only_personal_data_may_go(text, other, holds):
    assert is_cleaned(text, other) is holds


WORDS = st.sampled_from(
    ["Ask", "or", "(now)", "a", *(f"{name}@harbor.io" for name in "abc"), "+49 30 1234567"]
)


@given(st.lists(WORDS, min_size=1, max_size=12), st.data())
def test_any_of_the_pieces_may_go_and_no_other_word(words, data):
    text = " ".join(words)
    pieces = personal(text)
    gone = data.draw(st.sets(st.sampled_from(pieces))) if pieces else set()
    other = text
    for piece in sorted(gone, key=len, reverse=True):
        other = other.replace(piece, data.draw(st.sampled_from([REMOVED, ""])))
    assert is_cleaned(text, other) is bool(pieces)
    assert not is_cleaned(text, f"{other} more")
    assert not personal(cleaned(text))
