"""Runs in an object store: the bytes of a run in a folder, whoever computes them, and nothing lost.

An S3 server of this process (moto) stands for a store, and so does a folder by its file:// address.
"""

import json
import logging
import os
import random
import signal
import stat
import time

import pytest
from pyarrow import fs

import pellucid
from pellucid.base import leases
from pellucid.base.errors import BadFile, FolderMended
from pellucid.corpus.command import jobs
from pellucid.corpus.store import RunStore
from pellucid.corpus.stored_run import run_folder
from tests.cli.jobs import MAIN
from tests.corpus.test_runs import TEXTS, answer, explained
from tests.shared import warm_python
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny
from tests.shared.warm_python import Started

WORDS = "good bad fine dull film plot slow lovely actor scene never ever really quite story music night".split()
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture(scope="module")
def server():
    """Host and port of an S3 server with one bucket."""
    moto = pytest.importorskip(
        "moto.server", reason="needs moto, an S3 server: pip install 'moto[s3]' flask flask-cors"
    )
    logging.getLogger("werkzeug").disabled = True
    thread = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    before = {name: os.environ.get(name) for name in KEYS}
    os.environ |= KEYS
    thread.start()
    place = "{}:{}".format(*thread.get_host_and_port())
    fs.S3FileSystem(endpoint_override=place, scheme="http", allow_bucket_creation=True).create_dir("bucket")
    yield place
    thread.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(params=("s3", "file"))
def address(request, tmp_path):
    """Of a store that has nothing yet."""
    if request.param == "file":
        return f"file://{tmp_path}/store/run"
    return s3(request.getfixturevalue("server"), tmp_path.name)


def s3(server, name):
    return f"s3://bucket/{name}/run?endpoint_override={server}&scheme=http"


@pytest.fixture(scope="module")
def model():
    return pellucid.from_function(answer, ["negative", "positive"])


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    return explained(model, TEXTS, tmp_path_factory.mktemp("whole") / "run").path


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Call it to be on another machine, which has no copies."""

    def begin(name):
        monkeypatch.setenv("PELLUCID_CACHE", str(tmp_path / name))

    begin("first")
    return begin


def objects_of(address):
    """What the store has, by name."""
    system, path = fs.FileSystem.from_uri(address)
    infos = system.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    files = [info.path for info in infos if info.is_file and info.base_name]
    return {file.removeprefix(f"{path}/"): system.open_input_stream(file).read() for file in sorted(files)}


def put(address, name, content):
    system, path = fs.FileSystem.from_uri(address)
    with system.open_output_stream(f"{path}/{name}") as stream:
        stream.write(content)


def test_a_store_has_the_bytes_of_a_folder_and_other_machines_read_them(
    model, whole, machine, address, tmp_path, capsys
):
    assert explained(model, TEXTS, address).is_whole
    assert objects_of(address) == files_of(whole)
    machine("second")
    run = pellucid.open_run(address)
    assert list(run) == list(pellucid.open_run(whole)) and [each.text for each in run.examples] == TEXTS
    machine("third")
    sql = "select predicted, count(*) as n from texts group by all order by 1"
    assert pellucid.open_run(address).query(sql) == pellucid.open_run(whole).query(sql)
    machine("fourth")
    again = explained(model, TEXTS[1000:1030], address.replace("/run", "/again"), reuse=address)
    assert again.reused == len(set(TEXTS[1000:1030])) and list(again)[3].scores.tolist() == run[1003].scores.tolist()
    assert explained(model, TEXTS[1000:1030], tmp_path / "again", reuse=address).reused == again.reused
    jobs(address, as_json=True)
    state = json.loads(capsys.readouterr().out)
    assert (state["done"], state["shards_done"], state["working"], state["failures"]) == (2100, 3, [], [])


def test_a_flipped_bit_in_the_store_is_named_and_computed_again(model, whole, machine, address):
    explained(model, TEXTS, address)
    content = bytearray(objects_of(address)["shards/00001.parquet"])
    content[len(content) // 3] ^= 4
    put(address, "shards/00001.parquet", bytes(content))
    put(address, "rows/00002.parquet", b"PAR1")
    outcome = pellucid.verify(address)  # on the machine whose copies are intact
    assert outcome.changed == ("rows/00002.parquet", "shards/00001.parquet") and not outcome.missing
    assert outcome.folder == address.partition("?")[0]
    with pytest.warns(FolderMended, match=r"run, and computed again: 00001\.parquet"):
        explained(model, TEXTS, address)  # on the machine whose copy is intact
    assert objects_of(address) | {"rows/00002.parquet": b""} == files_of(whole) | {"rows/00002.parquet": b""}
    machine("second")
    put(address, "shards/00001.parquet", bytes(content))
    with pytest.raises(BadFile, match=r"run/shards/00001\.parquet was damaged"):
        list(pellucid.open_run(address))
    with pytest.raises(BadFile, match=r"run/rows/00002\.parquet is damaged; run the same command again"):
        list(pellucid.open_run(address).examples)
    with pytest.warns(FolderMended, match=r"00001\.parquet"):
        explained(model, TEXTS, address)
    assert objects_of(address) == files_of(whole) and pellucid.verify(address).is_whole
    RunStore(address).remove("shards/00000.parquet")
    put(address, "shards/strange", b"")
    outcome = pellucid.verify(address)
    assert (outcome.missing, outcome.changed, outcome.foreign) == (("shards/00000.parquet",), (), ("shards/strange",))
    with pytest.raises(BadFile, match="holds no run"):
        pellucid.verify(address.replace("/run", "/none"))


def test_a_lease_in_a_store_is_of_the_process_that_keeps_it_alive(machine, address, monkeypatch):
    monkeypatch.setattr(leases, "is_dead", lambda holder: False)  # as if each were of another machine
    run = run_folder(address)
    first, second = run.leases(), run.leases()
    assert first.take(run.lease_file(3)) and not second.take(run.lease_file(3))
    assert [(each["shard"], each["process"]) for each in run.living()] == [(3, os.getpid())]
    assert stat.S_IMODE(run.path.stat().st_mode) == 0o700
    monkeypatch.setattr(leases, "STALE", 0.3)
    for _ in range(3):
        time.sleep(0.2)
        first.place.touch(run.lease_file(3), first.record())
        assert not second.take(run.lease_file(3))
    time.sleep(0.4)
    assert second.take(run.lease_file(3))
    first.place.touch(run.lease_file(3), first.record())  # too late: it is the second's
    assert json.loads(objects_of(address)["leases/00003.json"])["token"] == second.place.token
    second.release(run.lease_file(3))
    assert run.living() == [] and first.take(run.lease_file(3))
    write = RunStore.write

    def overtaken(store, name, content):
        write(store, name, content)
        write(store, name, b"another's, of the same moment")

    monkeypatch.setattr(RunStore, "write", overtaken)
    assert not first.take(run.lease_file(4))


@pytest.mark.parametrize(
    "address, sentence",
    [
        (
            "s3://elsewhere/run",
            "s3://elsewhere/run is in no bucket: 'elsewhere' is not there; make it, or name another",
        ),
        (
            "s3://bucket/letters",
            "s3://bucket/letters holds no run but other files .to-mother.txt.; give an empty folder",
        ),
        (
            "s3://bucket/run&colour=red",
            "Unexpected query parameter in S3 URI: 'colour'; give a folder, s3://bucket/run",
        ),
        ("s3://me:secret@bucket/run", "came with a password; leave it away, and set AWS_ACCESS_KEY_ID"),
        ("s3://bucket/nobody", "Cannot read s3://bucket/nobody/job.json: access denied.*; set AWS_ACCESS_KEY_ID and"),
        ("ftp://bucket/run", "'ftp://bucket/run' is no place for a run; give a folder, s3://bucket/run, gs://"),
    ],
)
def test_an_address_where_no_run_can_be_ends_in_one_sentence(model, machine, server, address, sentence, monkeypatch):
    options = f"?endpoint_override={server}&scheme=http"
    if address.startswith("s3:"):
        address = address.replace("&", f"{options}&") if "&" in address else address + options
    put(f"s3://bucket/letters{options}", "to-mother.txt", b"Dear mother")
    if "nobody" in address:  # the server begins to ask who comes, and this key is nobody's
        from moto.core.responses import ActionAuthenticatorMixin, settings

        monkeypatch.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
        monkeypatch.setattr(ActionAuthenticatorMixin, "request_count", 1)
    with pytest.raises(BadFile, match=sentence) as error:
        explained(model, TEXTS[:3], address)
    assert "secret" not in str(error.value) and "\n" not in str(error.value)


def test_a_store_without_answer_and_a_pyarrow_without_stores_end_in_one_sentence(model, machine, monkeypatch):
    with pytest.raises(
        BadFile,
        match=r"Cannot read s3://bucket/run/job.json: network connection, Failed to connect.*"
        r"; check the network, and region and endpoint_override",
    ):
        pellucid.open_run("s3://bucket/run?endpoint_override=127.0.0.1:9&scheme=http")

    def refuse(_):
        raise NotImplementedError("Got S3 URI but Arrow compiled without S3 support")

    monkeypatch.setattr(fs, "FileSystem", type("Without", (), {"from_uri": staticmethod(refuse)}))
    with pytest.raises(BadFile, match="compiled without S3 support; install the pyarrow of the package index"):
        pellucid.open_run("s3://bucket/another")
    with pytest.raises(BadFile, match="ftp://bucket/run' is no place for a run"):
        pellucid.read("ftp://bucket/run")


# Processes, each on a machine of its own.


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model, and 2,300 texts."""
    folder, draw = tmp_path_factory.mktemp("stores"), random.Random(0)
    save_tiny(folder / "model", labels=LABELS)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(2300)]
    (folder / "texts.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    return folder


def begun(place, machine, out, *more):
    """A command on a machine that has no copies yet."""
    program = f"import os; os.environ |= {KEYS | {'PELLUCID_CACHE': str(place / machine)}}; {MAIN}; main()"
    data = ["--data", place / "texts.jsonl", "--method", "gradient_x_input", "--yes"]
    return Started(program, ["explain", place / "model", *data, "--out", out, *more], place)


def ended(process, status=0):
    output, errors = process.communicate(timeout=300)
    assert process.returncode == status, errors
    return output


@pytest.fixture(scope="module")
def quiet(place):
    """The files of a run in a folder."""
    assert f"Folder: {place / 'quiet'}" in ended(begun(place, "quiet-cache", place / "quiet"))
    return files_of(place / "quiet")


@pytest.mark.whole
def test_two_machines_share_a_store_and_write_the_bytes_of_a_folder(place, quiet, server):
    address = s3(server, "slices")
    for process in [begun(place, f"slice-{n}", address, "--slice", f"{n}/2") for n in (1, 2)]:
        assert "2,300 texts explained" in ended(process)
    assert objects_of(address) == quiet


@pytest.mark.whole
def test_commands_end_with_status_2_and_one_sentence(place):
    for words in (["jobs", "ftp://bucket/run"], ["query", "s3://", "select 1"]):
        done = warm_python.run(f"{MAIN}; main()", *words, cwd=place)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "give a folder, s3://bucket/run" in done.stderr


@pytest.mark.whole
def test_another_machine_goes_on_after_one_that_was_killed(place, quiet, server):
    address = s3(server, "killed")
    process = begun(place, "killed", address, "--workers", 2)
    system, path = fs.FileSystem.from_uri(address)
    while process.poll() is None and not system.get_file_info(f"{path}/shards/00000.json").is_file:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    ended(process, -signal.SIGKILL)
    there = {name for name in objects_of(address) if not name.startswith("leases/")}  # most often a shard's is there
    assert there < quiet.keys()
    ended(begun(place, "heir", address))
    assert objects_of(address) == quiet
