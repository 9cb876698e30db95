"""One tiny encoder on disk for all tests of the room."""

import pytest

from tests.shared.tiny_training import save_encoder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoder"))
