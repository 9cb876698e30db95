"""A run over a corpus: what it keeps, what it refuses, and that damage is named and mended."""

import json
import random
import resource

import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, FolderMended, ModelCannot
from pellucid.base.json_text import sealed
from pellucid.base.kinds import engines
from pellucid.base.leases import Leases
from pellucid.explaining.read import read_explanations, read_in_turn
from tests.shared.moments import files_of

TEXTS = [f"A good film, number {n % 1500}." if n % 3 else f"Dull {n % 7}." for n in range(2100)]


def answer(texts):
    """Deterministic, of the words alone; it cannot read one of them."""
    if any("unreadable" in text for text in texts):
        raise RuntimeError("this word has no vector")
    return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]


@pytest.fixture(scope="module")
def model():
    return pellucid.from_function(answer, ["negative", "positive"])


def explained(model, texts, folder, **options):
    return pellucid.explain_corpus(model, texts, "occlusion", folder=folder, progress=False, **options)


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """Three shards, of which two thirds are equal texts."""
    return explained(model, TEXTS, tmp_path_factory.mktemp("whole") / "run").path


def test_every_row_has_the_explanation_that_it_has_alone(model, whole):
    run = pellucid.open_run(whole)
    assert (len(run), run.is_whole, run.failures) == (2100, True, [])
    assert [explanation.example.id for explanation in run] == [str(n) for n in range(2100)]
    for row in (0, 1, 1024, 2099):
        alone = pellucid.explain(model, [pellucid.Example((TEXTS[row],), id=str(row))], "occlusion")[0]
        assert run[row].scores.tobytes() == alone.scores.tobytes() and run[row].example == alone.example
    assert [example.text for example in run.examples] == TEXTS
    assert run[-1:] == [run[2099]] and len(run[10:20]) == 10


def test_several_methods_have_the_rows_of_a_run_by_each(model, whole, tmp_path):
    methods = ["occlusion", ("lime", {"n_samples": 20})]
    texts = [*TEXTS[:40], "An unreadable word."]
    run = pellucid.explain_corpus(model, texts, methods, folder=tmp_path / "run", progress=False)
    assert run.methods == ("occlusion", "lime(n_samples=20)") and (len(run), len(run.failures)) == (80, 1)
    assert [each.method for each in run[38:42]] == ["occlusion"] * 2 + ["lime(n_samples=20)"] * 2
    alone = [each.scores.tolist() for each in pellucid.open_run(whole)[:40]]
    assert alone == [each.scores.tolist() for each in run[:40]]
    assert list(run.by_method["occlusion"]) == list(run[:40])
    assert run.by_method["lime(n_samples=20)"][0] == run[40]
    again = pellucid.explain_corpus(
        model, texts[5:], methods, folder=tmp_path / "again", reuse=run.path, progress=False
    )
    assert again.reused == len(set(texts[5:40])) and [each.scores.tolist() for each in again[35:]] == [
        each.scores.tolist() for each in run[45:]
    ]
    with pytest.raises(BadSetting, match="several methods; add --method"):
        read_in_turn(run.path, None)
    assert read_in_turn(run.path, "occlusion").methods == ("occlusion",)
    with pytest.raises(BadSetting, match="window may belong to any of several methods"):
        pellucid.explain_corpus(model, texts, methods, folder=tmp_path / "other", window=2)
    with pytest.raises(BadFile, match=r"methods was 'occlusion, lime\(n_samples=20\)' and is 'occlusion'"):
        explained(model, texts, run.path)


def test_equal_texts_are_computed_once(whole):
    receipts = [json.loads(path.read_text()) for path in sorted((whole / "shards").glob("*.json"))]
    assert sum(receipt["rows"] for receipt in receipts) == len(set(TEXTS))


def test_a_run_is_saved_read_and_reported_as_results_are(whole, tmp_path):
    run = pellucid.open_run(whole)
    pellucid.save(run, tmp_path / "all.parquet")
    assert pellucid.read(tmp_path / "all.parquet") == list(run)
    assert len(pellucid.read(whole)) == len(read_explanations(whole)) == 2100
    assert pellucid.report(run[:20], path=tmp_path / "page.html").exists()
    assert run.words().strongest("positive")[0].word == pellucid.class_words(list(run)).strongest("positive")[0].word


@pytest.mark.parametrize(
    "options, difference",
    [({"seed": 3}, "seed was 0 and is 3"), ({"window": 2}, "window"), ({"target": "negative"}, "target was")],
)
def test_another_question_is_refused_with_what_differs(model, whole, options, difference):
    with pytest.raises(BadFile, match=difference):
        explained(model, TEXTS, whole, **options)


def test_changed_data_are_refused_with_the_shard(model, whole):
    with pytest.raises(BadFile, match="shard 1, from row 1,024"):
        explained(model, [*TEXTS[:1500], "Another.", *TEXTS[1501:]], whole)
    with pytest.raises(BadFile, match="not those of"):
        explained(model, TEXTS[:2000], whole)


def damage(path, kind):
    content = path.read_bytes()
    other = path.with_name("00002.parquet").read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 3] ^= 4
    path.write_bytes({"empty": b"", "cut": content[:-20], "of another shard": other, "flipped": bytes(flipped)}[kind])


@pytest.mark.parametrize("kind", ["empty", "cut", "of another shard", "flipped"])
def test_a_damaged_shard_is_named_and_computed_again(model, whole, tmp_path, kind):
    run = explained(model, TEXTS, tmp_path / "run")
    path = run.path / "shards" / "00001.parquet"
    damage(path, kind)
    with pytest.raises(BadFile, match=r"00001\.parquet was damaged"):
        list(pellucid.open_run(run.path))
    with pytest.warns(FolderMended, match=r"computed again: 00001\.parquet"):
        explained(model, TEXTS, run.path)
    assert files_of(run.path) == files_of(whole)


def test_damaged_rows_and_a_forged_receipt_are_mended(model, whole, tmp_path):
    run = explained(model, TEXTS, tmp_path / "run")
    (run.path / "rows" / "00001.parquet").write_bytes(b"PAR1")
    record = json.loads((run.path / "shards" / "00001.json").read_text())
    del record["seal"]
    (run.path / "shards" / "00001.json").write_text(json.dumps(record))
    (run.path / "shards" / "00000.parquet").unlink()
    (run.path / "leases" / "00002.json").write_text("{}")  # of a process that was killed after its work
    with pytest.warns(FolderMended, match=r"00000\.parquet, 00001\.parquet"):
        explained(model, TEXTS, run.path)
    assert files_of(run.path) == files_of(whole)


@pytest.mark.parametrize("name", ["first.npy", "keys.npy", "files.npy"])
def test_a_damaged_plan_is_mended(model, whole, tmp_path, name):
    run = explained(model, TEXTS, tmp_path / "run")
    path = run.path / "rows" / name
    for content in (path.read_bytes()[:-40], b""):
        path.write_bytes(content)
        explained(model, TEXTS, run.path)
        assert files_of(run.path) == files_of(whole)


def test_no_flipped_bit_is_read(model, tmp_path):
    run = explained(model, TEXTS[:30], tmp_path / "run")
    path, draw = run.path / "shards" / "00000.parquet", random.Random(0)
    content = path.read_bytes()
    for _ in range(400):
        flipped, bit = bytearray(content), draw.randrange(8 * len(content))
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(BadFile, match="was damaged"):
            pellucid.open_run(run.path)[0]


def test_a_text_with_an_error_is_named_and_all_others_are_explained(model, tmp_path):
    texts = [*TEXTS[:100], "An unreadable word.", *TEXTS[100:200], "An unreadable word."]
    run = explained(model, texts, tmp_path / "run")
    assert len(run) == 200 and [failure.row for failure in run.failures] == [100]
    assert "this word has no vector" in run.failures[0].reason
    assert json.loads((run.path / "failures" / "00000.jsonl").read_text())["row"] == 100
    with pytest.raises(ModelCannot, match=r"row 100.*this word has no vector.*More than 0 end the run"):
        explained(model, texts, tmp_path / "strict", max_failures=0)


def test_what_stays_in_the_rows_of_a_run(model, tmp_path):
    run = explained(model, TEXTS[:6], tmp_path / "run", keep=["film", "Dull"])
    alone = pellucid.explain(model, TEXTS[:6], "occlusion", keep=["film", "Dull"])
    assert [each.scores.tobytes() for each in run] == [each.scores.tobytes() for each in alone]
    assert {unit.text for each in run for unit in each.top(9)} >= {"good"}
    assert not {unit.text for each in run for unit in each.top(9)} & {"film", "Dull"}
    with pytest.raises(BadFile, match="keep"):
        explained(model, TEXTS[:6], tmp_path / "run", keep="film")
    with pytest.raises(BadInput, match="keep='nowhere' is in none of the 6 texts"):
        explained(model, TEXTS[:6], tmp_path / "other", keep="nowhere")


def test_bad_input_ends_in_one_sentence(model, tmp_path):
    with pytest.raises(BadSetting, match="give 1/4 to 4/4"):
        explained(model, TEXTS, tmp_path / "run", slice="5/4")
    with pytest.raises(BadSetting, match="give i/n"):
        explained(model, TEXTS, tmp_path / "run", slice="one of four")
    with pytest.raises(ModelCannot, match="only in the memory of this process"):
        explained(model, TEXTS, tmp_path / "run", workers=2)
    with pytest.raises(BadInput, match="fits no file"):
        explained(model, str(tmp_path / "none-*.csv"), tmp_path / "run")
    with pytest.raises(LookupError, match="No engine is called 'slurm'"):
        explained(model, TEXTS, tmp_path / "run", engine="slurm")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-mother.txt").write_text("Dear mother")
    with pytest.raises(BadFile, match="holds no run but other files"):
        explained(model, TEXTS, tmp_path / "letters")


def test_two_numbers_of_slices_at_once_are_refused(model, whole, tmp_path):
    run = explained(model, TEXTS[:30], tmp_path / "run")
    for path in run.path.glob("shards/*"):
        path.unlink()
    with Leases(4) as leases:
        assert leases.take(run.path / "leases" / "00007.json")
        with pytest.raises(BadSetting, match=r"of 3 slices, and a process of .* computes this run in 4: give i/4"):
            explained(model, TEXTS[:30], run.path, slice="1/3")
        assert explained(model, TEXTS[:30], run.path, slice="2/4").is_whole


def test_a_full_disk_ends_the_run_with_what_is_there_intact(model, whole, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(path.stat().st_size for path in whole.glob("shards/*.parquet"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, before[1]))
    try:
        with pytest.raises(BadFile, match=r"Cannot write .*shards"):
            explained(model, TEXTS, tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not pellucid.open_run(tmp_path / "run").is_whole
    explained(model, TEXTS, tmp_path / "run")
    assert files_of(tmp_path / "run") == files_of(whole)


def test_files_by_a_pattern_are_one_corpus_in_the_order_of_their_names(model, tmp_path):
    for name, texts in (("b", TEXTS[3:6]), ("a", TEXTS[:3])):
        lines = [json.dumps({"body": text, "id": f"{name}{n}"}) for n, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    run = explained(model, str(tmp_path / "*.jsonl"), tmp_path / "run", text="body")
    assert [explanation.example.text for explanation in run] == TEXTS[:6]
    assert explained(model, str(tmp_path / "*.jsonl"), tmp_path / "first", text="body", limit=4)[-1].example.id == "b0"


def test_rows_of_an_earlier_run_are_copied_bit_for_bit(model, whole, tmp_path):
    texts = ["A new good text.", *TEXTS[1000:1300], "An unreadable word.", TEXTS[5]]
    run = explained(model, texts, tmp_path / "run", reuse=whole)
    assert run.reused == len(set(TEXTS[1000:1300])) + 1 and len(run) == 302
    earlier = pellucid.open_run(whole)
    for row in (1, 150, 300):
        assert run[row].scores.tobytes() == earlier[999 + row].scores.tobytes()
        assert (run[row].example.id, run[row].example.text) == (str(row), texts[row])
    assert run[0].scores.tobytes() == explained(model, texts[:1], tmp_path / "alone")[0].scores.tobytes()
    with pytest.raises(BadFile, match=r"cannot be reused .seed was 0 and is 1"):
        explained(model, texts, tmp_path / "seed", reuse=whole, seed=1)


def test_another_engine_computes_shards_in_any_order_and_writes_the_same_bytes(model, whole, tmp_path):
    def backwards(work, *, workers: int = 1):
        worker = work.begin(work.begin_part)
        for shard in reversed(range(work.job.shards)):
            work.finish(shard, worker.compute(shard))

    engines.add()(backwards)
    try:
        assert files_of(explained(model, TEXTS, tmp_path / "run", engine="backwards").path) == files_of(whole)
    finally:
        del engines._entries["backwards"]


@pytest.mark.parametrize(
    "field, value",
    [
        ("rows", "2100"),
        ("rows", -1),
        ("rows", 10**9),
        ("distinct", None),
        ("question", {}),
        ("question", 3),
        ("more", 1),
    ],
)
def test_the_folder_of_a_stranger_ends_in_one_sentence(model, whole, tmp_path, field, value):
    explained(model, TEXTS[:20], tmp_path / "run")
    record = json.loads((tmp_path / "run" / "job.json").read_text())
    del record["seal"]
    record |= {field: value}
    (tmp_path / "run" / "job.json").write_text(json.dumps(sealed(record, {"form": record["form"]})))
    with pytest.raises(BadFile):
        pellucid.open_run(tmp_path / "run")


def weigh(texts):
    """An answer that differs from text to text, as that of a network does."""
    sums = [sum(map(ord, text)) % 997 / 997 for text in texts]
    return [[each, 1 - each] for each in sums]


def test_the_estimate_of_bytes_is_near_the_truth(tmp_path):
    draw, letters = random.Random(0), "abcdefghij"
    names = ["".join(draw.choices(letters, k=5)) for _ in range(3000)]
    texts = [" ".join(draw.choices(names, k=draw.randint(3, 8))) for _ in range(1024)]
    model = pellucid.from_function(weigh, ["negative", "positive"])
    run = explained(model, texts, tmp_path / "run")
    size = sum(path.stat().st_size for path in run.path.glob("shards/*.parquet"))
    assert pellucid.corpus_cost(model, texts, "occlusion", progress=False).bytes == pytest.approx(size, rel=0.15)
