"""Classifiers of Hugging Face, networks and functions, as models that can be explained."""
