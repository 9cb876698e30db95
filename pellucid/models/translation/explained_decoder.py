"""The layer of source spans on top of a library network's decoder, whatever its family: everything after it stays as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from pellucid.core.passes.module_hooks import after_every_call, hook_output
from pellucid.models.translation.source_spans import SourceSpans, SpanReading, SpanSettings


def add_source_spans(network: Any, settings: SpanSettings) -> None:  # Any: an encoder–decoder of some family
    """Put a new layer on the decoder; searches, caches and the head over the vocabulary go on with its states."""
    decoder = network.get_decoder()
    decoder.source_spans = SourceSpans(network.config.hidden_size, settings)
    after_every_call(decoder, _with_spans)


def source_spans_of(network: Any) -> SourceSpans | None:  # Any: see above
    """The layer on a network's decoder, if it has one."""
    decoder = network.get_decoder() if network.config.is_encoder_decoder else network
    layer = getattr(decoder, "source_spans", None)
    return layer if isinstance(layer, SourceSpans) else None


def _with_spans(decoder: nn.Module, args: tuple, kwargs: dict[str, Any], output: Any) -> Any:
    layer: Any = decoder.source_spans
    states, source = output.last_hidden_state, kwargs["encoder_hidden_states"]
    output.last_hidden_state = layer(states, source, kwargs.get("encoder_attention_mask"))
    return output


@contextmanager
def span_readings(network: Any) -> Iterator[list[SpanReading]]:  # Any: see above
    """What the layer of source spans reads inside, call by call; nothing of a network without one."""
    layer, readings = source_spans_of(network), list[SpanReading]()
    if layer is None:
        yield readings
        return
    remove = hook_output(layer.choose, lambda _, __, reading: readings.append(reading))
    try:
        yield readings
    finally:
        remove()
