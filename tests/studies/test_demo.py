"""What the demo gives costly methods: settings that they have, and nothing that is not there."""

from pellucid.core.foundation.kinds import attributions
from pellucid.studies.demo import BUDGET, _costs, _methods


def test_costly_methods_get_settings_of_theirs():
    there = [(name, given) for name, given in BUDGET.items() if name in attributions.names()]
    assert len(attributions.calls(there)) >= 2


def test_methods_that_are_not_there_are_not_asked_for(self_explaining):
    chosen = [choice if isinstance(choice, str) else choice[0] for choice in _methods(self_explaining)]
    assert set(chosen) <= set(attributions.names()) and "integrated_gradients" in chosen
    assert list(_costs(self_explaining)) == chosen
