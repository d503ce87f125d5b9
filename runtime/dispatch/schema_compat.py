"""Arguments of a torch release that a lowering was not written against.

The generator holds the specs against every supported release, so this is for a newer one: an argument that it added is
left out while it has its default, and whatever else does not fit is an error where it is used.
"""

from __future__ import annotations

from typing import Any

import torch


def adapt_arguments(
    name: str, given: dict[str, Any], defaults: dict[str, Any], accepted: frozenset[str], needed: frozenset[str]
) -> dict[str, Any]:
    """The arguments without those that the lowering does not know.

    Raises:
        NotImplementedError: one of these has not its default, or one that the lowering needs is missing.
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
