#!/bin/sh
# A checkpoint that torch alone wrote is used from JAX, from an empty environment: sh examples/paths/checkpoint.sh
# With PYTHON=..., an interpreter that has the libraries is used instead of a new environment.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv build/paths/checkpoint
    PYTHON=build/paths/checkpoint/bin/python
    "$PYTHON" -m pip install --quiet -c constraints.txt .
fi
file=$(mktemp)
trap 'rm -f "$file"' EXIT
TORCH_DEVICE_BACKEND_AUTOLOAD=0 "$PYTHON" examples/paths/checkpoint_written.py "$file"
"$PYTHON" examples/paths/checkpoint_used.py "$file"
