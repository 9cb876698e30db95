"""From the records of texts to the lines, the verdict and the plots of a model."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.core.foundation.catalogue import Call
from pellucid.core.results.attention_analysis import AttentionLine, ModelAttention, UnitPlot
from pellucid.core.results.table import Interval
from pellucid.evaluation.attention_analysis.attention_folder import TestedModel
from pellucid.evaluation.attention_analysis.attention_question import AttentionQuestion
from pellucid.evaluation.attention_analysis.attention_verdict import verdict_of
from pellucid.evaluation.shared.attention_outcome import FEWEST, AttentionOutcome, outcome_of
from pellucid.evaluation.shared.summary import bootstrap_interval

Record = Mapping[str, Any]


def model_attention(name: str, question: AttentionQuestion, tested: TestedModel) -> ModelAttention:
    """What the tests say of one model."""
    long = [record for record in tested.texts if record["units"] >= FEWEST]
    outcomes = {call.title: _outcome(call, long) for call in question.of_texts}
    lines = [_line(call, outcomes[call.title]) for call in question.of_texts]
    for call in question.of_corpus:
        lines += [
            _line_of_record(call, record) for record in tested.lines[call.title] if "left_out" not in record
        ]
    right = np.array([math.nan if record["right"] is None else record["right"] for record in tested.texts])
    return ModelAttention(
        name,
        question.model.hash,
        tested.texts[0]["weighs"],
        len(long),
        len(tested.texts) - len(long),
        bootstrap_interval(right.astype(float)),
        tuple(lines),
        verdict_of(
            len(long),
            {
                call.entry.name: (one.value, one.n_texts)
                for call, one in zip(question.of_texts, outcomes.values(), strict=True)
            },
        ),
        tuple(_plot(record["plot"]) for record in tested.texts if "plot" in record),
    )


def _outcome(call: Call, records: Sequence[Record]) -> AttentionOutcome:
    values = [
        [math.nan if value is None else value for value in record["values"][call.title]] for record in records
    ]
    return outcome_of(values, [record["units"] for record in records], str(call.entry.facts["average"]))


def _line(call: Call, outcome: AttentionOutcome) -> AttentionLine:
    return AttentionLine(
        part="",
        value=outcome.value,
        n=outcome.n_texts,
        deviation=outcome.deviation,
        left_out=outcome.unlabelled,
        **_facts(call),
    )


def left_out(name: str, question: AttentionQuestion, tested: TestedModel) -> list[str]:
    """A sentence for each test of the whole corpus that could not run."""
    return [
        f"{call.entry.name} of {name} was left out: {record['left_out']}"
        for call in question.of_corpus
        for record in tested.lines[call.title]
        if "left_out" in record
    ]


def _line_of_record(call: Call, record: Record) -> AttentionLine:
    """A line that a test of the whole corpus made; None stands for nan."""
    bounds = (record["value"][name] for name in ("mean", "low", "high"))
    facts = _facts(call) | ({"meaning": record["meaning"]} if record["meaning"] else {})
    if not record["directed"]:
        facts["better"] = ""
    return AttentionLine(
        part=record["part"],
        value=Interval(*(math.nan if bound is None else bound for bound in bounds)),
        n=record["n"],
        at=math.nan if record["at"] is None else record["at"],
        **facts,
    )


def _facts(call: Call) -> dict[str, Any]:
    facts, entry = call.entry.facts, call.entry
    return {
        "test": call.title,
        "better": facts["better"],
        "lowest": float(facts["lowest"]),
        "highest": float(facts["highest"]),
        "idle": math.nan if facts["idle"] is None else float(facts["idle"]),
        "meaning": facts["meaning"] or entry.summary,
        "along": facts["along"],
        "settings": dict(call.settings),
    }


def _plot(record: Record) -> UnitPlot:
    return UnitPlot(
        record["text"],
        tuple(record["words"]),
        tuple(record["weights"]),
        tuple(map(tuple, record["probabilities"])),
        tuple(record["own"]),
        tuple(record["classes"]),
    )
