"""Metrics: one file a metric."""
