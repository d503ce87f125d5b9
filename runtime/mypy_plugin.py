"""A mypy plugin for the names that tenax adds to torch: `torch.jax`, `Tensor.jax` and `Module.jax`.

    [tool.mypy]
    plugins = ["tenax.mypy_plugin"]

They are added when tenax is imported, which a type checker cannot see. A partial stub package would work for
`torch.jax`, but would make pyright ignore torch's own hints.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import ARG_OPT, GDEF, MDEF, Argument, MypyFile, SymbolTableNode, TypeVarExpr, Var
from mypy.plugin import ClassDefContext, Plugin
from mypy.plugins.common import add_method_to_class
from mypy.types import AnyType, Instance, Type, TypeOfAny, TypeVarId, TypeVarType

from ._torch.tensors import TENSOR_CLASS

MODULE = "torch.nn.modules.module.Module"
DEVICE_MODULE = "tenax.torch_jax"
ITSELF = "_TenaxSelf"


def add_names(context: ClassDefContext) -> None:
    """Add the method `jax` to the class that mypy has just analysed, and the device module to torch.

    `module.jax()` has the type of the module. `tensor.jax()`, a JAX array, is typed as `Any`.
    """
    unknown: Type = AnyType(TypeOfAny.explicit)
    if context.cls.fullname == MODULE:
        device = Argument(Var("device", unknown), unknown, None, ARG_OPT)
        bound = Instance(context.cls.info, [])
        # mypy analyses the method later, and then looks up the type variable in the class.
        variable = TypeVarExpr(ITSELF, f"{MODULE}.{ITSELF}", [], bound, unknown)
        context.cls.info.names[ITSELF] = SymbolTableNode(MDEF, variable)
        name = TypeVarId(-1, namespace=f"{MODULE}.jax")
        itself = TypeVarType(ITSELF, variable.fullname, name, [], bound, unknown)
        add_method_to_class(context.api, context.cls, "jax", [device], itself, self_type=itself, tvar_def=itself)
    else:
        add_method_to_class(context.api, context.cls, "jax", [], unknown)
    context.api.modules["torch"].names["jax"] = SymbolTableNode(GDEF, context.api.modules[DEVICE_MODULE])


class TenaxPlugin(Plugin):
    """Adds the names to torch."""

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        return [(10, DEVICE_MODULE, -1)] if file.fullname == "torch" else []  # 10: mypy's priority of `import X`

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return add_names if fullname in (TENSOR_CLASS, MODULE) else None


def plugin(version: str) -> type[Plugin]:
    """The entry point that mypy calls."""
    return TenaxPlugin
