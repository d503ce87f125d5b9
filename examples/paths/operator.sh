#!/bin/sh
# A contributor adds an operator, from an empty environment: sh examples/paths/operator.sh
# The operator is hypot, which a copy of the repository forgets first. CONTRIBUTING.md explains each step.
set -eu
cd "$(dirname "$0")/../.."
copy=$PWD/build/paths/operator
rm -rf "$copy"
git clone --quiet . "$copy"
cd "$copy"
python3 -m venv .venv
.venv/bin/python -m pip install --quiet -c constraints.txt -e . expecttest scipy
PATH=$copy/.venv/bin:$PATH

python - <<'END'
import pathlib, re

spec = pathlib.Path("ops_spec/pointwise.yaml")
spec.write_text(re.sub(r"- func: hypot\(.*?(?=\n- func:|\n#)", "", spec.read_text(), flags=re.DOTALL))
END
python -m tenax.codegen
python -c 'import torch, tenax; torch.hypot(torch.ones(2, device="jax"), torch.ones(2, device="jax"))' 2>&1 | tail -1

python -m tenax.codegen new hypot --family pointwise
sed -i 's/kernel: pointwise.hypot$/jnp: jnp.hypot(self, other)/' ops_spec/pointwise.yaml
python -m tenax.codegen
git diff --stat -- generated
tenax coverage run --only hypot --dtypes float32 --jobs 1
