"""What plug-ins there are, as text for a terminal."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from fullduplex import plugins
from fullduplex.errors import FullDuplexError, InputError, printable
from fullduplex.plugins import FAMILIES, Plugin

#: The members that come with the package and need no entry point, by family: (name, summary).
_BUILT_IN = {
    "exporters": (
        ("csv", "the table and every item's facts, two files"),
        ("audacity", "a label track for each item"),
        ("textgrid", "a Praat TextGrid for each item"),
        ("rttm", "the speech of both voices in every item, one file"),
        ("junit", "gates and failed items for a build server, one file"),
    )
}

_REQUIREMENT = re.compile(r"\s*([\w.-]+).*extra\s*==\s*['\"]([\w-]+)['\"]", re.ASCII)


def list_text(family: str = "", weights: Callable[[Plugin], str] | None = None) -> str:
    """Return the members of ``family`` as lines: name, package, state, summary; unless told, of every family.

    The state is ``installed``, or says which extra to add. ``weights`` tells of a
    member's weights in a few words (``present``, or the command that fetches them),
    and is empty for a member that needs none. Of benchmarks each variant has a line.
    No plug-in's own library is imported. Raises :class:`InputError` on a family that is not known.
    """
    if family and family not in FAMILIES:
        raise InputError("FAMILY", found=repr(family), expected=f"one of {', '.join(FAMILIES)}")
    parts = []
    for name in (family,) if family else FAMILIES:
        rows = [(member, "fullduplex", "installed", what) for member, what in _BUILT_IN.get(name, ())]
        rows += [row for plugin in plugins.members(name) for row in _rows(plugin, weights)]
        parts.append([name, *(_columns(rows) or ["  none"])])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def missing_extra(plugin: Plugin) -> str:
    """Return the extra that ``plugin`` needs and that is not installed whole, or nothing."""
    extra = plugins.EXTRAS.get(plugin.name, "")
    if not extra or plugin.package != "fullduplex":
        return ""
    return "" if all(map(_is_installed, _libraries(plugin.package, extra))) else extra


def summary(plugin: Plugin) -> str:
    """Return the first line of what ``plugin`` says of itself, read from its source without importing it.

    A benchmark is its module, and so is a system's driver, wherever its package takes it from.
    """
    module, _, attribute = plugin.target.partition(":")
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return ""
    tree = _parsed(Path(spec.origin))
    if plugin.family == "systems":
        tree = _parsed(_defined_at(tree, module, attribute, Path(spec.origin))) or tree
    if tree is None:
        return ""
    if plugin.family == "benchmarks" or (plugin.family == "systems" and ast.get_docstring(tree)):
        attribute = ""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = next((node for node in tree.body if isinstance(node, kinds) and node.name == attribute), None)
    text = (found and ast.get_docstring(found)) or ast.get_docstring(tree) or ""
    return text.partition("\n")[0].replace("`", "")


def _parsed(path: Path | None) -> ast.Module | None:
    try:
        return None if path is None else ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _defined_at(tree: ast.Module | None, package: str, name: str, origin: Path) -> Path | None:
    """Return the module within ``package`` from which its ``__init__`` takes ``name``; None where it takes it not."""
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.ImportFrom) and any((each.asname or each.name) == name for each in node.names):
            whole = node.module or ""
            inner = whole if node.level else whole.removeprefix(f"{package}.")
            if inner and (node.level == 1 or inner != whole):
                return origin.parent.joinpath(*inner.split(".")).with_suffix(".py")
    return None


def _rows(plugin: Plugin, weights: Callable[[Plugin], str] | None) -> Iterable[tuple[str, str, str, str]]:
    extra = missing_extra(plugin)
    state = f"add fullduplex[{extra}]" if extra else "installed"
    told = weights(plugin) if weights is not None else ""
    yield plugin.name, plugin.package, f"{state}; weights {told}" if told else state, summary(plugin)
    if plugin.family == "benchmarks" and not extra:
        yield from ((f"  @{name}", "", "", text) for name, text in _variants(plugin).items())


def _variants(plugin: Plugin) -> Mapping[str, str]:
    try:
        made = plugins.find(plugin.family, plugin.name)()
    except FullDuplexError:
        return {}
    return {name: benchmark.summary for name, benchmark in made.items()}


def _columns(rows: Iterable[tuple[str, str, str, str]]) -> list[str]:
    safe = [tuple(printable(cell) for cell in row) for row in rows]
    widths = [max((len(row[i]) for row in safe), default=0) for i in range(3)]
    return ["  " + "  ".join([*map(str.ljust, row, widths), row[3]]).rstrip() for row in safe]


def _libraries(package: str, extra: str) -> list[str]:
    try:
        wanted = requires(package) or []
    except PackageNotFoundError:
        return []
    found = (_REQUIREMENT.match(line) for line in wanted)
    return [match[1] for match in found if match and match[2] == extra]


def _is_installed(library: str) -> bool:
    try:
        version(library)
    except PackageNotFoundError:
        return False
    return True
