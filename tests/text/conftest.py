"""WordNet, where Debian's package is installed."""

import pytest

from pellucid.text.wordnet import WordNet, wordnet_folder


@pytest.fixture(scope="session")
def wordnet():
    if not (wordnet_folder() / "data.noun").is_file():
        pytest.skip("WordNet is not installed")
    return WordNet()
