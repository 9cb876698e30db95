"""Figures for papers and slides, drawn by matplotlib in the colours of the pages; and LaTeX."""
