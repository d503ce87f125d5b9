"""Report: the dashboard, a self-contained HTML file that needs no server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2

from .entries import CHECKS, SUITES
from .history import Total, matrix, total
from .libraries import libraries, models
from .outcome import LETTERS, Outcome
from .processes import passing, tests_of
from .results import Results, Row, changes, shared
from .schema import natives
from .summary import TITLES, percent, tally

# Letters from best to worst: the order of segments in a bar.
ORDER = "pnsfct"
# The overall status of an entry.
STANDINGS = {"p": "every check passes", "s": "not applicable", "f": "something fails"}


@dataclass(frozen=True)
class Bar:
    """One line of a chart: a label, the filter that a click on it sets, and counts by letter."""

    label: str
    filters: dict[str, str]
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def share(self) -> str:
        """The percentage of passing checks among those that ran."""
        ran = sum(n for letter, n in self.counts.items() if letter in "pfct")
        return percent(self.counts.get("p", 0), ran)

    def segments(self, width: float) -> list[tuple[str, float, float, int]]:
        """(letter, x, width, count), filling `width`."""
        placed, x = [], 0.0
        for letter in ORDER:
            if count := self.counts.get(letter, 0):
                extent = width * count / self.total
                placed.append((letter, round(x, 2), round(extent, 2), count))
                x += extent
        return placed


@dataclass(frozen=True)
class Run:
    """Results that the dashboard shows or compares with; `page` is the file of their own page, if they have one."""

    results: Results
    page: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        about = self.results.about
        return self.name or f"torch {about.get('torch', '')}{' ' + about['mode'] if 'mode' in about else ''}"


def render(shown: Run, others: Sequence[Run] = (), source: str = "", totals: Sequence[Total] = ()) -> str:
    """Render the page of one run.

    Args:
        shown: the run.
        others: further runs, which the page compares with this one and with each other.
        source: the URL prefix of links to specs and code; without it, they are plain text.
        totals: the recorded runs, for the matrix of releases.
    """
    about = shown.results.about
    release = about.get("torch", "")
    tests = tests_of(release)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tenax.coverage", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html.j2").render(
        about=about,
        cards=[_card(suite, list(rows.values())) for suite in SUITES if (rows := shown.results.suite(suite))],
        charts=_charts(shown.results),
        schema=_schema_bars(release),
        suites={suite: TITLES[suite].replace("`", "") for suite in SUITES},
        matrix=matrix(totals),
        pages={total(run.results).cell: run.page for run in (shown, *others) if run.page},
        here=total(shown.results).cell,
        tests=tests,
        passed=passing(tests),
        libraries=libraries(release),
        models=models(release),
        letters=LETTERS,
        data=_embedded(shown, others, source),
    )


def _differences(runs: Sequence[Run]) -> dict[str, Any]:
    """What `results.changes` finds between each two runs, and in how many checks of both it looked."""
    pairs = {}
    for i, before in enumerate(runs):
        for j, after in enumerate(runs):
            if i != j:
                found = changes(before.results, after.results)
                listed = {kind: [[c.key, c.dtype, c.check, c.why] for c in lines] for kind, lines in found.items()}
                pairs[f"{i} {j}"] = {"checks": shared(before.results, after.results), "changes": listed}
    names = [{"label": run.label, "page": run.page, "about": _about(run.results)} for run in runs]
    return {"runs": names, "pairs": pairs, "initial": _initial(runs)}


def _initial(runs: Sequence[Run]) -> list[str]:
    """The two runs that the page compares at first: the shown one and the next, the older release before the newer."""
    first = range(min(len(runs), 2))
    found = sorted(first, key=lambda i: (_release(runs[i].results), -i))
    return [str(found[0]), str(found[-1])]


def _release(results: Results) -> list[int]:
    return [int(part) for part in results.about.get("torch", "").split(".") if part.isdigit()]


def _about(results: Results) -> str:
    about = results.about
    scope = f", reduced: {about['scope']}" if about.get("scope") else ""
    return f"torch {about.get('torch')}, jax {about.get('jax')}, tenax {about.get('tenax')}, {about.get('date')}{scope}"


def _card(suite: str, rows: list[Row]) -> dict[str, Any]:
    passed, checks = tally(rows)
    full, of = sum(r.passes() for r in rows), sum(r.is_applicable() for r in rows)
    return {
        "suite": suite,
        "title": TITLES[suite].replace("`", ""),
        "applicable": of,
        "full": full,
        "share": percent(full, of),
        "fraction": full / max(of, 1),
        "checks": percent(passed, checks),
    }


def _charts(results: Results) -> dict[str, list[Bar]]:
    """The charts by title."""
    rows = results.rows
    families = sorted({row.family for row in rows.values()})
    checks = list(dict.fromkeys(check for checks in CHECKS.values() for check in checks))
    cells = [(d, c, o, rows[k]) for k, d, c, o in results.triples()]
    dtypes = Counter(dtype for row in rows.values() for dtype in row.dtypes)
    return {
        "Families, by entry in its primary dtype": [
            Bar(f, {"family": f}, Counter(_standing(r) for r in rows.values() if r.family == f)) for f in families
        ],
        "Checks, in the primary dtype of each entry": [
            bar
            for c in checks
            if (bar := _bar(c, {"check": c}, (o for d, k, o, r in cells if k == c and d == r.primary))).total
        ],
        "Dtypes, over all checks": [
            _bar(d, {"dtype": d}, (o for dtype, _, o, _ in cells if dtype == d)) for d, _ in dtypes.most_common()
        ],
    }


def _bar(label: str, filters: dict[str, str], outcomes: Iterable[Outcome]) -> Bar:
    """Count the outcomes, except of checks that do not apply, because they do not depend on the device."""
    return Bar(label, filters, Counter(o.letter for o in outcomes if o.letter != "n"))


def _standing(row: Row) -> str:
    if row.passes():
        return "p"
    return "f" if any(o.letter in "fct" for o in row.checks(row.primary).values()) else "s"


def _schema_bars(release: str) -> list[Bar]:
    """Native functions by status; the colour of a status is that of the outcome it resembles."""
    colours = {"lowered": "p", "derived": "p", "composite": "n", "decomposed": "n", "unsupported": "s", "missing": "f"}
    counts = Counter(native.status for native in natives(release))
    return [
        Bar(status, {"status": status}, {letter: counts[status]})
        for status, letter in colours.items()
        if counts[status]
    ]


def _embedded(shown: Run, others: Sequence[Run], source: str) -> str:
    """The data for the script of the page, as JSON that is safe inside a script element."""
    results = shown.results
    modes = _modes(results, [run.results for run in others])
    reached = {op for row in results.rows.values() for op in row.ops}
    data = {
        "suites": {suite: CHECKS[suite] for suite in SUITES},
        "letters": LETTERS,
        "standings": STANDINGS,
        "source": source,
        "rows": [_row(key, row, modes) for key, row in results.rows.items()],
        "modes": {mode: _about(other) for mode, other in modes.items()},
        "compare": _differences((shown, *others)),
        "natives": [[n.name, n.status, n.reason, n.spec, n.code] for n in natives(results.about.get("torch"))],
        "reached": sorted(reached),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("\u2028", " ").replace("\u2029", " ")


def _modes(results: Results, others: Sequence[Results]) -> dict[str, Results]:
    """The runs of other modes with the same release of torch: lazy mode, another platform or a target. A run that has a
    mode itself is shown alone."""
    release = results.about.get("torch")
    found = [] if "mode" in results.about else [o for o in others if o.about.get("torch") == release]
    words = {o.about["mode"]: o for o in found if "mode" in o.about}
    return {mode.rpartition(" for ")[2].rpartition(" on ")[2]: other for mode, other in words.items()}


def _worst(row: Row | None) -> list[str]:
    """The worst letter of the checks of a row that ran, and what each check gave."""
    outcomes = row.outcomes if row else {}
    letter = max((o.letter for o in outcomes.values()), key="-nsptfc".index, default="-")
    said = [f"{check}: {o.why or LETTERS[o.letter]}" for (_, check), o in outcomes.items()]
    return [letter, "; ".join(said)]


def _row(key: str, row: Row, modes: dict[str, Results]) -> dict[str, Any]:
    suite, _, name = key.partition("/")
    checks = CHECKS[suite]
    return {
        "suite": suite,
        "name": name,
        "family": row.family,
        "primary": row.primary,
        "standing": _standing(row),
        "ops": row.ops,
        "dtypes": {d: "".join(row.get(d, c).letter for c in checks) for d in row.dtypes},
        "why": {f"{d} {c}": row.get(d, c).why for d in row.dtypes for c in checks if row.get(d, c).why},
        "modes": {mode: _worst(other.rows.get(key)) for mode, other in modes.items()},
    }
