"""What stands between a model's words and memory: their sources, hardened doubts, contradictions."""
