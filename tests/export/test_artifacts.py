"""`tenax.export`: what `torch.export` captured computes the same as a JAX function and as an artifact without torch."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.export
import numpy as np
import pytest
import torch
from torch import nn
from torch._higher_order_ops import map as map_
from torch._higher_order_ops import scan
from torch._higher_order_ops.associative_scan import associative_scan
from torch.export import Dim, export

from tenax.export import exported_to_jax, load, save, to_exported, to_stablehlo
from tests.export.programs import WARNINGS, X3, N, T, arrays, check, mlp, net, transformer
from tests.helpers.agreement import close
from tests.helpers.documentation import ROOT, blocks
from tests.helpers.tolerances import ROUNDED

Tensor = torch.Tensor
pytestmark = WARNINGS


class Writes(nn.Module):
    def __init__(self, write: Any) -> None:
        super().__init__()
        self.write = write

    def forward(self, x: Tensor) -> Tensor:
        y = x * 1
        self.write(y)
        return y


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.expand(2, 4).zero_(),
        lambda y: y.unfold(0, 3, 3).fill_(9),
        lambda y: torch._foreach_mul_([y, y[1:]], [2.0, 3.0]),
    ],
)
def test_a_write_that_torch_makes_functional_with_other_values_is_an_error(write: Any) -> None:
    program = export(Writes(write), (torch.arange(1.0, 5),))
    with pytest.raises(NotImplementedError, match=r"tenax.export: aten\..+ \(.*test_artifacts.py:\d+, in .+\) writes"):
        exported_to_jax(program)


def test_lists_of_tensors_that_lie_apart_are_written() -> None:
    check(Writes(lambda y: torch._foreach_mul_([y, y * 2], [2.0, 3.0])), torch.arange(1.0, 5))


def test_masks_choose_places_to_write() -> None:
    class Masks(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            y = x.clone()
            y[y > 0.5] = -1
            y[x.sum(1) > 0] = torch.arange(x.size(1), dtype=x.dtype)
            y[:, x.sum(0) > 0] = x.mean()
            return y.index_put((x < -1,), torch.ones(1), accumulate=True)

    check(Masks(), torch.randn(3, 6), shapes=({0: N, 1: T},), others=[(torch.randn(4, 9),)])


def test_a_mask_that_decides_which_value_goes_where_is_an_error() -> None:
    class Masks(nn.Module):
        def forward(self, x: Tensor, values: Tensor) -> Tensor:
            return x.index_put((x > 0,), values)

    weights, function = exported_to_jax(export(Masks(), (torch.ones(3), torch.ones(3))))
    with pytest.raises(NotImplementedError, match="expected one mask and one value for all of its places"):
        function(weights, np.ones(3, np.float32), np.ones(3, np.float32))


def test_written_buffers_are_returned() -> None:
    module = net()
    x = torch.randn(2, 3, 8, 8)
    weights, function = exported_to_jax(export(module, (x,)))
    before = {name: np.asarray(w) for name, w in weights.items()}
    outputs, mutated = function(weights, *arrays((x,)))
    close(outputs, module(x))
    assert set(mutated) == {"1.running_mean", "1.running_var", "1.num_batches_tracked"}
    for name, value in mutated.items():
        close(value, module.state_dict()[name], ROUNDED)
        assert not np.array_equal(value, before[name])


def test_written_inputs_are_returned() -> None:
    class Accumulate(nn.Module):
        def forward(self, total: Tensor, x: Tensor) -> Tensor:
            total.add_(x)
            return total * 2

    total, x = torch.ones(3), torch.arange(3.0)
    weights, function = exported_to_jax(export(Accumulate(), (total, x)))
    outputs, mutated = function(weights, *arrays((total, x)))
    close((outputs, mutated["total"]), (torch.tensor([2.0, 4, 6]), torch.tensor([1.0, 2, 3])))


def test_the_function_has_the_structure_of_the_module() -> None:
    class Tree(nn.Module):
        def forward(self, x: Tensor, *, scale: Tensor, flag: bool = True) -> dict[str, Any]:
            return {"sum": x["a"] + x["b"][0], "rest": (x["a"] * scale, None, 3)}

    x = {"a": torch.ones(2), "b": [torch.arange(2.0)]}
    kwargs = {"scale": torch.tensor(2.0), "flag": True}
    program = export(Tree(), (x,), kwargs)
    weights, function = exported_to_jax(program)
    outputs, _ = function(weights, arrays(x), flag=True, **arrays({"scale": kwargs["scale"]}))
    close(outputs["sum"], torch.tensor([1.0, 2.0]))
    assert outputs["rest"][1:] == (None, 3)
    with pytest.raises(TypeError, match="flag=False; expected True, a constant"):
        function(weights, arrays(x), flag=False, **arrays({"scale": kwargs["scale"]}))


def test_arguments_of_other_shapes_and_dtypes_are_refused() -> None:
    weights, function = exported_to_jax(export(mlp(), (torch.randn(3, 4),), dynamic_shapes=({0: Dim("n")},)))
    with pytest.raises(TypeError, match=r"input is float32\[3, 5\]; expected float32\[s\d+, 4\]"):
        function(weights, np.zeros((3, 5), np.float32))
    with pytest.raises(TypeError, match=r"input is float64\[3, 4\]; expected float32"):
        function(weights, np.zeros((3, 4)))


def test_tokens_that_jax_makes_narrower_are_refused_with_the_remedy() -> None:
    weights, function = exported_to_jax(export(nn.Embedding(5, 3), (torch.tensor([1, 2]),)))
    tokens = np.array([1, 2])
    with pytest.raises(TypeError, match=r"input is int32\[2\]; expected int64\[2\]. .*`with jax.enable_x64\(True\)`"):
        jax.jit(function)(weights, tokens)
    with jax.enable_x64(True):
        assert jax.jit(function)(weights, tokens)[0].shape == (2, 3)


def test_gradients_are_those_of_torch() -> None:
    module, x = mlp(), torch.randn(3, 4)
    weights, function = exported_to_jax(export(module, (x,)))
    grads = jax.jit(jax.grad(lambda w: function(w, *arrays((x,)))[0].sum()))(weights)
    module(x).sum().backward()
    for name, p in module.named_parameters():
        close(grads[name], p.grad)


def test_tied_weights_are_one_array() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x: Tensor) -> Tensor:
            return self.b(self.a(x))

    program = check(Tied(), torch.randn(2, 3))
    assert len({id(w) for w in exported_to_jax(program)[0].values()}) == 1


def test_random_operations_draw_from_the_key_that_is_passed() -> None:
    program = export(nn.Dropout(0.5), (torch.ones(64),))
    weights, function = exported_to_jax(program)
    x = np.ones(64, np.float32)
    one, same, other = (function(weights, x, rng=jax.random.key(i))[0] for i in (0, 0, 1))
    assert np.array_equal(one, same) and not np.array_equal(one, other) and set(np.unique(one)) == {0, 2}
    with pytest.raises(RuntimeError, match="without a key"):
        function(weights, x)
    data = jax.random.key_data(jax.random.key(0))
    assert np.array_equal(to_exported(program).call(weights, x, rng=data)[0], one)


def test_64_bit_types_are_kept() -> None:
    class Wide(nn.Module):
        def forward(self, x: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
            return x / 3, i + 2**40

    check(Wide(), torch.randn(3, dtype=torch.float64), torch.arange(3))


def test_views_and_constants_are_functions_of_arrays() -> None:
    class Views(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.arange(3.0)

        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            a, b = x.split([1, 3], 1)
            turned, pairs = x.t().unsqueeze(-1).expand(4, 3, 2), torch.view_as_complex(x.view(3, 2, 2))
            return (
                *x.unbind(0), *x.chunk(2, 1), a, b, x[:, -2:], x[1, ::2], x.diagonal(), turned, x.unfold(1, 2, 2),
                x.squeeze(), x.view(torch.int32), torch.view_as_real(pairs), x.as_strided((2, 2), (4, 1), 1),
                x.sum(1) + self.table, torch.full((2,), 7), torch.zeros_like(x), x.new_ones(2), x.to(torch.int64),
                *torch.split_copy(x, 2, 1), torch.select_copy(x, 0, 1), torch.slice_copy(x, 1), torch.detach_copy(x),
                x[[2, 0]], torch.tensor([1, 2]), x.movedim(0, 1).contiguous(), x.reshape(-1),
                torch.empty_like(x).fill_(5), x.new_empty(2).zero_(), x[None].squeeze(0), x.clone().detach(),
            )  # fmt: skip

    check(Views(), torch.arange(12.0).view(3, 4))


def test_operations_that_torch_orders_or_counts_as_core_are_lowered() -> None:
    class Mixed(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            resized = nn.functional.interpolate(x[None, None], scale_factor=2, mode="bilinear")
            return torch.linalg.cholesky(x @ x.T + 3 * torch.eye(3)), resized

    check(Mixed(), torch.randn(3, 3))


def test_branches_become_conditionals() -> None:
    class Branch(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos() * 2, (x,))

    program = check(Branch(), torch.ones(3), others=[(-torch.ones(3),)])
    assert "stablehlo.case" in to_stablehlo(program)


def test_loops_over_an_axis_become_loops() -> None:
    class Sums(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Any:
            def step(total: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
                return total + row, (total * row).sin()

            return scan(step, torch.zeros(3), x, dim=0), map_(lambda row, y: row * y, x, y)

    class Products(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return associative_scan(lambda a, b: a * b + a, x, dim=0, combine_mode="generic")

    shapes = ({0: Dim("n", max=32)}, None)
    program = check(Sums(), torch.randn(4, 3), torch.randn(3), shapes=shapes, others=[(torch.randn(9, 3), X3)])
    assert to_stablehlo(program).count("stablehlo.while") == 2
    check(Products(), torch.randn(5, 3))


def test_modes_inside_the_module_are_kept() -> None:
    class Frozen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            with torch.no_grad():
                y = self.layer(x)
            return y + self.layer(x)

    check(Frozen(), torch.randn(2, 3))


def test_what_has_no_static_shape_is_an_error_that_names_the_op() -> None:
    class Mask(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.nonzero()

    weights, function = exported_to_jax(export(Mask(), (torch.ones(3),)))
    with pytest.raises(NotImplementedError, match="nonzero: the shape of its result depends on data"):
        function(weights, np.ones(3, np.float32))

    pool = nn.AvgPool2d(3, padding=1, count_include_pad=False)
    open_pool = export(pool, (torch.randn(2, 3, 8, 8),), dynamic_shapes=({2: Dim("h", min=4), 3: Dim("w", min=4)},))
    with pytest.raises(NotImplementedError, match=r"aten\.avg_pool2d\.default: .* expected static sizes"):
        to_exported(open_pool)


def test_a_module_of_the_device_is_exported_too() -> None:
    module, x = mlp().to("jax"), torch.randn(3, 4, device="jax")
    weights, function = exported_to_jax(export(module, (x,)))
    close(function(weights, x.jax())[0], module(x))


@pytest.mark.parametrize("make", [mlp, net, transformer])
def test_artifacts_are_lowered_for_platforms_that_are_not_here(make: Any) -> None:
    x = {mlp: torch.randn(3, 4), net: torch.randn(2, 3, 8, 8), transformer: torch.randn(2, 5, 8)}[make]
    exported = to_exported(export(make().eval(), (x,)), platforms=("cpu", "cuda", "tpu"))
    assert exported.platforms == ("cpu", "cuda", "tpu")


def test_stablehlo_is_text_or_bytecode() -> None:
    program = export(mlp(), (torch.randn(3, 4),))
    assert "stablehlo.dot_general" in to_stablehlo(program)
    assert to_stablehlo(program, bytecode=True).startswith(b"ML\xefR")  # MLIR's magic number


def test_a_saved_program_is_loaded(tmp_path: Path) -> None:
    module, x = net().to(torch.bfloat16).eval(), torch.randn(2, 3, 8, 8, dtype=torch.bfloat16)
    save(export(module, (x,)), tmp_path / "net.zip")
    weights, exported = load(tmp_path / "net.zip")
    assert weights["0.weight"].dtype == jax.numpy.bfloat16 and weights["1.num_batches_tracked"].dtype == np.int64
    outputs, _ = exported.call(weights, x.to("jax").jax())
    close(outputs, module(x))


def test_a_saved_program_runs_without_torch(tmp_path: Path) -> None:
    module, x = transformer(), torch.randn(4, 7, 8)
    shapes = ({0: Dim("n"), 1: Dim("t")},)
    save(export(module, (torch.randn(2, 5, 8),), dynamic_shapes=shapes), tmp_path / "model.zip")
    np.save(tmp_path / "x.npy", x.numpy())
    (loader,) = (b.text for b in blocks(ROOT / "docs" / "export.md") if b.text.startswith("# Without torch"))
    program = loader + "\nimport sys\nassert 'torch' not in sys.modules\nnp.save('y.npy', outputs)\n"
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert not run.returncode, run.stderr[-2000:]
    close(np.load(tmp_path / "y.npy"), module(x))


def test_a_library_that_is_missing_is_named_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: jax.export.Exported) -> bytes:
        raise ImportError("Please install 'flatbuffers' in order to use Exported serialization")

    monkeypatch.setattr(jax.export.Exported, "serialize", refuse)
    with pytest.raises(ImportError, match=r"pip install 'tenax\[export\]'"):
        save(export(nn.Linear(2, 2), (torch.ones(1, 2),)), tmp_path / "linear.zip")
    assert not [*tmp_path.iterdir()]
