"""`explain` as `pellucid.explain` offers it: the file of types beside this one names every method's settings for
editors.
"""

from pellucid.explaining.explain import explain

__all__ = ["explain"]
