"""The dashboard in a real browser: what its address selects, what it says of an empty result, and its phone width."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tenax.coverage import report
from tenax.coverage.outcome import Outcome
from tenax.coverage.results import Results, Row

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = os.environ.get("TENAX_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        BROWSER is None, reason=f"no browser: none of {', '.join(NAMES)} is on the PATH, and TENAX_BROWSER is not set"
    ),
]

# A page of another page in a frame as wide as a phone; headless Chromium's own windows are at least 500 pixels wide.
PHONE = """<iframe src="{page}" width="390" height="900"></iframe><p id="width"></p><script>
onload = () => document.getElementById("width").textContent =
  document.querySelector("iframe").contentDocument.documentElement.scrollWidth;
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dashboard of a newer run, beside an older one."""
    runs = []
    for torch, letter in (("2.15.0", "p"), ("2.13.0", "f")):
        about = {"torch": torch, "jax": "0.10.2", "tenax": "0.1.0", "device": "jax", "date": "2026-01-01"}
        rows = {}
        for name in ("exp", "log"):
            outcome = Outcome(letter, "wrong" if letter == "f" else "")
            rows[f"op_db/{name}"] = Row("pointwise", "float32", [name], {("float32", "forward"): outcome})
        runs.append(report.Run(Results(about, rows), f"torch-{torch}.html"))
    path = tmp_path_factory.mktemp("dashboard") / "index.html"
    path.write_text(report.render(runs[0], runs[1:]), encoding="utf-8")
    return path


def shown(path: Path, address: str = "") -> str:
    """The document that the browser makes of a page, after its scripts have run."""
    assert BROWSER is not None
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files")
    command = [BROWSER, *options, "--virtual-time-budget=2000", "--dump-dom", f"{path.as_uri()}{address}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stderr
    return re.sub(r'<script type="application/json".*?</script>', "", done.stdout, flags=re.DOTALL)


def test_an_address_selects_the_tab_the_filters_and_the_opened_row(page: Path) -> None:
    document = shown(page, "#search=exp&row=op_db%2Fexp")
    assert 'data-tab="entries" aria-selected="true"' in document
    assert "1 entry: 1 of the 1 that ran pass" in document
    assert 'aria-expanded="true"' in document and "Overloads reached" in document
    assert 'data-tab="releases" aria-selected="true"' in shown(page, "#tab=releases")


def test_an_empty_result_says_which_filter_to_clear(page: Path) -> None:
    document = html.unescape(shown(page, "#search=zzz&family=pointwise"))
    assert "No entries match these filters." in document
    assert re.search(r"Clear search: “zzz”</button> shows 2", document)
    assert re.search(r"Clear family: pointwise</button> shows 0", document)


def test_two_runs_are_compared_from_the_older_to_the_newer(page: Path) -> None:
    document = shown(page, "#tab=compare")
    assert re.search(r"before: torch 2\.13\.0.*<br>after: torch 2\.15\.0", document)
    assert '<summary class="fixed"><b>2</b> fixed' in document
    assert '<summary class="none"><b>0</b> broken' in document


def test_a_compared_check_leads_to_the_page_of_the_newer_run(page: Path) -> None:
    assert 'href="#row=op_db%2Fexp"' in shown(page, "#tab=compare")
    assert 'href="torch-2.13.0.html#row=op_db%2Fexp"' in shown(page, "#tab=compare&before=0&after=1")


def test_the_heads_of_the_checks_stay_below_the_filters(page: Path) -> None:
    assert re.search(r'<section id="entries"[^>]* style="--heads: [1-9]\d*px;?"', shown(page))


@pytest.mark.parametrize("tab", ["entries", "compare", "releases", "charts"])
def test_a_phone_does_not_scroll_the_page_sideways(page: Path, tab: str) -> None:
    frame = page.with_name("phone.html")
    frame.write_text(PHONE.format(page=f"{page.name}#tab={tab}"))
    (width,) = re.findall(r'<p id="width">(\d+)</p>', shown(frame))
    assert int(width) <= 390
