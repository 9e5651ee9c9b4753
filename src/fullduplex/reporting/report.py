"""What a run writes for people and programs: estimates, facts, tables and the page."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fullduplex.benchmarks.published import published
from fullduplex.data.files import replacing
from fullduplex.reporting.agreement import goes_with_lines
from fullduplex.reporting.among_people import among_people_markdown
from fullduplex.reporting.best import nothing_said
from fullduplex.reporting.cards import grounds
from fullduplex.reporting.dimensions import dimensions
from fullduplex.reporting.dimensions_text import dimensions_markdown
from fullduplex.reporting.entered import Entered, entered
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.listed import listings, listings_markdown
from fullduplex.reporting.provenance import accents, made_with
from fullduplex.reporting.remarks import folded
from fullduplex.reporting.rows import estimate_row
from fullduplex.reporting.speech import speech_markdown, speech_rows
from fullduplex.reporting.systems import systems_markdown
from fullduplex.reporting.tables import JSON_KEYS, markdown, markdown_text, prose
from fullduplex.reporting.talks import clocks_markdown, talks_markdown
from fullduplex.reporting.trust import agreement_of, judge_of
from fullduplex.runs.amendments import standing
from fullduplex.runs.measured import Column, Measured
from fullduplex.runs.run import Run

#: One system's run with what was measured in it.
Pair = tuple[Run, Measured]


def rows_of(run: Run, measured: Measured, variant: str) -> list[dict[str, Any]]:
    """Return the estimates of one variant as table rows."""
    seed = int(run.about.get("seed", 0))
    from_judges = entered(measured, variant)
    return [
        estimate_row(
            column.scenario.name,
            column.metric,
            found,
            system=run.system,
            variant=variant,
            scenario_title=column.scenario.title,
        )
        | {"kind": column.metric.kind, "metric_version": column.metric.version, "nothing_said": nothing_said(column)}
        | _judged_by(run, measured, from_judges, column)
        for column, found in measured.estimates(variant, seed)
    ]


def _judged_by(run: Run, measured: Measured, from_judges: Entered, column: Column) -> dict[str, Any]:
    """Return who gave the verdicts that entered a number, as a row has it; nothing where rules alone decided."""
    kinds = from_judges.kinds(column.scenario.name, column.metric.name)
    told = [judge_of(run, measured.judges, verdict, by, from_judges.given[verdict, by]) for verdict, by in kinds]
    if not told:
        return {}
    return {
        "judged_by": "; ".join(dict.fromkeys(judge.sentence for judge, _ in told)),
        "worth": "; ".join(dict.fromkeys(worth for _, worth in told)),
        "judges": [judge for judge, _ in told],
    }


Speech = Mapping[str, Sequence[Mapping[str, Any]]]


def write_files(run: Run, measured: Measured, rows: Mapping[str, list[dict[str, Any]]], speech: Speech) -> None:
    """Write estimates.json and measures.parquet; ``rows`` are the estimates by variant, the leading one first.

    ``speech`` is how speech changes over events, by variant, see :func:`speech_of`.
    """
    with replacing(run.path / "estimates.json") as part, part.open("w", encoding="utf-8") as file:
        for piece in _estimates_json(run, measured, rows, speech):
            file.write(piece)
    _write_facts(run.path / "measures.parquet", measured)


def estimates_object(
    run: Run, measured: Measured, rows: Mapping[str, list[dict[str, Any]]], speech: Speech
) -> dict[str, Any]:
    """Return what estimates.json holds."""
    made: dict[str, Any] = json.loads("".join(_estimates_json(run, measured, rows, speech)))
    return made


def _estimates_json(
    run: Run, measured: Measured, rows: Mapping[str, list[dict[str, Any]]], speech: Speech
) -> Iterator[str]:
    # Written piece by piece, so that memory does not grow with the items.
    about = run.about["benchmark"]
    for number, (variant, estimates) in enumerate(rows.items()):
        yield "{" if number == 0 else (', "variants": [\n{' if number == 1 else ",\n{")
        head = {"benchmark": about["name"], "variant": variant, "version": about["version"], "system": run.system}
        yield json.dumps(head)[1:-1] + ',\n"estimates": [\n'
        kept = [
            {key: row[key] for key in (*JSON_KEYS, "kind", "system", "scenario_title")}
            | {key: row[key] for key in ("judged_by", "worth", "family") if row[key]}
            for row in estimates
        ]
        yield ",\n".join(json.dumps(row, allow_nan=False) for row in kept)
        yield '\n],\n"items": [\n'
        first = True
        for row in measured.rows(variant):
            yield ("" if first else ",\n") + json.dumps(row, allow_nan=False)
            first = False
        yield "\n]"
        tests = speech.get(variant, ())
        if tests:
            yield ',\n"speech": [\n' + ",\n".join(json.dumps(row, allow_nan=False) for row in tests) + "\n]"
        yield "}" if number else ""
    yield ("]" if len(rows) > 1 else "") + "}\n"


def _write_facts(path: Path, measured: Measured) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [("variant", text), ("scenario", text), ("item", pa.string()), ("group", pa.string()), ("metric", text),
         ("value", pa.float64()), ("absent", text), ("why", pa.string()), ("at", pa.float64())]
    )  # fmt: skip
    # A file of ours: by a path with a colon in it Arrow would look for a file system of that name.
    with replacing(path) as part, part.open("wb") as file, pq.ParquetWriter(file, schema) as writer:
        for column in measured.columns.values():
            n = len(column.items)
            numbers = [None if reason else value for value, reason in zip(column.numbers, column.reasons, strict=True)]
            table = {
                "variant": [column.variant] * n,
                "scenario": [column.scenario.name] * n,
                "item": [_utf8(measured.names[i]) for i in column.items],
                "group": [_utf8(measured.groups[i]) or None for i in column.items],
                "metric": [column.metric.name] * n,
                "value": numbers,
                "absent": [reason or None for reason in column.reasons],
                "why": [_utf8(why) or None for why in column.whys],
                "at": [None if at != at else at for at in column.at],
            }
            writer.write_table(pa.table(table, schema=schema))


def _utf8(text: str) -> str:
    """Return ``text`` with what UTF-8 cannot hold (half a surrogate pair) as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def report_markdown(
    pairs: Sequence[Pair],
    rows: Mapping[str, list[dict[str, Any]]],
    remarks: Iterable[str] = (),
    clocks: Sequence[Mapping[str, Any]] = (),
    speech: Mapping[str, Sequence[Mapping[str, Any]]] = MappingProxyType({}),
    tell: Language = ENGLISH,
) -> str:
    """Return the report as Markdown: a table for each variant, what moved and why, departures, failures, provenance.

    ``clocks`` are the numbers that are not the same under every clock, see :func:`clock_rows`; ``speech`` is how speech
    changes over events, see :func:`speech_of`; ``tell`` is its language.
    """
    first, colon = pairs[0][0], tell(": ")
    name = first.about["benchmark"]["name"]
    parts = [f"# {name}\n"]
    shown = [one.to_row() for one in published(name)]
    tables = [table for ground in grounds(pairs, rows)[:1] for table in dimensions(ground)]
    parts.append(dimensions_markdown(tables, tell=tell))
    for number, (variant, table) in enumerate(rows.items()):
        summary = next((b.summary for b in pairs[0][1].benchmarks if b.variant == variant), "")
        heading = f"{name}@{variant}"
        parts.append(markdown(table, heading=heading, published=shown if number == 0 else (), tell=tell))
        if summary:
            parts.append(f"{heading}{colon}{prose(tell.of(summary))}.\n")
    parts.append(systems_markdown(pairs, tell))
    parts.append(listings_markdown(listings(pairs), tell))
    parts.append(speech_markdown(speech, tell))
    parts.append(among_people_markdown(pairs, tell))
    parts.append(_people_markdown(pairs, tell))
    parts.append(clocks_markdown(clocks, tell))
    parts.append(talks_markdown([run for run, _ in pairs], tell))
    moves = moved(pairs, rows)
    if moves:
        parts.append(f"## {tell('What each rule moved')}\n")
        for move in moves:
            shown_as = {v: "—" if x is None else tell.digits(f"{x:.3f}") for v, x in move["values"].items()}
            values = tell(", ").join(f"{variant}{colon}{value}" for variant, value in shown_as.items())
            where = f"{move['system']}, {move['scenario']}, {move['metric']}"
            parts.append(f"- {markdown_text(where)}{colon}{values}. {markdown_text(tell.of(move['rule']))}")
        parts.append("")
    parts.append(f"## {tell('Departures')}\n")
    for departure in departures(pairs):
        its = {key: tell.of(departure[key]) for key in ("where", "theirs", "ours", "why")}
        text = tell("{variant}, {where}: there, {theirs}; here, {ours}", **{**its, "variant": departure["variant"]})
        parts.append(f"- {prose(text)} ({prose(its['why'])})")
    failed = {f"{run.system}: {item}": why for run, measured in pairs for item, why in measured.failed.items()}
    if failed:
        parts.append(f"\n## {tell('Failed items ({n})', n=len(failed))}\n")
        shown_first = list(failed.items())[:200]
        parts += [f"- {markdown_text(item)}{colon}{markdown_text(tell.kept(why))}" for item, why in shown_first]
    by_hand = corrections(pairs)
    if by_hand:
        parts.append(f"\n## {tell('Corrections by hand ({n})', n=len(by_hand))}\n")
        parts += [f"- {markdown_text(tell.of(one))}" for one in by_hand]
    told = [*remarks, *(f"{run.system}: {sentence}" for run, _ in pairs for sentence in accents(run))]
    told = folded(told, [run.system for run, _ in pairs])
    if told:
        parts.append(f"\n## {tell('Remarks')}\n")
        parts += [f"- {prose(tell.of(remark))}" for remark in told]
    parts.append(f"\n## {tell('How it was made')}\n")
    for run, _ in pairs:
        about = run.about
        hearings = about.get("hearings", {}).items()
        heard = ", ".join(f"{key}{colon}{_spec(value['detector'], tell)}" for key, value in hearings)
        count = (about.get("source") or {}).get("items", tell("unknown"))
        line = tell(
            "fullduplex {version}, words: {words}, speech: {speech}, seed {seed}, {count} items",
            version=about["fullduplex"],
            words=markdown_text(_spec(about.get("recogniser"), tell)),
            speech=markdown_text(heard),
            seed=about.get("seed"),
            count=count,
        )
        parts.append(f"- {markdown_text(run.system)}{colon}{line}")
        made = {tell.of(name): tell.kept(str(said)) for name, said in made_with(run).items()}
        parts += [f"  - {markdown_text(name)}{colon}{markdown_text(said)}" for name, said in made.items()]
    return "\n".join(parts) + "\n"


def speech_of(run: Run, measured: Measured, variants: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return how speech changes over the events of a run, by variant; each row names its system."""
    seed = int(run.about.get("seed", 0))
    return {
        variant: [{"system": run.system, **row} for row in speech_rows(measured, variant, seed)] for variant in variants
    }


def corrections(pairs: Sequence[Pair]) -> list[str]:
    """Return a sentence for every correction by hand that holds, and for each that met nothing to correct."""
    told = []
    for run, measured in pairs:
        unused = set(measured.amendments.unused())
        for one in standing(run):
            idle = " (met nothing that it could correct)" if one in unused else ""
            told.append((f"{run.system}: " if len(pairs) > 1 else "") + one.told() + idle)
    return told


def _people_markdown(pairs: Sequence[Pair], tell: Language) -> str:
    """Return how metrics go with what people rated, "" where nobody did."""
    parts = []
    for run, _ in pairs:
        head, *lines = goes_with_lines(agreement_of(run, "goes_with")) or [""]
        if head:
            head = tell.of(head)
            parts.append(f"## {markdown_text(run.system)}{tell(': ')}{head[0].lower()}{head[1:]}\n")
            parts += [f"- {markdown_text(tell.of(line.strip()))}" for line in lines]
            parts.append("")
    return "\n".join(parts)


def _spec(value: Any, tell: Language) -> str:
    if not isinstance(value, Mapping):
        return str(value) if value else tell("recorded")
    options = ", ".join(f"{key}={option}" for key, option in value.get("options", {}).items())
    return f"{value['name']} ({options})" if options else str(value["name"])


def departures(pairs: Sequence[Pair]) -> list[dict[str, str]]:
    """Return every listed departure of the variants that were measured."""
    return [
        {"variant": b.variant, "where": d.where, "theirs": d.theirs, "ours": d.ours, "why": d.why}
        for b in pairs[0][1].benchmarks
        for d in b.departures
    ]


def moved(pairs: Sequence[Pair], rows: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the numbers that differ between variants, and which rule moved how many items.

    Item by item: the reason that the other variant gives for its verdict (up to its colon)
    names the rule, and is counted where the two verdicts differ.
    """
    made: list[dict[str, Any]] = []
    variants = list(rows)
    if len(variants) < 2:
        return made
    values: dict[tuple[str, str, str], dict[str, float | None]] = defaultdict(dict)
    for variant, table in rows.items():
        for row in table:
            values[row["system"], row["scenario"], row["metric"]][variant] = row["value"]
    for run, measured in pairs:
        for (variant, scenario, metric), base in measured.columns.items():
            if variant != variants[0] or base.metric.family:
                continue
            told = []
            for other in variants[1:]:
                column = measured.columns.get((other, scenario, metric))
                causes = _causes(base, column) if column is not None else Counter[str]()
                if causes:
                    counts = ", ".join(f"{n} × {why}" for why, n in causes.most_common(6))
                    told.append(f"{variants[0]} → {other}: {counts}")
            if told:
                key = (run.system, scenario, metric)
                made.append(
                    {"system": key[0], "scenario": scenario, "metric": metric, "values": values[key],
                     "rule": "; ".join(told)}
                )  # fmt: skip
    return made


def _causes(base: Column, other: Column) -> Counter[str]:
    where = {item: i for i, item in enumerate(other.items)}
    found: Counter[str] = Counter()
    for i, item in enumerate(base.items):
        j = where.get(item)
        if j is None:
            continue
        same = base.reasons[i] == other.reasons[j] and (
            bool(base.reasons[i]) or abs(base.numbers[i] - other.numbers[j]) < 2e-6
        )
        if not same:
            why = other.reasons[j] or other.whys[j].partition(":")[0]
            found[why or "another value"] += 1
    return found
