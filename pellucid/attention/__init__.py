"""May a model's weights be read as an explanation of its answers?"""
