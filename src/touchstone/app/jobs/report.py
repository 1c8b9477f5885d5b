"""The directory of a job -> its report: summary, patterns, partitions and most telling replies, from its excerpts."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from touchstone.app.agreement import shipped_standing
from touchstone.app.jobs.job import rubric_of
from touchstone.app.jobs.run import SUMMARY, read_excerpts, summarise
from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict, content_hash, result_from_dict
from touchstone.core.errors import InputError
from touchstone.core.result import Result
from touchstone.io.locations import Location, is_url, locate
from touchstone.io.shards import MANIFEST, Manifest, read_manifest
from touchstone.report.job import JobSummary, JobView, render_job_html, summary_to_dict
from touchstone.report.markdown import render_markdown
from touchstone.report.run import RunReport
from touchstone.rubric.model import Rubric
from touchstone.runs.excerpt import Excerpt, choose_examples
from touchstone.runs.run import Receipt, Run

REPORT = "report.html"
JOB_RENDERERS: Mapping[str, Callable[[JobView], str]] = {
    "html": render_job_html,
    "md": lambda view: render_markdown(view.run),
}


class OpenedJob:
    """A job that has been read: what it came to, and the view of its report."""

    def __init__(self, directory: Location, manifest: Manifest) -> None:
        self.directory = directory
        self._manifest = manifest
        self._rubric = rubric_of(manifest)
        self._telling = read_excerpts(manifest, directory)
        self.summary: JobSummary = summarise(manifest, self._telling, rubric=self._rubric)

    def view(self) -> JobView:
        """Everything its report shows."""
        often = {pattern.name: pattern.count for pattern in self.summary.patterns}
        best, worst = _examples(self._telling, often)
        name = self.directory.name.rstrip("/")
        receipt = _receipt(name, self._manifest, self._rubric)
        finished = None if "pending" in self._manifest.states else ""
        run = RunReport(
            Run(id=name, started="", receipt=receipt, finished=finished, kind="production"),
            self.summary.summary,
            self.summary.patterns,
            judge=shipped_standing(receipt),
            records=self._telling.rows,
            best=best,
            worst=worst,
        )
        return JobView(run, inputs=len(self._manifest.sources), summary=self.summary)

    def as_json(self) -> str:
        """What `summary.json` holds."""
        return json.dumps(summary_to_dict(self.summary), ensure_ascii=False, indent=1)

    def write(self, text: str) -> str:
        """Put the page beside the shards; the name it has there."""
        place = self.directory.child(REPORT)
        try:
            place.write(text.encode("utf-8", "replace"))
        except OSError as error:
            problem = error.strerror or type(error).__name__
            raise InputError(f"{place.name} cannot be written ({problem}): name another place with -o") from error
        return place.name


def is_job(name: str) -> bool:
    """Whether a name leads to the directory of a job, or to a file of the job in it."""
    if is_url(name):
        return True
    return (_folder(name) / MANIFEST).is_file()


def open_finished(name: str) -> OpenedJob:
    """The job in a directory, as far as it has come; InputError when there is none."""
    directory = locate(name if is_url(name) else str(_folder(name)))
    manifest = read_manifest(directory)
    if manifest is None:
        raise InputError(f"{directory.name} holds no {MANIFEST}: name the directory that `touchstone score -o` wrote")
    if not manifest.shards:
        raise InputError(f"the job in {directory.name} has written no shard yet: run it first")
    return OpenedJob(directory, manifest)


def _folder(name: str) -> Path:
    path = Path(name)
    return path.parent if path.name in (MANIFEST, SUMMARY, REPORT) and path.is_file() else path


def _receipt(name: str, manifest: Manifest, rubric: Rubric) -> Receipt:
    plan = manifest.plan
    return Receipt(
        goldset=name,
        data=content_hash([source.digest for source in manifest.sources]),
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_hash=plan["rubric"].rpartition(" ")[2],
        plan=content_hash(plan["thresholds"]),
        policy=plan["policy"],
        judge=plan["judge"],
        code=plan["touchstone"],
        parser=plan["parser"],
        redacted=plan.get("redact", False),
    )


Replies = list[tuple[Case, Result]]


def _examples(telling: Excerpt, often: Mapping[str, int]) -> tuple[Replies, Replies]:
    """The best and the worst replies in full."""
    by_key = {(each.record.id, each.record.draft): each.content for each in reversed(telling.examples)}
    best, worst = choose_examples([each.record for each in telling.examples], frequency=often)
    return [_read(by_key[key]) for key in best], [_read(by_key[key]) for key in worst]


def _read(content: str) -> tuple[Case, Result]:
    case, result = json.loads(content)
    return case_from_dict(case), result_from_dict(result)
