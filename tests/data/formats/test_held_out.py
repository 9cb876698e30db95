"""A dev part where the original has none: 15 % of train, which then lacks them, the same in every run."""

import pytest

from pellucid.data.load import load_examples, load_parts
from pellucid.data.shared.part_files import part_by_digest
from tests.data.formats.originals import write

N = 400
SOURCES = {
    "ag_news": {"train.csv": "".join(f'"{n % 4 + 1}","Title {n}","Text {n}."\n' for n in range(N))},
    "yelp": {"train.csv": "".join(f'"{n % 5 + 1}","Text {n}."\n' for n in range(N))},
    "yahoo_answers": {"train.csv": "".join(f'"{n % 10 + 1}","Why {n}?","","Yes."\n' for n in range(N))},
    "imdb": {f"train/{'neg' if n % 2 else 'pos'}/{n}_1.txt": f"Text {n}." for n in range(N)},
    "twenty_newsgroups": {f"20news-bydate-train/{'ab'[n % 2]}/{n}": f"Text {n}." for n in range(N)},
}


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    for name, content in SOURCES[request.param].items():
        write(tmp_path / name, content)
    return tmp_path, request.param


def test_train_and_dev_share_nothing_and_are_the_whole(source):
    folder, format = source
    parts = {part: {one.id for one in examples} for part, examples in load_parts(folder, format).items()}
    assert len(parts["train"]) + len(parts["dev"]) == N
    assert not parts["train"] & parts["dev"]
    assert 0.10 < len(parts["dev"]) / N < 0.20


def test_a_single_file_is_read_whole(source):
    folder, format = source
    if (folder / "train.csv").is_file():
        assert len(load_examples(folder / "train.csv", "test", format)) == N


def test_all_mixes_no_class_to_the_front(source):
    folder, format = source
    assert len({one.label for one in load_examples(folder, "train", format)[:20]}) > 1


def test_parts_by_digest_have_their_shares():
    parts = [part_by_digest(f"patient {n}") for n in range(4000)]
    assert parts.count("train") / 4000 == pytest.approx(0.70, abs=0.02)
    assert parts.count("dev") / 4000 == pytest.approx(0.15, abs=0.02)
