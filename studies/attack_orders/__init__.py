"""Which explanation finds the words whose synonyms change the answer?"""
