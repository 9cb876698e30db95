"""What do the layers of a model still use of each word, and what do they hold of it?"""
