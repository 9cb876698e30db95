"""Files of Python beside downloaded data, one of every name that a process may import: none runs, in no process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared.tiny import LABELS, save_tiny

ROOT = Path(__file__).parents[2]
NAMES = {*sys.stdlib_module_names} | {
    entry.name.partition(".")[0]
    for folder in filter(os.path.isdir, sys.path)
    for entry in Path(folder).iterdir()
    if entry.suffix in ("", ".py", ".so")
}
NAMES -= {"pellucid", ""}
COMMAND = "import sys\nfrom pellucid.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
SCRIPT = """
import sys
from functools import partial
import beside
from pellucid.base.processes import Processes

if __name__ == "__main__":
    Processes(1).run([partial(beside.write_modules, sys.argv[1])], lambda done: None)
"""
BESIDE = """
import sys
from pathlib import Path
import pellucid
import pellucid.comparison.comparison_of

def write_modules(path, share):
    pellucid.explain(pellucid.load("model"), ["A fine film."], "gradient")
    files = {name: getattr(getattr(module, "__spec__", None), "origin", None) for name, module in sys.modules.items()}
    folders = {name: Path(file).parents[file.endswith("__init__.py")] for name, file in files.items() if file and "/" in file}
    outer = {name for name, folder in folders.items() if folder in map(Path, sys.path)}
    Path(path).write_text("\\n".join(name for name in outer if "." not in name))
"""

pytestmark = pytest.mark.whole


class Data:
    """folder: a stranger's: a model, texts and a file for every name. programs: the user's. ran: names of the files
    that ran.
    """

    def __init__(self, path):
        self.folder, self.programs, self._ran = path / "data", path / "programs", path / "ran"
        for folder in (self.folder, self.programs, self._ran):
            folder.mkdir()
        save_tiny(self.folder / "model", labels=LABELS)
        rows = [{"text": f"A fine film, number {number}.", "label": LABELS[number % 2]} for number in range(66)]
        (self.folder / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for name in NAMES:
            (self.folder / f"{name}.py").write_text(f"open({str(self._ran / name)!r}, 'w').close()\n")
        for name, text in (("pellucid-command", COMMAND), ("script.py", SCRIPT), ("beside.py", BESIDE)):
            (self.programs / name).write_text(text)

    @property
    def ran(self):
        return {path.name for path in self._ran.iterdir()}

    def run(self, *words):
        """Run Python in the folder, from the beginning."""
        surroundings = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return subprocess.run(
            [sys.executable, "-B", *map(str, words)],
            cwd=self.folder,
            env=surroundings
            | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=500,
        )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("strangers"))


@pytest.mark.parametrize(
    "words",
    [
        "explain model --file many.jsonl --method gradient",  # its workers begin as those of the script below
        "compare model many.jsonl --limit 4 --method gradient --method occlusion --out ../compared --workers 2",
    ],
    ids=["explained", "compared"],
)
def test_no_file_beside_the_data_runs(data, words):
    """In the first process, and in its workers where there are any."""
    done = data.run(data.programs / "pellucid-command", *words.split())
    assert data.ran == set() and done.returncode == 0, done.stderr[-2000:]


def test_a_script_imports_what_lies_beside_it_and_nothing_beside_the_data(data):
    """Also: there is a file for every name that a worker imports."""
    done = data.run(data.programs / "script.py", data.programs / "modules")
    assert data.ran == set() and done.returncode == 0, done.stderr[-2000:]
    imported = {*(data.programs / "modules").read_text().split("\n")}
    assert {"multiprocessing", "torch", "transformers"} <= imported
    assert imported - {"pellucid", "beside"} <= NAMES


def test_python_m_takes_the_current_folder_off_the_path(data, tmp_path):
    """Of what is imported after the package itself; what Python imports before, nobody can keep away."""
    for name in ("typer", "torch", "json", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text("print('ran')\n")
    data.folder = tmp_path
    done = data.run("-m", "pellucid", "explain", data.programs.parent / "data" / "model", "A film.")
    assert done.returncode == 0 and "ran" not in done.stdout.split(), done.stderr[-2000:]
