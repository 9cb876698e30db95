"""Which words speak for and against each class?"""
