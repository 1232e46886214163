#!/bin/sh
# Make .venv from requirements-dev.lock, with Judge itself in it. Needs only Python 3.11 or later.
#
# uv is taken from the PATH, else put into .tools. When nothing has changed since the last time,
# this ends at once. PYTHON names the interpreter to use; FORCE=1 starts over.
set -eu
cd "$(dirname "$0")/.."

lock=requirements-dev.lock
stamp=.venv/.judge-setup

say() { echo "setup: $*" >&2; }

# What the environment was made from. The path counts, since scripts in a venv hold it.
wanted=$({ pwd; cat "$lock" pyproject.toml codegraph/pyproject.toml scripts/setup.sh; } | cksum)
if [ -z "${FORCE:-}" ] && [ -x .venv/bin/judge ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]
then
  exit 0
fi

is_new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

python=
for candidate in ${PYTHON:-} python3 python python3.14 python3.13 python3.12 python3.11; do
  if is_new_enough "$candidate"; then
    python=$("$candidate" -c 'import sys; print(sys.executable)')
    break
  fi
done
if [ -z "$python" ]; then
  say "no Python 3.11 or later was found. Install one, or name it: make setup PYTHON=/path/to/python"
  exit 2
fi

uv=uv
if ! uv --version >/dev/null 2>&1; then
  uv=.tools/uv/bin/uv
  if ! "$uv" --version >/dev/null 2>&1; then
    say "uv is not installed; putting it into .tools"
    rm -rf .tools/uv
    if ! "$python" -m venv .tools/uv; then
      say "$python cannot make a virtual environment. On Debian: apt-get install python3-venv"
      exit 2
    fi
    .tools/uv/bin/python -m pip install --quiet --disable-pip-version-check uv
  fi
fi

say "making .venv with $python"
rm -f "$stamp"
if [ -n "${FORCE:-}" ] || ! is_new_enough .venv/bin/python; then
  "$uv" venv --quiet --clear --no-python-downloads --python "$python" .venv
fi
VIRTUAL_ENV=$PWD/.venv
export VIRTUAL_ENV
"$uv" pip sync --quiet --compile-bytecode --require-hashes "$lock"
"$uv" pip install --quiet --no-deps --editable codegraph --editable .
echo "$wanted" > "$stamp"
say "done; the command is .venv/bin/judge"
