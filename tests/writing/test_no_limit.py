"""A network whose configuration names no most pieces reads texts of any length."""

from transformers import GPT2Config, XLNetConfig

from pellucid.models.writing.written_pieces import most_pieces


def test_minus_one_is_no_limit():
    assert most_pieces(XLNetConfig()) is None
    assert most_pieces(GPT2Config(n_positions=96)) == 96
