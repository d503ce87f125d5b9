"""A plugin of mypy: `torch.Tensor` and `torch.nn.Module` have a method `jax`.

    [tool.mypy]
    plugins = ["tenax.mypy_plugin"]

tenax adds these methods when it is imported, where a type checker cannot see them; a stub would have to replace torch's
own hints of both classes. The result is `Any`: an array of JAX, and the module itself.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import ARG_OPT, Argument, Var
from mypy.plugin import ClassDefContext, Plugin
from mypy.plugins.common import add_method_to_class
from mypy.types import AnyType, Type, TypeOfAny

TENSOR, MODULE = "torch._tensor.Tensor", "torch.nn.modules.module.Module"


def add_jax(context: ClassDefContext) -> None:
    """Add the method to the class that mypy has just analysed."""
    unknown: Type = AnyType(TypeOfAny.explicit)
    device = Argument(Var("device", unknown), unknown, None, ARG_OPT)
    add_method_to_class(context.api, context.cls, "jax", [device] if context.cls.fullname == MODULE else [], unknown)


class TenaxPlugin(Plugin):
    """Adds the methods."""

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return add_jax if fullname in (TENSOR, MODULE) else None


def plugin(version: str) -> type[Plugin]:
    """What mypy asks for."""
    return TenaxPlugin
