"""Cards and tables of several dimensions, from what many systems answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fullduplex.benchmarks.boards import board_of, read_board
from fullduplex.benchmarks.interactionbench import published, variants
from fullduplex.measures.statistics import wilson
from fullduplex.reporting.cards import cards, grounds
from fullduplex.reporting.cells import BY_CONSTRUCTION
from fullduplex.reporting.dimensions import dimensions
from fullduplex.reporting.dimensions_text import dimensions_markdown
from fullduplex.reporting.seats import over_network
from fullduplex.runs.run import Run

TIMING = ("backchannel", "pause", "turn_taking", "user_backchannel", "interruption")
TASKS = ("logic", "countdown", "grammar", "keyword_wait", "stay_quiet")


def _share(part: int | None, n: int | None) -> list[Any]:
    assert part is not None and n is not None
    return [1.0] * part + [0.0] * (n - part)


def _passed(part: int, n: int, over: tuple[str, ...] = TIMING) -> dict[str, dict[str, Any]]:
    return {card: {"passed": _share(part, n)} for card in over}


def _table(ground: Any, key: str) -> dict[str, Any]:
    return next(table for table in dimensions(ground) if table["key"] == key)


def _cell(table: dict[str, Any], name: str, title: str) -> dict[str, Any]:
    place = next(i for i, column in enumerate(table["columns"]) if column["title"] == title)
    cell: dict[str, Any] = next(row for row in table["rows"] if row["name"] == name)["cells"][place]
    return cell


def _card(ground: Any, key: str) -> dict[str, Any]:
    return next(card for card in cards(ground) if card["key"] == key)


def _places(card: dict[str, Any]) -> dict[str, Any]:
    return {rank["system"]: rank["place"] for rank in card["ranks"]}


def test_the_printed_results_give_the_printed_timing_scores_and_their_order(ground: Any) -> None:
    counts = {(one.system, one.scenario): one for one in published.PRINTED if one.source == published.RESULTS
              and one.metric == "passed"}  # fmt: skip
    systems = {
        name: {card: {"passed": _share(counts[name, f"ib_{card}"].part, counts[name, f"ib_{card}"].n)}
               for card in TIMING}
        for name in published.SYSTEMS.values()
    }  # fmt: skip
    table = _table(ground(systems), "timing")
    for name in systems:
        cell, printed = _cell(table, name, "Timing score"), counts[name, "timing"]
        assert (cell["part"], cell["n"]) == (printed.part, printed.n)
        assert (cell["low"], cell["high"]) == wilson(cell["part"], cell["n"])
    scores = [_cell(table, row["name"], "Timing score")["value"] for row in table["rows"]]
    assert scores == sorted(scores, reverse=True)


def test_a_median_leaves_out_replies_that_are_not_there_and_says_so(ground: Any) -> None:
    latency = {"turn_taking": {"turn_latency": [0.2, 0.4, 3.0, "spoke before the end"], "passed": _share(3, 4)}}
    cell = _cell(_table(ground({"alpha": latency}), "timing"), "alpha", "Turn latency, median")
    assert cell["value"] == pytest.approx(0.4)
    assert (cell["n"], cell["absent"]) == (3, [("spoke before the end", 1)])


def test_a_mean_of_counts_keeps_its_decimals(ground: Any) -> None:
    systems: dict[str, Any] = {"alpha": {"backchannel": {"acknowledgements": [1.0, 2.0, 2.0, 1.2]}}}
    assert _cell(_table(ground(systems), "timing"), "alpha", "Backchannels")["text"] == "1.550"


def test_no_score_without_one_of_its_scenarios(ground: Any) -> None:
    systems = {"alpha": _passed(8, 10), "beta": _passed(9, 10, TIMING[:-1])}
    table = _table(ground(systems), "timing")
    assert _cell(table, "beta", "Timing score")["value"] is None
    assert _cell(table, "beta", "Timing score")["note"] == "Interruption was not measured"
    assert [row["name"] for row in table["rows"]] == ["alpha", "beta"]


def test_no_score_where_only_failures_need_no_judge(ground: Any) -> None:
    systems = {"alpha": _passed(8, 10) | {"interruption": {"passed": [0.0] * 2 + [None] * 8}}}
    table = _table(ground(systems), "timing")
    assert _cell(table, "alpha", "Timing score")["note"] == "Interruption: 8 of 10 items wait for a judge"
    assert _cell(table, "alpha", "Yield & answer")["value"] is None
    card = _card(ground(systems), "interruption")
    assert card["ranks"][0]["place"] is None
    assert card["ranks"][0]["cell"]["note"] == "8 of 10 wait for a judge"


@pytest.mark.parametrize(("waiting", "value"), [(1, 0.0), (2, None)])
def test_a_number_stands_while_one_item_in_twenty_waits_and_no_more(ground: Any, waiting: int, value: Any) -> None:
    answers = {"logic": {"passed": [0.0] * (20 - waiting) + [None] * waiting}}
    assert _cell(_table(ground({"alpha": answers}), "tasks"), "alpha", "Logic")["value"] == value


def test_a_silent_system_has_a_score_over_what_was_exercised(ground: Any) -> None:
    idle: dict[str, Any] = {"passed": ["not exercised"] * 10}
    answers = _passed(0, 10, TIMING[:3]) | {"user_backchannel": idle, "interruption": idle}
    cell = _cell(_table(ground({"mute": answers}), "timing"), "mute", "Timing score")
    assert (cell["value"], cell["n"], cell["missing"]) == (0.0, 30, 20)


def test_the_dimensions_have_no_number_in_common(ground: Any) -> None:
    answers = _passed(8, 10) | _passed(5, 10, TASKS) | _passed(1, 10, ("whisper", "volume"))
    made = dimensions(ground({"alpha": answers}))
    assert [table["key"] for table in made] == ["timing", "tasks", "voice"]
    scores = {table["key"]: table["rows"][0]["cells"][-1]["n"] for table in made}
    assert scores == {"timing": 50, "tasks": 50, "voice": 20}


def test_counting_by_turns_stands_beside_the_score_and_not_in_it(ground: Any) -> None:
    answers = _passed(5, 10, TASKS) | {"alternating_count": {"passed": [1.0]}}
    table = _table(ground({"alpha": answers}), "tasks")
    assert _cell(table, "alpha", "Alternating count")["n"] == 1
    assert _cell(table, "alpha", "Answered")["n"] == 50


def test_the_best_of_a_column_follows_its_direction_and_ties_are_both_best(ground: Any) -> None:
    systems = {
        name: {"pause": {"passed": _share(good, 10), "barge_in": _share(10 - good, 10)}}
        for name, good in (("alpha", 9), ("beta", 9), ("gamma", 2))
    }
    table = _table(ground(systems), "timing")
    assert {name: _cell(table, name, "Barge-in")["best"] for name in systems} == {
        "alpha": True, "beta": True, "gamma": False,
    }  # fmt: skip


def test_nothing_is_best_where_all_are_alike_or_one_is_alone(ground: Any) -> None:
    answers = {"pause": {"barge_in": _share(3, 10)}}
    for systems in ({"alpha": answers}, {"alpha": answers, "beta": answers}):
        table = _table(ground(systems), "timing")
        assert not any(cell["best"] for row in table["rows"] for cell in row["cells"])


@pytest.mark.parametrize(("few", "best"), [(14, "slow"), (15, "quick")])
def test_a_value_on_less_than_half_the_items_is_not_best(ground: Any, few: int, best: str) -> None:
    systems = {
        "quick": {"turn_taking": {"turn_latency": [0.1] * few + ["spoke before the end"] * (30 - few)}},
        "slow": {"turn_taking": {"turn_latency": [1.0] * 30}},
    }
    table = _table(ground(systems), "timing")
    assert [row["name"] for row in table["rows"] if row["cells"][0]["best"]] == [best]


def test_figures_that_print_alike_share_a_place(ground: Any) -> None:
    systems = {name: _passed(part, 10, ("pause",)) for name, part in (("a", 7), ("b", 9), ("c", 9), ("d", 2))}
    card = _card(ground(systems), "pause")
    assert _places(card) == {"b": 1, "c": 1, "a": 3, "d": 4}
    assert [rank["tied"] for rank in card["ranks"]] == [True, True, False, False]


def test_a_system_without_a_value_has_no_place_and_stands_last(ground: Any) -> None:
    systems: dict[str, Any] = {"a": {"pause": {"passed": ["failed"] * 3}}, "b": _passed(0, 3, ("pause",)), "c": {}}
    card = _card(ground(systems), "pause")
    assert _places(card) == {"b": 1, "a": None, "c": None}
    assert card["ranks"][0]["system"] == "b"


def test_a_pass_by_construction_is_no_place_and_not_the_best(ground: Any) -> None:
    systems = {name: _passed(part, 10, TASKS) for name, part in (("cascade", 10), ("alpha", 7), ("beta", 3))}
    made = ground(systems, whole_turns=["cascade"])
    assert _places(_card(made, "stay_quiet")) == {"alpha": 1, "beta": 2, "cascade": None}
    assert _places(_card(made, "logic"))["cascade"] == 1
    table = _table(made, "tasks")
    assert _cell(table, "cascade", "Stay quiet")["note"] == BY_CONSTRUCTION
    assert not _cell(table, "cascade", "Stay quiet")["best"] and _cell(table, "alpha", "Stay quiet")["best"]
    assert any(BY_CONSTRUCTION in note for note in table["notes"])


def _probes(passed: list[Any], counted: list[Any], **more: Any) -> dict[str, Any]:
    shares = [p / c if isinstance(p, float) else p for p, c in zip(passed, counted, strict=True)]
    return {"groundedness": {"grounded": shares, "probes_passed": passed, "probes_counted": counted, **more}}


def test_grounded_is_a_share_of_probes_and_not_a_mean_of_shares(ground: Any) -> None:
    made = ground({"alpha": _probes([1.0, 0.0, 4.0], [1.0, 4.0, 5.0])})
    cell = _cell(_table(made, "groundedness"), "alpha", "Grounded")
    assert (cell["part"], cell["n"], cell["value"]) == (5, 10, 0.5)
    assert cell["low"] is not None and cell["low"] < 0.5 < cell["high"]
    assert _card(made, "groundedness")["ranks"][0]["cell"]["value"] == 0.5


def test_probes_that_all_failed_are_not_sure_to_fail(ground: Any) -> None:
    cell = _cell(_table(ground({"a": _probes([0.0, 0.0], [5.0, 6.0])}), "groundedness"), "a", "Grounded")
    assert (cell["low"], cell["high"], cell["n"]) == (*wilson(0, 2), 11)


def test_conversations_that_wait_for_a_judge_withhold_the_share(ground: Any) -> None:
    cell = _cell(_table(ground({"a": _probes([1.0, None], [4.0, 4.0])}), "groundedness"), "a", "Grounded")
    assert (cell["value"], cell["note"]) == (None, "1 of 2 conversations wait for a judge")


def test_probes_are_told_by_type_over_systems(ground: Any) -> None:
    def of(passed: float) -> dict[str, Any]:
        kinds = {"probes_passed:nonsense": [passed, "no such probe"], "probes_counted:nonsense": [4.0, "no such probe"]}
        return _probes([passed, 1.0], [4.0, 1.0], **kinds)

    table = _table(ground({"alpha": of(3.0), "beta": of(0.0)}), "probes")
    assert [row["name"] for row in table["rows"]] == ["flags nonsense"]
    assert _cell(table, "flags nonsense", "alpha")["text"] == "0.750"
    assert _cell(table, "flags nonsense", "alpha")["missing"] == 0
    every = _cell(table, "flags nonsense", "all systems")
    assert (every["part"], every["n"]) == (3, 8)


def test_failures_are_split_into_none_and_wrong(ground: Any) -> None:
    logic = {"passed": [1.0, 0.0, 0.0, 0.0, 0.0], "answered": [1.0, 0.0, 0.0, 1.0, "no words"]}
    lost: dict[str, Any] = {"probes_no_reply": [2.0], "probes_wrong_reply": [1.0], "probes_never_asked": [3.0]}
    table = _table(ground({"a": {"logic": logic} | _probes([1.0], [7.0], **lost)}), "failures")
    assert [cell["value"] for cell in table["rows"][0]["cells"]] == [4, 2, 1, 1, 6, 2, 1, 3]
    assert [column["title"] for column in table["columns"]][4:] == [
        "Probes failed", "no reply", "wrong reply", "never asked",
    ]  # fmt: skip


def test_probes_are_split_over_conversations_that_are_known_as_a_whole(ground: Any) -> None:
    lost: dict[str, Any] = {
        "probes_no_reply": [2.0, 4.0], "probes_wrong_reply": [1.0, None], "probes_never_asked": [0.0, 0.0],
    }  # fmt: skip
    table = _table(ground({"a": _probes([4.0, None], [7.0, 5.0], **lost)}), "failures")
    assert [cell["value"] for cell in table["rows"][0]["cells"]] == [3, 2, 1, 0]
    assert {cell["n"] for cell in table["rows"][0]["cells"]} == {7}


def test_what_nobody_judged_did_not_fail_never(ground: Any) -> None:
    made = ground({"a": {"logic": {"passed": [None], "answered": [1.0]}}})
    assert "failures" not in [table["key"] for table in dimensions(made)]


def _both(scores: dict[str, tuple[int, int]]) -> dict[str, Any]:
    return {name: _passed(timing, 10) | _passed(tasks, 10, TASKS) for name, (timing, tasks) in scores.items()}


def test_timing_is_set_against_tasks_with_and_without_a_cascade(ground: Any) -> None:
    systems = _both({"a": (1, 1), "b": (2, 2), "c": (3, 3), "my-cascade": (0, 9)})
    table = _table(ground(systems), "related")
    assert _cell(table, "every system", "Rank correlation")["value"] == pytest.approx(-0.2)
    assert _cell(table, "every system", "Rank correlation")["n"] == 4
    assert _cell(table, "without cascade", "Rank correlation")["value"] == pytest.approx(1.0)
    assert _cell(table, "without cascade", "Rank correlation")["n"] == 3
    assert _cell(table, "every system", "Rank correlation")["low"] is None


def test_two_systems_have_no_correlation(ground: Any) -> None:
    cell = _cell(_table(ground(_both({"a": (1, 1), "b": (2, 2)})), "related"), "every system", "Rank correlation")
    assert (cell["value"], cell["n"], cell["note"]) == (None, 2, "fewer than 3 systems have both scores")


def test_whether_the_outcome_depends_on_the_injection_is_told_per_system(ground: Any) -> None:
    delays = [0.1 * n for n in range(10)]
    answers = {"interruption": {"injection_delay": delays, "passed": _share(5, 10)}}
    table = _table(ground({"a": answers}), "asked")
    assert _cell(table, "a", "Interruption into the reply, median")["value"] == pytest.approx(0.45)
    assert _cell(table, "a", "Rank correlation of that with passing")["value"] < -0.8
    assert {column["better"] for column in table["columns"]} == {"neither"}


def test_hosted_rows_say_that_they_include_the_network(ground: Any) -> None:
    made = ground({"far": _passed(5, 10), "near": _passed(5, 10)}, network=["far"])
    table = _table(made, "timing")
    assert {row["name"]: row["marks"] for row in table["rows"]} == {"far": ["includes network"], "near": []}
    assert "| far (includes network) |" in dimensions_markdown([table])


@pytest.mark.parametrize(
    ("options", "far"),
    [
        ({"url": "wss://api.a.example/v1"}, True),
        ({"url": "ws://127.0.0.1:8765"}, False),
        ({"url": "ws://localhost:1"}, False),
        ({"url": "ws://[::1]:1"}, False),
        ({"url": "ws://[::1"}, True),
        ({"url": "wss://api.a.example", "network": False}, False),
        ({"network": True}, True),
        ({}, False),
    ],
)
def test_a_network_is_known_by_the_address(options: dict[str, Any], far: bool) -> None:
    assert over_network({"driven": {"system": {"name": "x", "options": options}}}) is far


def test_a_recording_includes_no_network() -> None:
    assert over_network({"system": "recorded"}) is False


def _run(name: str, benchmark: str = "interactionbench", **driven: Any) -> Run:
    about = {"benchmark": {"name": benchmark}, "system": name, "driven": driven, "seed": 3}
    return Run(Path(name), about)


def test_a_run_says_how_its_system_was_reached(ground: Any) -> None:
    made = ground({"far": _passed(5, 10), "near": _passed(5, 10)})
    far: dict[str, Any] = {
        "system": {"name": "realtime", "options": {"url": "wss://api.a.example/v1"}},
        "clock": "wall",
    }
    near: dict[str, Any] = {"system": {"name": "x", "options": {"whole_turns": True}}, "clock": "step-algorithmic"}
    runs = [_run("far", **far), _run("near", **near)]
    pairs = [(run, seat.measured) for run, seat in zip(runs, made.seats, strict=True)]
    (found,) = grounds(pairs, {"page": made.rows})
    assert [seat.marks for seat in found.seats] == [["includes network"], ["given whole turns", "simulated timing"]]
    assert found.seed == 3 and dimensions(found)[0]["rows"][0]["cells"][-1]["value"] == 0.5


def test_talks_say_that_a_system_was_given_whole_turns(ground: Any, tmp_path: Path) -> None:
    made = ground({"offline": _passed(5, 10), "streamed": _passed(5, 10)})
    pairs = []
    for seat, whole in zip(made.seats, (True, False), strict=True):
        folder = tmp_path / seat.system / "trials" / "ib_pause" / "1"
        folder.mkdir(parents=True)
        (folder / "item.json").write_text("{}")
        (folder / "talk.json").write_text(json.dumps({"whole_turns": whole}))
        about = {**_run(seat.system, system={"name": "x", "options": {}}).about, "system": seat.system}
        pairs.append((Run(tmp_path / seat.system, about), seat.measured))
    (found,) = grounds(pairs, {"page": made.rows})
    assert [seat.marks for seat in found.seats] == [["given whole turns"], []]


def test_a_run_of_another_benchmark_has_no_cards(ground: Any) -> None:
    made = ground({"a": _passed(5, 10)})
    assert grounds([(_run("a", "fdb-1.0"), made.seats[0].measured)], {"paper": made.rows}) == []


def test_markdown_has_every_number_with_its_interval_and_n(ground: Any) -> None:
    systems = {"alpha": _passed(8, 10), "be|ta <b>": _passed(7, 10, TIMING[:-1])}
    text = dimensions_markdown(dimensions(ground(systems)))
    assert text.startswith("## Conversational timing\n")
    assert "| alpha |" in text and "**0.800** [0.490, 0.943] 8/10" not in text.split("Timing score")[0]
    assert "[0.670, 0.888] 40/50" in text
    assert r"be\|ta &lt;b&gt;" in text and "<b>" not in text
    assert "1. Interruption was not measured" in text


def test_nothing_measured_is_nothing_shown(ground: Any) -> None:
    assert cards(ground({"a": {}})) == [] and dimensions(ground({"a": {}})) == []
    assert dimensions_markdown([]) == ""


def test_every_scenario_has_a_card_and_every_column_a_metric() -> None:
    board = board_of("interactionbench")
    assert board is not None
    for benchmark in variants().values():
        declared = {one.card: {metric.name for metric in one.metrics} for one in benchmark.scenarios}
        assert set(declared) == set(board.cards)
        assert {one.dimension for one in benchmark.scenarios} <= {one.key for one in board.dimensions}
        for dimension in board.dimensions:
            for column in dimension.columns:
                wanted = {column.metric, column.whole} - {""}
                assert any(wanted <= declared[card] for card in column.cards), column.title
        assert board.failures is not None and board.probes is not None
        assert set(board.failures.counts.values()) <= declared["groundedness"]
        assert {f"{board.probes.part}:{kind}" for kind in board.probes.types} <= declared["groundedness"]


def test_every_text_of_a_card_is_short_enough_to_be_read() -> None:
    board = board_of("interactionbench")
    assert board is not None
    for card in board.cards.values():
        for text in (card.happens, card.success, card.listen):
            assert 20 < len(text) < 180 and text.endswith("."), (card.key, text)


def test_a_benchmark_without_cards_has_none() -> None:
    assert board_of("fdb-1.0") is None and board_of("../../etc") is None


def test_a_board_that_names_no_card_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="'gone', which is none of its cards"):
        read_board({"cards": {}, "dimensions": [], "restraint": ["gone"]})
