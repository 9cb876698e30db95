"""About two hundred odd arguments, and every public door with a right call in which one argument at a time is
replaced.
"""

import datetime
import decimal
import fractions
import re
from collections import Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque, namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pellucid
from pellucid.run.hidden_target import HiddenState
from pellucid.text.example import Rationale
from tests.shared.explanations import explanation
from tests.shared.tiny import LABELS, tiny_classifier, tiny_composed

Pair = namedtuple("Pair", ["text", "label"])


class Broken:
    """Fails at whatever is done with it."""

    def __iter__(self):
        raise RuntimeError("broken")

    def __len__(self):
        raise RuntimeError("broken")

    def __str__(self):
        raise RuntimeError("broken")

    __repr__ = __str__


class Pretender:
    """Has whatever attribute it is looked at for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def scores_of(texts):
    """The probabilities of a model that looks for one word."""
    joined = [" ".join(text) if isinstance(text, tuple) else text for text in texts]
    return [[0.2, 0.8] if "lovely" in text else [0.7, 0.3] for text in joined]


def tiny_model():
    """A function as a model: every call of a door is quick."""
    return pellucid.from_function(scores_of, ["negative", "positive"], name="odd")


def failing(texts):
    """A function that always fails."""
    raise KeyError("no")


NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 10, 11, -(10**9), 10**30, 0.0, -0.0, 0.5, 1.0, 1.5, -0.5, 1e-300, 1e300),
    *(
        float("nan"),
        float("inf"),
        float("-inf"),
        1j,
        True,
        False,
        decimal.Decimal("1.5"),
        decimal.Decimal("NaN"),
    ),
    *(
        fractions.Fraction(1, 3),
        np.int64(3),
        np.float32(0.5),
        np.float64("nan"),
        np.bool_(True),
        np.datetime64("NaT"),
    ),
    *(torch.tensor(3), torch.tensor(0.5), torch.tensor([1, 2]), torch.zeros(0), 2**63, -(2**63) - 1, 2**64),
)
STRINGS = (
    *(
        "",
        " ",
        "\n",
        "\0",
        "a",
        "a lovely film",
        "positive",
        "negative",
        "predicted",
        "gold",
        "logit",
        "chance",
        "all",
    ),
    *(
        "text",
        "label",
        "pocket",
        "pocket_pairs",
        "nothing.csv",
        "nothing",
        "occlusion",
        "lime",
        "gradient",
        "table",
    ),
    *(
        "span_attention",
        "token",
        "../..",
        "/",
        ".",
        "~",
        "~nobody/x",
        "/proc/self/mem",
        "/dev/null",
        "/nowhere/x",
        "a/b/c",
    ),
    *(
        "\ud800",
        "x" * 5000,
        "é" * 300,
        "שלום",
        "这部电影",
        "👍",
        "\u200b",
        "%s {0} {name!r}",
        "<script>",
        "1e309",
        "nan",
    ),
    *(
        "None",
        "True",
        "0",
        "-1",
        "3.5",
        "comprehensiveness",
        "cpu",
        "cuda:99",
        "meta",
        "float32",
        "single_label",
    ),
    *(
        np.str_("a film"),
        "None\n\nNone",
        "a,b",
        "results.json",
        "results.parquet",
        "page.html",
        "budget",
        "best_words",
    ),
)
NOTHINGS = (
    None,
    NotImplemented,
    ...,
    pd.NA,
    pd.NaT,
    (),
    [],
    {},
    set(),
    frozenset(),
    b"",
    bytearray(),
    range(0),
    iter(()),
)


def containers() -> tuple[Any, ...]:
    """Lists, tuples, dictionaries, tables and arrays, most of them of the wrong things."""
    frame = pd.DataFrame({"text": ["a lovely film", "dull"], "label": ["positive", "negative"]})
    odd_frame = pd.DataFrame({"a": [1, 2], "b": [None, "x"]})
    one = pellucid.Example(("a lovely film",), "positive", id="odd")
    return (
        *(
            ["a lovely film"],
            ["a", "b"],
            ["a", None],
            [None],
            [1],
            [""],
            [" "],
            [[]],
            [()],
            [{}],
            [b"a"],
            [[["a"]]],
        ),
        *(
            ("a",),
            ("a", "b"),
            ("a", "b", "c"),
            ("a", 1),
            (1, "a"),
            (None, None),
            ("positive", "negative"),
            (0, 1),
            (0, 0),
        ),
        *(
            [("a lovely film", "positive")],
            [("a", "b"), "c"],
            [["a", "b", "c"]],
            [("a", 1), ("b", None)],
            [Pair("a b", 1)],
        ),
        *(
            ["predicted", "gold"],
            [("occlusion", {})],
            [("occlusion", None)],
            [("occlusion", {"x": 1})],
            [("occlusion",)],
        ),
        *(
            [("occlusion", {"unit": 3})],
            [("occlusion", {}, 1)],
            ["chance", "chance"],
            ["nothing"],
            [3.5],
            [("",)],
        ),
        *(
            {"text": "a"},
            {"text": ["a"], "label": ["b", "c"]},
            {"text": [1]},
            {1: 2},
            {"a": "negative"},
            {None: None},
        ),
        *(
            {"positive": "negative", "negative": "positive"},
            {"text": None},
            {"text": []},
            [{"text": "a"}, {"text": 3}],
        ),
        *(
            {"a"},
            frozenset({"b"}),
            b"abc",
            bytearray(b"abc"),
            memoryview(b"abc"),
            range(3),
            deque(["a b"]),
            "ab".split,
        ),
        *(
            OrderedDict(text=["a b"]),
            defaultdict(list),
            Counter("ab"),
            UserDict(text="a"),
            UserList(["a b"]),
            UserString("a b"),
        ),
        *(
            MappingProxyType({"text": ["a b"]}),
            SimpleNamespace(text="a"),
            {"a": 1}.keys(),
            {"text": "a b"}.values(),
        ),
        *(
            frame,
            odd_frame,
            frame["text"],
            odd_frame["b"],
            odd_frame["a"],
            frame.iloc[:0],
            pd.DataFrame(),
            pd.Series(dtype=object),
        ),
        *(
            frame.index,
            frame.groupby("label"),
            pd.concat([frame, frame], axis=1),
            frame.set_index("text"),
            frame.T,
        ),
        *(
            pa.table({"text": ["a b"], "label": [1]}),
            pa.array(["a b"]),
            pa.table({}),
            np.array(["a b", "c"]),
            np.array("a b"),
        ),
        *(
            np.zeros(3),
            np.zeros((2, 2)),
            np.array([None]),
            np.array([], dtype=str),
            np.array([["a", "b c"]]),
            np.empty(2, object),
        ),
        *(
            one,
            [one],
            (one,),
            [one, one],
            pellucid.Example(("a", "b")),
            pellucid.Example(("a",), "nothing"),
            [one, "b"],
        ),
        *(
            explanation(),
            [explanation()],
            pellucid.Example,
            Rationale(0, 0, 1),
            HiddenState(0),
            HiddenState(99, "last"),
        ),
        *(
            zip(["a b"], ["positive"], strict=True),
            map(str, ["a b"]),
            (text for text in ["a b"]),
            enumerate(["a b"]),
        ),
    )


def others() -> tuple[Any, ...]:
    """Functions, classes, modules, models, paths and what fails at every touch."""
    return (
        *(
            object(),
            object,
            type,
            len,
            print,
            scores_of,
            failing,
            lambda: None,
            re.compile("a"),
            datetime.date(2020, 1, 1),
        ),
        *(
            Broken(),
            Pretender(),
            Broken,
            pd,
            np.random.default_rng(0),
            Exception("x"),
            ValueError,
            iter(["a b"]),
            slice(3),
        ),
        *(
            Path(),
            Path("nothing.csv"),
            Path("/nowhere/x.csv"),
            PurePosixPath("a"),
            Path("/dev/null"),
            Path("x" * 300),
        ),
        *(
            tiny_model(),
            pellucid.from_function(failing, ["a", "b"]),
            torch.nn.Linear(2, 2),
            torch.nn.Identity(),
        ),
        *(TfidfVectorizer(), LogisticRegression(), LogisticRegression().fit([[0], [1]], ["a", "b"])),
        *(pellucid.from_function(lambda texts: [[0.5, 0.5]], ["a", "b"]), torch.device("cpu"), torch.float32),
    )


def odd_values() -> list[Any]:
    """All of them; iterators are new in each list."""
    return [*NUMBERS, *STRINGS, *NOTHINGS, *containers(), *others()]


@dataclass(frozen=True)
class Door:
    """A public function, and arguments with which it works or fails quickly."""

    call: Callable[..., Any]
    arguments: Mapping[str, Any]


def doors(folder: Path) -> dict[str, Door]:
    """Every public door by name; files are written to a folder."""
    one = pellucid.Example(("a lovely film",), "positive", (Rationale(0, 2, 8),), "odd")
    model, texts, quiet = tiny_model(), [one], {"progress": False}
    [result] = pellucid.explain(model, texts, "occlusion", progress=False)
    [extraction] = pellucid.extract(model, texts, "random_span", progress=False)
    table = pellucid.compare(model, texts, ["occlusion"], ["comprehensiveness"], resamples=10, progress=False)
    pellucid.save([result], folder / "right.json")
    weak = pellucid.from_function(
        lambda read: [[0.1, 0.9] if "lovely" in text else [0.8, 0.2] for text in read],
        ["negative", "positive"],
    )
    fooled = pellucid.attack(weak, "a lovely film", "deepwordbug", progress=False)
    pellucid.write_blind_sheet(fooled, folder / "right.csv", folder / "right-key.json")
    columns = {"text": None, "label": None, "label_map": None}
    self_explaining = tiny_composed("span", LABELS)
    return {
        "explain": Door(
            pellucid.explain,
            {
                "model": model,
                "texts": texts,
                "method": "occlusion",
                "target": "predicted",
                "output": "logit",
                "seed": 0,
            }
            | columns
            | quiet
            | {"unit": "word", "window": 1},
        ),
        "lime": Door(
            pellucid.explain,
            {"model": model, "texts": texts, "method": "lime", "n_samples": 8, "seed": 0} | quiet,
        ),
        "explain_all": Door(
            pellucid.explain_all,
            {
                "model": model,
                "texts": texts,
                "methods": ["occlusion"],
                "target": "predicted",
                "output": "logit",
                "seed": 0,
            }
            | columns
            | quiet,
        ),
        "compare": Door(
            pellucid.compare,
            {"model": model, "examples": texts, "methods": ["occlusion"], "metrics": ["comprehensiveness"]}
            | {"target": "predicted", "seed": 0, "resamples": 10, "folder": None}
            | columns
            | quiet,
        ),
        "diff": Door(
            pellucid.diff,
            {"a": [result], "b": [result], "twins": [], "method": None, "k": 1, "resamples": 10, "seed": 0},
        ),
        "spans": Door(
            pellucid.spans,
            {
                "model": self_explaining,
                "texts": texts,
                "k": 1,
                "target": "predicted",
                "random_spans": 1,
                "seed": 0,
            }
            | columns
            | quiet,
        ),
        "error_analysis": Door(
            pellucid.error_analysis,
            {"model": self_explaining, "examples": texts, "train": texts, "min_count": 1} | columns | quiet,
        ),
        "extract": Door(
            pellucid.extract,
            {
                "model": model,
                "texts": texts,
                "extractor": "random_span",
                "selection": None,
                "budget": None,
                "n_spans": 1,
            }
            | {"like": None, "seed": 0}
            | columns
            | quiet,
        ),
        "select": Door(
            pellucid.select,
            {
                "model": model,
                "texts": texts,
                "only": None,
                "sort": "order",
                "limit": 1,
                "sample": 2,
                "seed": 0,
            }
            | columns,
        ),
        "predict": Door(pellucid.predict, {"model": model, "texts": texts, "text": None, "label": None} | quiet),
        "model.predict": Door(model.predict, {"texts": texts}),
        "accuracy": Door(pellucid.accuracy, {"model": model, "examples": texts} | columns),
        "write_blind_sheet": Door(
            pellucid.write_blind_sheet,
            {"attempts": fooled, "path": folder / "sheet.csv", "key": folder / "key.json", "seed": 0},
        ),
        "read_blind_sheets": Door(
            pellucid.read_blind_sheets, {"sheets": folder / "right.csv", "key": folder / "right-key.json"}
        ),
        "follows_planted_reason": Door(pellucid.follows_planted_reason, {"model": model, "examples": texts}),
        "eraser_scores": Door(
            pellucid.eraser_scores,
            {"extractions": [extraction], "threshold": 0.5, "resamples": 10, "seed": 0},
        ),
        "plant": Door(
            pellucid.plant,
            {"reason": "token", "on": "pocket", "out": None, "n": 10, "distractor": 0.9, "seed": 0},
        ),
        "load": Door(
            pellucid.load,
            {
                "source": folder / "none",
                "tokenizer": None,
                "device": None,
                "dtype": None,
                "problem": None,
                "max_length": None,
            },
        ),
        "from_function": Door(
            pellucid.from_function,
            {
                "predict": scores_of,
                "labels": ["a", "b"],
                "gives": "logits",
                "problem": "single_label",
                "name": "f",
                "mask": None,
                "columns": ["age"],
                "text": "text",
                "background": {"age": [1, 2]},
                "draws": 2,
            },
        ),
        "remote": Door(
            pellucid.remote,
            {"service": scores_of, "labels": ["a", "b"], "gives": "logits", "problem": "single_label", "name": "f"}
            | {"mask": None, "headers": None, "batch_size": 2, "at_once": 1, "calls_a_minute": None, "retries": 0}
            | {"timeout": 1.0, "cache": None},
        ),
        "from_pipeline": Door(
            pellucid.from_pipeline,
            {"pipeline": None, "name": None, "columns": ["age"], "text": None, "background": {"age": [1]}, "draws": 2},
        ),
        "from_network": Door(
            pellucid.from_network,
            {"network": torch.nn.Linear(1, 2), "tokenize": str.split, "logits": torch.add, "embedding": None}
            | {"labels": ["a", "b"], "problem": None, "name": None, "pad": 0, "mask": None, "separator": None}
            | {"max_length": None, "gaps": "close"},
        ),
        "layer_analysis": Door(
            pellucid.layer_analysis,
            {"models": self_explaining, "texts": texts, "method": "grad_cam", "layers": 1, "target": None}
            | {"positions": "pooled", "seed": 0, "out": None}
            | columns
            | quiet,
        ),
        "attention_analysis": Door(
            pellucid.attention_analysis,
            {"model": self_explaining, "data": texts, "against": (), "train": None, "folder": None}
            | {"tests": ["uniform", "effective_units"], "weights": None, "seed": 0}
            | columns
            | quiet,
        ),
        "concepts": Door(
            pellucid.concepts,
            {
                "model": self_explaining,
                "text": "a lovely film",
                "word": "lovely",
                "concepts": {"praise": ["fine"]},
            }
            | {"start": None, "layer": 1, "positions": "pooled", "names": (), "most": 5, "reader": None}
            | {
                "n_random": 4,
                "seed": 0,
                "settings": {"n_steps": 4, "n_seeds": 1, "reference": ("a film", "dull")},
            }
            | quiet,
        ),
        "lens": Door(
            pellucid.lens,
            {"model": self_explaining, "texts": folder / "none.csv", "out": folder / "lens", "on": None}
            | {"format": None, "read": None, "skip_bad_rows": False, "text": None, "device": None}
            | {
                "head_steps": 1,
                "translator_steps": 1,
                "batch_size": 2,
                "sequence_length": 8,
                "mask_share": 0.2,
            }
            | {"learning_rate": 1e-3, "dev_rows": 1, "seed": 0, "pieces_a_step": 2, "checkpoint_every": 1}
            | quiet,
        ),
        "train": Door(pellucid.train, {"data": folder / "none.csv", "out": folder / "trained", **TRAINING}),
        "examples": Door(
            lambda source, **more: pellucid.examples(source, **more),  # its name is free for settings
            {"source": "pocket_pairs", "split": "test", "format": None, "skip_bad_rows": False},
        ),
        "class_words": Door(
            pellucid.class_words,
            {"results": [result], "min_texts": 1, "idf": ["A film."], "unit": "word", "model": None},
        ),
        "read": Door(pellucid.read, {"path": folder / "right.json"}),
        "save": Door(pellucid.save, {"explanations": [result], "path": folder / "saved.json"}),
        "report": Door(
            pellucid.report,
            {"results": [result], "table": table, "path": folder / "page.html", "title": "t", "about": None}
            | {"scale": "page"},
        ),
        "figure": Door(pellucid.figure, {"result": result, "path": None, "kind": None, "theme": "light", "width": 6.3}),
        "latex": Door(pellucid.latex, {"result": result}),
        "write_csv": Door(pellucid.write_csv, {"results": [result], "path": folder / "results.csv"}),
        "to_data_frame": Door(pellucid.to_data_frame, {"results": [result]}),
        "to_dataset": Door(pellucid.to_dataset, {"items": [result]}),
        "to_shap": Door(pellucid.to_shap, {"explanations": [result]}),
        "write_eraser": Door(pellucid.write_eraser, {"explanations": [result], "path": folder / "eraser.jsonl"}),
        "write_eraser_examples": Door(pellucid.write_eraser_examples, {"examples": texts, "folder": folder / "eraser"}),
        "write_json_lines": Door(pellucid.write_json_lines, {"items": texts, "path": folder / "lines.jsonl"}),
        "Example": Door(pellucid.Example, {"segments": ("a",), "label": None, "rationales": (), "id": "", "meta": {}}),
        "HiddenState": Door(pellucid.HiddenState, {"layer": 0, "positions": "first"}),
        **concept_doors(folder),
    }


def concept_doors(folder: Path) -> dict[str, Door]:
    """The doors of concepts that a model has made itself."""
    model, data = tiny_classifier("bert", LABELS), [f"a lovely film {n}" for n in range(20)]
    few = {"n": 2, "method": "svd", "level": "word", "n_texts": 2, "seed": 0}
    learnt = pellucid.find_concepts(model, data, 1, **few, progress=False)
    question = {"model": model, "data": data, "learnt": learnt, "progress": False}
    searched = {"model": model, "data": data, **few, "most_states": 50, "beside": None, "out": None, "progress": False}
    return {
        "find_concepts": Door(pellucid.find_concepts, {**searched, "layer": 1, "text": None, "label": None}),
        "concept_map": Door(pellucid.concept_map, {**searched, "layers": [1, 2]}),
        "text_concepts": Door(pellucid.text_concepts, {"model": model, "text": "a film", "learnt": learnt}),
        "judge_concepts": Door(pellucid.judge_concepts, {**question, "n_texts": 2, "seed": 0, "text": None}),
        "concept_activations": Door(
            pellucid.concept_activations,
            {**question, "path": folder / "activations.parquet", "rows": "text", "text": None},
        ),
        "LearntConcepts.target": Door(learnt.target, {"concept": 1, "over": "sum"}),
        "LearntConcepts.read": Door(pellucid.LearntConcepts.read, {"folder": folder}),
    }


TRAINING = {
    "text": None,
    "label": None,
    "label_map": None,
    "format": None,
    "read": None,
    "encoder": None,
    "start_from": None,
    "pooler": "mean",
    "seed": 0,
    "device": "cpu",
    "problem": None,
    "pooler_settings": None,
    "max_length": None,
    "penalties": None,
    "progress": False,
    "epochs": 1,
}
