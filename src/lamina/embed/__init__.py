"""Embedders: texts to vectors, behind one protocol. `choose` finds the one that a setting names."""
