"""The record of a span analysis has the JSON keys of version 0.1.0, also where fields are named otherwise now."""

import json

import pellucid

KEYS = [
    "text", "segment", "start", "end", "weight", "own", "own_value", "removal", "slope", "slope_direct",
    "slope_by_weights", "alone", "without", "random_agrees", "random_probability", "outside",
]  # fmt: skip


def test_the_keys_of_a_span_stay_though_fields_have_other_names(self_explaining):
    [analysis] = pellucid.spans(self_explaining, ["A fine film."], k=1)
    [span], [record] = analysis.spans, analysis.record()["spans"]
    assert list(record) == KEYS
    assert record["slope"] == span.gradient_norm
    assert record["slope_direct"] == span.gradient_direct
    assert record["slope_by_weights"] == span.gradient_by_weights
    assert json.loads(json.dumps(record, allow_nan=False)) == record
