"""The tested releases of torch and JAX, and the errors for other releases. Imports neither library.

tenax depends on private parts of both libraries, which may change in any release. Importing tenax therefore rejects an
untested release, and an error names any missing private name; otherwise either would show up much later as a wrong
result or an unrelated error.
"""

from __future__ import annotations

import os
from importlib import metadata
from types import TracebackType

TESTED = {
    "torch": ("2.13", "2.14", "2.15"),
    "jax": ("0.10", "0.11", "0.12"),
}
ALLOW = "TENAX_ALLOW_UNTESTED"


def check_release(library: str, version: str | None = None) -> None:
    """Reject a release that tenax is not tested with.

    Args:
        library: "torch" or "jax".
        version: its version; None reads it from the installed metadata, without importing the library.

    Raises:
        ImportError: the release is untested, and the environment variable TENAX_ALLOW_UNTESTED is not 1.
    """
    try:
        version = version or metadata.version(library)
    except metadata.PackageNotFoundError:  # a source tree on the path; its version is checked when it is imported
        return
    if ".".join(version.split(".")[:2]) not in TESTED[library] and os.environ.get(ALLOW) != "1":
        raise ImportError(
            f"tenax: {library} {version} is installed; expected a tested release: {tested(library)}. "
            f"Set {ALLOW}=1 to try it nevertheless"
        )


def tested(library: str) -> str:
    """The tested releases of a library, in words."""
    return f"{library} {', '.join(TESTED[library])}"


class private_names:  # noqa: N801 (a context manager, used as a function)
    """Context in which a missing name of a library raises an ImportError with the name and the tested releases.

    Each seam module binds all its private names in one such block.
    """

    def __init__(self, library: str, version: str) -> None:
        self.library, self.version = library, version

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, (AttributeError, ImportError)):
            raise ImportError(
                f"tenax: {_missing(error)} is missing from {self.library} {self.version}; expected a tested release: "
                f"{tested(self.library)}"
            ) from error


def _missing(error: AttributeError | ImportError) -> str:
    """The full name that was looked up."""
    if isinstance(error, ImportError):
        name = getattr(error, "name_from", None)  # Python 3.12
        return f"{error.name}.{name}" if name else str(error.name if isinstance(error, ModuleNotFoundError) else error)
    owner = getattr(error.obj, "__name__", type(error.obj).__name__)
    module = getattr(error.obj, "__module__", None) if isinstance(error.obj, type) else None
    return ".".join(part for part in (module, owner, error.name) if part)
