"""A stranger's model folder runs no code, asks nobody, opens no pickle and reads no file outside itself."""

import ast
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

import pellucid
from pellucid.base.errors import BadFile
from pellucid.models.classifiers.hugging_face import load_encoder
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from tests.hostile.assertions import assert_good_message
from tests.shared.tiny import LABELS, save_tiny, tiny_composed

ROOT = Path(__file__).parents[2]
ASKING = {"from_pretrained", "from_config"}  # calls of the library that take trust_remote_code
CODE = "import pathlib, os; pathlib.Path(os.environ['PLANTED']).mkdir()\n"


@pytest.fixture
def model(tmp_path):
    """A classifier's folder that a test may spoil."""
    return save_tiny(tmp_path / "model", labels=LABELS)


@pytest.fixture
def composed(tmp_path):
    """A composed model's folder that a test may spoil."""
    classifier = tiny_composed("span")
    save_composed(classifier.network, classifier.tokenizer, Plan("tiny", "span", {}, LABELS), tmp_path / "composed")
    return tmp_path / "composed"


def change(folder, name="config.json", **parts):
    path = folder / name
    values = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(values | parts))


def refused(folder, match, load=pellucid.load):
    with pytest.raises(BadFile, match=match) as raised:
        load(folder)
    assert_good_message(raised.value)


def test_every_call_of_the_library_says_that_no_code_is_trusted():
    calls = [
        (path, node)
        for path in (ROOT / "pellucid").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKING
    ]
    assert calls
    for path, call in calls:
        trusted = [word.value for word in call.keywords if word.arg == "trust_remote_code"]
        says_no = len(trusted) == 1 and isinstance(trusted[0], ast.Constant) and trusted[0].value is False
        assert says_no, f"{path}, line {call.lineno}: say trust_remote_code=False"


def test_no_function_reads_standard_input_but_the_command_lines():
    """`input` is called nowhere, and `sys.stdin` stands in the command line alone."""
    for path in (ROOT / "pellucid").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        assert not [name for name in called if isinstance(name, ast.Name) and name.id == "input"], path
        reads = [node for node in nodes if is_standard_input(node)]
        assert not reads or path.parent == ROOT / "pellucid" / "explaining" / "commands", path


def is_standard_input(node):
    """`sys.stdin`, or its import; the standard input of a child process is another one."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "sys" and any(one.name == "stdin" for one in node.names)
    is_stdin = isinstance(node, ast.Attribute) and node.attr in ("stdin", "__stdin__")
    return is_stdin and isinstance(node.value, ast.Name) and node.value.id == "sys"


UNUSUAL = {
    "model_type": "vit",  # known, and none of a classifier of texts
    "auto_map": {
        "AutoModelForSequenceClassification": "planted.Planted",
        "AutoModel": "planted.Planted",
        "AutoTokenizer": ["planted.Planted", "planted.Planted"],
    },
}


def plant(folder):
    """Code in a folder, and a configuration that asks for it."""
    (folder / "planted.py").write_text(CODE)
    values = json.loads((folder / "config.json").read_text())
    if "encoder_config" in values:
        change(folder, encoder_config={**UNUSUAL, "name_or_path": str(folder)}, name_or_path=str(folder))
    else:
        change(folder, **UNUSUAL)
    return folder


LOADING = """
import os, sys
import pellucid
from pellucid.models.classifiers.hugging_face import load_encoder
for load in (pellucid.load, load_encoder):
    for place in sys.argv[2:]:
        try:
            load(place)
        except pellucid.PellucidError as error:
            print("refused", error)
try:
    pellucid.train("pocket", encoder=sys.argv[2], out=sys.argv[1], epochs=1)
except pellucid.PellucidError as error:
    print("refused", error)
print("left", len(os.read(0, 10_000)), file=sys.stderr)
"""


@pytest.mark.whole
def test_no_loader_asks_on_standard_input(model, composed, tmp_path):
    """In a process whose standard input says yes to whatever it is asked."""
    places = [plant(model), plant(composed)]
    (bare := tmp_path / "bare").mkdir()  # a tokenizer's alone
    (bare / "tokenizer_config.json").write_text(json.dumps({"auto_map": UNUSUAL["auto_map"]}))
    plain = save_tiny(tmp_path / "plain", labels=LABELS)
    (plain / "planted.py").write_text(CODE)
    change(plain, "tokenizer_config.json", auto_map=UNUSUAL["auto_map"], tokenizer_class="Planted")
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(tmp_path / "out"), *map(str, [*places, plain, bare])],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PLANTED": str(tmp_path / "ran")},
        input="y\n" * 100,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
    assert "[y/N]" not in done.stdout
    assert "left 200" in done.stderr  # nothing was read of it
    assert done.stdout.count("refused") == 9


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer_config.json", "generation_config.json", "processor_config.json"]
)
def test_code_is_refused_wherever_the_library_looks_for_it(model, name):
    change(model, name, auto_map={"AutoConfig": "planted.Planted"})
    refused(model, f"{name} asks for code of its own .auto_map., which is never run")


def test_code_in_a_nested_configuration_is_refused(model, composed):
    change(model, text_config={"inner": [{"auto_map": {"AutoModel": "someone/thing--planted.Planted"}}]})
    refused(model, "asks for code of its own")
    values = json.loads((composed / "config.json").read_text())["encoder_config"]
    change(composed, encoder_config=values | {"auto_map": {"AutoModel": "planted.Planted"}})
    refused(composed, "asks for code of its own")


@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation", "_attn_implementation_internal"])
@pytest.mark.parametrize(
    "value", ["someone/kernels", "flex_attention", "flash_attention_2", "paged|sdpa", {"": "someone/kernels"}]
)
def test_other_implementations_of_attention_are_left_out(model, name, value):
    change(model, **{name: value}, use_kernels=True, kernel_config={"x": "someone/kernels"})
    assert pellucid.load(model).network.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("value", ["eager", "sdpa"])
def test_implementations_of_torch_are_used(model, value):
    change(model, attn_implementation=value)
    assert pellucid.load(model).network.config._attn_implementation == value


def test_no_kernels_are_loaded_while_a_folder_is_read(monkeypatch):
    from transformers import dynamic_module_utils
    from transformers.integrations import hub_kernels

    from pellucid.models.folders.library_network import guarded

    monkeypatch.setattr(hub_kernels, "get_kernel", lambda *_, **__: "code")
    seconds = dynamic_module_utils.TIME_OUT_REMOTE_CODE
    with guarded():
        with guarded(), pytest.raises(FileNotFoundError, match="code of the hub"):
            hub_kernels.get_kernel("someone/kernels")
        with pytest.raises(FileNotFoundError, match="code of the hub"):
            hub_kernels.get_kernel("someone/kernels")
        with pytest.raises(ValueError, match="trust_remote_code"):
            dynamic_module_utils.resolve_trust_remote_code(None, "someone/model", False, True)
    assert hub_kernels.get_kernel("someone/kernels") == "code"
    assert seconds == dynamic_module_utils.TIME_OUT_REMOTE_CODE


@pytest.mark.parametrize(
    ("part", "match"),
    [
        ({"quantization_config": {"quant_method": "fp8"}}, "describes quantized weights"),
        ({"backbone": "resnet50", "use_timm_backbone": True}, "of another library"),
        ({"backbone_config": {"model_type": "timm_backbone"}}, "of another library"),
        ({"model_type": "timm_wrapper"}, "of another library"),
    ],
)
def test_other_libraries_are_not_used(model, part, match):
    change(model, **part)
    refused(model, match)
    refused(model, match, load_encoder)


def test_an_adapter_does_not_pass_for_its_model(model):
    (model / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/model"}')
    refused(model, "holds an adapter")


class Planted:
    """What a pickle would run."""

    def __reduce__(self):
        return (os.mkdir, (os.environ["PLANTED"],))


@pytest.fixture
def pickled(tmp_path, monkeypatch):
    """A pickle's bytes; the test ends only if it was not opened."""
    monkeypatch.setenv("PLANTED", str(tmp_path / "opened"))
    yield pickle.dumps(Planted())
    assert not (tmp_path / "opened").exists()


def index(folder, *names):
    """An index that spreads the weights over files of these names."""
    keys = list(load_file(folder / "model.safetensors"))
    places = {key: names[number % len(names)] for number, key in enumerate(keys)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return {name: [key for key in keys if places[key] == name] for name in names}


def test_weights_that_a_configuration_calls_a_pickle_are_not_opened(model, pickled):
    (model / "adapter_model.bin").write_bytes(pickled)
    change(model, transformers_weights="adapter_model.bin")
    refused(model, "adapter_model.bin'; only safetensors are read")
    refused(model, "adapter_model.bin'; only safetensors are read", load_encoder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "shard.bin", "shard.pt", "shard"])
def test_shards_that_are_pickles_are_not_opened(model, pickled, name):
    index(model, name)
    (model / name).write_bytes(pickled)
    (model / "model.safetensors").unlink()
    refused(model, "only safetensors are read")


def test_a_distributed_checkpoint_is_not_opened(model, pickled):
    """Its list of tensors is a pickle, and the library takes it before any other weights."""
    (model / ".metadata").write_bytes(pickled)
    (model / "__0_0.distcp").write_bytes(b"")
    assert pellucid.explain(pellucid.load(model), "A fine film.", "gradient", progress=False)


@pytest.mark.parametrize("name", ["../other.safetensors", "inner/../../other.safetensors", "/other.safetensors"])
def test_shards_outside_the_folder_are_not_read(model, tmp_path, name):
    name = str(tmp_path / "other.safetensors") if name.startswith("/") else name
    (model / "inner").mkdir()
    index(model, name)
    (model / "model.safetensors").rename(tmp_path / "other.safetensors")
    refused(model, "only files beside it are read")
    (model / "model.safetensors.index.json").unlink()
    change(model, transformers_weights=name)
    refused(model, "only files beside it are read")


def test_links_out_of_the_folder_are_not_followed(model, tmp_path):
    (model / "model.safetensors").rename(tmp_path / "other.safetensors")
    (model / "model.safetensors").symlink_to(tmp_path / "other.safetensors")
    refused(model, "is a link that leads out of its folder")
    (model / "model.safetensors").unlink()
    (tmp_path / "other.safetensors").rename(model / "other.safetensors")
    (model / "model.safetensors").symlink_to("other.safetensors")
    pellucid.load(model)


def test_pipes_are_not_waited_for(model):
    (model / "generation_config.json").unlink(missing_ok=True)
    os.mkfifo(model / "generation_config.json")
    refused(model, "is not a file")


def test_shards_beside_their_index_are_read(model):
    whole = load_file(model / "model.safetensors")
    for name, keys in index(model, "first.safetensors", "second.safetensors").items():
        save_file({key: whole[key] for key in keys}, model / name, metadata={"format": "pt"})
    (model / "model.safetensors").unlink()
    loaded = pellucid.load(model).network.state_dict()
    assert all((loaded[key] == whole[key]).all() for key in whole)


def test_a_snapshot_of_the_hub_is_read_through_its_links(model, tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    place = tmp_path / "cache" / "models--someone--model"
    snapshot, blobs = place / "snapshots" / ("a" * 40), place / "blobs"
    for folder in (snapshot, blobs, place / "refs"):
        folder.mkdir(parents=True)
    (place / "refs" / "main").write_text("a" * 40)
    for number, path in enumerate(model.iterdir()):
        path.rename(blobs / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    assert pellucid.load(snapshot).labels == LABELS
    assert pellucid.load("someone/model").name == "someone/model"
    moved = tmp_path / "elsewhere" / "snapshots" / "b"
    place.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "snapshots" / ("a" * 40)).rename(moved)
    assert pellucid.load(moved).labels == LABELS


@pytest.mark.parametrize(("word", "offline"), [("0", False), ("no", False), ("", False), ("1", True), ("true", True)])
def test_the_word_for_offline_is_read_as_the_hub_reads_it(monkeypatch, word, offline):
    from huggingface_hub import constants

    from pellucid.models.folders import library_network as hub

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", word)
    assert hub.is_offline() is offline
