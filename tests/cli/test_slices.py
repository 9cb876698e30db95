"""Commands that share the parts of one folder, `--slice i/n`: each part is computed once, and the files are those of one
command.
"""

import threading
import time
from collections import Counter

import pytest

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.leases import joined_by_slices
from tests.cli.jobs import commands, started
from tests.shared.moments import files_of


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
def test_two_slices_write_the_bytes_of_one_command(place, name):
    folder, words = place
    for out, shares in (("alone", [[]]), ("shared", [["--slice", "1/2"], ["--slice", "2/2"]])):
        processes = [started([*words[name], *share], folder / f"{name}-{out}") for share in shares]
        for process in processes:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
    alone = files_of(folder / f"{name}-alone")
    assert alone == files_of(folder / f"{name}-shared") and len(alone) > 2
    assert not list(folder.glob("*.lease-*"))


def test_slices_need_a_folder():
    model = pellucid.from_function(lambda texts: [[0.5, 0.5] for _ in texts], ["a", "b"])
    with pytest.raises(BadSetting, match="slice=1/2 shares the parts of a folder with other calls"):
        pellucid.compare(model, ["A film."], ["occlusion"], ["sufficiency"], slice="1/2")
    with pytest.raises(BadSetting, match="slice=1/2 shares the parts of a folder with other calls; give folder="):
        pellucid.attack(model, ["A film."], "deepwordbug", slice="1/2")
