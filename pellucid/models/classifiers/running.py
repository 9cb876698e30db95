"""One run of a network on arguments: failures become one sentence, and every family can read batches."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from torch import Tensor, nn

from pellucid.base.errors import ModelCannot, PellucidError
from pellucid.base.memory import is_memory_error
from pellucid.base.wording import reason
from pellucid.models.classifiers.collation import Arguments
from pellucid.models.classifiers.output import Output
from pellucid.models.families.last_token import one_end_a_row, with_row_ends
from pellucid.models.families.probes import end_id, parameter_names, without_cache
from pellucid.models.routing.route import own_call

Call = Callable[[nn.Module, Mapping[str, object]], object]
FAILURES = (RuntimeError, LookupError, ValueError, TypeError, ArithmeticError, AttributeError, AssertionError)


def run_network(
    network: nn.Module,
    arguments: Arguments,
    *,
    name: str,
    readers: Callable[[], Sequence[nn.Module]],
    under_policy: bool = False,
    call: Call = own_call,
) -> Output:
    """The network's own answer; raises `ModelCannot` where it fails.

    name: what messages call the model. readers: a function that returns the modules that look up ids; called only where a
    batch needs them. under_policy: whether backward rules change the pass. call: how the network is asked.
    """
    with ExitStack() as stack:
        keywords: dict[str, object] = {**arguments.keywords()}
        if "input_ids" in arguments.columns:
            network, columns = _readable_batch(network, arguments.columns, readers, stack)
            keywords = {**columns, **without_cache(parameter_names(network))}
        try:
            answer: Any = call(network, keywords)
        except FAILURES as error:
            if is_memory_error(error) or isinstance(error, PellucidError):
                raise
            raise ModelCannot(_failure(error, name, under_policy)) from error
    return answer if isinstance(answer, Output) else Output(logits=_logits(answer, name))


def _logits(answer: Any, name: str) -> Tensor:  # Any: whatever a forward returns
    """The logits in what a network returned: by that name, as the first of several outputs, or alone."""
    if isinstance(answer, Mapping):
        logits = answer.get("logits")
    elif isinstance(answer, tuple | list) and answer:  # config.return_dict=False
        logits = answer[0]
    else:
        logits = getattr(answer, "logits", answer)
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        raise ModelCannot(
            f"{name} returned {type(answer).__name__} without logits; its forward must return a tensor of them [text class], alone, "
            "as the first of several outputs or by the name logits."
        )
    return logits


def _readable_batch(
    network: nn.Module,
    columns: dict[str, Tensor],
    readers: Callable[[], Sequence[nn.Module]],
    stack: ExitStack,
) -> tuple[nn.Module, dict[str, Tensor]]:
    """A network of Hugging Face and its columns, changed so that every row is read as if it were alone."""
    network, columns = with_row_ends(network, columns)
    if len(columns["input_ids"]) > 1 and end_id(network.config) is not None:
        network, columns = stack.enter_context(one_end_a_row(network, columns, readers()))
    return network, columns


def _failure(error: Exception, name: str, under_policy: bool) -> str:
    if "inference tensors cannot be saved" in str(error).lower():
        return (
            f"{name} was made under torch.inference_mode, so no gradient goes through its weights; make or load it outside of "
            "that, or choose a method that edits the text, such as occlusion."
        )
    if under_policy:
        return (
            f"The backward rules of relevance do not go through {name}: {reason(error)}. Methods without such "
            "rules work, integrated_gradients and occlusion among them."
        )
    return (
        f"{name} fails on a text: {reason(error)}. Its tokenizer, configuration and weights may not belong "
        "together, or it reads more than the ids of a text (boxes of a page, cells of a table, a language)."
    )
