"""The charts of the site show the tables of docs/benchmarks.md."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ET
from types import ModuleType

import pytest

from tests.helpers.documentation import ROOT

PAGE = (ROOT / "docs/benchmarks.md").read_text()
TABLE = "<!-- lazy -->\n| model | lazy / jit |\n| --- | --- |\n| MLP | 2.38 |\n| GPT | 0.5 |\n<!-- /lazy -->\n"


@pytest.fixture(scope="module")
def charts() -> ModuleType:
    spec = importlib.util.spec_from_file_location("charts", ROOT / "docs/charts.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_chart_has_a_table_with_its_columns(charts: ModuleType) -> None:
    for name, (labels, column, _) in charts.CHARTS.items():
        (table,) = re.findall(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", PAGE, re.DOTALL)
        bars = charts.read(name, table, labels, column)
        assert bars and all(label and value > 0 for label, value in bars), name
    assert charts.with_charts(PAGE).count("<svg") == len(charts.CHARTS)


def test_the_chart_of_the_first_steps_is_that_of_the_table(charts: ModuleType) -> None:
    models = charts.first_steps(PAGE)
    assert all(
        {1, 10, 100} <= models[name][mode].keys() for name in charts.MODELS for mode in ("tenax.jit", "CPU torch")
    )
    drawn = charts.steps_svg(PAGE)
    assert (ROOT / "docs/images/steps.svg").read_text() == drawn, "python docs/charts.py"
    lines = [e for e in ET.fromstring(drawn).iter() if e.tag.endswith("polyline")]
    points = sum(len(steps) for modes in models.values() for mode, steps in modes.items() if mode in charts.COLOURS)
    assert sum(len(line.attrib["points"].split()) for line in lines) == points


def test_a_bar_is_as_long_as_its_ratio(charts: ModuleType) -> None:
    page = charts.with_charts(TABLE)
    (figure,) = re.findall(r"<figure.*</figure>", page)
    bars = [float(bar.attrib["width"]) for bar in ET.fromstring(figure).iter("rect")]
    assert round(bars[0] / bars[1], 1) == round(2.38 / 0.5, 1)
    assert page.startswith(TABLE.rstrip())


def test_a_column_that_a_table_lost_is_named(charts: ModuleType) -> None:
    with pytest.raises(ValueError, match="lazy: no column lazy / jit; expected some of model, lazy"):
        charts.with_charts(TABLE.replace("lazy / jit", "lazy"))
