"""What a template reads counts as used."""

from scripts.unused import template_names


def test_every_attribute_that_a_template_reads_or_calls_is_found(tmp_path):
    (tmp_path / "templates").mkdir()
    page = "{% set n = table.number_of(case) %}{{ chart.bar(line.mean)|round }} plain.text {# note.no #}"
    (tmp_path / "templates" / "page.html").write_text(page)
    assert template_names(tmp_path) == {"number_of", "bar", "mean"}
