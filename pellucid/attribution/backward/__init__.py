"""Layer-wise relevance: the same forward pass with changed backward rules; policies are found by the catalogue.

Patents on LRP are held by others; commercial use may need a licence from them (see LXT's README).
"""
