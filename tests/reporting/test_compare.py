import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fullduplex.errors import RunError
from fullduplex.model.trials import Absent
from fullduplex.reporting.compare import (
    Comparison,
    Measured,
    RunValues,
    compare,
    favours,
    from_estimates,
    markdown,
    to_json,
)

TOR = ("pause", "tor")
LATENCY = ("turn", "latency")


def run(measured: Mapping[tuple[str, str], Measured], **more: Any) -> RunValues:
    fixed = {"benchmark": "fdb-1.0", "variant": "paper", "version": "1"}
    return RunValues(**{**fixed, **more}, measured=measured)


def rate(values: Mapping[str, float | Absent], **more: Any) -> Measured:
    return Measured(values, "rate", "lower", "share", "TOR", **more)


def mean(values: Mapping[str, float | Absent]) -> Measured:
    return Measured(values, "mean", "lower", "s", "Latency")


def ids(values: list[float]) -> dict[str, float | Absent]:
    return {f"{i:02}": value for i, value in enumerate(values)}


def two(a: list[float], b: list[float], **more: Any) -> Comparison:
    return compare({"A": run({TOR: rate(ids(a))}), "B": run({TOR: rate(ids(b))})}, **more)


def test_runs_are_paired_item_by_item() -> None:
    (one,) = two([1, 1, 1, 0], [0, 0, 1, 0]).differences
    assert (one.a, one.b, one.value_a, one.value_b) == ("A", "B", 0.75, 0.25)
    assert (one.paired.n, one.paired.effect, one.paired.p) == (4, -0.5, 0.5)


def test_flips_are_listed_with_their_recordings() -> None:
    a = run({TOR: rate(ids([1, 0, 0]))}, audio={"pause": {"00": "a/00.wav", "01": "a/01.wav"}})
    b = run({TOR: rate(ids([0, 1, 0]))}, audio={"pause": {"00": "b/00.wav"}})
    (one,) = compare({"A": a, "B": b}).differences
    assert [(c.item, c.a, c.b, c.audio_a, c.audio_b) for c in one.changes] == [
        ("00", 1, 0, "a/00.wav", "b/00.wav"),
        ("01", 0, 1, "a/01.wav", ""),
    ]


def test_the_largest_changes_of_a_mean_come_first() -> None:
    a, b = ids([0.1 * i for i in range(15)]), ids([0.2 * i for i in range(15)])
    (one,) = compare({"A": run({LATENCY: mean(a)}), "B": run({LATENCY: mean(b)})}).differences
    assert len(one.changes) == 10
    assert one.changes[0].item == "14"


def test_items_absent_in_one_run_have_no_pair_and_a_reason() -> None:
    a: dict[str, float | Absent] = {"1": 0.4, "2": Absent("no takeover"), "3": Absent("failed"), "4": 0.2}
    b: dict[str, float | Absent] = {"1": 0.5, "2": 0.3, "3": Absent("failed"), "4": Absent("no takeover")}
    (one,) = compare({"A": run({LATENCY: mean(a)}), "B": run({LATENCY: mean(b)})}).differences
    assert one.paired.n == 1
    assert one.unpaired == {"A: no takeover": 1, "both: failed": 1, "B: no takeover": 1}
    assert dict(one.unpaired_items)["2"] == "A: no takeover"


def test_two_reasons_are_both_told() -> None:
    runs = {"A": run({TOR: rate({"1": Absent("x")})}), "B": run({TOR: rate({"1": Absent("y")})})}
    (one,) = compare(runs).differences
    assert one.unpaired == {"A: x; B: y": 1}


def test_no_pairs_is_absent_and_costs_no_p() -> None:
    gone: dict[str, float | Absent] = dict.fromkeys(["00", "01", "02", "03", "04", "05"], Absent("silent"))
    a = run({TOR: rate(ids([1] * 6)), LATENCY: mean(gone)})
    b = run({TOR: rate(ids([0] * 6)), LATENCY: mean(ids([1] * 6))})
    rates, latencies = compare({"A": a, "B": b}).differences
    assert (latencies.paired.effect, latencies.adjusted, latencies.value_a) == (None, None, None)
    assert rates.adjusted == rates.paired.p == 2 / 64


def test_holm_runs_over_the_whole_table() -> None:
    measured = {("pause", f"m{i}"): rate(ids([1] * 6)) for i in range(3)}
    other = {key: rate(ids([0] * 6)) for key in measured}
    found = compare({"A": run(measured), "B": run(other), "C": run(other)}).differences
    assert len(found) == 6
    assert {one.adjusted for one in found} == {6 * 2 / 64}


def test_signs_flip_by_group() -> None:
    groups = {"pause": dict.fromkeys(ids([0] * 6), "one speaker")}
    a, b = run({TOR: rate(ids([1] * 6))}, groups=groups), run({TOR: rate(ids([0] * 6))}, groups=groups)
    (one,) = compare({"A": a, "B": b}).differences
    assert one.paired.p == 1.0


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("benchmark", "fdb-1.5", "B has benchmark fdb-1.5 where A has fdb-1.0"),
        ("variant", "anchored", "B has variant anchored where A has paper; score both under one variant"),
        ("version", "2", "B has version 2"),
        ("hearing", "silero", "B has listening silero where A has not said"),
    ],
)
def test_runs_measured_otherwise_are_refused(field: str, value: str, words: str) -> None:
    a = run({TOR: rate(ids([1]))})
    with pytest.raises(RunError, match=words):
        compare({"A": a, "B": run(a.measured, **{field: value})}, only_common=True)


def test_items_that_differ_are_refused_by_name() -> None:
    a, b = run({TOR: rate({"1": 1, "2": 0})}), run({TOR: rate({"2": 0, "3": 0})})
    with pytest.raises(RunError, match=r"pause: 1 item \(1\) only in A, 1 item \(3\) only in B; score the same items"):
        compare({"A": a, "B": b})


def test_only_common_items_are_compared_when_asked_and_the_rest_counted() -> None:
    a, b = run({TOR: rate({"1": 1, "2": 0})}), run({TOR: rate({"2": 0, "3": 0, "4": 1})})
    found = compare({"A": a, "B": b}, only_common=True)
    assert found.differences[0].paired.n == 1
    assert found.left_out == {"items of pause in A, not in B": 1, "items of pause in B, not in A": 2}
    assert "items of pause in B, not in A: 2" in markdown(found)


def test_metrics_that_differ_are_refused() -> None:
    a, b = run({TOR: rate(ids([1])), LATENCY: mean(ids([1]))}), run({TOR: rate(ids([1]))})
    with pytest.raises(RunError, match=r"A has metrics that B lacks \(latency in turn\)"):
        compare({"A": a, "B": b})
    assert compare({"A": a, "B": b}, only_common=True).left_out == {"A has metrics that B lacks": 1}


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(RunError, match="no metric in common"):
        compare({"A": run({TOR: rate(ids([1]))}), "B": run({LATENCY: mean(ids([1]))})}, only_common=True)


def test_another_version_of_a_metric_is_refused() -> None:
    with pytest.raises(RunError, match="version 2"):
        compare({"A": run({TOR: rate(ids([1]))}), "B": run({TOR: rate(ids([1]), version="2")})})


def test_an_item_in_two_groups_is_refused() -> None:
    a = run({TOR: rate(ids([1]))}, groups={"pause": {"00": "x"}})
    with pytest.raises(RunError, match="item 00 of pause is in group none in B and in x in A"):
        compare({"A": a, "B": run({TOR: rate(ids([1]))})})


def test_one_run_is_no_comparison() -> None:
    with pytest.raises(RunError, match="at least two"):
        compare({"A": run({TOR: rate(ids([1]))})})


def test_a_line_favours_a_run_only_beyond_chance() -> None:
    (clear,) = two([1] * 8, [0] * 8).differences
    (unclear,) = two([1] * 3, [0] * 3).differences
    assert (favours(clear), favours(unclear)) == ("B", "")
    assert favours(replace(clear, measured=replace(clear.measured, better="higher"))) == "A"
    assert favours(replace(clear, measured=replace(clear.measured, better="neither"))) == ""


def test_json_holds_every_number_and_no_nan() -> None:
    made = to_json(two([1, 1, 1, 0], [0, 0, 1, 0]))
    (one,) = made["differences"]
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert (one["n"], one["effect"], one["p"], one["p_holm"]) == (4, -0.5, 0.5, 0.5)
    assert [change["item"] for change in one["changes"]] == ["00", "01"]


def test_markdown_shows_the_table_the_flips_and_what_has_no_pair() -> None:
    a = run({TOR: rate({"1": 1, "2": Absent("failed")})}, audio={"pause": {"1": "runs/a 1/output.wav"}})
    b = run({TOR: rate({"1": 0, "2": 1})})
    text = markdown(compare({"A": a, "B": b}))
    assert "| pause | TOR ↓ | 1.000 | 0.000 | -1.000 | — | 1 | 1.000 | 1.000 |  | 1 × A: failed |" in text
    assert "1 flip (0 from 0 to 1, 1 from 1 to 0)" in text
    assert "[A](<runs/a%201/output.wav>)" in text
    assert "- A: failed: 2" in text


def test_hostile_names_are_harmless() -> None:
    name, item = "<script>|B", "../../x|<img src=x>\n# y"
    a = run({TOR: rate({item: 1})}, audio={"pause": {item: "javascript:alert(1)>)<b>"}})
    text = markdown(compare({"A": a, name: run({TOR: rate({item: 0})})}))
    assert "<script" not in text and "<img" not in text and "\n# y" not in text and "javascript:" not in text


def test_the_same_seed_gives_the_same_comparison() -> None:
    a, b = [float(i % 2) for i in range(40)], [float(i % 3 == 0) for i in range(40)]
    assert two(a, b, seed=5) == two(a, b, seed=5)
    assert two(a, b, seed=5) != two(a, b, seed=6)


def test_a_stored_table_is_compared_as_it_was_measured() -> None:
    def table(values: list[float | None]) -> dict[str, Any]:
        estimate = {"scenario": "pause", "metric": "tor", "unit": "share", "better": "lower", "title": "TOR"}
        facts: list[dict[str, Any]] = [
            {"scenario": "pause", "item": str(i), "metric": "tor", "value": value, "group": "s"}
            | ({"absent": "failed"} if value is None else {})
            for i, value in enumerate(values)
        ]
        return {
            "benchmark": "fdb-1.0",
            "variant": "paper",
            "version": "1",
            "estimates": [estimate],
            "items": facts,
        }

    a, b = from_estimates(table([1, 1, None])), from_estimates(table([0, 1, 1]))
    (one,) = compare({"A": a, "B": b}).differences
    assert (one.measured.kind, one.paired.n, one.unpaired) == ("rate", 2, {"A: failed": 1})
    assert a.groups == {"pause": {"0": "s", "1": "s", "2": "s"}}


def test_a_share_that_is_not_0_or_1_is_a_mean() -> None:
    estimate = {"scenario": "p", "metric": "overlap", "unit": "share", "better": "lower"}
    fact = {"scenario": "p", "item": "1", "metric": "overlap", "value": 0.3}
    table = {"benchmark": "x", "variant": "y", "version": "1", "estimates": [estimate], "items": [fact]}
    assert from_estimates(table).measured["p", "overlap"].kind == "mean"


def test_a_mean_of_shares_stays_one_where_every_share_is_nought_or_one() -> None:
    def measured(value: float) -> RunValues:
        row = {"scenario": "long", "metric": "grounded", "unit": "share", "better": "higher", "kind": "mean"}
        fact = {"scenario": "long", "metric": "grounded", "item": "01", "value": value}
        named = {"benchmark": "b", "variant": "v", "version": "1"}
        return from_estimates({**named, "estimates": [row], "items": [fact]})

    (one,) = compare({"A": measured(0.8), "B": measured(1.0)}).differences
    assert (one.value_a, one.value_b, one.measured.kind) == (0.8, 1.0, "mean")
