"""How is the analysis of a word's concepts drawn?"""
