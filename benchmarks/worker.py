"""One process that fits: reads requests (a JSON object a line) from standard input, answers each with one JSON line.

Started by run.py as `python worker.py THREADS` in the environment of one solver, with the thread variables set alike
for all; where there are more cores it also keeps itself to THREADS of them, for libraries that ignore the variables.
A request names a problem's folder, a rival (and its module: rivals.py, or what the request says), k and the problem's
terms; the answer holds the seconds of the fit alone,
and the processor's, all threads together.
"""

import gc
import importlib
import json
import os
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import exchange
import numpy as np
import scipy.sparse as sp


def _tiny(loss: str, like):
    """A problem to warm up on, stored like the real one: imports and thread pools, not compilation for other shapes."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((80, 30)))
    scores = X[:, 0] - X[:, 1]
    y = scores if loss == "squared" else np.where(scores + rng.standard_normal(80) > 0, 1.0, -1.0)
    y = np.arange(80.0) % 3 if loss == "multinomial" else y
    return (sp.csr_matrix(X).asformat(like.format) if sp.issparse(like) else X), y


class Server:
    def __init__(self) -> None:
        self.folder, self.problem = None, None

    def load(self, folder: str):
        if folder != self.folder:
            self.folder, self.problem = folder, exchange.read_problem(Path(folder))
        return self.problem

    def versions(self, names: list[str]) -> dict[str, str]:
        found = {}
        for name in names:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "not installed"
        return found

    def fit(self, request: dict) -> dict:
        module = importlib.import_module(request.get("module", "rivals"))
        rival, loss = module.RIVALS[request["rival"]], request["loss"]
        X, y = self.load(request["problem"])
        if request.get("warm"):
            X, y = _tiny(loss, X)
        k = request["k"]
        terms = {"fit_intercept": request["fit_intercept"], **rival.options, **request.get("options", {})}
        if rival.prepare is not None:
            terms |= rival.prepare(X, y, k, loss, request["ridge"], **terms)
        gc.collect()
        start, busy = time.perf_counter(), time.process_time()
        fits = rival.fit(X, y, k, loss, request["ridge"], **terms)
        seconds, cpu = time.perf_counter() - start, time.process_time() - busy
        if "out" in request:
            exchange.write_fits(Path(request["out"]), fits)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"seconds": seconds, "cpu": cpu, "peak_mb": peak}

    def answer(self, request: dict) -> dict:
        try:
            return {"versions": self.versions(request["versions"])} if "versions" in request else self.fit(request)
        except Exception as error:  # a rival that fails is a row of the table, not the end of the run
            return {
                "error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            }


def main() -> None:
    threads = int(sys.argv[1])
    if hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes to standard error, away from the replies
    server = Server()
    for line in sys.stdin:
        replies.write(json.dumps(server.answer(json.loads(line))) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
