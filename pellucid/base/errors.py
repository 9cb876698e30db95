"""All errors that Pellucid raises on purpose.

    PellucidError
    ├── BadSetting        a setting is out of range or of the wrong kind
    ├── UnknownName       no method, metric, data set or class is called that
    ├── BadInput          a text or example that cannot be explained as given
    ├── BadFile           a file or folder that is missing, unreadable or of another form
    │   └── NotEnoughMemory   memory ran out while it was read
    ├── ModelCannot       the model lacks a capability that is needed
    ├── MissingPackage    an optional package is needed and is not installed
    └── ParityBroken      we would explain another prediction than that of the user's model

Each message says what the value was, what is allowed and what to do; the command line prints the message and nothing else.
"""


class PellucidError(Exception):
    """Everything Pellucid raises on purpose; each kind of it is also the Python error that it is nearest to.

    >>> try:
    ...     pellucid.explain("my-classifier", "A good film.", "integrated_gradient")
    ... except pellucid.PellucidError as error:
    ...     print(type(error).__name__, isinstance(error, LookupError))
    UnknownName True
    """


class BadSetting(PellucidError, ValueError):
    """A setting is out of range or of the wrong kind."""


class UnknownName(PellucidError, LookupError):
    """No such method, metric, data set, class or unit."""


class BadInput(PellucidError, ValueError):
    """A text or example that cannot be explained as given."""


class BadFile(PellucidError, OSError):
    """A file or folder that is missing, unreadable or of another form."""


class ModelCannot(PellucidError, TypeError):
    """The model lacks a capability that is needed."""


class NotEnoughMemory(BadFile, MemoryError):
    """Memory ran out while a file or a model was read, or would have for so many texts at once."""


class MissingPackage(PellucidError, ImportError):
    """An optional package is needed and is not installed."""


class ParityBroken(PellucidError, ArithmeticError):
    """The explained logit differs from the logit of the user's model."""
