"""Networks that are loaded draw nothing for their parameters; what is not loaded is drawn as ever."""

import torch
from torch import nn

from pellucid.base.torch_state import OwnDraws, UndrawnParameters


class Layer(nn.Module):
    """One parameter that is drawn, and a table that no file of weights has."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3))
        nn.init.normal_(self.weight)
        self.register_buffer("table", torch.empty(3).normal_(), persistent=False)


def test_parameters_are_not_drawn_and_tables_are():
    with OwnDraws(0), UndrawnParameters():
        first, second = Layer(), Layer()
    assert first.weight.eq(0).all()
    assert first.table.ne(0).all() and not first.table.equal(second.table)
    with OwnDraws(0), UndrawnParameters():
        assert Layer().table.equal(first.table)
    assert Layer().weight.ne(0).all()
