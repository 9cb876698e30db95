"""Span attention without the tensor of spans, by the fastest route there is."""
