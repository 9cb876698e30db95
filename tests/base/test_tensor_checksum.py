"""The checksum of a tensor: the same number on every device, another one after every change, whatever the shape and the
number type.
"""

import pytest
import torch

from pellucid.base import torch_state as tensor_checksum
from pellucid.base.torch_state import checksum, checksum_once, sums_remembered

TENSORS = {
    "a matrix": torch.randn(300, 70),
    "one number": torch.tensor(3.5),
    "nothing": torch.zeros(0),
    "an odd number of bytes": torch.arange(5001, dtype=torch.int8),
    "not contiguous": torch.randn(40, 30).t(),
    "begins inside another": torch.randn(1001)[1:],
    "bfloat16": torch.randn(33, 65).bfloat16(),
    "whole numbers": torch.arange(3000),
    "truths": torch.arange(999) % 2 == 0,
}


@pytest.mark.parametrize("tensor", TENSORS.values(), ids=TENSORS)
def test_both_ways_to_add_give_the_same_sum(tensor):
    assert checksum(tensor) == tensor_checksum._on_device(tensor)


@pytest.mark.parametrize("name", [name for name in TENSORS if name != "nothing"])
def test_one_other_number_is_another_sum(name):
    tensor = TENSORS[name].clone()
    before = checksum(tensor)
    flat = tensor.view(-1) if tensor.is_contiguous() else tensor.t().view(-1)
    flat[-1] = ~flat[-1] if tensor.dtype == torch.bool else flat[-1] + 1
    assert checksum(tensor) != before


def test_the_order_of_blocks_counts():
    tensor = torch.arange(4096)
    assert checksum(tensor) != checksum(torch.cat([tensor[2048:], tensor[:2048]]))


def test_a_sum_is_remembered_inside_the_block_alone_and_until_torch_counts_a_change():
    tensor = torch.randn(300)
    before = checksum(tensor)
    with sums_remembered():
        assert checksum_once(tensor) == before
        with sums_remembered():
            tensor.data += 1.0  # which torch does not count
            assert checksum_once(tensor) == before
        tensor.add_(1.0)
        counted = checksum_once(tensor)
        assert counted == checksum(tensor) != before
    tensor.data += 1.0
    assert checksum_once(tensor) == checksum(tensor) != counted


def test_a_new_tensor_has_its_own_sum_also_where_an_earlier_one_is_no_more():
    with sums_remembered():
        sums = [checksum_once(torch.full((64,), float(number))) for number in range(50)]
    assert len(set(sums)) == 50
