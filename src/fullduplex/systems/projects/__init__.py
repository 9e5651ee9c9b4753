"""Models that come as a project's folder, without a server: their own scripts are run there, by their own Python."""

from fullduplex.systems.projects.bayling import BayLingDuplex
from fullduplex.systems.projects.dgslm import Dgslm
from fullduplex.systems.projects.voila import Voila

__all__ = ["BayLingDuplex", "Dgslm", "Voila"]
