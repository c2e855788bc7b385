"""One fitting process of an environment, its time limit, and the threads it may use."""

import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
START_SECONDS = 60  # allowed beside a fit's own limit: imports, reading the problem, finding C
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def python_of(folder: str) -> Path:
    """The interpreter of a virtual environment; the link itself, for resolved it would lose its packages."""
    return ROOT / folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pinned(threads: int) -> dict[str, str]:
    """Our environment with the same number of threads for every library, and float64 for JAX."""
    extra = dict.fromkeys(THREAD_VARIABLES, str(threads))
    return {**os.environ, **extra, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "ignore"}


class Worker:
    """Starts `worker.py` when first asked, again after a time limit or a crash; holds the problem in between."""

    def __init__(self, folder: str, threads: int) -> None:
        self.folder, self.threads = folder, threads
        self.process: subprocess.Popen[str] | None = None
        self.replies: queue.Queue[str] = queue.Queue()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [str(python_of(self.folder)), str(HERE / "worker.py"), str(self.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=pinned(self.threads),
        )
        self.replies = queue.Queue()
        threading.Thread(target=self._listen, args=(self.process.stdout, self.replies), daemon=True).start()

    @staticmethod
    def _listen(stream: Any, replies: "queue.Queue[str]") -> None:
        for line in stream:
            replies.put(line)
        replies.put("")  # the end: the process is gone

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer, or {"error": why there is none}; a process that is too late is ended."""
        if not python_of(self.folder).exists():
            return {"error": f"no environment {self.folder}: make bench creates it"}
        if self.process is None:
            self._start()
        assert self.process is not None and self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.replies.get(timeout=seconds + START_SECONDS)
        except queue.Empty:
            self.close()
            return {"error": f"more than {seconds:g} s", "limit": seconds}
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            self.process = None
            return {"error": f"the process ended with code {code}"}
        answer = json.loads(line)
        if answer.get("seconds", 0) > seconds:
            return {"error": f"more than {seconds:g} s", "limit": seconds}
        return answer

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
