"""Figures that stand alone, for papers and slides."""
