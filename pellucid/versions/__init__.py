"""What changed between the explanations of two versions of a model?"""
