"""What the hostile tests share: tiny models of every kind of tokenizer, and a last line that counts the cases."""

import pytest

from tests.shared.tiny import tiny_classifier, tiny_composed

FAMILIES = ("roberta", "xlm_roberta", "albert", "mpnet", "deberta_v3", "modernbert")


@pytest.fixture(scope="session")
def tiny_models(bert, self_explaining):
    families = {family: tiny_classifier(family) for family in FAMILIES}
    return {"bert": bert, "span": self_explaining, "mean": tiny_composed("mean"), **families}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """One folder for all cases of a session: files in it are replaced."""
    return tmp_path_factory.mktemp("hostile")


def pytest_terminal_summary(terminalreporter):
    counts = {
        report.nodeid: value
        for report in terminalreporter.stats.get("passed", [])
        for name, value in report.user_properties
        if name == "generated cases"
    }
    for place, count in counts.items():
        terminalreporter.write_line(f"{count:6} generated cases: {place}")
    if counts:
        terminalreporter.write_line(f"{sum(counts.values()):6} generated cases in all")
