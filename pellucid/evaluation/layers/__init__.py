"""The explanations of layers that a layer analysis is made of, computed part by part."""
