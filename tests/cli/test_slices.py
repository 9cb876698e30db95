"""Commands that share the parts of one folder, `--slice i/n`: each part is computed once, and the files are those of one
command.
"""

import os
import signal
import threading
import time
from collections import Counter
from functools import partial

import pytest

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot, UnknownName
from pellucid.base.leases import computed_by_slices, joined_by_slices
from pellucid.base.processes import silent
from pellucid.corpus.slices import Parts, crew_of
from tests.cli.jobs import commands, started
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny


def test_slices_compute_each_part_once_and_join_them_one_after_the_other(tmp_path):
    computed, joined = Counter(), []

    def leases():
        return list(tmp_path.parent.glob(f"{tmp_path.name}.lease-*"))

    def take_part(index):
        def there(part):
            return (tmp_path / f"{part}.json").exists()

        def compute(part):
            computed[part] += 1
            time.sleep(0.05)
            (tmp_path / f"{part}.json").write_text("{}")

        with joined_by_slices(tmp_path, (index, 3), 7, there, compute):
            joined.append(len(list(tmp_path.glob("*.json"))))
            assert [path.name for path in leases()] == [f"{tmp_path.name}.lease-join.json"]
            joined.append("done")

    threads = [threading.Thread(target=take_part, args=(index,)) for index in (1, 3)]  # the second job never came
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert computed == dict.fromkeys(range(7), 1) and joined == [7, "done"] * 2
    assert not leases()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The commands, each with the words that are sliced."""
    folder = tmp_path_factory.mktemp("slices")
    return folder, commands(folder)


@pytest.mark.whole
@pytest.mark.parametrize("name", ("compare", "extract", "attack"))
def test_two_slices_and_two_workers_write_the_bytes_of_one_command(place, name):
    folder, words = place
    calls = {"alone": [[]], "shared": [["--slice", "1/2"], ["--slice", "2/2"]]}
    if name != "compare":  # whose workers have a test with its other ways
        calls["workers"] = [["--workers", "2"]]
    for out, shares in calls.items():
        processes = [started([*words[name], *share], folder / f"{name}-{out}") for share in shares]
        for process in processes:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
    alone = files_of(folder / f"{name}-alone")
    assert all(files_of(folder / f"{name}-{out}") == alone for out in calls) and len(alone) > 2
    assert not list(folder.glob("*.lease-*"))


def write_parts_or_die(folder, deaths, model, share):
    """Write seven parts; each process dies at the fourth as long as there were too few deaths."""

    def write(part):
        if part == 3 and len(list(folder.parent.glob("death-*"))) < deaths:
            (folder.parent / f"death-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / str(part)).write_text(f"{part} by {model.name}")

    computed_by_slices(folder, share, 7, lambda part: (folder / str(part)).exists(), write)


@pytest.mark.parametrize("deaths", (2, 1000))
def test_a_worker_that_dies_is_replaced_and_in_the_end_named(tmp_path, deaths):
    folder = tmp_path / "parts"
    save_tiny(tmp_path / "model", labels=LABELS)
    folder.mkdir()
    model = pellucid.load(tmp_path / "model")
    compute, shown = partial(write_parts_or_die, folder, deaths), []
    parts = Parts(folder, 7, lambda part: (folder / str(part)).exists(), compute, "writing", 70)
    crew = crew_of(model, 2, "local", None, folder)
    if deaths == 2:
        crew.compute(parts, lambda *step: shown.append(step))
        assert sorted(path.name for path in folder.iterdir()) == [str(part) for part in range(7)]
        assert shown[-1] == ("writing", 70, 70) and not list(tmp_path.glob("*.lease-*"))
    else:
        with pytest.raises(ModelCannot, match=r"slice [12] of 2 was ended by SIGKILL, 3 times.*name fewer workers"):
            crew.compute(parts, silent)
        assert not list(tmp_path.glob("*.lease-*"))


def test_what_no_worker_can_have_is_one_sentence(tmp_path):
    save_tiny(tmp_path / "model", labels=LABELS)
    model = pellucid.load(tmp_path / "model")
    with pytest.raises(BadSetting, match=r"workers=2 is not possible in memory.*give folder="):
        pellucid.attack(model, ["A film."], "deepwordbug", workers=2)
    with pytest.raises(BadSetting, match="workers=2 does not go with a slice"):
        pellucid.attack(model, ["A film."], "deepwordbug", workers=2, slice="1/2", folder=tmp_path / "out")
    with pytest.raises(UnknownName, match="engine"):
        pellucid.compare(model, ["A film."], folder=tmp_path / "out", engine="rya")
    parts = Parts(tmp_path, 1, lambda part: False, lambda model, share: None, "writing", 1)
    with pytest.raises(BadSetting, match="one of them is only in this process"):
        crew_of(model, 2, "local", None, tmp_path).compute(parts, silent)


def test_slices_need_a_folder():
    model = pellucid.from_function(lambda texts: [[0.5, 0.5] for _ in texts], ["a", "b"])
    with pytest.raises(BadSetting, match="slice=1/2 shares the parts of a folder with other calls"):
        pellucid.compare(model, ["A film."], ["occlusion"], ["sufficiency"], slice="1/2")
    with pytest.raises(BadSetting, match="slice=1/2 shares the parts of a folder with other calls; give folder="):
        pellucid.attack(model, ["A film."], "deepwordbug", slice="1/2")
