"""Questions in SQL: they give what the run says, and reach nothing else of the machine."""

import json
from collections import defaultdict

import pytest

import pellucid
from pellucid.base.errors import BadInput
from tests.shared.tiny import LABELS, save_tiny

TEXTS = [
    "A good film.",
    "Unbelievably dull, unbelievably long.",
    "A good film.",
    "résumé of a naïve plot",
    "unreadable",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run by word pieces, with equal texts."""
    folder = tmp_path_factory.mktemp("query")
    model = pellucid.from_function(answer, ["negative", "positive"])
    return pellucid.explain_corpus(model, TEXTS, "occlusion", folder=folder / "run", progress=False)


def answer(texts):
    if "unreadable" in texts:
        raise RuntimeError("this word has no vector")
    return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]


def test_every_text_has_a_row_and_equal_texts_have_the_same_scores(run):
    rows = run.query("select row, id, text, predicted from texts order by row").to_pylist()
    assert [row["text"] for row in rows] == TEXTS
    assert [row["predicted"] for row in rows[:4]] == [each.prediction.label for each in run]
    assert run.query("select row, reason from failures").to_pylist() == [
        {"row": 4, "reason": run.failures[0].reason},
    ]


def words_of(run):
    rows = run.query("select * from words order by row, place").to_pylist()
    by_row = defaultdict(list)
    for row in rows:
        by_row[row["row"]].append((row["word"], row["score"]))
    return by_row


def test_words_are_those_of_the_explanations(run):
    by_row = words_of(run)
    for row, explanation in enumerate(run):
        assert by_row[row] == [(word, pytest.approx(score)) for word, score in explanation]


def test_words_of_several_methods_are_those_of_each(run, tmp_path):
    model = pellucid.from_function(answer, ["negative", "positive"])
    both = pellucid.explain_corpus(model, TEXTS, ["occlusion", "lime"], folder=tmp_path / "run", progress=False)
    rows = both.query("select row, word, score from words where method = 'occlusion' order by row, place").to_pylist()
    assert rows == run.query("select row, word, score from words order by row, place").to_pylist()
    counts = both.query("select method, count(*) as n from texts group by all order by 1").to_pylist()
    assert counts == [{"method": "lime", "n": 4}, {"method": "occlusion", "n": 4}, {"method": None, "n": 1}]


@pytest.mark.whole
def test_pieces_are_added_up_to_words_and_special_tokens_left_out(tmp_path):
    model = pellucid.load(save_tiny(tmp_path / "model", labels=LABELS))
    pairs = [pellucid.Example((text, "An odd hypothesis.")) for text in TEXTS]
    run = pellucid.explain_corpus(model, pairs, "gradient_x_input", folder=tmp_path / "run", progress=False)
    by_row = words_of(run)
    assert any(len(run[row]) < len(run[row].units.content) for row in range(len(run)))  # some words are several pieces
    for row, explanation in enumerate(run):
        assert by_row[row] == [(word, pytest.approx(score, abs=1e-6)) for word, score in explanation]


def test_spans_are_those_of_the_explanations(self_explaining, tmp_path):
    run = pellucid.explain_corpus(self_explaining, TEXTS, "span_attention", folder=tmp_path / "run", progress=False)
    rows = run.query("select row, span, score from spans order by row, place").to_pylist()
    places, scores = [], []
    for row, explanation in enumerate(run):
        parts, (text,) = explanation.units.parts, explanation.example.segments
        for first, last in zip(explanation.units.first, explanation.units.last, strict=True):
            places.append((row, text[parts.start[first] : parts.end[last]].strip()))
        scores += explanation.scores.tolist()
    assert [(row["row"], row["span"]) for row in rows] == places
    assert [row["score"] for row in rows] == pytest.approx(scores)
    assert run.query("select count(*) as n from words").to_pylist() == [{"n": 0}]


def test_the_run_itself_has_a_row(run):
    facts = run.query("select method, rows, distinct_texts, failed, shards_whole from runs").to_pylist()
    assert facts == [{"method": "occlusion", "rows": 5, "distinct_texts": 4, "failed": 1, "shards_whole": 1}]


OUT = "/tmp/pellucid-query-wrote-this"
REFUSED = (
    "select * from read_text('/etc/passwd')",
    "select * from read_csv('/etc/passwd')",
    "select * from read_blob('/etc/passwd')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from '/etc/passwd'",
    "from glob('/etc/*')",
    "select * from parquet_metadata('{shard}')",
    "select * from read_parquet('{shard}')",
    f"copy (select 1) to '{OUT}'",
    f"copy texts to '{OUT}' (format parquet)",
    f"explain analyze copy (select 1) to '{OUT}'",
    f"attach '{OUT}' as other",
    f"export database '{OUT}'",
    "install httpfs",
    "load httpfs",
    "pragma database_list",
    "call pragma_version()",
    "set enable_external_access=true",
    "reset lock_configuration",
    "select 1; select 2",
    f"select 1; copy (select 1) to '{OUT}'",
    "create table mine as select 1",
    "insert into plan values (1, 1)",
    "drop view texts",
    "explain select 1",
    f"select * from query('copy (select 1) to ''{OUT}''')",
    "select * from secret",
    "select getenv('HOME')",
    "",
    "select nothing from texts",
    "with t as (select * from read_json('/etc/passwd')) select * from t",
    "select * from 'https://example.com/a.parquet'",
    "select * from read_csv_auto('file:///etc/passwd')",
    "create secret s (type s3)",
    "create view v as select 1",
    f"import database '{OUT}'",
    f"begin; copy texts to '{OUT}'; commit",
    "prepare p as select 1",
    "vacuum",
    "select * from secret_of_the_caller",
)


@pytest.mark.parametrize("sql", REFUSED)
def test_nothing_but_a_select_of_this_run_is_run(run, sql, tmp_path):
    from pathlib import Path

    import pyarrow as pa

    secret = pa.table({"a": [1]})  # a variable of the caller, which DuckDB would look up
    shard = run.path / "shards" / "00000.parquet"
    with pytest.raises(BadInput):
        run.query(sql.format(shard=shard))
    assert not Path(OUT).exists() and len(secret) == 1


def test_a_bad_query_ends_in_the_line_of_duckdb(run):
    with pytest.raises(BadInput, match=r'The query fails: .*"nothing"'):
        run.query("select nothing from texts")


def test_answers_are_printed_and_saved(run, tmp_path, monkeypatch, capsys):
    from pellucid.corpus.command import query

    query(run.path, "select predicted, count(*) as n from texts group by all order by n", save=None, as_json=False)
    assert capsys.readouterr().out.splitlines()[0].split() == ["predicted", "n"]
    query(run.path, "select row from texts order by row limit 2", save=None, as_json=True)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"row": 0}, {"row": 1}]
    query(run.path, "select row from texts order by row limit 2", save=tmp_path / "rows.csv", as_json=False)
    assert (tmp_path / "rows.csv").read_text() == '"row"\n0\n1\n'
