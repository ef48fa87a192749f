"""Compiles kernel.c: `python -m viz.engine.compile`, with the PyPI package ziglang, which running the engine needs not.

The compiled files are committed beside the source, in viz/web/engine. A test (test_web/test_engine/test_kernel.py)
compiles again and compares, where the compiler of VERSION is there.
"""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

VERSION = "0.17.1"  # of ziglang; another one may write other bytes
FOLDER = Path(__file__).parents[1] / "web/engine"  # of the source, and of what is compiled
VARIANTS = {  # by file name the fastest first, as the engine tries them
    "kernel.relaxed.wasm": "generic+simd128+relaxed_simd",
    "kernel.wasm": "generic+simd128",
}
_OPTIONS = ("-target", "wasm32-freestanding", "-O3", "-nostdlib", "-Wl,--no-entry", "-Wl,--import-memory")


def is_possible() -> bool:
    """Whether the compiler is there, in the version that wrote the committed files."""
    try:
        return importlib.metadata.version("ziglang") == VERSION
    except importlib.metadata.PackageNotFoundError:
        return False


def compile_kernel(folder: Path = FOLDER) -> None:
    """Write the compiled variants into a folder; a CalledProcessError if the compiler refuses the source."""
    for name, processor in VARIANTS.items():
        compiler = [sys.executable, "-m", "ziglang", "cc", f"-mcpu={processor}", *_OPTIONS]
        layout = ["-Wl,--strip-all", "-Wl,-z,stack-size=16384"]
        subprocess.run([*compiler, *layout, "-o", str(folder / name), str(FOLDER / "kernel.c")], check=True)


if __name__ == "__main__":
    if not is_possible():
        sys.exit(f"ziglang {VERSION} is needed: pip install ziglang=={VERSION}")
    compile_kernel()
