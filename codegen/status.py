"""The status of every native function on this device; none is left unclassified."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenax.codegen.derive import Row
from tenax.codegen.schema import Schemas
from tenax.codegen.source import table_keys, table_words
from tenax.codegen.spec import Entry
from tenax.codegen.tree import Tree

STATUSES = {
    "lowered": "an entry of a spec, or a kernel of runtime/aten/ or runtime/sparse/",
    "derived": "a variant of an entry",
    "composite": "torch decomposes it into other ops, before autograd",
    "decomposed": "torch decomposes it into other ops, after autograd",
    "unsupported": "not supported on this device, for the stated reason",
    "missing": "not triaged yet",
}

# Families that exist for one vendor, layout or number format, by name, with the reason that the user sees.
VENDOR, QUANTIZED, SPARSE, NESTED = (
    "a call into a vendor's library",
    "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "no kernel for sparse layouts; convert with .to_dense()",
    "strided nested tensors; use layout=torch.jagged",
)
FAMILIES: tuple[tuple[str, str], ...] = (
    (r"_test_|_foobar$|_compute_linear_combination$", "an op of torch's own tests"),
    (r"_?(cudnn|miopen|thnn_fused)_|_cslt_|_cuda|_mps_|_mkldnn|(to_)?mkldnn|_nnpack|xnn", VENDOR),
    (r"fbgemm_|quantize|_?fake_quantize|_make_per|q_|int_repr|dequantize|choose_qparams|_fused_moving", QUANTIZED),
    (r"_?(empty_affine|empty_per_channel)|_?quantized_|_saturate_weight", QUANTIZED),
    (r"_dyn_quant|_convert_weight_to_int4pack|_weight_int[48]pack", "weights packed for one CPU"),
    (r"_?nested_|_jagged|_padded_dense_to_jagged|_transform_bias_rescale_qkv", NESTED),
    (r".*sparse_semi_structured|_cslt_", "2:4 sparsity is a call into CUTLASS or cuSPARSELt"),
    (r".*sparse|_?coalesce|_?indices$|_?values$|crow_|col_|ccol_|row_ind|_?nnz|_dimI|_dimV|dense_dim", SPARSE),
    (r"_spdiags$|sspaddmm|_convert_indices_from", SPARSE),
    (r"from_file$", "a file mapped into host memory"),
)
PLAIN_KEYS = {
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
}

LAYOUTS = {
    "Sparse": SPARSE,
    "Quantized": QUANTIZED,
    "Nested": NESTED,
    "Mkldnn": VENDOR,
}


@dataclass(frozen=True)
class Status:
    """The status of one overload and, where there is one, its reason."""

    name: str
    status: str
    reason: str = ""


def classify(schemas: Schemas, entries: Iterable[Entry], rows: Sequence[Row], tree: Tree) -> dict[str, Status]:
    """The status of every native function, by overload."""
    written = {e.name: e for e in entries}
    derived = {r.name: r for r in rows}
    memory = set(table_keys(tree.runtime / "aten/kernels.py", "KERNELS"))
    sparse = _sparse(tree)
    return {name: _status(name, schemas, written, derived, memory, sparse) for name in schemas.functions}


def _sparse(tree: Tree) -> set[str]:
    """The overloads in the tables of the sparse layouts."""
    tables = (
        ("layouts", "OUT"),
        ("layouts", "PLAIN"),
        ("coo", "KERNELS"),
        ("compressed", "KERNELS"),
    )
    own = {name for module, table in tables for name in table_keys(tree.runtime / f"sparse/{module}.py", table)}
    return own | set(table_words(tree.runtime / "sparse/layouts.py", "BORROWED"))


def _status(
    name: str,
    schemas: Schemas,
    written: dict[str, Entry],
    derived: dict[str, Row],
    memory: set[str],
    sparse: set[str],
) -> Status:
    entry = written.get(name)
    if name in memory:
        return Status(name, "lowered", "runtime/aten/kernels.py")
    if entry is not None:
        if entry.lowered:
            return Status(name, "lowered", entry.where)
        if entry.unsupported:
            return Status(name, "unsupported", entry.unsupported)
        return Status(name, "decomposed", entry.where)
    if name in derived:
        return Status(name, "derived", derived[name].entry.name)
    if name in sparse:
        return Status(name, "lowered", "runtime/sparse/layouts.py")
    reason = family_reason(name, schemas)
    if schemas.composite(name):
        return Status(name, "composite")
    if reason and not (reason == SPARSE and schemas.decomposes(name)):
        return Status(name, "unsupported", reason)
    if schemas.decomposes(name):
        return Status(name, "decomposed")
    return Status(name, "missing")


@lru_cache(maxsize=1 << 14)
def family_reason(name: str, schemas: Schemas) -> str:
    """The reason that the family of an overload is unsupported; empty if it is supported."""
    base = name.partition(".")[0]
    for pattern, reason in FAMILIES:
        if re.match(pattern, base):
            return reason
    keys = schemas[name].keys
    if delegate := schemas[name].delegate:
        keys |= schemas[delegate].keys
    if not keys or keys & PLAIN_KEYS:
        return ""
    found = {reason for key in keys for prefix, reason in LAYOUTS.items() if key.startswith(prefix)}
    backends = sorted(key for key in keys if not key.startswith(tuple(LAYOUTS)))
    return f"torch implements it for {' and '.join(backends)} only" if backends else " and ".join(sorted(found))
