"""Measure voices that listen while they speak."""

__version__ = "0.1.0"
