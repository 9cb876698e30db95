"""Span attention against its plain twin on SST-2."""
