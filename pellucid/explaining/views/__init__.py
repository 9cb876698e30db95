"""Explanations on a page, in a terminal, in a notebook and as figures."""
