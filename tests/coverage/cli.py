"""The command `tenax coverage`: run torch's test databases on the device and show the results."""

from __future__ import annotations

import datetime
import fnmatch
import functools
import importlib.metadata
import importlib.util
import os
import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from . import results as files
from .journal import Journal, Record
from .outcome import LETTERS
from .results import Results

app = typer.Typer(
    help="Run torch's own test databases on the device and compare with CPU torch.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()

BUILD = Path("build") / "coverage"
SECONDS_PER_CHECK = 120.0


@app.callback()
def require_databases(context: typer.Context) -> None:
    if context.invoked_subcommand in ("run", "fuzz", "ulp") and importlib.util.find_spec("expecttest") is None:
        raise typer.BadParameter("torch's test databases need expecttest, which pip install 'tenax[test]' brings")


Only = Annotated[str | None, typer.Option(help="Entries to run: names or shell patterns, separated by commas.")]
Suites = Annotated[str | None, typer.Option(help="Databases, separated by commas; by default all.")]
File = Annotated[
    Path | None, typer.Argument(exists=True, help="Results file; by default the committed results of all releases.")
]


@app.command()
def run(
    only: Only = None,
    suites: Suites = None,
    dtypes: Annotated[
        str, typer.Option(help="float32 (the primary dtype of each entry), all, or dtypes separated by commas.")
    ] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="Run only the samples of `make test`.")] = False,
    samples: Annotated[int | None, typer.Option(help="Maximum samples per check.")] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.")] = os.cpu_count() or 1,
    timeout: Annotated[float, typer.Option(help="Maximum seconds per check.")] = SECONDS_PER_CHECK,
    device: Annotated[
        str, typer.Option(help="Torch device to test, or a target, such as 'TPU v5e', for which programs are compiled.")
    ] = "jax",
    lazy: Annotated[bool, typer.Option("--lazy", help="Run in lazy mode.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    out: Annotated[Path | None, typer.Option(help="Results file to write or add to.")] = None,
) -> None:
    """Run the checks; exit 1 if one fails. A complete run updates the committed results; others write to build/."""
    from .entries import DTYPES, SUITES, dtype_name, select
    from .plan import collect, cost, plan
    from .runner import Pool, remaining
    from .targets import is_target
    from .worker import main

    _refuse_unknown("--suites", suites, SUITES)
    _refuse_unknown("--dtypes", dtypes, ("all", *map(dtype_name, DTYPES)))
    chosen = select(tuple(suites.split(",")) if suites else SUITES, only)
    if not chosen:
        raise typer.BadParameter(
            f"no entry matches {only!r}; expected a name from torch's databases, such as --only 'add,nn.*'"
        )
    units = plan(chosen, dtypes, quick=quick, compiled=is_target(device), samples=samples)
    if not units:
        raise typer.BadParameter(f"none of the {len(chosen)} entries has the dtype {dtypes}", param_hint="--dtypes")
    if lazy and device.partition(":")[0] != "jax":
        raise typer.BadParameter(f"device {device!r} has no lazy mode", param_hint="--lazy")
    scope = describe_scope(only, suites, dtypes, quick, samples)
    about = describe(device) | mode_of(device, lazy) | ({"scope": scope} if scope else {})
    settings = {
        **about,
        "only": only or "",
        "suites": suites or "",
        "dtypes": dtypes,
        "quick": str(quick),
        "samples": str(samples),
    }
    settings.pop("date")
    journal = Journal(BUILD / "journal.jsonl", settings, resume=resume)
    left = list(remaining(units, journal.done()))
    with _progress() as progress:
        bar = progress.add_task(
            "checks", total=sum(map(cost, units)), units=len(units), finished=len(units) - len(left), bad=0, eta=""
        )
        progress.advance(bar, sum(map(cost, units)) - sum(map(cost, left)))
        tally: Counter[str] = Counter(o.letter for r in journal.records for o in r.outcomes.values())
        clock = Clock(sum(map(cost, left)))

        def report(record: Record) -> None:
            tally.update(o.letter for o in record.outcomes.values())
            eta = clock.tick(cost(record.unit))
            bad = sum(tally[letter] for letter in "fct")
            done = len({(r.unit.key, r.unit.dtype) for r in journal.records})
            progress.update(
                bar, advance=cost(record.unit), finished=done, bad=bad, eta=eta, description=record.unit.key
            )

        Pool(device, jobs, timeout, BUILD, report, functools.partial(main, lazy=lazy)).run(left, journal)
    journal.close()
    found = collect(about, chosen, ((r.unit, r.outcomes, r.ops) for r in journal.records))
    everything = not scope and "mode" not in about and device == "jax"
    path = out or (files.committed(about["torch"]) if everything else BUILD / "last.json")
    if path.exists() and not everything and out:
        whole = files.load(path)
        whole.merge(found)
        whole.save(path)
    else:
        found.save(path)
    console.print(totals(found), *complete(found), sep="\n", highlight=False)
    for line in failures(found)[:40]:
        console.print(line, style="red", highlight=False, markup=False, soft_wrap=True)
    console.print(f"written to {path}; see `tenax coverage report {path}`", highlight=False)
    raise typer.Exit(1 if any(outcome.bad for _, _, _, outcome in found.triples()) else 0)


@app.command()
def fuzz(
    minutes: Annotated[float, typer.Option(help="Duration in minutes.")] = 10.0,
    seed: Annotated[int, typer.Option(help="Random seed; equal seeds generate equal cases.")] = 0,
    only: Only = None,
    cases: Annotated[int, typer.Option(help="Cases per entry and round.")] = 4,
    jobs: Annotated[int, typer.Option(help="Number of processes.")] = os.cpu_count() or 1,
    device: Annotated[str, typer.Option(help="Torch device to test.")] = "jax",
) -> None:
    """Compare with CPU torch on samples with random strides, sizes, values and arguments. Exit 1 on any difference."""
    import random
    import time

    from .entries import dtype_name, select
    from .excuses import unrepresentable
    from .runner import Pool
    from .worker import Unit

    entries = select(("op_db",), only)
    journal = Journal(BUILD / "fuzz.jsonl", {}, resume=False)
    end = time.monotonic() + 60 * minutes

    def tell(record: Record) -> None:
        for check, outcome in record.outcomes.items():
            if outcome.bad:
                line = f"{record.unit.key} {record.unit.dtype} {check}: {outcome.why}"
                console.print(line, style="red", highlight=False, markup=False, soft_wrap=True)

    while time.monotonic() < end:
        rng = random.Random(seed)
        units = []
        for entry in rng.sample(entries, len(entries)):
            if dtypes := [d for d in entry.dtypes() if entry.on_cpu(d) and not unrepresentable(d)]:
                units.append(Unit(entry.key, dtype_name(rng.choice(dtypes)), ((f"fuzz {seed}", cases),)))
        Pool(device, jobs, SECONDS_PER_CHECK, BUILD, tell).run(units, journal, until=end)
        seed += 1
    journal.close()
    found = Counter(o.letter for r in journal.records for o in r.outcomes.values())
    console.print(f"{len(journal.records) * cases} cases of {len(entries)} entries; {dict(found)}; next seed {seed}")
    raise typer.Exit(1 if sum(found[letter] for letter in "fct") else 0)


@app.command()
def mutate(
    minutes: Annotated[float, typer.Option(help="Duration in minutes.")] = 10.0,
    seed: Annotated[int, typer.Option(help="Random seed; equal seeds generate equal programs.")] = 0,
    modes: Annotated[
        str,
        typer.Option(
            help="all, or modes separated by commas: eager, known (eager calls that were made before), lazy, jit, t2j, "
            "compile, stateful (training programs in tenax.jit), and chain (compositions of operators in tenax.jit)."
        ),
    ] = "all",
) -> None:
    """Run random programs of views, in-place operators, lists and state; print those that differ from CPU torch."""
    from .mutation_modes import MODES
    from .mutation_search import search

    _refuse_unknown("--modes", modes, (*MODES, "all"))
    console.print(f"seed {seed}")
    total, differ, refused = Counter[str](), Counter[str](), Counter[str]()
    for outcome in search(seed, MODES if modes == "all" else modes.split(","), minutes * 60, isolated=True):
        total[outcome.mode] += 1
        refused[outcome.mode] += bool(outcome.refused)
        if outcome.difference:
            differ[outcome.mode] += 1
            console.print(str(outcome), markup=False, highlight=False, soft_wrap=True, end="\n\n")
    for mode, count in total.items():
        share = f"{refused[mode] / count:.1%} refused"
        console.print(f"{mode}: {count} programs, {differ[mode]} differ, {share}", highlight=False)
    raise typer.Exit(1 if differ.total() else 0)


@app.command()
def report(
    path: File = None,
    against: Annotated[Path | None, typer.Option(exists=True, help="Earlier results to compare with.")] = None,
    out: Annotated[Path, typer.Option(help="Output HTML file.")] = BUILD / "index.html",
    source: Annotated[
        str | None, typer.Option(help="URL prefix of links to specs and code; by default the public repository's.")
    ] = None,
) -> None:
    """Write the dashboard: one self-contained HTML file for each run, which also compares it with the others."""
    from . import history
    from .report import Run, render
    from .source import public_tree

    out.parent.mkdir(parents=True, exist_ok=True)
    shown = [files.load(path)] if path else [*chosen(None), *map(files.load, files.others())]
    names = [f"{one.about.get('mode', 'torch')}-{one.about['torch']}.html".replace(" ", "-") for one in shown[1:]]
    runs = [Run(one, name) for one, name in zip(shown, [out.name, *names], strict=True)]
    earlier = [Run(files.load(against), name=against.name)] if against else []
    tree = public_tree() if source is None else source
    for run in runs:
        others = [other for other in runs if other is not run]
        page = render(run, [*earlier, *others], tree, history.read())
        out.with_name(run.page).write_text(page, encoding="utf-8")
    console.print(f"written to {out}", highlight=False, soft_wrap=True)


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(exists=True, help="Results file of the earlier run.")],
    after: Annotated[Path, typer.Argument(exists=True, help="Results file of the later run.")],
) -> None:
    """List the differences between two runs; exit 1 if a check fails that did not fail before."""
    changes = files.changes(files.load(before), files.load(after))
    for kind, lines in changes.items():
        console.print(f"{kind}: {len(lines)}", style="bold")
        for line in lines:
            console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(1 if any(changes[kind] for kind in files.FAILURES) else 0)


@app.command()
def summary(
    path: File = None,
    page: Annotated[Path, typer.Option(help="Markdown file with the markers.")] = Path("docs/coverage.md"),
    write: Annotated[bool, typer.Option("--write", help="Write the table between the markers of the file.")] = False,
) -> None:
    """Print the table of totals as Markdown, or write it to docs/coverage.md and record it for the trends."""
    from . import history
    from .summary import markdown, replace_marked

    text = markdown(*chosen(path), *([] if path else map(files.load, files.others())))
    if write and not path:
        history.record(map(files.load, [*files.releases(), *files.others()]))
    if write:
        page.write_text(replace_marked(page.read_text(encoding="utf-8"), text), encoding="utf-8")
    else:
        typer.echo(text)


@app.command()
def schema(
    status: Annotated[str | None, typer.Option(help="List the overloads with this status.")] = None,
    only: Annotated[str | None, typer.Option(help="Shell pattern for overload names.")] = None,
    torch: Annotated[
        str | None, typer.Option(help="List the changes of a release such as 2.15.0, or of a wheel.")
    ] = None,
    against: Annotated[
        str, typer.Option(help="With --torch: the release to compare with, or `installed`.")
    ] = "installed",
) -> None:
    """Show the status of every native function, or the changes of a torch release with the required actions."""
    from tenax.codegen.release import ReleaseError

    from .schema import change_table, compared, statuses, table

    if torch:
        try:
            changed = compared(torch, against)
        except ReleaseError as error:
            raise typer.BadParameter(str(error)) from None
        changed = [c for c in changed if not only or fnmatch.fnmatchcase(c.name, only)]
        console.print(change_table(changed))
        counts = Counter(c.kind for c in changed)
        said = ", ".join(f"{counts[kind]} {kind}" for kind in ("added", "changed", "removed"))
        console.print(f"{said} since {against}; {sum(c.to_do for c in changed)} to do", highlight=False)
        return
    found = statuses(only)
    console.print(table(found))
    for row in found:
        if status == row.status or (only and not status):
            console.print(f"{row.status:12} {row.name:50} {row.reason}", highlight=False, markup=False, soft_wrap=True)


@app.command()
def ulp(
    only: Annotated[
        str | None, typer.Option(help="Functions to measure: names or shell patterns, separated by commas.")
    ] = None,
    points: Annotated[
        int, typer.Option(help="Points per function; a quarter as many for functions with an mpmath reference.")
    ] = 4096,
    page: Annotated[Path, typer.Option(help="Markdown file with the markers.")] = Path("docs/numerics.md"),
    write: Annotated[bool, typer.Option("--write", help="Write the exceptions between the file's markers.")] = False,
) -> None:
    """Measure errors of pointwise and special functions in units in the last place, next to those of CPU torch.

    Each cell of the table shows the largest error of the device / of CPU torch, with the 99.9th percentile in brackets.
    """
    from . import numerics
    from .digits import EXACT
    from .summary import replace_marked
    from .ulp import dtypes, functions, limits, measure

    patterns = only.split(",") if only else ["*"]
    measured = {}
    for function in functions().values():
        if any(fnmatch.fnmatchcase(function.name, pattern) for pattern in patterns):
            count = points // 4 if function.name in EXACT else points
            rows = measured[function] = [measure(function, dtype, "jax", count) for dtype in dtypes(function)]
            for row in rows:
                if not row.allowed(limits(function)):
                    console.print(f"{row.name} {row.dtype}: {row.device}; CPU torch {row.cpu}", style="red")
    exceptions = numerics.exceptions(measured)
    typer.echo(f"{numerics.table(measured)}\n\n{exceptions}")
    if write:
        found = replace_marked(page.read_text(encoding="utf-8"), exceptions, numerics.BEGIN, numerics.END)
        page.write_text(found, encoding="utf-8")


def _refuse_unknown(option: str, given: str | None, known: Sequence[str]) -> None:
    """Refuse names of an option that nothing has."""
    for name in given.split(",") if given else ():
        if name not in known:
            raise typer.BadParameter(f"{name!r}; expected some of {', '.join(known)}", param_hint=option)


class Clock:
    """Estimates the remaining time from the work done since this run started, excluding work done before a resume."""

    def __init__(self, total: float) -> None:
        self.total, self.done = total, 0.0
        self.start = datetime.datetime.now(datetime.UTC)

    def tick(self, work: float) -> str:
        self.done += work
        elapsed = (datetime.datetime.now(datetime.UTC) - self.start).total_seconds()
        # At first, processes are still starting, and the estimate would be wrong.
        if self.done < 0.01 * self.total:
            return "…"
        left = elapsed * max(self.total - self.done, 0.0) / self.done
        return f"{left / 60:.0f} min" if left > 90 else f"{left:.0f} s"


def describe(device: str) -> dict[str, str]:
    """The description of a run, which its results file contains."""

    def version(package: str) -> str:
        try:
            return importlib.metadata.version(package).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            return "not installed"

    return {
        "torch": version("torch"),
        "jax": version("jax"),
        "tenax": version("tenax"),
        "device": device,
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def mode_of(device: str, lazy: bool) -> dict[str, str]:
    """What distinguishes a run from one in eager mode on a CPU; nothing for such a run."""
    from .targets import is_target
    from .worker import environment

    mode = f"compiled for {device}" if is_target(device) else "lazy" if lazy else "eager"
    if device.partition(":")[0] == "jax" and environment()["JAX_PLATFORMS"] != "cpu":
        os.environ |= {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # the workers need the memory
        import jax

        kinds = {d.device_kind for d in jax.local_devices() if d.platform != "cpu"}
        mode += "".join(f" on {kind}" for kind in sorted(kinds))
    return {} if mode == "eager" else {"mode": mode}


def describe_scope(only: str | None, suites: str | None, dtypes: str, quick: bool, samples: int | None) -> str:
    """What a reduced run left out, in words; empty for a run of everything."""
    parts = [
        "the quick tier" if quick else "",
        "primary dtypes only" if dtypes == "float32" else f"dtypes {dtypes}" if dtypes != "all" else "",
        f"at most {samples} samples per check" if samples else "",
        f"databases {suites}" if suites else "",
        f"entries {only}" if only else "",
    ]
    return ", ".join(part for part in parts if part)


def chosen(path: Path | None) -> list[Results]:
    """The results in a file, or the committed ones of every release: complete runs first, then by number of checks."""
    paths = [path] if path else files.releases()
    if not paths:
        raise typer.BadParameter(f"{files.FOLDER}: no results; expected a file written by `tenax coverage run`")
    found = map(files.load, paths)
    return sorted(found, key=lambda run: (not run.about.get("scope"), len(list(run.triples()))), reverse=True)


def totals(found: Results) -> Table:
    """A table of the number of outcomes by check over all rows."""
    table = Table(box=None)
    table.add_column("check")
    for name in LETTERS.values():
        table.add_column(name, justify="right")
    checks = list(dict.fromkeys(check for _, _, check, _ in found.triples()))
    for check in checks:
        counts = Counter(o.letter for _, _, c, o in found.triples() if c == check)
        table.add_row(check, *(str(counts[letter] or "") for letter in LETTERS))
    return table


def complete(found: Results) -> list[str]:
    """The number of entries of each database that pass every check of the run, of those that are asked for one."""
    lines = []
    for suite in dict.fromkeys(key.partition("/")[0] for key in found.rows):
        applicable = [row for row in found.suite(suite).values() if row.is_applicable()]
        passed = sum(not any(o.bad for o in row.outcomes.values()) for row in applicable)
        lines.append(f"{suite}: {passed} of {len(applicable)} entries pass every check of this run")
    return lines


def failures(found: Results) -> list[str]:
    return [f"{LETTERS[o.letter]} {key} {dtype} {check}: {o.why}" for key, dtype, check, o in found.triples() if o.bad]


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.fields[finished]}/{task.fields[units]}"),
        BarColumn(),
        TextColumn("{task.fields[bad]} bad", style="red"),
        TimeElapsedColumn(),
        TextColumn("left {task.fields[eta]}"),
        TextColumn("{task.description}", style="dim"),
        console=console,
        transient=True,
    )
