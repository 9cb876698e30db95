"""Attention analyses drawn: the verdict, the tests, and the probabilities of single units."""
