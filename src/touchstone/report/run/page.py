"""A template and values -> one page that needs nothing else: style and script are inside, nothing may be fetched."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any

from touchstone.report.figures import count, sentence

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(template: str, **values: Any) -> str:
    """The page; whatever is no `Markup` is escaped, and a name the template does not find is an error."""
    from markupsafe import Markup

    style, script = _packaged("page.css"), _packaged("page.js")
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            **values,
        )
    )


def _policy(style: str, script: str) -> str:
    """Nothing but the page's own style and script, known by their hashes: text in the page can never become either."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


@cache
def _packaged(name: str) -> str:
    return resources.files("touchstone.report.run").joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_packaged),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["first_up"] = _first_up
    environment.filters["sentence"] = sentence
    environment.globals["count"] = count
    return environment


def _first_up(text: str) -> str:
    """The text with a capital first, the rest as it is."""
    return text[:1].upper() + text[1:]
