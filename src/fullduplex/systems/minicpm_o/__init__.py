"""MiniCPM-o: a model that hears and decides once a second; behind its demo's gateway, or step by step in Python."""

from fullduplex.systems.minicpm_o.gateway import MiniCPMo

__all__ = ["MiniCPMo"]
