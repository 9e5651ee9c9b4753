"""How far a run's numbers rest on choices: rules, thresholds, detectors, recognisers, judges, clocks.

Facts that are stored are scored again under each choice, all others as they were. Another detector or
recogniser hears the recordings again, into ``RUN/heard/NAME``; nothing of the run itself changes.
"""

from fullduplex.sensitivity.found import Band, Sensitivity, Shift, Standing, sensitivity, to_json
from fullduplex.sensitivity.reheard import heard_again
from fullduplex.sensitivity.rescored import AS_MEASURED, Condition, Values, thresholds

__all__ = [
    "AS_MEASURED",
    "Band",
    "Condition",
    "Sensitivity",
    "Shift",
    "Standing",
    "Values",
    "heard_again",
    "sensitivity",
    "thresholds",
    "to_json",
]
