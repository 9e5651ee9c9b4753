"""Corpora of two-channel conversations: what a folder holds, read one conversation at a time."""
