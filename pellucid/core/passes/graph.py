"""What a finished forward pass was made of, where a changed backward must not pass by in silence."""

from torch import Tensor

from pellucid.core.foundation.errors import ModelCannot

SCRIPTED = "torch::jit"


def refuse_opaque(output: Tensor, name: str) -> None:
    """Raise `ModelCannot` if anything in the output's graph keeps its own backward whatever the policy says.

    That is a custom autograd Function, or compiled TorchScript; ours that know of relevance say so.
    """
    waiting, seen = [output.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        made_by = getattr(node, "_forward_cls", None)
        if (made_by is not None and not hasattr(made_by, "keeps_relevance")) or SCRIPTED in node.name():
            what = node.name() if made_by is None else made_by.__name__
            raise ModelCannot(
                f"{name} computes {what} with a backward of its own, for which relevance has no rule; its relevance "
                "would be wrong without a sign of it. Write the function out in torch's functions, or use "
                "integrated_gradients."
            )
        waiting += [below for below, _ in node.next_functions]
