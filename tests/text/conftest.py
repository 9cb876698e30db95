"""WordNet, where Debian's package is installed."""

import pytest

from pellucid.text.wordnet import DEBIAN, WordNet


@pytest.fixture(scope="session")
def wordnet():
    if not (DEBIAN / "data.noun").is_file():
        pytest.skip("Debian's package wordnet-base is not installed")
    return WordNet()
