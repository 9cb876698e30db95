"""What the demo gives costly methods: settings that they have, and nothing that is not there."""

from pellucid.base.kinds import attributions
from pellucid.demo import BUDGET, _costs, _methods


def test_costly_methods_get_settings_of_theirs():
    there = [(name, settings) for name, settings in BUDGET.items() if name in attributions.names()]
    assert len(attributions.calls(there)) >= 2


def test_methods_that_are_not_registered_are_left_out(self_explaining):
    names = [choice if isinstance(choice, str) else choice[0] for choice in _methods(self_explaining)]
    assert set(names) <= set(attributions.names()) and "integrated_gradients" in names
    assert list(_costs(self_explaining)) == names
