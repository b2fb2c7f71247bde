"""Lamina and its peers, side by side: quality and the amount of text shown, times, memory and disk."""
