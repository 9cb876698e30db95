"""Tests of attention, one function a test."""
