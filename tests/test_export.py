"""`tenax.export`: what `torch.export` captured computes the same as a JAX function and as an artifact without torch."""

import re
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
from torch.export import Dim, ExportedProgram, export

from tenax.export import exported_to_jax, load, save, to_exported, to_stablehlo

Tensor = torch.Tensor
pytestmark = [
    pytest.mark.filterwarnings("ignore:`isinstance:FutureWarning"),  # torch 2.13 about its own copy of a tree
    pytest.mark.filterwarnings("ignore:The tensor attributes self._flat_weights"),
    pytest.mark.filterwarnings("ignore:.*nested_tensor:UserWarning"),
]


N, T = Dim("n", min=2, max=64), Dim("t", min=4)
SEQUENCES = ({0: N, 1: T},)


class Padded(nn.Module):
    """An encoder layer with a mask made of lengths, mean pooling, and rotary embeddings of any length."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.project, self.out, self.norm = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)
        self.register_buffer("frequencies", 10000 ** (-torch.arange(0, 8, 2) / 8))

    def turned(self, x: Tensor) -> Tensor:
        angles = torch.outer(torch.arange(x.size(-2), dtype=x.dtype), self.frequencies).repeat(1, 2)
        return x * angles.cos() + torch.cat([-x[..., 4:], x[..., :4]], -1) * angles.sin()

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        n, t = tokens.shape
        mask = torch.arange(t)[None, :] < lengths[:, None]
        x = self.embedding(tokens)
        q, k, v = self.project(x).view(n, t, 3, 2, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(self.turned(q), self.turned(k), v, mask[:, None, None, :])
        x = self.norm(x + self.out(y.transpose(1, 2).reshape(n, t, -1)))
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


class Causal(nn.Module):
    """Attention with a causal mask and biases by distance, made for the length of the input."""

    def forward(self, x: Tensor) -> Tensor:
        t = x.size(1)
        places = torch.arange(t)
        scores = x @ x.mT / x.size(-1) ** 0.5 - (places[:, None] - places[None]).abs() * 0.5
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        return scores.masked_fill(later, -torch.inf).softmax(-1) @ x


class Patches(nn.Module):
    """A vision transformer whose positions are interpolated to the size of the image."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.positions, self.token = nn.Parameter(torch.randn(1, width, 7, 7)), nn.Parameter(torch.randn(1, 1, width))
        self.layer = nn.TransformerEncoderLayer(width, 2, 16, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patch(x)
        y = (y + nn.functional.interpolate(self.positions, size=y.shape[-2:], mode="bilinear")).flatten(2).mT
        return self.layer(torch.cat([self.token.expand(y.size(0), -1, -1), y], 1))[:, 0]


class Detector(nn.Module):
    """A grid of candidates as large as the image, of which the best are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.classes, self.boxes = nn.Conv2d(3, 5, 3, padding=1), nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        h, w = x.shape[-2:]
        best, label = self.classes(x).sigmoid().flatten(2).mT.max(-1)
        grid = torch.meshgrid(torch.arange(h, dtype=x.dtype), torch.arange(w, dtype=x.dtype), indexing="ij")
        top, i = best.topk(4, 1)
        center = torch.stack(grid, -1).view(-1, 2)[i]
        reach = self.boxes(x).flatten(2).mT.gather(1, i[..., None].expand(-1, -1, 4))
        boxes = torch.cat([center - reach[..., :2], center + reach[..., 2:]], -1) / torch.tensor([h, w, h, w])
        return top, label.gather(1, i), boxes


def tokens(n: int, t: int) -> tuple[Tensor, Tensor]:
    return torch.randint(0, 50, (n, t)), torch.randint(1, t + 1, (n,))


def image(n: int, h: int, w: int) -> tuple[Tensor]:
    return (torch.randn(n, 3, h, w),)


IMAGES = ({0: N, 2: Dim("h", min=4, max=64), 3: Dim("w", min=4)},)
FOURS = ({0: N, 2: 4 * Dim("h", min=2, max=16), 3: 4 * Dim("w", min=2, max=16)},)
OPEN = {
    "lengths": (Padded, tokens, ({0: N, 1: T}, {0: N}), [(2, 5), (3, 9), (6, 4)]),
    "causal": (Causal, lambda n, t: (torch.randn(n, t, 4),), SEQUENCES, [(2, 5), (3, 9), (6, 4)]),
    "patches": (Patches, image, FOURS, [(2, 8, 12), (3, 16, 8), (4, 12, 24)]),
    "detector": (Detector, image, IMAGES, [(2, 8, 9), (3, 5, 4), (4, 12, 7)]),
    "pooling": (
        lambda: nn.Sequential(nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2, 1, 1), nn.AdaptiveAvgPool2d((3, 2))),
        image, IMAGES, [(2, 8, 9), (3, 15, 4), (4, 12, 7)],
    ),
    "adaptive maxima": (lambda: nn.AdaptiveMaxPool2d(3), image, IMAGES, [(2, 8, 9), (3, 15, 4), (4, 12, 7)]),
    "bags": (lambda: nn.EmbeddingBag(50, 4), lambda n, t: tokens(n, t)[:1], SEQUENCES, [(2, 5), (3, 9), (6, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_a_saved_module_takes_any_batch_and_size(name: str, tmp_path: Path) -> None:
    make, inputs, shapes, sizes = OPEN[name]
    module = make().eval()
    save(export(module, inputs(*sizes[0]), dynamic_shapes=shapes), tmp_path / "saved.zip")
    weights, exported = load(tmp_path / "saved.zip")
    for size in sizes:
        given = inputs(*size)
        agree(exported.call(weights, *arrays(given))[0], module(*given))


class Sizes(nn.Module):
    """What programs do with sizes."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n, t = x.shape
        half = t // 2
        return (
            x * (n * 2 + 1) - t % 3, x / t, x * n**-0.5, x.sum() / x.numel(), x * torch.sym_float(n),
            torch.arange(t) + torch.arange(0, t * 2, 2) + torch.arange(t - 1, -1, -1), torch.arange(n, n + t),
            x.view(n, -1, 1), x.reshape(-1), x[:, :half], x[:, -3:], x.repeat(2, t),
            x.expand(3, n, t), x.new_zeros(n), torch.full((t,), 2.5), torch.zeros(torch.sym_max(n, t)),
            torch.ones(t, t).tril(), torch.eye(t), x.gather(1, x.argsort(1)), x[torch.arange(n), x.argmax(1)],
            nn.functional.interpolate(x[:, None], scale_factor=2.0, mode="linear"),
        )  # fmt: skip


def test_sizes_take_part_in_arithmetic_and_arguments() -> None:
    check(
        Sizes(),
        torch.randn(3, 6),
        shapes=({0: Dim.DYNAMIC, 1: Dim.DYNAMIC},),
        others=[(torch.randn(4, 9),), (torch.randn(5, 4),)],
    )


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


def arrays(tree: Any) -> Any:
    with jax.enable_x64(True):
        return torch.utils._pytree.tree_map_only(Tensor, lambda x: jax.numpy.asarray(x.numpy()), tree)


def agree(found: Any, expected: Any) -> None:
    for x, y in zip(jax.tree.leaves(found), torch.utils._pytree.tree_leaves(expected), strict=True):
        assert x.dtype == y.detach().numpy().dtype
        np.testing.assert_allclose(x, y.detach().numpy(), rtol=1e-4, atol=1e-5)


def check(module: nn.Module, *inputs: Tensor, shapes: Any = None, others: Any = ()) -> ExportedProgram:
    """A module as a function, and as an artifact that also takes `others`."""
    program = export(module, inputs, dynamic_shapes=shapes)
    weights, function = exported_to_jax(program)
    agree(jax.jit(function)(weights, *arrays(inputs))[0], module(*inputs))
    exported = to_exported(program)
    for given in (inputs, *others):
        agree(exported.call(weights, *arrays(given))[0], module(*given))
    return program


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))


def net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()


def test_an_mlp_takes_any_batch() -> None:
    program = check(mlp(), torch.randn(3, 4), shapes=({0: Dim("n")},), others=[(torch.randn(7, 4),)])
    assert re.fullmatch(r"float32\[s\d+,2\]", to_exported(program).out_avals[0].str_short())


def test_a_convolutional_net_takes_any_batch() -> None:
    check(net().eval(), torch.randn(2, 3, 8, 8), shapes=({0: Dim("n")},), others=[(torch.randn(5, 3, 8, 8),)])


def test_a_transformer_takes_any_batch_and_sequence() -> None:
    shapes = ({0: Dim("n", max=16), 1: Dim("t", max=64)},)
    check(transformer(), torch.randn(2, 5, 8), shapes=shapes, others=[(torch.randn(6, 9, 8),)])


def test_an_lstm_stays_a_loop_and_takes_any_batch() -> None:
    program = check(nn.LSTM(4, 6, batch_first=True), torch.randn(2, 5, 4), shapes=({0: Dim("n")},))
    assert "stablehlo.while" in to_stablehlo(program)


def test_a_derived_dimension_is_an_expression() -> None:
    class Pairs(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.view(-1, 2).sum(1)

    n = Dim("n", max=8)
    check(Pairs(), torch.randn(6), shapes=({0: 2 * n},), others=[(torch.randn(10),)])


def test_a_dimension_out_of_its_range_is_refused() -> None:
    program = export(mlp(), (torch.randn(3, 4),), dynamic_shapes=({0: Dim("n", min=2, max=5)},))
    weights, _ = exported_to_jax(program)
    exported = to_exported(program)
    exported.call(weights, np.zeros((5, 4), np.float32))
    for n in (1, 6):
        with pytest.raises(ValueError, match=r"s\d+ [<>]= [25]"):
            exported.call(weights, np.zeros((n, 4), np.float32))


def test_written_buffers_are_returned() -> None:
    module = net()
    x = torch.randn(2, 3, 8, 8)
    weights, function = exported_to_jax(export(module, (x,)))
    before = {name: np.asarray(w) for name, w in weights.items()}
    outputs, mutated = function(weights, *arrays((x,)))
    agree(outputs, module(x))
    assert set(mutated) == {"1.running_mean", "1.running_var", "1.num_batches_tracked"}
    for name, value in mutated.items():
        np.testing.assert_allclose(value, module.state_dict()[name].numpy(), rtol=1e-5)
        assert not np.array_equal(value, before[name])


def test_written_inputs_are_returned() -> None:
    class Accumulate(nn.Module):
        def forward(self, total: Tensor, x: Tensor) -> Tensor:
            total.add_(x)
            return total * 2

    total, x = torch.ones(3), torch.arange(3.0)
    weights, function = exported_to_jax(export(Accumulate(), (total, x)))
    outputs, mutated = function(weights, *arrays((total, x)))
    agree((outputs, mutated["total"]), (torch.tensor([2.0, 4, 6]), torch.tensor([1.0, 2, 3])))


def test_the_function_has_the_structure_of_the_module() -> None:
    class Tree(nn.Module):
        def forward(self, x: Tensor, *, scale: Tensor, flag: bool = True) -> dict[str, Any]:
            return {"sum": x["a"] + x["b"][0], "rest": (x["a"] * scale, None, 3)}

    x = {"a": torch.ones(2), "b": [torch.arange(2.0)]}
    kwargs = {"scale": torch.tensor(2.0), "flag": True}
    program = export(Tree(), (x,), kwargs)
    weights, function = exported_to_jax(program)
    outputs, _ = function(weights, arrays(x), flag=True, **arrays({"scale": kwargs["scale"]}))
    agree(outputs["sum"], torch.tensor([1.0, 2.0]))
    assert outputs["rest"][1:] == (None, 3)
    with pytest.raises(TypeError, match="flag=False; expected True, a constant"):
        function(weights, arrays(x), flag=False, **arrays({"scale": kwargs["scale"]}))


def test_arguments_of_other_shapes_and_dtypes_are_refused() -> None:
    weights, function = exported_to_jax(export(mlp(), (torch.randn(3, 4),), dynamic_shapes=({0: Dim("n")},)))
    with pytest.raises(TypeError, match=r"input is float32\[3, 5\]; expected float32\[s\d+, 4\]"):
        function(weights, np.zeros((3, 5), np.float32))
    with pytest.raises(TypeError, match=r"input is float64\[3, 4\]; expected float32"):
        function(weights, np.zeros((3, 4)))


def test_gradients_are_those_of_torch() -> None:
    module, x = mlp(), torch.randn(3, 4)
    weights, function = exported_to_jax(export(module, (x,)))
    grads = jax.jit(jax.grad(lambda w: function(w, *arrays((x,)))[0].sum()))(weights)
    module(x).sum().backward()
    for name, p in module.named_parameters():
        agree(grads[name], p.grad)


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
                x[[2, 0]], torch.tensor([1, 2]), x.movedim(0, 1).contiguous(), x.reshape(-1),
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
    np.testing.assert_allclose(function(weights, x.jax())[0], module(x).detach().cpu().numpy(), rtol=1e-5, atol=1e-5)


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
    torch.testing.assert_close(
        torch.from_numpy(np.asarray(outputs, np.float32)), module(x).float().detach(), rtol=0.02, atol=0.01
    )


def test_a_saved_program_runs_without_torch(tmp_path: Path) -> None:
    module, x = transformer(), torch.randn(4, 7, 8)
    shapes = ({0: Dim("n"), 1: Dim("t")},)
    save(export(module, (torch.randn(2, 5, 8),), dynamic_shapes=shapes), tmp_path / "saved.zip")
    np.save(tmp_path / "x.npy", x.numpy())
    page = (Path(__file__).parents[1] / "docs" / "export.md").read_text()
    loader = re.search(r"```python\n(# Without torch.*?)```", page, re.S)
    assert loader is not None
    program = loader.group(1) + "\nimport sys\nassert 'torch' not in sys.modules\nnp.save('y.npy', outputs)\n"
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert not run.returncode, run.stderr[-2000:]
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), module(x).detach().numpy(), rtol=1e-4, atol=1e-5)
