"""Translators that explain themselves: the layer of source spans on a decoder, new networks, their pieces and
folders.
"""
