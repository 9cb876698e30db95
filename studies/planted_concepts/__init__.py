"""Are reasons that were planted among the concepts that a model has made itself?"""
