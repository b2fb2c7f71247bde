"""Measure Lamina on data: how well it finds, and whether it behaves as it says."""
