"""Which concepts has a model made itself, and does its answer depend on them?"""
