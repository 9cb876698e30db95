"""Appendix C of Tutek & Šnajder (2020): how the query of dot attention begins."""
