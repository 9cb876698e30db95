"""Does learning from fooled texts make a classifier harder to fool?"""
