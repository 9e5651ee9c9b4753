"""People judge clips blind: a local page, questionnaires as files, and answers kept beside the run.

What others need is :func:`read_reviews` and :func:`majority`; see :mod:`fullduplex.reporting.review.store`.
"""

from fullduplex.reporting.review.store import Majority, Review, majority, read_reviews

__all__ = ["Majority", "Review", "majority", "read_reviews"]
