"""Consolidation with a model: what it is shown, what its reply may change, and the loop around both."""
