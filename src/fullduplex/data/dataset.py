"""A folder or a manifest, as a list of entries: the one door to data on disk."""

from fullduplex.data.discover import open_dataset
from fullduplex.data.entries import TASKS, Dataset, Entry, Voice

__all__ = ["TASKS", "Dataset", "Entry", "Voice", "open_dataset"]
