"""The commands about weights: list, fetch and verify them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from fullduplex.cli import SOME_FAILED, _cache, _json, _shown_json, main


@main.group()
def models() -> None:
    """Weights of models: what there is, fetch them, check their bytes."""


@models.command("list")
@_json
def models_list(as_json: bool) -> int:
    """List every model with its role, licence, size and whether it is in the cache."""
    from fullduplex.providers import weights

    cache = _cache()
    states = dict(weights.verify(cache))
    rows = [
        {"name": m.name, "role": m.role, "licence": m.licence,
         "megabytes": round(sum(f.size for f in m.files) / 1e6, 1), "state": states.get(m.name, "missing")}
        for m in weights.models()
    ]  # fmt: skip
    if as_json:
        _shown_json(rows)
        return 0
    click.echo(f"{'model':<22}{'role':<14}{'licence':<16}{'MB':>7}  state ({cache})")
    for row in rows:
        click.echo(f"{row['name']:<22}{row['role']:<14}{row['licence']:<16}{row['megabytes']:>7}  {row['state']}")
    return 0


#: What the tests and the demo need, so that neither has to know names.
SETS = {
    "demo": ("silero-v6-sequence", "silero-v6", "moonshine-tiny", "smollm2-135m"),
    "tests": (
        "silero-v6-sequence",
        "silero-v6",
        "whisper-base",
        "whisper-tiny.en",
        "moonshine-tiny",
        "smollm2-135m",
        "smart-turn-v3.2",
        "kokoro",
        "dnsmos",
        "aecmos",
        "wordllama-256",
    ),
}


@models.command("fetch")
@click.argument("names", nargs=-1)
@click.option("--for", "purpose", type=click.Choice(sorted(SETS)), help="Fetch what the demo or the tests need.")
@_json
def models_fetch(names: Sequence[str], purpose: str | None, as_json: bool) -> int:
    """Fetch models into the cache, each file checked by its SHA-256."""
    from fullduplex.providers import weights

    known = [model.name for model in weights.models()]
    wanted = [*names, *(name for name in SETS.get(purpose or "", ()) if name in known)]
    if not wanted:
        raise click.UsageError(f"name a model ({', '.join(known)}) or give --for demo")
    places = {}
    for name in wanted:
        places[name] = str(weights.fetch(name, _cache()))
        if not as_json:
            click.echo(f"{name}: {places[name]}")
    if as_json:
        _shown_json(places)
    return 0


@models.command("verify")
@_json
def models_verify(as_json: bool) -> int:
    """Hash every byte of what is in the cache."""
    from fullduplex.providers import weights

    states = weights.verify(_cache())
    if as_json:
        _shown_json(dict(states))
    for name, state in () if as_json else states:
        click.echo(f"{name:<22}{state}")
    return SOME_FAILED if any(state in ("wrong", "partial") for _, state in states) else 0
