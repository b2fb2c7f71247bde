"""The stages a memory goes through, from events to the card."""
