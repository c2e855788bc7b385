"""One command: the papers' tables and figures by our solvers, with a page that says what is borne out.

    python -m benchmarks.papers [--figure NAME ...] [--quick] [--tune] [--redraw] [--list]

Each figure is a file of ``figures/``: the paper's claim, the problem, the solvers with the paper's settings, what is
drawn, and which statements are checked. Results: a JSON file and a picture each, and one page, in
``benchmarks/results/papers``. Seeds are fixed. Real data are read from the folder PARING_DATA.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.papers import page
from benchmarks.papers.figures import FIGURES
from benchmarks.papers.outcome import Context, Outcome, Unavailable
from benchmarks.papers.tuning import Book, Guesses

RESULTS = Path(__file__).resolve().parents[1] / "results" / "papers"


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--figure", nargs="+", metavar="NAME", choices=list(FIGURES), help="only these")
    parser.add_argument("--quick", action="store_true", help="tiny problems: a check that all of it works")
    parser.add_argument("--tune", action="store_true", help="find the steps again, instead of reading steps.json")
    parser.add_argument(
        "--redraw", action="store_true", help="pictures and page again, from the results that are there"
    )
    parser.add_argument("--list", action="store_true", help="name the figures and end")
    parser.add_argument("--out", type=Path, help="where results go (default: benchmarks/results/papers)")
    parser.add_argument("--note", default="", help="a sentence for the page: what else the machine was doing, say")
    args = parser.parse_args(argv)
    if args.quick and args.out is None:
        parser.error("--quick needs --out: its numbers are not to lie among the real ones")
    return args


def main(argv: list[str] | None = None) -> None:
    args = arguments(argv)
    if args.list:
        for figure in FIGURES.values():
            print(f"{figure.name:24} {figure.source}: {figure.title}")
        return
    folder = args.out or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    if args.redraw:
        page.redraw(folder, list(FIGURES))
        page.write(folder, list(FIGURES))
        return
    about = page.machine(args.note)
    book = Guesses() if args.quick else Book.read(again=args.tune)
    context = Context(book, args.quick, lambda line: print(line, file=sys.stderr, flush=True))

    for name in args.figure or FIGURES:
        figure, begin = FIGURES[name], time.perf_counter()
        context.say(name)
        try:
            outcome: Outcome | str = figure.run(context)
        except Unavailable as reason:
            outcome = str(reason)
        page.save(folder, figure, outcome, time.perf_counter() - begin, about)
        page.write(folder, list(FIGURES))  # after every figure: an interruption loses none
    print(folder / "README.md")


if __name__ == "__main__":
    main()
