"""What a fit asks for besides its time: memory on a file larger than it may hold, the import, the overhead when small.

    python benchmarks/footprint.py [--gigabytes 4] [--folder DIR]

Memory: a float32 design is written to a file and mapped; a process of its own fits it (squared loss, k=20, intercept)
while its anonymous memory (RssAnon of /proc: what the kernel cannot drop again) is read every five milliseconds. What
it held before the fit, Python and its libraries, counts. Import: wall time of `import paring` in a fresh interpreter.
Small fit: SparseRegressor().fit on 100 x 20, less validate_data of the same arrays, median of 200.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

K = 20
BLOCK = 64 << 20  # bytes written at once


def write_design(path: Path, gigabytes: float, d: int = 20_000) -> None:
    """Rows of independent normals, float32, row by row, as .npy; y from twenty columns beside it."""
    n = int(gigabytes * 1e9 / (4 * d))
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    rng, w = np.random.default_rng(0), np.zeros(d, np.float32)
    w[rng.choice(d, K, replace=False)] = rng.standard_normal(K)
    y, rows = np.empty(n), BLOCK // (4 * d)
    for at in range(0, n, rows):
        part = rng.standard_normal((min(rows, n - at), d), dtype=np.float32)
        X[at : at + len(part)] = part
        y[at : at + len(part)] = part @ w + 3 + rng.standard_normal(len(part))
    X.flush()
    np.save(path.with_suffix(".y.npy"), y)


def anonymous_bytes() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


class Peak:
    """The largest anonymous memory seen while the block ran."""

    def __enter__(self) -> "Peak":
        self.bytes, self.over = anonymous_bytes(), threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.watcher.start()
        return self

    def _watch(self) -> None:
        while not self.over.wait(0.005):
            self.bytes = max(self.bytes, anonymous_bytes())

    def __exit__(self, *_: Any) -> None:
        self.over.set()
        self.watcher.join()


def fit_mapped(path: Path) -> dict[str, Any]:
    import paring

    X, y = np.load(path, mmap_mode="r"), np.load(path.with_suffix(".y.npy"))
    with Peak() as peak:
        before, start = anonymous_bytes(), time.perf_counter()
        problem = paring.Problem(X, y, constraint=paring.constraints.TopK(K), fit_intercept=True)
        result = paring.solve(problem)
        seconds = time.perf_counter() - start
    return {
        "gigabytes": X.nbytes / 1e9,
        "shape": X.shape,
        "before_mb": before / 1e6,
        "peak_mb": peak.bytes / 1e6,
        "copied_bytes": result.copied_bytes,
        "seconds": seconds,
        "passes": result.n_passes,
        "certificate": result.certificate.statement,
    }


def small_fit() -> dict[str, float]:
    """Milliseconds of fit and of validate_data, medians of 200 alternating calls."""
    from sklearn.utils.validation import validate_data

    from paring import SparseRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 20))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(100)
    model = SparseRegressor()
    times: dict[str, list[float]] = {"fit": [], "validate": []}
    for _ in range(200):
        for name, call in (("fit", model.fit), ("validate", lambda X, y: validate_data(model, X, y))):
            start = time.perf_counter()
            call(X, y)
            times[name].append(1e3 * (time.perf_counter() - start))
    fit, validate = (statistics.median(times[name]) for name in ("fit", "validate"))
    return {"fit_ms": fit, "validate_ms": validate, "beyond_ms": fit - validate}


def import_seconds(repeats: int = 7) -> float:
    code = "import time; start = time.perf_counter(); import paring; print(time.perf_counter() - start)"
    call = [sys.executable, "-c", code]
    return statistics.median(
        float(subprocess.run(call, capture_output=True, text=True, check=True).stdout) for _ in range(repeats)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--folder", type=Path, help="where the design is written (default: a temporary folder)")
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.fit:
        print(json.dumps(fit_mapped(args.fit)))
        return
    found: dict[str, Any] = {"import_seconds": import_seconds(), "small_fit": small_fit()}
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / "design.npy"
        write_design(path, args.gigabytes)
        fit = subprocess.run([sys.executable, __file__, "--fit", path], capture_output=True, text=True, check=True)
        found["mapped"] = json.loads(fit.stdout)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
