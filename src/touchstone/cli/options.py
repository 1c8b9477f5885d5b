"""The flags that several commands take, each said once."""

from typing import Annotated

import typer

Map = Annotated[
    list[str] | None, typer.Option("--map", metavar="THEIRS=OURS", help="Take a column for a field; repeatable.")
]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a threshold; repeatable.")]
Rubric = Annotated[
    str | None,
    typer.Option("--rubric", metavar="FILE_OR_NAME", help="Grade by this rubric: a YAML file or a packaged name."),
]
Verifier = Annotated[
    str | None,
    typer.Option(
        "--verifier", metavar="DIRECTORY", help="Have a model of yours read each sentence beside its sources."
    ),
]
Config = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="Settings, instead of touchstone.yaml here.")
]
StorePlace = Annotated[
    str | None, typer.Option("--store", metavar="FILE_OR_URL", help="Where runs, reviews and people are kept.")
]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write it there; - is stdout.")]
AsJson = Annotated[bool, typer.Option("--json", help="Give it as JSON.")]
Redact = Annotated[
    bool, typer.Option("--redact", help="Take personal data out of what is stored; replies are scored as they are.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notices on stderr.")]
