"""The coverage harness itself: CPU torch agrees with CPU torch, and a lowering that is wrong in any way is caught."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.testing._internal.opinfo.core import ErrorInput, SampleInput
from torch.testing._utils import wrapper_set_seed

from tenax.coverage import checks, excuses, plan
from tenax.coverage.agree import Task
from tenax.coverage.compare import Tolerance, compare
from tenax.coverage.entries import Entry, select
from tenax.coverage.excuses import granted, skipped_by_torch
from tenax.coverage.journal import Journal
from tenax.coverage.outcome import Outcome
from tenax.coverage.runner import Pool
from tenax.coverage.samples import Sample, copy_to, pick
from tenax.coverage.worker import Unit
from tests.helpers.processes import run

# A second spelling of the CPU: what runs there is the lowering under test.
FAULTY = "cpu:0"
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Where samples were copied to last, so that a fake lowering knows whether it is the reference."""
    at = {"device": "cpu"}
    plain = Sample.on

    def on(self: Sample, device: str) -> Sample:
        at["device"] = device
        return plain(self, device)

    monkeypatch.setattr(Sample, "on", on)
    return at


def fake(place: dict[str, str], wrong: Callable[..., Any] | None = None, **changes: Any) -> Entry:
    """An entry for `exp`, whose lowering on the device is `wrong`."""

    def op(x: torch.Tensor, **kwargs: Any) -> Any:
        return wrong(x, **kwargs) if wrong is not None and place["device"] == FAULTY else torch.exp(x, **kwargs)

    def inplace(x: torch.Tensor) -> Any:
        return changes["inplace"](x) if "inplace" in changes and place["device"] == FAULTY else x.exp_()

    def samples(device: str, dtype: torch.dtype, requires_grad: bool) -> list[SampleInput]:
        return [SampleInput(torch.linspace(-1, 1, 12, dtype=dtype).reshape(3, 4).requires_grad_(requires_grad))]

    def reference(device: str, dtype: torch.dtype, requires_grad: bool) -> list[SampleInput]:
        extreme = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e30, 0], dtype=dtype)
        return [*samples(device, dtype, requires_grad), SampleInput(extreme)]

    def errors(device: str) -> list[ErrorInput]:
        return [
            ErrorInput(SampleInput(torch.ones(2, dtype=torch.int32)), error_type=TypeError, error_regex="no integers")
        ]

    def raising(x: torch.Tensor, **kwargs: Any) -> Any:
        if x.dtype == torch.int32 and place["device"] != FAULTY:
            raise TypeError("exp takes no integers")
        return op(x, **kwargs)

    info = SimpleNamespace(
        op=raising,
        inplace_variant=inplace,
        supports_out=True,
        supports_autograd=True,
        supports_gradgrad=True,
        supports_forward_ad=True,
        supports_inplace_autograd=False,
        sample_inputs=samples,
        reference_inputs=reference,
        error_inputs=errors,
        error_inputs_func=errors,
        supported_dtypes=lambda device: {torch.float32},
        supported_backward_dtypes=lambda device: {torch.float32},
        get_decorators=lambda *args: [],
        op_random=False,
    )
    return Entry("op_db", "fake", info)


class Derived(torch.autograd.Function):
    """The right exponential with a derivative that is wrong by a factor."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g * ctx.saved_tensors[0] * 1.01


class TwiceDerived(torch.autograd.Function):
    """The right exponential and first derivative; the second derivative is lost."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g * ctx.saved_tensors[0].detach()


class Mixed(torch.autograd.Function):
    """The right exponential, which under vmap mixes the members of the batch."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def vmap(info: Any, dims: tuple[int], x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return x.exp().flip(dims[0]), dims[0]


def wrong_tangent(x: torch.Tensor) -> torch.Tensor:
    from torch.autograd import forward_ad

    primal, tangent = forward_ad.unpack_dual(x)
    return primal.exp() if tangent is None else forward_ad.make_dual(primal.exp(), 2 * tangent)


def reads_the_gaps(x: torch.Tensor) -> torch.Tensor:
    return torch.as_strided(x, x.shape, torch.empty(x.shape).stride()).exp()


def ignores_out(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.exp()


def casts_into_out(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.exp() if out is None else out.resize_(x.shape).copy_(x.exp())


def writes_its_input(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    x.zero_()
    return y


# What is wrong, the check that must say so, the lowering, and a word of the message.
FAULTS: list[tuple[str, str, Callable[..., Any], str]] = [
    ("a value", "forward", lambda x: x.exp() + 1e-3 * (x > 0.9), "elements differ"),
    ("a NaN", "forward", lambda x: torch.where(x > 0.9, torch.nan, x.exp()), "elements differ"),
    ("the dtype", "forward", lambda x: x.double().exp(), "dtype"),
    ("the shape", "forward", lambda x: x.exp()[None], "shape"),
    ("the strides", "forward", lambda x: x.exp().mT.contiguous().mT, "strides"),
    ("a view of the input", "forward", lambda x: x.data.exp_(), "memory"),
    ("a written input", "forward", writes_its_input, "writes"),
    ("a second result", "forward", lambda x: (x.exp(), x), "result: gave (float32 (3, 4)"),
    ("a missing kernel", "forward", lambda x: torch.ops.aten.nothing(x), "nothing"),
    ("random values", "forward", lambda x: x.exp() + torch.rand(()), "elements differ"),
    ("an infinity", "reference", lambda x: x.clamp(-80, 80).exp(), "elements differ"),
    ("a batch", "vmap", Mixed.apply, "elements differ"),
    ("the derivative", "gradient", Derived.apply, "elements differ"),
    ("the derivative of a pure function", "pure", Derived.apply, "elements differ"),
    ("the derivative at a special point", "pure", lambda x: torch.where(x == 0, 1, x.exp()), "at (0.0,)"),
    ("no derivative", "gradient", lambda x: x.detach().exp(), "requires a gradient"),
    ("the second derivative", "gradgrad", TwiceDerived.apply, "NoneType"),
    ("the tangent", "forward_ad", wrong_tangent, "elements differ"),
    ("no tangent", "forward_ad", lambda x: x.detach().exp(), "NoneType"),
    ("an ignored out=", "out", ignores_out, "out="),
    ("a cast into out= of a wrong dtype, no warning of a resize", "out", casts_into_out, "out="),
    ("gaps that are read", "noncontiguous", reads_the_gaps, "elements differ"),
    ("no error", "errors", lambda x: x.float().exp(), "raised nothing"),
]


@pytest.mark.parametrize(("what", "check", "wrong", "word"), FAULTS, ids=[f[0] for f in FAULTS])
def test_a_wrong_lowering_is_caught(
    what: str, check: str, wrong: Callable[..., Any], word: str, place: dict[str, str]
) -> None:
    outcome = checks.run(Task(fake(place, wrong), torch.float32, check, FAULTY, 2))
    assert outcome.letter == "f", f"{what} went unseen"
    assert word in outcome.why


@pytest.mark.parametrize(
    ("what", "wrong"),
    [
        ("a value", lambda x: x.exp_().add_(1)),
        ("another object", lambda x: x.exp_().clone()),
        ("nothing written", lambda x: x),
        ("no new version", lambda x: x.data.exp_() is None or x),
    ],
)
def test_a_wrong_in_place_lowering_is_caught(what: str, wrong: Callable[..., Any], place: dict[str, str]) -> None:
    outcome = checks.run(Task(fake(place, inplace=wrong), torch.float32, "inplace", FAULTY, 2))
    assert outcome.letter == "f", f"{what} went unseen"


@pytest.mark.parametrize("check", [c for c in Entry("op_db", "", None).checks if c != "errors"])
def test_a_right_lowering_passes(check: str, place: dict[str, str]) -> None:
    outcome = checks.run(Task(fake(place), torch.float32, check, FAULTY, 2))
    assert outcome.letter == "p", outcome.why


def test_random_ops_are_compared_by_structure_and_seeds(place: dict[str, str]) -> None:
    def entry(on_device: Callable[[torch.Tensor], torch.Tensor]) -> Entry:
        made = fake(place)
        made.info.op = lambda x: on_device(x) if place["device"] == FAULTY else wrapper_set_seed(torch.rand_like, x)
        return made

    def run(on_device: Callable[[torch.Tensor], torch.Tensor]) -> Outcome:
        return checks.run(Task(entry(on_device), torch.float32, "forward", FAULTY, 2))

    state = torch.Generator()
    assert run(torch.rand_like) == Outcome("p", "random: compared in distribution-free properties")
    assert run(lambda x: wrapper_set_seed(torch.rand_like, x)).letter == "p"
    assert "the least value" in run(torch.randn_like).why
    assert "the share of zeros" in run(lambda x: torch.rand_like(x) * (torch.arange(12).view(3, 4) > 0)).why
    assert "seeds" in run(lambda x: torch.full_like(x, 0.5)).why
    assert "one seed" in run(lambda x: torch.rand(x.shape, generator=state)).why
    assert "dtype" in run(lambda x: torch.rand_like(x).double()).why


@pytest.mark.parametrize(
    "name",
    [
        *(
            "op_db/" + name
            for name in ("add", "linalg.svd", "nn.functional.dropout", "index_put", "sort", "as_strided")
        ),
        *("python_ref_db/_refs.roll", "foreach_db/_foreach_addcmul"),
        *("module_db/nn.BatchNorm2d", "module_db/nn.LSTM", "optim_db/AdamW", "optim_db/LBFGS"),
    ],
)
def test_cpu_torch_agrees_with_itself(name: str) -> None:
    (entry,) = select((name.partition("/")[0],), name)
    for check in entry.checks:
        outcome = checks.run(Task(entry, torch.float32, check, "cpu", 2))
        assert outcome.letter in "pns", f"{check}: {outcome.why}"


@pytest.mark.parametrize("name", ["tensor_split", "arange", "to", "randint"])
def test_arguments_lie_where_torchs_tests_of_a_device_put_them(name: str) -> None:
    """A size on the CPU wherever torch demands it; a tensor made from numbers alone on the device."""
    (entry,) = select(("op_db",), f"op_db/{name}")
    outcome = checks.run(Task(entry, torch.float32, "forward", "jax", 2))
    assert outcome.letter == "p", outcome.why


def test_a_result_as_near_to_float64_as_cpu_torch_agrees() -> None:
    exact = torch.tensor([1e3], dtype=torch.float64)
    cpu, near, far = torch.tensor([1e3 + 0.05]), torch.tensor([1e3 - 0.1]), torch.tensor([1e3 - 0.4])
    assert compare(near, cpu, device="cpu") is not None
    assert compare(near, cpu, device="cpu", exact=lambda: exact) is None
    assert compare(far, cpu, device="cpu", exact=lambda: exact) is not None


def test_copies_keep_strides_offsets_gaps_and_flags() -> None:
    base = torch.arange(24.0)
    z = torch.view_as_complex(base.reshape(3, 4, 2))
    for t in (base[3:15:2], base.reshape(4, 6).T, base[:1].expand(5), z.conj(), z.conj().imag, torch.empty(0, 3)):
        copy = copy_to(t, "cpu")
        assert torch.equal(copy, t)
        assert copy.untyped_storage().data_ptr() != t.untyped_storage().data_ptr() or t.numel() == 0
        assert (copy.stride(), copy.storage_offset()) == (t.stride(), t.storage_offset())
        assert (copy.is_conj(), copy.is_neg()) == (t.is_conj(), t.is_neg())


def test_picked_samples_are_diverse_and_grow_by_inclusion() -> None:
    def sample(*shape: int, **kwargs: Any) -> Sample:
        return Sample(torch.zeros(shape), (), kwargs, lambda out: out, False, str(shape))

    samples = [*(sample(2, 2) for _ in range(20)), sample(), sample(0, 3), sample(2, 2, dim=1), sample(2, 2, dim=-1)]
    chosen = [pick(samples, n) for n in range(1, 9)]
    assert {s.label for s in chosen[4]} >= {"()", "(0, 3)", "(2, 2)"}
    assert {repr(s.kwargs) for s in chosen[4]} >= {"{'dim': 1}", "{'dim': -1}"}
    for fewer, more in itertools.pairwise(chosen):
        assert set(map(id, fewer)) < set(map(id, more))


def test_torchs_own_skips_and_tolerances_are_read() -> None:
    (entry,) = select(("op_db",), "op_db/add")
    assert skipped_by_torch(entry, "forward", torch.float32) is None
    reasons = [skipped_by_torch(e, "forward", torch.float32) for e in select(("op_db",), "empty*,new_empty*")]
    assert all(
        r is not None and r.startswith("torch skips TestCommon.test_compare_cpu on CPU and CUDA: ") for r in reasons
    )
    found = [granted(e, torch.float32) for e in select(("op_db",), "linalg.*")]
    assert any(isinstance(t, Tolerance) and t.absolute > 1e-5 for t in found)


def test_what_jax_cannot_represent_is_a_skip_that_names_the_dtype() -> None:
    (entry,) = select(("op_db",), "op_db/chalf")
    outcome = checks.run(Task(entry, torch.float32, "forward", "jax", 2))
    assert outcome.letter == "s"
    assert outcome.why.startswith("dtype: JAX has no half-precision complex type (complex32)")
    units = plan.plan(select(("op_db",), "op_db/add"), "all")
    assert {u.dtype for u in units} >= {"float16", "complex64"}
    assert "complex32" not in {u.dtype for u in units}
    run = [(unit, {"forward": Outcome("p")}, ["add.Tensor"]) for unit in units[:2]]
    row = plan.collect({}, select(("op_db",), "op_db/add"), run).rows
    assert row["op_db/add"].get("complex32", "forward").letter == "s"


def test_a_failure_is_excused_only_where_it_is_what_the_row_says(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"entries": ["op_db/ad*"], "checks": ["out"], "kind": "torch", "says": "by accident", "reason": "theirs"}
    facts = replace(excuses.facts(), dtypes={}, excused=(excuses.Excuse.parse(row),))
    monkeypatch.setattr(excuses, "facts", lambda: facts)
    (entry,) = select(("op_db",), "op_db/add")
    assert excuses.excused(entry, "out", torch.float32, "1/2 raised by accident") == "torch: theirs"
    assert excuses.excused(entry, "out", torch.float32, "1/2 something else") is None
    assert excuses.excused(entry, "forward", torch.float32, "1/2 raised by accident") is None
    with pytest.raises(ValueError, match=r"excuses\.yaml: .*expected entries, says, a reason, and a kind"):
        excuses.Excuse.parse({**row, "kind": "difficult"})


def test_every_excuse_is_about_an_entry() -> None:
    for row in excuses.facts().excused:
        assert all(any(fnmatchcase(e.key, pattern) for e in select()) for pattern in row.entries), row
    names = {e.name for e in select(("op_db",))}
    names |= {name.rpartition(".")[2] for name in names}
    assert excuses.facts().unordered | excuses.facts().converting | excuses.facts().phased <= names


def test_eigenvectors_are_compared_by_their_absolute_values(monkeypatch: pytest.MonkeyPatch) -> None:
    (entry,) = select(("op_db",), "op_db/linalg.eigh")
    task = Task(entry, torch.float64, "forward", "jax", 1)

    def changed(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
        def eigh(x: torch.Tensor, **kwargs: Any) -> Any:
            values, vectors = torch.linalg.eigh(x, **kwargs)
            return (values, change(vectors)) if x.device.type == "jax" else (values, vectors)

        return eigh

    monkeypatch.setattr(entry.info, "op", changed(torch.neg))
    assert checks.forward(task) == Outcome("p", checks.PHASES)
    monkeypatch.setattr(entry.info, "op", changed(lambda v: 2 * v))
    assert checks.forward(task).bad


def test_orders_are_compared_where_no_values_tie() -> None:
    (entry,) = select(("op_db",), "op_db/msort")
    outcome = checks.run(Task(entry, torch.float16, "gradient", "jax", 1))
    assert outcome.letter == "p", outcome.why


@pytest.mark.slow
def test_a_crash_and_a_hang_cost_one_check_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty_worker.py").write_text(
        textwrap.dedent(
            """
            import os, signal, time
            from tenax.coverage import checks, worker
            from tenax.coverage.outcome import PASS

            def run(task):
                if task.check == "gradient":
                    os.write(2, b"a word before the end")
                    os.kill(os.getpid(), signal.SIGSEGV)
                if task.check == "inplace":
                    time.sleep(60)
                return PASS

            def main(*args):
                checks.run = run
                worker.main(*args)
            """
        )
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import faulty_worker  # type: ignore[import-not-found]

    names = ("forward", "gradient", "gradgrad", "inplace", "out")
    units = [
        Unit("op_db/add", "float32", tuple((c, 1) for c in names)),
        Unit("op_db/mul", "float32", (("forward", 1),)),
    ]
    journal = Journal(tmp_path / "journal.jsonl", {}, resume=False)
    Pool("cpu", 1, 8.0, tmp_path, target=faulty_worker.main).run(units, journal)
    journal.close()
    found = plan.collect({}, select(("op_db",), "add,mul"), ((r.unit, r.outcomes, r.ops) for r in journal.records))
    add = found.rows["op_db/add"]
    assert "".join(add.get("float32", c).letter for c in names) == "pcptp"
    assert add.get("float32", "gradient").why == "killed by SIGSEGV; last words: a word before the end"
    assert add.get("float32", "inplace").why == "no answer within 8 s"
    assert found.rows["op_db/mul"].get("float32", "forward").letter == "p"


def test_a_worker_of_a_lazy_run_records(tmp_path: Path) -> None:
    program = """
import torch
from tenax.coverage.worker import prepare

prepare("jax", lazy=True)
from tenax.storage.recording import recording

x = torch.ones(2, device="jax") + 1
assert recording.tape.ops
assert x.cpu().tolist() == [2, 2]
assert not recording.tape.ops
"""
    run(program, cwd=tmp_path)


def test_a_device_that_is_absent_is_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", {}, resume=False)
    with pytest.raises(RuntimeError, match=r"died 3 times before its first check .*invalid device ordinal 99"):
        Pool("jax:99", 1, 60.0, tmp_path).run([Unit("op_db/add", "float32", (("forward", 1),))], journal)
    journal.close()
