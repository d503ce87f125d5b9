#!/bin/sh
# A Lightning module trains on the device, from an empty environment: sh examples/paths/lightning.sh
# With PYTHON=..., an interpreter that has the libraries is used instead of a new environment.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv build/paths/lightning
    PYTHON=build/paths/lightning/bin/python
    "$PYTHON" -m pip install --quiet -c constraints.txt . lightning
fi
"$PYTHON" examples/paths/lightning_module.py
