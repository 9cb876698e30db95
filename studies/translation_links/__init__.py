"""Which explanations of a translator find the source word that each word comes from?"""
