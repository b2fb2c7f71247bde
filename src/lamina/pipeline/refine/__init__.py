"""Stage 3 of the project's memory: the digest is rewritten, shorter, and loses nothing (SPEC section 13)."""
