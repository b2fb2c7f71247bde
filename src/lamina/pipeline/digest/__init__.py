"""Stage 2 of the project's memory: daily records become items of the digest (SPEC section 13)."""
