"""Which part of a text is its evidence, and can a self-explaining model's spans be believed?"""
