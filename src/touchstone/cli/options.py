"""The flags that several commands take, each said once."""

from typing import Annotated

import typer

Map = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="THEIRS=OURS", help="Read column THEIRS as our field OURS; repeatable."),
]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a threshold; repeatable.")]
Rubric = Annotated[
    str | None,
    typer.Option("--rubric", metavar="FILE_OR_NAME", help="Grade by this rubric: a YAML file or a packaged name."),
]
Verifier = Annotated[
    str | None,
    typer.Option(
        "--verifier", metavar="DIRECTORY", help="Check each sentence against its sources with a model of yours."
    ),
]
Config = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="Read settings from FILE instead of touchstone.yaml.")
]
StorePlace = Annotated[
    str | None, typer.Option("--store", metavar="FILE_OR_URL", help="Where runs, reviews and people are kept.")
]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE; - is stdout.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Redact = Annotated[
    bool, typer.Option("--redact", help="Remove personal data from what is stored; replies are scored unchanged.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notices on stderr.")]
