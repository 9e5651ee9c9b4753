"""A run as JUnit XML, so that a build server shows its gates and its failed items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree as Xml

from fullduplex.errors import printable
from fullduplex.runs.gates import GateResult


def junit(name: str, gates: Sequence[GateResult], failures: Iterable[Mapping[str, str]], items: int) -> str:
    """Return the report of a run called ``name`` as XML.

    The suite ``gates`` has a test case for each gate, failed where it did not hold.
    The suite ``items`` has a test case, in error, for each entry of ``failures``
    (``item``, ``stage``, ``error``) and one for all the rest of the ``items`` together.
    """
    root = Xml.Element("testsuites", name=printable(name))
    _suite(root, "gates", [_gate(result) for result in gates])
    failed = list(failures)
    rest = max(0, items - len({failure["item"] for failure in failed}))
    passed = Xml.Element("testcase", classname="items", name=f"items without a failure: {rest}")
    _suite(root, "items", [passed, *map(_failure, failed)])
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(root: Xml.Element, name: str, cases: Sequence[Xml.Element]) -> None:
    suite = Xml.SubElement(root, "testsuite", name=name, tests=str(len(cases)))
    for plural, child in (("failures", "failure"), ("errors", "error")):
        suite.set(plural, str(sum(case.find(child) is not None for case in cases)))
    suite.extend(cases)


def _gate(result: GateResult) -> Xml.Element:
    case = Xml.Element("testcase", classname="gates", name=printable(result.gate.text))
    if result.held:
        Xml.SubElement(case, "system-out").text = printable(result.text, 2_000)
    else:
        Xml.SubElement(case, "failure", type="gate", message=printable(result.text, 2_000))
    return case


def _failure(row: Mapping[str, str]) -> Xml.Element:
    case = Xml.Element("testcase", classname=printable(f"items.{row['stage']}"), name=printable(row["item"]))
    Xml.SubElement(case, "error", type=printable(row["stage"]), message=printable(row["error"], 2_000))
    return case
