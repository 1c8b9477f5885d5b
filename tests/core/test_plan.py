"""A plan's hash: every setting changes it."""

from dataclasses import fields

from tests.tables import over

import touchstone as ts
from touchstone.core.codec import content_hash, encode


@over("field", fields(ts.Plan), ids=lambda field: field.name)
def test_every_setting_changes_the_hash(field):
    other = "both" if isinstance(field.default, str) else field.default + 1
    changed = ts.Plan(**{field.name: other})
    assert content_hash(encode(changed)) != content_hash(encode(ts.Plan()))
