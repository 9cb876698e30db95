"""What do the texts look like that a model gets wrong?"""
