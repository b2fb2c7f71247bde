"""One module per host: its transcripts become `Session` and `Event` values."""
