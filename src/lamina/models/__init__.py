"""Language models behind one small protocol, the ladder that climbs them, and what they cost."""
