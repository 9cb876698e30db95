"""Which way of finding concepts gives concepts that are better than chance?"""
