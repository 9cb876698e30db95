"""A folder whose numbers cannot be meant is refused in little time and memory; every honest one passes the same
checks.
"""

import json
import os
import resource
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import CONFIG_MAPPING, MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING

import pellucid
from pellucid.base.errors import BadFile
from pellucid.models.folders.configuration import check_values, configuration
from pellucid.models.folders.library_network import new_network
from pellucid.models.folders.weight_files import CALLS, WeightSizes, check_numbers, check_sizes, weight_sizes
from tests.hostile.architectures import kinds, small_network, small_values
from tests.hostile.assertions import assert_good_message
from tests.shared.tiny import LABELS, save_tiny

ROOT = Path(__file__).parents[2]
SECONDS, BYTES = 5, 1 << 30  # what a folder that is refused may take
FAMILIES = (
    "bert",
    "xlnet",
    "funnel",
    "bart",
    "t5",
    "gpt2",
    "gpt_neox",
    "mamba2",
    "deberta-v2",
    "albert",
    "canine",
)


@pytest.fixture
def model(tmp_path):
    """A classifier's folder that a test may spoil."""
    return save_tiny(tmp_path / "model", labels=LABELS)


def change(folder, **parts):
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(values | parts))


def refused(folder):
    with pytest.raises(BadFile) as raised:
        pellucid.load(folder)
    assert_good_message(raised.value)
    return str(raised.value)


def sparse(path, numbers):
    """A safetensors file that says it has so many numbers and has none of them on disk."""
    header = json.dumps({"x": {"dtype": "F32", "shape": [numbers], "data_offsets": [0, 4 * numbers]}}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 4 * numbers)


def test_weights_in_a_subfolder_are_no_weights(model):
    keys = list(load_file(model / "model.safetensors"))
    (model / "inner").mkdir()
    (model / "model.safetensors").rename(model / "inner" / "model.safetensors")
    places = {"metadata": {}, "weight_map": dict.fromkeys(keys, "inner/model.safetensors")}
    (model / "model.safetensors.index.json").write_text(json.dumps(places))
    change(model, num_hidden_layers=10**9)
    assert "only files beside it are read" in refused(model)


def test_a_sparse_file_beside_the_weights_counts_nothing(model):
    sparse(model / "other.safetensors", 10**10)
    change(model, hidden_size=20_000)
    assert "do not belong together" in refused(model)


def test_holes_in_the_weights_count_nothing(tmp_path):
    sparse(tmp_path / "holes.safetensors", 10**9)
    assert weight_sizes([tmp_path / "holes.safetensors"]).numbers < 10**6


def test_a_header_of_gigabytes_is_not_read(model):
    path = model / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 33) + path.read_bytes()[8:])
    with path.open("r+b") as file:
        file.truncate(1 << 34)
    assert "bytes of names" in refused(model)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "generation_config.json", "tokenizer.json"])
def test_a_sparse_description_is_not_read(model, name):
    with (model / name).open("a+b") as file:
        file.truncate(1 << 34)
    assert "MB, which no" in refused(model)


@pytest.mark.parametrize("depth", [1, 100_000])
def test_a_configuration_nested_without_end_is_no_json(model, depth):
    text = '{"a": ' + "[" * depth + "1" + "]" * depth + "}"
    (model / "config.json").write_text(text)
    refused(model)


COUNTS = (
    {"num_hidden_layers": 10**9},
    {"num_hidden_layers": 1_000},
    {"n_layer": 10**9},
    {"text_config": {"inner": [{"blocks": 10**9}]}},
    {"num_labels": 10**8, "id2label": None},
    {"block_sizes": [19_999] * 3000},
    {"numbers": [19_999] * 10_000},
    {"max_position_embeddings": 1 << 40},
)


@pytest.mark.parametrize("part", COUNTS, ids=str)
def test_numbers_out_of_proportion_are_refused(model, part):
    change(model, **part)
    refused(model)


def test_numbers_within_proportion_are_read(model):
    """Lengths, bases of rotations and numbers of tokens may be large, and so may what no weight is made of."""
    change(model, rope_theta=10_000_000, sliding_window=131_072, decoder_start_token_id=128_009, something=15_000)
    assert pellucid.load(model).labels == LABELS


def test_the_number_of_parts_is_bounded_while_a_network_is_built():
    built = []

    def make():
        while True:
            built.append(torch.nn.Linear(1, 1))

    with pytest.raises(BadFile, match="many more parts"):
        check_sizes(make, WeightSizes(100, 10, 10), Path("config.json"))
    assert 100 < len(built) < CALLS[0]


@pytest.mark.parametrize(
    "table", [lambda: torch.zeros(10**5, 10**5, device="cpu"), lambda: torch.arange(10**9, device="cpu")]
)
def test_tables_that_take_memory_are_refused_before_they_exist(table):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadFile, match="larger tables"):
        check_sizes(lambda: torch.nn.ParameterList([table()]), WeightSizes(100, 10, 10), Path("config.json"))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def honest(kind, small):
    """A model's configuration as it stands in a file, and what its weights' headers would say."""
    values = small_values(kind) if small else {**CONFIG_MAPPING[kind]().to_dict(), "model_type": kind}
    values = json.loads(json.dumps(values, default=str))
    with torch.device("meta"):
        weights = small_network(values).state_dict()
    sides = [side for weight in weights.values() for side in weight.shape]
    return values, WeightSizes(sum(weight.numel() for weight in weights.values()), len(weights), max(sides))


def passes(kind, small):
    """Whether the checks pass; None where this type cannot be built of its own defaults."""
    try:
        values, sizes = honest(kind, small)
    except Exception:
        return None
    path = Path("config.json")
    check_values(values, path)
    check_numbers(values, sizes, path)
    check_sizes(lambda: new_network(configuration(values), MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING), sizes, path)
    return True


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("small", [True, False])
def test_honest_models_pass(kind, small):
    assert passes(kind, small) is not False


@pytest.mark.long
@pytest.mark.parametrize("small", [True, False])
def test_every_architecture_of_the_library_passes(small):
    """Those that can be built of their own defaults, large and small."""
    assert sum(bool(passes(kind, small)) for kind in kinds()) >= 115


FORGING = """
import json, resource, sys, time, warnings
from pathlib import Path
import torch
from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
from transformers.utils import logging
from pellucid.models.folders.library_network import read_network
from tests.hostile.test_sizes_of_models import forge

logging.set_verbosity_error()
logging.disable_progress_bar()
for kind in sys.argv[2:]:
    for case, folder in forge(kind, Path(sys.argv[1])):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        try:
            read_network(folder, MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING, torch.float32)
            answer = "read"
        except Exception:
            answer = "refused"
        seconds = time.process_time() - begun
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        print(json.dumps([kind, case, answer, seconds, grown]), flush=True)
"""


def forge(kind, place):
    """Folders of one architecture, each with one number of its configuration forged: (what was changed, folder)."""
    try:
        values = small_values(kind)
        network = small_network(json.loads(json.dumps(values, default=str)))
    except Exception:
        return
    folder = place / kind
    network.save_pretrained(folder)
    whole = (folder / "config.json").read_text()
    for way in _numbers(json.loads(whole)):
        for forged in (19_999, 1 << 28, 10**12):
            changed = json.loads(whole)
            inner = changed
            for step in way[:-1]:
                inner = inner[step]
            inner[way[-1]] = forged
            (folder / "config.json").write_text(json.dumps(changed))
            yield f"{way}={forged}", folder


def _numbers(value, way=()):
    """The way to every number, and to everything that was left open, in a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inner in inside:
        if key not in ("id2label", "label2id"):
            yield from _numbers(inner, (*way, key))
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield way


def _forged(tmp_path, types):
    done = subprocess.run(
        [sys.executable, "-c", FORGING, str(tmp_path), *types],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30)),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-3000:]
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    costly = [case for case in cases if case[2] == "refused" and (case[3] > SECONDS or case[4] > BYTES)]
    assert not costly, costly
    return cases


@pytest.mark.whole
def test_forged_numbers_take_neither_memory_nor_time(tmp_path):
    """In a process of its own, each number of the configuration of one architecture."""
    cases = _forged(tmp_path, ("xlnet",))
    assert sum(case[2] == "refused" for case in cases) > 20


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_forged_numbers_of_every_architecture_take_neither_memory_nor_time(tmp_path):
    cases = _forged(tmp_path, kinds())
    assert len({case[0] for case in cases}) >= 110
    assert sum(case[2] == "refused" for case in cases) > 3000
