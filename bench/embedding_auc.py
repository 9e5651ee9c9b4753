"""Measure the embedding judge on its labelled pairs: python bench/embedding_auc.py [--fit] [--dry]

Prints the area under the curve on the pairs for tuning and on those held out, of nearness alone, with rules, and of
TF-IDF where scikit-learn is installed, and writes them to ``judging/embedding/worth.json``. ``--fit`` fits the
weights anew before (on the pairs for tuning). ``--dry`` writes nothing. ``--tuned`` looks at the pairs for tuning only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fullduplex.data.files import write_json
from fullduplex.judging.embedding import worth
from fullduplex.judging.embedding.interruption import ADDRESSED_FROM
from fullduplex.judging.embedding.signals import SIGNALS
from fullduplex.judging.embedding.vectors import vectoriser
from fullduplex.providers.weights import default_cache

MODELS = ("wordllama-256", "minilm-l6")
HALVES = {"tuned": worth.TUNED, "held out": worth.HELD_OUT}


def tfidf() -> list[float] | None:
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
    except ImportError:
        return None
    texts = [text for pair in worth.pairs() for text in (pair.reply, pair.interruption)]
    rows = TfidfVectorizer().fit_transform(texts)
    return [float(rows[i].multiply(rows[i + 1]).sum()) for i in range(0, len(texts), 2)]


def main() -> None:
    cache = default_cache({})
    halves = {"tuned": worth.TUNED} if "--tuned" in sys.argv else HALVES
    if "--fit" in sys.argv:
        write_json(worth.WEIGHTS, {model: worth.fit(vectoriser(model, cache)) for model in MODELS})
    import json

    fitted = json.loads(worth.WEIGHTS.read_text(encoding="utf-8"))
    found: dict[str, Any] = {"pairs": worth.pairs_digest(), "rules": worth.rules_digest(), "models": {}}
    for model in MODELS:
        vectors = vectoriser(model, cache)
        alone = worth.similarities(vectors)
        ruled = worth.chances(vectors, [fitted[model][name] for name in ("constant", *SIGNALS)])
        found["models"][model] = {
            "similarity": {name: worth.measured(alone, half) for name, half in halves.items()},
            "rules": {name: worth.measured(ruled, half) for name, half in halves.items()},
            "kinds": {name: worth.by_kind(ruled, half, ADDRESSED_FROM) for name, half in halves.items()},
            "behaviours": {name: worth.behaviours(vectors, half) for name, half in halves.items()},
        }
    floor = tfidf()
    if floor is not None:
        found["tf-idf"] = {name: worth.measured(floor, half) for name, half in halves.items()}
    print(json.dumps(found, indent=1))
    if "--dry" not in sys.argv and "--tuned" not in sys.argv:
        write_json(worth.WORTH, found)
        print(f"written to {Path(worth.WORTH).name}", file=sys.stderr)


if __name__ == "__main__":
    main()
