"""Tests of the doors: what they accept, what they refuse, and that nothing but a clear sentence comes of odd
arguments.
"""
