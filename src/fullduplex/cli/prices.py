"""The option that says what talks cost."""

from __future__ import annotations

from typing import Any

import click

from fullduplex.errors import InputError


def priced(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """Return the :class:`~fullduplex.driving.prices.Prices` that the option's text stands for, None without one."""
    from fullduplex.driving.prices import Prices

    if not value:
        return None
    try:
        return Prices.parse(value)
    except InputError as error:
        raise click.BadParameter(str(error), ctx, param) from error


__all__ = ["priced"]
