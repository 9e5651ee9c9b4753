from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fullduplex.errors import InputError, RunError
from fullduplex.runs.export import export
from fullduplex.runs.run import Run
from fullduplex.runs.schemas import NAMES, schema
from fullduplex.runs.stored import estimates, failures, items

GOLDEN = Path(__file__).parents[1] / "golden"
STORED = sorted(path for path in GOLDEN.iterdir() if (path / "run.json").is_file())
DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "files.md"


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(schema(name))


def stored(name: str) -> Any:
    return json.loads(next(GOLDEN.glob(f"run-schema-1/**/{name}.json")).read_text(encoding="utf-8"))


def described(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every field that a schema names, with what it says of it."""
    for name, field in value.get("properties", {}).items():
        yield name, field
        yield from described(field)
    for key in ("items", "additionalProperties"):
        if isinstance(value.get(key), dict):
            yield from described(value[key])
    for inner in value.get("$defs", {}).values():
        yield from described(inner)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_itself_valid_and_describes_every_field(name: str) -> None:
    found = schema(name)
    jsonschema.Draft202012Validator.check_schema(found)
    assert all("description" in field or "$ref" in field for _, field in described(found))


@pytest.mark.parametrize("run", STORED, ids=lambda path: path.name)
@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_a_stored_run_keeps_to_its_schema(run: Path, name: str) -> None:
    found = list(run.rglob(f"{name}.json"))
    assert found
    for path in found:
        validator(name).validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("run", STORED, ids=lambda path: path.name)
def test_a_stored_run_of_every_earlier_schema_opens_whole(run: Path, tmp_path: Path) -> None:
    opened = Run.open(run)
    found = list(items(opened))
    assert [item.key for item in found if item.trial.failed] == ["candor_turn_taking/10"]
    assert len(found) == 6
    assert sum(len(item.trial.system.words or ()) for item in found) == 13
    assert all(path.is_file() for item in found for path in item.files.values())
    assert len(estimates(opened)["estimates"]) == 6
    assert [row["item"] for row in failures(opened)] == ["candor_turn_taking/10"]
    assert len(export(run, "textgrid", tmp_path)) == 6


@pytest.mark.parametrize(
    ("name", "break_it"),
    [
        ("run", lambda v: v.update(schema=2)),
        ("run", lambda v: v["benchmark"].update(variants=[])),
        ("estimates", lambda v: v["estimates"][0].update(value="NaN")),
        ("estimates", lambda v: v["estimates"][0].update(n=-1)),
        ("estimates", lambda v: v["items"].append({"scenario": "s", "item": "1", "metric": "m", "value": None})),
        ("estimates", lambda v: v["variants"][0]["estimates"][0].pop("absent")),
        ("item", lambda v: v["events"].append({"kind": "pause", "start": 1.0})),
        ("item", lambda v: v.pop("id")),
        ("words", lambda v: v["tracks"]["input"]["words"].append(["a", None, 1.0, None])),
        ("words", lambda v: v["tracks"]["input"]["words"].append(["a", 0.0, 1.0, 1.5])),
        ("words", lambda v: v["tracks"].update(user=v["tracks"]["input"])),
        ("talk", lambda v: v.update(ended_by="tired")),
        ("talk", lambda v: v["turns"].append({"due": None})),
        ("talk", lambda v: v.update(attempts=[])),
        ("speech", lambda v: v["hearings"]["silero"]["tracks"]["input"]["segments"].append([1.0])),
    ],
)
def test_a_schema_refuses_what_the_file_may_not_be(name: str, break_it: Any) -> None:
    value = stored(name)
    broken = copy.deepcopy(value)
    break_it(broken)
    assert validator(name).is_valid(value)
    assert not validator(name).is_valid(broken)


def test_a_field_that_a_later_version_adds_is_accepted() -> None:
    for name in NAMES:
        assert validator(name).is_valid({**stored(name), "later": 1})


def test_a_file_without_a_schema_is_refused() -> None:
    with pytest.raises(InputError, match="run, estimates, item, words, speech, talk, judge"):
        schema("../run")


def test_a_run_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": 2}')
    with pytest.raises(RunError, match="newer fullduplex"):
        export(tmp_path, "csv")


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_names_every_field_under_its_file(name: str) -> None:
    section = re.split(r"^## ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (text,) = [part for part in section if re.match(rf"`[^`]*\b{name}\.json`", part)]
    named = set(re.findall(r"`([^`]+)`", text))
    assert {field for field, _ in described(schema(name))} - named == set()
