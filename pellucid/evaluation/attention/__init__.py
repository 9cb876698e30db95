"""Tests of attention: whether a model's weights say what it decided by, one file each."""
