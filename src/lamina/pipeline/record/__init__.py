"""Stage 1 of the project's memory: what a session did is appended to the record of its day."""
