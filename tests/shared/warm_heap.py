"""Imported last by the fork server: what it has loaded stays, and no child looks through it for garbage."""

import atexit
import gc

gc.collect()
gc.freeze()
atexit.register(gc.unfreeze)  # compiled libraries complain of what is not given back
