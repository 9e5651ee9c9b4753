"""The layout is a promise: imports point back along the flow of data, never forward."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "fullduplex"
ORDER = (
    "model",
    "data",
    "providers",
    "listening",
    "driving",
    "systems",
    "judging",
    "measures",
    "benchmarks",
    "making",
    "runs",
    "reporting",
    "testing",
)
FOR_ALL = {"errors", "once", "plugins"}
ON_TOP = {
    "agreeing",
    "baselines",
    "correlations",
    "judged",
    "sensitivity",
    "processes",
    "engines",
    "stages",
    "conversations",
    "holding",
    "clocks",
    "publish",
    "demo",
    "door",
    "cli",
    "__init__",
    "__main__",
}
MODULES = sorted(SOURCE.rglob("*.py"))
PURE = ("model", "measures")
PURE_MAY_IMPORT = {"numpy", "fullduplex"}
HEAVY = {
    "av",
    "httpx",
    "vosk",
    "websockets",
    "xllamacpp",
    "anthropic",
    "ctranslate2",
    "dask",
    "distributed",
    "faster_whisper",
    "jinja2",
    "google",
    "httpx2",
    "onnxruntime",
    "openai",
    "parselmouth",
    "pyloudnorm",
    "pandas",
    "pyarrow",
    "ray",
    "scipy",
    "soundfile",
    "soxr",
}


def imports(path: Path, *, at_start_only: bool = False) -> Iterator[str]:
    """Yield the dotted name of every module that a file imports, also inside functions unless told otherwise."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    late = {
        id(node)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef) or _is_for_types_only(outer)
        for node in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if at_start_only and id(node) in late:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            module = node.module or ""
            yield module
            if module == "fullduplex" or module.count(".") == 1:
                yield from (f"{module}.{alias.name}" for alias in node.names)


def place(module: str) -> str:
    """Return the folder or top-level module that a dotted name of ours belongs to, "" for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def _is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _home(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(SOURCE)) for path in MODULES])
def test_imports_point_back_along_the_flow(path: Path) -> None:
    home = _home(path)
    known = {*ORDER, *FOR_ALL, *ON_TOP}
    assert home in known, f"{home} has no place in the layout"
    for module in imports(path):
        if module != "fullduplex" and not module.startswith("fullduplex."):
            continue
        target = place(module)
        if target in FOR_ALL or target == home or target not in known or home in ON_TOP:
            continue
        assert home not in FOR_ALL, f"{home} imports {module}, and everything may import {home}"
        assert target in ORDER, f"{home} imports {module}, which stands above it"
        assert ORDER.index(target) < ORDER.index(home), f"{home} imports {module}, which stands after it"


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if _home(path) in PURE],
    ids=[str(path.relative_to(SOURCE)) for path in MODULES if _home(path) in PURE],
)
def test_the_core_needs_numpy_and_the_standard_library_alone(path: Path) -> None:
    roots = {module.partition(".")[0] for module in imports(path, at_start_only=True)}
    assert roots - set(sys.stdlib_module_names) <= PURE_MAY_IMPORT


@pytest.mark.parametrize("library", ["dask", "distributed", "ray"])
def test_only_the_engines_know_a_cluster(library: str) -> None:
    users = {
        str(path.relative_to(SOURCE))
        for path in MODULES
        if any(module.partition(".")[0] == library for module in imports(path))
    }
    assert users <= {"engines.py"}


def test_the_module_of_engines_loads_no_cluster_library() -> None:
    assert _loaded_by("import fullduplex.engines") & {"dask", "distributed", "ray"} == set()


def test_the_package_loads_nothing_heavy() -> None:
    assert _loaded_by("import fullduplex, fullduplex.plugins, fullduplex.engines") & HEAVY == set()


@pytest.mark.skipif(not (SOURCE / "cli").exists(), reason="there is no command line yet")
def test_the_help_loads_nothing_heavy() -> None:
    assert (
        _loaded_by(
            "from click.testing import CliRunner; from fullduplex.cli import main; CliRunner().invoke(main, ['--help'])"
        )
        & HEAVY
        == set()
    )


def _loaded_by(statement: str) -> set[str]:
    script = f"{statement}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(run.stdout.split())
