"""Schemas of a torch release newer than the lowerings.

The generator checks the specs against every supported release, so this applies to later ones: an added argument is
dropped while it has its default value, and any other mismatch raises when it is used.
"""

from __future__ import annotations

from typing import Any

import torch


def adapt_arguments(
    name: str, given: dict[str, Any], defaults: dict[str, Any], accepted: frozenset[str], needed: frozenset[str]
) -> dict[str, Any]:
    """The arguments without those that the lowering does not have.

    Raises:
        NotImplementedError: one of these does not have its default value, or a required argument is missing.
    """
    for parameter in needed - given.keys():
        raise NotImplementedError(
            f"{name}: torch {torch.__version__} has no argument `{parameter}`; expected the schema of a release that "
            "tenax supports"
        )
    for parameter in given.keys() - accepted:
        value, default = given[parameter], defaults[parameter]
        plain = isinstance(value, (bool, int, float, complex, str, tuple)) and isinstance(default, type(value))
        if value is not default and not (plain and value == default):
            raise NotImplementedError(
                f"{name}: the argument `{parameter}` of torch {torch.__version__} is newer than the lowering; expected "
                f"its default, {default}"
            )
    return {parameter: value for parameter, value in given.items() if parameter in accepted}
