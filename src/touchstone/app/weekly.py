"""The weekly report in every format it is exported in."""

import json
from collections.abc import Callable, Mapping

from touchstone.report.weekly import WeeklyView, render_weekly_html, weekly_to_csv, weekly_to_dict


def _json(view: WeeklyView) -> str:
    return json.dumps(weekly_to_dict(view.report), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _jsonl(view: WeeklyView) -> str:
    return json.dumps(weekly_to_dict(view.report), ensure_ascii=False, allow_nan=False) + "\n"


WEEKLY_RENDERERS: Mapping[str, Callable[[WeeklyView], str]] = {
    "html": render_weekly_html,
    "csv": weekly_to_csv,
    "json": _json,
    "jsonl": _jsonl,
}
