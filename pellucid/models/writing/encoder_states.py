"""The encoder's states as each block of a decoder reads them: nodes of the graph, one after another.

The gradient by the node before a block is that of this block and of those after it. The blocks before it have a share of
their own in the decoder's states, which would otherwise count twice.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn

from pellucid.core.passes.module_hooks import hook_input, hook_output


@dataclass
class SourceStates:
    """block: from this reader on, `instead` [row place width] is read in place of the encoder's states; the first reader is 0.

    read: what each reader read, filled while the network runs.
    """

    block: int | None = None
    instead: Tensor | None = None
    read: list[Tensor] = field(default_factory=list)

    @contextmanager
    def recorded(self, encoder: nn.Module, readers: Sequence[nn.Module]) -> Iterator[None]:
        """The states are handed on from reader to reader inside."""
        own: list[Tensor] = []

        def remember(_: nn.Module, __: tuple, output: tuple) -> None:
            own[:] = [output[0]]

        def hand_on(_: nn.Module, args: tuple, kwargs: dict[str, object]) -> tuple[tuple, dict] | None:
            if not own or not any(value is own[0] for value in (*args, *kwargs.values())):
                return None
            state = self.hand_on(own[0])
            exchanged = lambda value: state if value is own[0] else value  # noqa: E731
            return tuple(map(exchanged, args)), {name: exchanged(value) for name, value in kwargs.items()}

        with ExitStack() as stack:
            stack.callback(hook_output(encoder, remember))
            for reader in readers:
                stack.callback(hook_input(reader, hand_on, with_kwargs=True))
            yield

    def hand_on(self, own: Tensor) -> Tensor:
        """What the next reader reads; own: the encoder's states."""
        if self.instead is not None and len(self.read) == self.block:
            state = self.instead
        else:
            state = self.read[-1].view_as(own) if self.read else own
        self.read.append(state)
        return state

    def after(self, block: int) -> Tensor:
        """The states as they are read after so many readers; nobody may read them then."""
        while len(self.read) <= block:
            self.hand_on(self.read[-1])
        return self.read[block]
