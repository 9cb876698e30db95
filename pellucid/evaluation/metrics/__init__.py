"""Metrics: a function a metric."""
