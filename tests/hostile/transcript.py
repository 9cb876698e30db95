"""Writes the page of error messages: `python -m tests.hostile.transcript > docs/error-messages.md`.

Every situation really happens, with tiny models, in a folder that contains MODEL and the other names.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import torch
from safetensors.torch import load_file, save_file

import pellucid
from pellucid.base.errors import PellucidError
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from pellucid.results.explanation import Explained
from tests.hostile.command_line import run
from tests.shared.explanations import explanation
from tests.shared.tiny import LABELS, save_tiny, tiny_composed

TITLE = """# What Pellucid says when something is wrong

A command that fails ends with status 2 and one sentence on standard error. The sentence says what was given, what is
allowed and what to do. In Python you get the same sentence as an error; all errors are kinds of `pellucid.PellucidError`.
This page is a transcript. `python -m tests.hostile.transcript` runs every command below and writes down the answers, and a
test repeats it. `MODEL` is a folder with a classifier of the classes negative, neutral and positive, and
`SELF_EXPLAINING` is a model that Pellucid trained. The other names are files and folders in which something is wrong.
"""


def _without_progress(err: str) -> list[str]:
    """The lines that a fast machine would have written too: a slow one says how long it still needs."""
    return [line for line in err.strip().splitlines() if " done, about " not in line]


@dataclass(frozen=True)
class Typed:
    """Words after `pellucid`, as a shell reads them; stdin: what is piped in."""

    words: tuple[str, ...]
    stdin: str = ""

    def lines(self) -> list[str]:
        """The command and what it answered."""
        status, out, err = run(self.words, self.stdin)
        assert status == 2, (self.words, status, out, err)
        piped = f"printf {self.stdin!r} | " if self.stdin else ""
        return [f"$ {piped}pellucid {' '.join(map(_shown, self.words))}", *_without_progress(err)]


@dataclass(frozen=True)
class Written:
    """A line of Python, after `import pellucid` and loading `model`."""

    line: str

    def lines(self) -> list[str]:
        """The line and the error that it raised."""
        try:
            exec(self.line, {"pellucid": pellucid, "model": pellucid.load("MODEL"), "torch": torch})
        except PellucidError as error:
            return [f">>> {self.line}", f"{type(error).__name__}: {error}"]
        raise AssertionError(f"nothing is wrong with {self.line}")


def _shown(word: str) -> str:
    """A word as one types it in a shell."""
    if re.fullmatch(r"[\w=./,-]+", word):
        return word
    return f"'{word}'" if word.isprintable() else f"${word!r}"


def typed(*words: str, stdin: str = "") -> Typed:
    """A command of these words."""
    return Typed(words, stdin)


OF_ROWS = "pellucid.from_function(len, ['stars'], problem='regression', columns=['age']"
SITUATIONS = {
    "The model": [
        typed("explain", "./modell", "A fine film."),
        typed("explain", "no-such-model", "A fine film."),
        typed("explain", "NO_HEAD", "A fine film."),
        typed("explain", "NO_TOKENIZER", "A fine film."),
        typed("explain", "OTHER_SIZES", "A fine film."),
        typed("explain", "FORGED_SIZE", "A fine film."),
        typed("explain", "LOST_WEIGHTS", "A fine film."),
        typed("explain", "CUT_OFF", "A fine film."),
        typed("explain", "SAME_NAMES", "A fine film."),
        typed("explain", "NOT_NUMBERS", "A fine film."),
        typed("explain", "MODEL", "A fine film.", "--dtype", "int8"),
        typed("explain", "MODEL", "A fine film.", "--device", "gpu"),
        Written("pellucid.explain(pellucid.load('NOT_NUMBERS'), 'A fine film.')"),
        Written("pellucid.load(model.network)"),
        Written("pellucid.load('MODEL', problem='regression')"),
    ],
    "The text": [
        typed("explain", "MODEL", "  "),
        typed("explain", "MODEL", stdin="\n\n"),
        typed("explain", "MODEL", "A fine film.", "--file", "texts.txt"),
        typed("explain", "MODEL", "--file", "no-such-file.txt"),
        typed("explain", "MODEL", "--file", "latin1.txt"),
        typed("explain", "MODEL", "One.", "Two.", "--second", "Three."),
        typed("explain", "MODEL", "\u200b"),
        Written("pellucid.explain(model, 'half a pair: \\ud83d')"),
        Written("pellucid.explain(model, [('one', 'two', 'three')])"),
        Written("pellucid.explain(model, 3.5)"),
    ],
    "A text and numbers": [
        Written(f"{OF_ROWS})"),
        Written(f"{OF_ROWS}, background={{'age': []}})"),
        Written(f"{OF_ROWS}, background={{'weight': [61]}})"),
        Written(f"{OF_ROWS}, background={{'age': [30, None]}})"),
        *(
            Written(f"pellucid.explain({OF_ROWS}, background={{'age': [30, 81]}}), {rest})")
            for rest in (
                "'She fell.'",
                "[{'text': 'She fell.', 'age': None}]",
                "[{'text': 'She fell.', 'age': 'old'}]",
                "[('She fell.', 'She stood up.')]",
                "[{'text': 'She fell.', 'age': 81}], 'gradient'",
            )
        ),
    ],
    "The method and its settings": [
        typed("explain", "MODEL", "A fine film.", "--method", "integrated_gradient"),
        Written("pellucid.explain(model, 'A fine film.', 'span_attention')"),
        typed("spans", "MODEL", "A fine film."),
        typed("errors", "MODEL", "pocket", "--limit", "2", "--method", "rationale"),
        Written("pellucid.explain(model, 'A fine film.', 'anchors')"),
        typed("explain", "MODEL", "A fine film.", "--set", "n_stepz=64"),
        typed("explain", "MODEL", "A fine film.", "--set", "n_steps=0"),
        typed("explain", "MODEL", "A fine film.", "--set", "n_steps=many"),
        typed("explain", "MODEL", "A fine film.", "--set", "n_steps"),
        typed("explain", "MODEL", "A fine film.", "--set", "baselines=black"),
        typed("explain", "MODEL", "A fine film.", "--seed", "-1"),
    ],
    "The class that is explained": [
        typed("explain", "MODEL", "A fine film.", "--target", "positiv"),
        typed("explain", "MODEL", "A fine film.", "--target", "7"),
        typed("explain", "MODEL", "A fine film.", "--target", "gold"),
        typed("explain", "MODEL", "A fine film.", "--output", "logits"),
        typed("explain", "MODEL", "A fine film.", "--against", "negative", "--output", "probability"),
    ],
    "Two versions of a model": [
        typed("diff", "results.parquet", "no-such-file.parquet"),
        typed("diff", "results.parquet", "other-texts.parquet"),
        typed("diff", "results.parquet", "other-method.parquet"),
        typed("diff", "results.parquet", "other-settings.parquet"),
        typed("diff", "results.parquet", "other-target.parquet"),
        typed("diff", "results.parquet", "results.parquet", "--most", "2"),
        typed("diff", "results.parquet", "results.parquet", "--beyond-twins"),
        typed("diff", "results.parquet", "results.parquet", "--top", "0"),
        Written("pellucid.diff('results.parquet', [])"),
    ],
    "Checks of methods": [
        typed("compare", "MODEL", "data.jsonl", "--checks", "seed_agrement"),
        typed("compare", "MODEL", "data.jsonl", "--checks", "seed_agreement"),
        typed("compare", "MODEL", "data.jsonl", "--checks", "corpus_agreement"),
        typed("compare", "MODEL", "data.jsonl", "--checks", "label_randomisation"),
        typed("compare", "MODEL", "data.jsonl", "--checks", "label_randomisation", "--train", "data.jsonl"),
        typed("compare", "MODEL", "data.jsonl", "--twin", "SELF_EXPLAINING"),
        typed("compare", "MODEL", "data.jsonl", "--check-set", "method_agreement.k=5"),
        typed(
            "compare",
            "MODEL",
            "data.jsonl",
            "--methods",
            "gradient",
            "--metrics",
            "comprehensiveness",
            "--checks",
            "method_agreement",
            "--check-set",
            "k=0",
        ),
        typed(
            "compare",
            "MODEL",
            "data.jsonl",
            "--methods",
            "attention",
            "--metrics",
            "comprehensiveness",
            "--checks",
            "seed_agreement",
            "--twin",
            "OTHER_CLASSES",
        ),
        typed(
            "compare",
            "MODEL",
            "data.jsonl",
            "--methods",
            "gradient",
            "--metrics",
            "comprehensiveness",
            "--checks",
            "seed_agreement",
            "--twin",
            "DECODER",
        ),
    ],
    "Data, comparing and converting": [
        typed("compare", "MODEL", "pockett"),
        typed("compare", "MODEL", "no-such-file.jsonl"),
        typed("compare", "MODEL", "texts.txt"),
        typed("compare", "MODEL", "data.jsonl", "--format", "jsonlines"),
        typed("compare", "MODEL", "data.jsonl", "--read", "colour=red"),
        typed("compare", "MODEL", "spoilt.jsonl"),
        typed("compare", "MODEL", "data.jsonl", "--methods", "gradient,anchors"),
        typed("compare", "MODEL", "data.jsonl", "--metrics", "hidding"),
        typed("compare", "MODEL", "data.jsonl", "--methods", ","),
        typed("compare", "MODEL", "data.jsonl", "--methods", "gradient", "--metrics", "hiding", "--out", "MODEL"),
        typed("convert", "data.jsonl", "data.xml"),
        Written("pellucid.compare(model, [], ['gradient'])"),
        Written("pellucid.compare(model, pellucid.examples('data.jsonl'), 'gradient')"),
    ],
    "Attacks": [
        typed("attack", "MODEL", "A fine film.", "--attack", "deepwordbugg"),
        typed("attack", "MODEL", "A fine film.", "--attack", "deepwordbug", "--goal", "good"),
        typed("attack", "MODEL", "A fine film.", "--attack", "deepwordbug", "--max-queries", "0"),
        typed("attack", "REGRESSION", "A fine film.", "--attack", "deepwordbug"),
        typed("attack", "REGRESSION", "A fine film.", "--attack", "deepwordbug", "--goal", "value"),
        typed("attack", "SEVERAL_LABELS", "A fine film.", "--attack", "deepwordbug"),
        typed(
            "attack",
            "MODEL",
            "A fine film.",
            "--attack",
            "deepwordbug",
            "--goal",
            "explanation",
            "--goal-set",
            "most_overlap=1",
        ),
        typed("attack", "MODEL", "A fine film.", "--attack", "pwws", "--set", "named_entities=true"),
        Written("pellucid.attack(model, 'A fine film.', 'deepwordbug', goal=('value', {'distance': 1}))"),
    ],
    "Training": [
        typed("train", "data.jsonl", "--out", "trained", "--encoder", "./no-such-encoder"),
        typed("train", "data.jsonl", "--out", "trained", "--pooler", "spam"),
        typed("train", "data.jsonl", "--out", "trained", "--penalty", "concentraton=1"),
        typed(
            "train",
            "data.jsonl",
            "--out",
            "trained",
            "--pooler",
            "first_token",
            "--penalty",
            "concentration=1",
        ),
        typed(
            "train",
            "data.jsonl",
            "--out",
            "trained",
            "--pooler-set",
            "weights=uniform",
            "--penalty",
            "entropy=1",
        ),
        typed("train", "data.jsonl", "--out", "MODEL", "--encoder", "MODEL"),
        typed("train", "one-class.jsonl", "--out", "trained", "--encoder", "MODEL"),
        typed("train", "data.jsonl", "--out", "trained", "--encoder", "cnn", "--pooler", "first_token"),
        typed("train", "data.jsonl", "--out", "trained", "--encoder", "bilstm", "--encoder-set", "hidden=8"),
        typed("train", "data.jsonl", "--out", "trained", "--encoder", "MODEL", "--encoder-set", "width=8"),
        typed("train", "data.jsonl", "--out", "trained", "--from", "MODEL", "--encoder", "minilm"),
        typed("train", "data.jsonl", "--out", "trained", "--from", "OTHER_CLASSES"),
        typed("train", "data.jsonl", "--out", "trained", "--from", "DECODER"),
    ],
    "Saving, reading and reports": [
        typed("explain", "MODEL", "A fine film.", "--save", "results.pickle"),
        typed("explain", "MODEL", "A fine film.", "--html", "texts.txt/report.html"),
        Written("pellucid.read('no-such-file.parquet')"),
        Written("pellucid.read('data.jsonl')"),
        Written("pellucid.Table.read('config.json')"),
        Written("pellucid.report([], path='report.html')"),
        Written("pellucid.to_shap(pellucid.explain(model, 'A fine film.', 'gradient'))"),
        Written("pellucid.explain(model, 'A fine film.', 'gradient')[0].spans(3)"),
        Written("pellucid.explain(model, 'A fine film.', 'chance', n_draws=3)[0].top(3)"),
    ],
}


def make(folder: Path) -> None:
    """The files and folders that the situations name."""
    save_tiny(folder / "MODEL", labels=LABELS)
    classifier = tiny_composed("span")
    save_composed(
        classifier.network, classifier.tokenizer, Plan("tiny", "span", {}, LABELS), folder / "SELF_EXPLAINING"
    )
    for name, change in SPOILT.items():
        place = folder / name
        save_tiny(place, labels=LABELS)
        change(place)
    save_tiny(folder / "DECODER", "gpt2", LABELS)
    save_tiny(folder / "REGRESSION", labels=("stars",))
    _config(folder / "REGRESSION", problem_type="regression")
    save_tiny(folder / "SEVERAL_LABELS", labels=LABELS)
    _config(folder / "SEVERAL_LABELS", problem_type="multi_label_classification")
    save_tiny(folder / "OTHER_CLASSES", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    (folder / "texts.txt").write_text("A fine film.\nDull.\n", encoding="utf-8")
    (folder / "latin1.txt").write_bytes("Ein schöner Film.\n".encode("latin-1"))
    (folder / "config.json").write_text("{}", encoding="utf-8")
    subjects = "trains frogs bread winter ghosts tea rivers clowns chess snow".split()  # no two texts are equal
    rows = [
        {"text": f"A {word} film about {subject}.", "label": label}
        for subject in subjects
        for word, label in zip("dull so-so fine".split(), LABELS, strict=True)
    ]
    _lines(folder / "data.jsonl", rows)
    _lines(folder / "one-class.jsonl", rows[::3])
    _lines(folder / "spoilt.jsonl", [*rows[:3], {"text": 3}])
    _saved_results(folder)


def _saved_results(folder: Path) -> None:
    """Results of one version, and results that cannot be compared with them."""
    target = Explained("negative", None, "probability", 0.25)
    results = {
        "results": explanation(),
        "other-texts": explanation("Another text."),
        "other-method": explanation(method="gradient"),
        "other-settings": explanation(settings={"window": 3, "operator": "absent"}),
        "other-target": explanation(target=target),
    }
    for name, one in results.items():
        pellucid.save([one], folder / f"{name}.parquet")


def _lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _weights(folder: Path, change) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})


def _config(folder: Path, **fields) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}), encoding="utf-8")


SPOILT = {
    "NO_HEAD": lambda place: _weights(
        place, lambda tensors: (tensors.pop("classifier.weight"), tensors.pop("classifier.bias"))
    ),
    "NO_TOKENIZER": lambda place: [path.unlink() for path in place.glob("tokenizer*")],
    "OTHER_SIZES": lambda place: _config(place, intermediate_size=64),
    "FORGED_SIZE": lambda place: _config(place, vocab_size=3 * 10**9),
    "LOST_WEIGHTS": lambda place: _weights(place, lambda tensors: tensors.pop("bert.pooler.dense.bias")),
    "CUT_OFF": lambda place: os.truncate(place / "model.safetensors", 1000),
    "SAME_NAMES": lambda place: _config(place, id2label={"0": "good", "1": "good", "2": "bad"}),
    "NOT_NUMBERS": lambda place: _weights(place, lambda tensors: tensors["classifier.bias"].fill_(float("nan"))),
}


@contextmanager
def not_installed(package: str) -> Iterator[None]:
    """As if a package were not installed; other modules that are imported meanwhile stay."""
    before = sys.modules.get(package)
    sys.modules[package] = None  # type: ignore[assignment]  # so Python refuses to import it
    try:
        yield
    finally:
        del sys.modules[package]
        if before is not None:
            sys.modules[package] = before


def transcript() -> str:
    """The page."""
    offline = {"HF_HUB_OFFLINE": "1", "COLUMNS": "100"}
    with TemporaryDirectory() as folder, chdir(folder), patch.dict(os.environ, offline):
        with redirect_stderr(StringIO()):  # progress bars of the library that saves models
            make(Path(folder))
        with not_installed("shap"):
            parts = [
                f"## {title}\n\n```text\n"
                + "\n\n".join("\n".join(situation.lines()) for situation in situations)
                + "\n```\n"
                for title, situations in SITUATIONS.items()
            ]
    return "\n".join([TITLE, *parts]).replace(f"{folder}/", "")


if __name__ == "__main__":
    print(transcript(), end="")
