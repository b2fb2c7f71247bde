"""How the laws are tested: the same examples at every run, however busy the machine.

`pytest --hypothesis-profile explore` looks for new ones.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("steady")
