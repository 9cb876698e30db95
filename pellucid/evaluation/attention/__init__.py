"""Tests of attention: whether a model's weights say what it decided by, a function each."""
