"""The truth: files, locks, git and workspaces of one store."""
