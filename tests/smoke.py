"""What an installed wheel must do, in one process and without pytest: `make wheel` runs it outside of the checkout."""

from __future__ import annotations

import sys
from importlib.metadata import distribution, entry_points
from importlib.resources import files
from pathlib import Path

import torch  # finds the device by its entry point

EXPECTED = {("torch.backends", "tenax"), ("torch_dynamo_backends", "tenax"), ("console_scripts", "tenax")}


def main() -> None:
    found = {(e.group, e.name) for group, _ in EXPECTED for e in entry_points(group=group, name="tenax")}
    assert found == EXPECTED, f"entry points: found {sorted(found)}; expected {sorted(EXPECTED)}"

    x = torch.arange(6.0, device="jax").reshape(2, 3)  # before any `import tenax`
    assert (x @ x.T).tolist() == [[5, 14], [14, 50]]

    import tenax

    # The source tree is no part of an import path here, so this is the wheel.
    assert Path(tenax.__file__).is_relative_to(sys.prefix), f"{tenax.__file__} is not below {sys.prefix}"

    weight = torch.ones(3, device="jax", requires_grad=True)
    (x * weight).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [3, 5, 7]

    def double(x: torch.Tensor) -> torch.Tensor:
        return x + x

    assert tenax.jit(double)(x).tolist() == (2 * x).tolist()
    assert torch.compile(double, backend="tenax")(x).tolist() == (2 * x).tolist()

    package = distribution("tenax")
    assert package.version == tenax.__version__
    assert package.metadata["License-Expression"] == "Apache-2.0"
    assert any(f.name == "LICENSE" for f in package.files or ()), "the wheel has no LICENSE"
    for name, file in (
        ("tenax", "py.typed"),
        ("tenax.codegen", "templates/module.py.j2"),
        ("tenax.codegen", "releases/torch-2.13.tsv"),
        ("tenax.ops_spec", "pointwise.yaml"),
        ("tenax.coverage", "results/torch-2.13.json"),
    ):
        assert files(name).joinpath(file).is_file(), f"{name} has no {file}"
    print(f"tenax {package.version} works with torch {torch.__version__} on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
