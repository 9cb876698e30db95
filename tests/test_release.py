"""What is released: nothing that is not committed, named and checked; the same bytes twice; only what belongs there."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from docs.site import blocks
from supply import archives, description, release, release_state, wheel_trial
from supply.extras import BASE
from supply.lock import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def git(folder, *words):
    people = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *people, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def ready(tmp_path):
    """A small repository whose version may be released."""
    golden = tmp_path / "tests" / "golden"
    golden.mkdir(parents=True)
    (golden / "version-1.2.0.tar.xz").touch()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "pellucid"\nversion = "1.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [1.2.0] - 2026-01-31\n\nNew.\n\n## [1.1.0] - 2026-01-01\n\nOld.\n"
    )
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")


def changed(name, before, after):
    def change(folder):
        path = folder / name
        path.write_text(path.read_text().replace(before, after))
        commit(folder)

    return change


def test_what_is_ready_is_released_with_its_own_notes(ready):
    assert release.checked_state(ready, tagged=False) == ("1.2.0", "New.\n")
    git(ready, "tag", "v1.2.0")
    assert release.checked_state(ready, tagged=True)[0] == "1.2.0"


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: (folder / "new.txt").touch(), "new.txt: changed and not committed; commit or remove"),
        (lambda folder: git(folder, "tag", "v1.2.0"), "There is a tag v1.2.0 already; write the next version"),
        (changed("CHANGELOG.md", "[1.2.0] - 2026-01-31", "[1.2.0] - unreleased"), "CHANGELOG.md has no section '## [1.2.0] - Y"),
        (changed("CHANGELOG.md", "New.\n", ""), "CHANGELOG.md has no section"),
        (changed("CITATION.cff", "1.2.0", "1.1.0"), "CITATION.cff has version 1.1.0; write 1.2.0 there"),
        (changed("pyproject.toml", "1.2.0", "1.1.0"), "CITATION.cff has version 1.2.0; write 1.1.0"),
        (lambda folder: (git(folder, "rm", "-q", "tests/golden/version-1.2.0.tar.xz"), commit(folder)), "run python -m tests.golden.pack"),
    ],
)  # fmt: skip
def test_what_is_not_ready_is_refused_in_one_sentence(ready, spoil, sentence):
    spoil(ready)
    with pytest.raises(SystemExit) as refused:
        release.checked_state(ready, tagged=False)
    assert sentence in str(refused.value) and "\n" not in str(refused.value)


def test_a_tag_of_another_version_is_not_published(ready):
    git(ready, "tag", "v1.3.0")
    with pytest.raises(SystemExit, match=r"has the tags v1\.3\.0, and pyproject\.toml says 1\.2\.0"):
        release.checked_state(ready, tagged=True)


def test_pages_that_the_site_would_not_show_are_not_released(monkeypatch, tmp_path):
    monkeypatch.setattr(blocks, "RECORD", tmp_path / "none.json")
    with pytest.raises(SystemExit, match="its blocks of code have not been run as they stand"):
        release.check_pages()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    return archives.built_twice(ROOT, out, 1_700_000_000)


@pytest.mark.whole
def test_two_builds_have_the_same_bytes_and_only_what_belongs_there(built):
    wheel, source = built
    for path in built:
        assert archives.check_content(path) > 400
    archives.check_metadata(wheel, release_state.version_of(ROOT))
    assert (wheel.suffix, source.suffixes[-2:]) == (".whl", [".tar", ".gz"])


@pytest.mark.whole
def test_a_stray_file_and_wrong_metadata_are_refused(built, tmp_path):
    wheel = tmp_path / built[0].name
    wheel.write_bytes(built[0].read_bytes())
    with pytest.raises(SystemExit, match=r"Version: '[\d.]+'; mend it"):
        archives.check_metadata(wheel, "9.9.9")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("pellucid/data/texts/sst2/train.txt", "not ours")
    with pytest.raises(SystemExit, match=r"has pellucid/data/texts/sst2/train\.txt, which does not belong"):
        archives.check_content(wheel)


@pytest.mark.whole
def test_the_wheel_alone_runs(built, tmp_path):
    """Beside the libraries that are here; `make release` takes an empty environment."""
    place = tmp_path / "place"
    place.mkdir()
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(tmp_path / "site")
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import pellucid; print(pellucid.__file__)"
    done = subprocess.run([sys.executable, "-c", f"{program}\n{BASE}"], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.splitlines()[0]).is_relative_to(tmp_path)


README = "[a](docs/a.md#b) `[c](d)` ![e](f.png) [g](#h) [i](https://j.org)\n\n```sh\n[k](l)\n```\n"


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://h.org/o/n", "[a](https://h.org/o/n/blob/v1.2.0/docs/a.md#b) `[c](d)` ![e](https://h.org/o/n/raw/v1.2.0/f.png)"),
        ("", "a `[c](d)` "),
    ],
)  # fmt: skip
def test_links_of_the_description_lead_to_the_repository_or_are_words(address, text):
    whole = description.description(README, address, "1.2.0")
    assert whole == f"{text} [g](#h) [i](https://j.org)\n\n```sh\n[k](l)\n```\n"
    assert description.relative_links(README) == ["docs/a.md", "f.png"]
    assert description.relative_links(whole) == []


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://h.org/o/n.git", "https://h.org/o/n"),
        ("git@h.org:o/n.git", "https://h.org/o/n"),
        ("ssh://git@h.org/o/n", "https://h.org/o/n"),
        ("/srv/n", ""),
    ],
)
def test_the_address_is_that_of_the_remote(remote, address, ready):
    assert description.address_of(ready) == ""
    git(ready, "remote", "add", "origin", remote)
    assert description.address_of(ready) == address


def test_nothing_is_published_whose_links_lead_nowhere(ready):
    assert release.repository(ready, tagged=False) == ""
    with pytest.raises(SystemExit, match="The remote `origin` is no address for a browser"):
        release.repository(ready, tagged=True)


def test_a_description_with_a_relative_link_is_refused(tmp_path):
    wheel = tmp_path / "pellucid-1.2.0-py3-none-any.whl"
    head = "Name: pellucid\nVersion: 1.2.0\nSummary: a\nLicense-Expression: Apache-2.0\nRequires-Python: >=3.11\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(
            "pellucid-1.2.0.dist-info/METADATA", f"{head}Description-Content-Type: text/markdown\n\n{README}"
        )
    with pytest.raises(SystemExit, match=r"The description leads to docs/a\.md, which a package index has not"):
        archives.check_metadata(wheel, "1.2.0")


@pytest.mark.whole
@pytest.mark.skipif(not release.TWINE.exists(), reason="`make release` installs twine")
def test_twine_takes_both_archives_and_refuses_a_broken_one(built, tmp_path):
    archives.check_by_twine(built, release.TWINE)
    broken = tmp_path / built[0].name
    with zipfile.ZipFile(built[0]) as before, zipfile.ZipFile(broken, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            after.writestr(name, data.replace(b"text/markdown", b"text/x-rst") if name.endswith("METADATA") else data)
    with pytest.raises(SystemExit, match="twine refuses the archives"):
        archives.check_by_twine([broken], release.TWINE)


def test_the_front_page_has_lines_to_run():
    blocks = wheel_trial.front_page(ROOT)
    (python,) = (text for kind, text in blocks if kind == "python")
    assert python.startswith("import pellucid\n") and "print(table.card)" in python
    assert {"explain", "words", "errors", "compare", "train"} <= {
        text.split()[1] for kind, text in blocks if kind == "sh"
    }


def test_every_action_is_pinned_and_no_permission_is_general():
    text = WORKFLOW.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (\S+)", text)
    assert uses and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each) for each in uses)
    assert "\npermissions: {}\n" in text and "secrets." not in text and "contents: write" not in text
