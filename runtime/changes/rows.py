"""The row types of the table of changes, and the times at which changes are made."""

from __future__ import annotations

import enum
import importlib.util
from dataclasses import dataclass

from ..releases import TESTED


class When(enum.Enum):
    """When a change is made."""

    IMPORT = "with `import tenax`, or `import torch` where tenax is installed"
    JAX = "with the import of both tenax and JAX"
    FLEX = "with the import of both tenax and `torch.nn.attention.flex_attention`"
    JAGGED = "with the import of both tenax and the operations of jagged tensors, which the first of them imports"
    TENSOR = "with the first tensor of the device"
    JIT = "with the first `tenax.jit`"
    DYNAMO = "with the import of both tenax and `torch._dynamo`, which the first `torch.compile` imports"
    INDUCTOR = "with the import of both tenax and inductor, which the first `torch.compile` without a backend imports"
    COMPILE = 'with the first `torch.compile(backend="tenax")`'
    CONTEXT = "with the import of both tenax and `torch.distributed.tensor.experimental`"
    GROUP = "with the first group of the backend `tenax`"
    TORCHAX = "with `import tenax.compat.torchax`"
    TORCH_XLA = "with `import tenax.compat.torch_xla`"
    TORCH_XLA_INSTALL = "with `tenax.compat.torch_xla.install()` and `tenax xla`"
    ACCELERATE = "with the import of both tenax and accelerate"
    TRANSFORMERS = "with the import of both tenax and the trainer of transformers"
    LIGHTNING = "with the import of both tenax and Lightning"
    SAFETENSORS = "with the import of both tenax and `safetensors.torch`"
    JIT_TRACE = "while `tenax.jit` traces a function, and then put back"
    PURE_TRACE = "while a function is traced that JAX transforms, and then put back"


@dataclass(frozen=True, slots=True)
class Patch:
    """Attributes of one class or module of torch or JAX that tenax replaces or adds."""

    owner: str  # import path of the class or module
    names: str  # of the attributes, separated by spaces
    when: tuple[When, ...]
    effect: str
    of: str = "itself"  # or "its objects" or "its subclasses", if a traced function reaches them
    by_torch: bool = False  # torch itself creates them for a registered device
    added: bool = False  # the library has no such attribute
    optional: bool = False  # a tested release may lack some of them

    @property
    def paths(self) -> list[str]:
        """The full paths of the attributes."""
        return [f"{self.owner}.{name}" for name in self.names.split()]

    @property
    def releases(self) -> tuple[str, ...]:
        """The tested releases: JAX's if the row patches JAX, else torch's."""
        return TESTED["jax" if self.library == "jax" else "torch"]

    @property
    def library(self) -> str:
        """The top-level package that the attributes belong to."""
        return self.owner.partition(".")[0]

    @property
    def is_installed(self) -> bool:
        """Whether the library of the row is installed; torch and JAX always are."""
        return importlib.util.find_spec(self.library) is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that tenax registers with torch, JAX or Python."""

    registry: str
    entry: str
    when: tuple[When, ...]
    effect: str
