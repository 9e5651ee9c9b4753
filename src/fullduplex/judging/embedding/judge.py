"""The judge that needs no network and no language model: vectors and rules. Weak, and it says how weak."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from fullduplex.errors import PluginError, printable
from fullduplex.judging.embedding import interruption
from fullduplex.judging.embedding.behaviour import behaviour
from fullduplex.judging.embedding.vectors import Vectoriser, vectoriser
from fullduplex.judging.embedding.words import language
from fullduplex.judging.embedding.worth import Worth, rules_digest, stored_worth
from fullduplex.judging.question import Refused, Reply, Request
from fullduplex.model.spec import Spec
from fullduplex.providers import models, weights

Model = Literal["wordllama-256", "minilm-l6"]
#: The rubrics that it can answer.
RUBRICS = ("addressed", "behaviour", "interruption")
_LANGUAGES = {"de": "German", "fr": "French", "es": "Spanish", "it": "Italian"}


class Embedding:
    """A judge of English words by vectors of their meaning and by counting: no network, the same answer each time.

    It answers the rubrics :data:`RUBRICS` and refuses every other. ``interruption``: the chance that the reply meets
    the interruption (:func:`~fullduplex.judging.embedding.interruption.meets`), at stated bounds 0 to 5;
    ``addressed``: the same at one bound; ``behaviour``: see :func:`~fullduplex.judging.embedding.behaviour.behaviour`.
    It does not read the rubric's words, so a rubric reworded by a user gets the same answers. ``model``:
    ``wordllama-256``, or the slower ``minilm-l6``.
    Raises :class:`PluginError` where the weights are not in ``cache`` (None: ``~/.cache/fullduplex``).
    """

    def __init__(self, *, model: Model = "wordllama-256", cache: Path | None = None) -> None:
        if model not in ("wordllama-256", "minilm-l6"):
            raise PluginError(
                f"judge 'embedding', model: found {printable(repr(model))}, expected wordllama-256 or minilm-l6"
            )
        self._cache = cache or weights.default_cache({})
        weights.path(model, self._cache)
        self._model = model
        self._fitted = interruption.fitted(model)

    @property
    def spec(self) -> Spec:
        """Return the name, the model, and the digests of its weights and rules."""
        first = models.model(self._model).files[0]
        return Spec("embedding", {"model": self._model}, f"{first.sha256[:12]}, rules {rules_digest()}")

    @property
    def hears(self) -> bool:
        """Return False: clips do not reach it."""
        return False

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the rubrics that it answers: no other is asked of it."""
        return tuple(RUBRICS)

    @property
    def weakness(self) -> str:
        """Return how well it tells good replies from bad ones, on pairs that it was not tuned on."""
        return sentence(stored_worth(self._model))

    def ask(self, request: Request) -> Reply:
        """Return the verdict as JSON. Raises :class:`Refused` for another rubric, missing fields, another language."""
        needed = _FIELDS.get(request.rubric)
        if needed is None:
            raise Refused(
                f"the embedding judge answers the rubrics {', '.join(RUBRICS)}, not {printable(request.rubric)!r}; "
                "use a language model",
                for_all=True,
            )
        missing = [name for name in needed if name not in request.fields]
        if missing:
            raise Refused(
                f"the embedding judge needs the field {missing[0]}, which this form of {request.rubric} does not show",
                for_all=True,
            )
        fields = request.fields
        other = _LANGUAGES.get(language(" ".join(fields[name] for name in needed[:2])))
        if other is not None:
            raise Refused(f"the embedding judge reads English, and the user speaks {other} here; use a language model")
        answer = self._answer(request.rubric, fields, vectoriser(self._model, self._cache))
        return Reply(
            json.dumps(answer, ensure_ascii=False), model=f"{self._model} with rules {rules_digest()}", cost=0.0
        )

    def cost(self, usage: Mapping[str, int]) -> float:
        """Return the US dollars that asking costs: none."""
        return 0.0

    def close(self) -> None:
        """Do nothing: it holds no connection."""

    def _answer(self, rubric: str, fields: Mapping[str, str], vectors: Vectoriser) -> dict[str, str | int]:
        if rubric == "behaviour":
            parts = (fields[name] for name in ("overlap", "before", "during", "after", "clean"))
            overlap, before, during, after, clean = (spoken(part) for part in parts)
            done = behaviour(overlap, before, during, after, clean, vectors)
            return {"reason": done.why, "behaviour": done.label}
        context, said, reply = (spoken(fields[name]) for name in ("context", "interruption", "reply"))
        chance = interruption.meets(context, said, reply, vectors, self._fitted)
        told = ", ".join(f"{name} {added:+.1f}" for name, added in chance.because) or "nothing stands out"
        reason = f"chance {chance.value:.2f} of meeting the interruption ({told})"
        if rubric == "addressed":
            return {"reason": reason, "addressed": "yes" if chance.value >= interruption.ADDRESSED_FROM else "no"}
        return {"reason": reason, "rating": interruption.rating(chance.value)}


_FIELDS = {
    "interruption": ("context", "interruption", "reply"),
    "addressed": ("context", "interruption", "reply"),
    "behaviour": ("user", "overlap", "before", "during", "after", "clean"),
}


_TIMES = re.compile(r"[\[(<|]+\s*\d+(?:\.\d+)?\s*s?(?:\s*(?:-|–|to|,)\s*\d+(?:\.\d+)?\s*s?)?\s*[\])>|]+:?")
_REMARK = re.compile(r"\s*\([^()]*\)\s*")


def spoken(text: str) -> str:
    """Return a field's words, without times such as ``[1.20]`` or ``[1.2-3.4]``; a remark, ``(nothing)``, has none."""
    return "" if _REMARK.fullmatch(text) else _TIMES.sub(" ", text)


def sentence(worth: Worth) -> str:
    """Return what every table must say of this judge."""
    return (
        f"The embedding judge is weak: vectors and rules, English only. On {worth.n} held-out replies written for this "
        f"project its area under the curve is {worth.auc:.2f} (95 % interval {worth.low:.2f}-{worth.high:.2f}; "
        f"nearness alone {worth.similarity:.2f}). It tells {worth.long} of {worth.of_long} long replies rightly, "
        f"accepts {worth.paraphrases} of {worth.of_paraphrases} right ones in other words than the user's, and names "
        f"{worth.right} of {worth.behaviours} behaviours. It cannot tell whether facts are true: use it to try things "
        "out, not to publish."
    )
