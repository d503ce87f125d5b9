"""Hooks of MkDocs: pages from files outside of docs/, and the catalogue of operators, made from the specs."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from charts import with_charts

from tenax.codegen import spec
from tenax.codegen.build import build
from tenax.codegen.schema import supported
from tenax.codegen.status import Status
from tenax.codegen.tree import PACKAGE, Tree
from tenax.generated.table import ROWS

ROOT = Path(__file__).parent.parent
# Files of the repository that are pages of the site, and where they stand there.
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "ops_spec/README.md": "specs.md"}
SHOWN = (
    *("ops_spec/*.yaml", "generated/*.py", "examples/*.py", "examples/paths/*", "tests/distributed/restarted.py"),
    "benchmarks/results/*.md",
)
RESULTS = max((ROOT / "tests/coverage/results").glob("torch-*.json"), key=lambda p: len(p.read_text()))
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")
WIDE = ("benchmarks.md", "coverage.md", "ecosystem.md")  # pages whose tables take the place of their contents
CATALOGUE = "the catalogue of operators"  # a link on the site; the repository has no such page
# Operators that are of no interest to someone who looks up a function: variants, gradients, properties of tensors.
LEFT_OUT = re.compile(r"_.*|.*_|.*_(backward|copy)|(sym|is|fbgemm|quantized)_.*|.*(mkldnn|mps|cudnn|vulkan|thnn).*")


def on_config(config: Any) -> Any:
    """Add the families of operators to the navigation."""
    families = [{path.stem: f"catalogue/{path.stem}.md"} for path in spec_files()]
    for section in config.nav:
        for pages in section.values():
            for page in pages if isinstance(pages, list) else ():
                if page.get("Operators"):
                    page["Operators"] = [page["Operators"], *families]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and sources that are not below docs/."""
    from mkdocs.structure.files import File

    added = {target: (ROOT / source).read_text() for source, target in PAGES.items()}
    sources = [path for where in SHOWN for path in ROOT.glob(where) if path.is_file()]
    added |= {f"source/{path.relative_to(ROOT)}.txt": path.read_text() for path in sources}
    for place, text in (added | catalogue()).items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links between files of the repository to their pages of the site."""
    place = page.file.src_uri
    if place.startswith("catalogue/"):
        return markdown
    if place == "benchmarks.md":
        markdown = with_charts(markdown)
    if place in WIDE:
        page.meta["hide"] = ["toc"]
    markdown = markdown.replace(CATALOGUE, f"[{CATALOGUE}]({'../' * place.count('/')}catalogue/index.md)")
    origin = next((source for source, target in PAGES.items() if target == place), f"docs/{place}")

    def lead(found: re.Match[str]) -> str:
        path = (ROOT / origin).parent / found[1]
        if not path.exists():
            return found[0]
        target = str(path.resolve().relative_to(ROOT))
        if target in PAGES:
            target = PAGES[target]
        elif target.startswith("docs/"):
            target = target.removeprefix("docs/")
        elif target == "README.md":
            target = "index.md"
        else:
            target = f"source/{target}.txt"
            if files.get_file_from_path(target) is None:
                raise ValueError(f"{origin} links to {found[1]}, which is not part of the site; add it to SHOWN")
        up = "../" * place.count("/")
        return f"]({up}{target}{found[2] or ''})"

    return LINK.sub(lead, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Name source files as the repository does, and not by the links through which they are read."""
    return html.replace("build/links/tenax/", "runtime/")


def catalogue() -> dict[str, str]:
    """The pages of the catalogue: one for each spec file, and their index."""
    passed = checks()
    pages = {}
    lines = [
        "| family | operators | lowered | composed of others | unsupported |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for path in spec_files():
        entries, _ = spec.load(path)
        kinds = Counter(kind(entry) for entry in entries)
        counts = [kinds[name] for name in ("lowered", "composed", "unsupported")]
        lines.append(f"| [{path.stem}]({path.stem}.md) | {len(entries)} | {' | '.join(map(str, counts))} |")
        pages[f"catalogue/{path.stem}.md"] = family(path, entries, passed)
    return pages | {"catalogue/index.md": "\n".join([*overview(), "", *lines, "", *composites(), ""])}


def spec_files() -> list[Path]:
    """The spec files that have entries."""
    return [path for path in sorted((ROOT / "ops_spec").glob("*.yaml")) if spec.load(path)[0]]


@functools.cache
def statuses() -> list[Status]:
    """The status of every overload of the supported releases of torch."""
    return [*build(Tree.at(PACKAGE), supported()).statuses.values()]


def overview() -> list[str]:
    """What the first page of the catalogue says of all overloads."""
    count = Counter(status.status for status in statuses())
    lowered, composed = count["lowered"] + count["derived"], count["composite"] + count["decomposed"]
    return [
        "# Operators\n",
        f"The supported releases of torch have {len(statuses()):,} overloads of operators:\n",
        f"- {lowered:,} are computed by a lowering: {count['lowered']} of their own, and {count['derived']} in-place, "
        f"`out=` and other variants that are derived from one. The specs define {len(ROWS):,} of these, and "
        f"`runtime/aten/` and `runtime/sparse/` the other {lowered - len(ROWS)}.",
        f"- {composed} are composed by torch of other operators. They work too, and most need no entry; the "
        "[list](#composed-of-other-operators) is below.",
        f"- {count['unsupported']} raise an error that states the reason.\n",
        "Each page lists the entries of one spec file:",
    ]


def composites() -> list[str]:
    """The operators that work without an entry."""
    own = {status.name.partition(".")[0] for status in statuses() if status.status in ("lowered", "derived")}
    found = {status.name.partition(".")[0] for status in statuses() if status.status in ("composite", "decomposed")}
    names = sorted(name for name in found - own if not LEFT_OUT.fullmatch(name))
    return [
        "## Composed of other operators\n",
        f"torch composes these functions of operators with lowerings: {', '.join(f'`{name}`' for name in names)}.",
    ]


def family(path: Path, entries: list[Any], passed: dict[str, str]) -> str:
    """The page of one spec file."""
    places = functions()
    specs = f"../source/ops_spec/{path.name}.txt"
    parts = [f"# Operators: {path.stem}\n", f"[All operators](index.md) · [the specs of this family]({specs})\n"]
    for entry in entries:
        row = ROWS.get(entry.name)
        facts = [("status", kind(entry))]
        if entry.unsupported:
            facts.append(("reason", entry.unsupported))
        facts += [("lowering", f"`{code}`") for code in (entry.jnp, entry.kernel, entry.each, entry.decompose) if code]
        if row is not None:
            dtypes = "; ".join(f"{name or 'all arguments'}: {text}" for name, text in row.dtypes)
            facts.append(("dtypes", dtypes or "those of torch"))
            module = row.module.rpartition(".")[2]
            if row.module.startswith("generated."):
                line = places.get((module, row.function), 1)
                facts.append(("function", f"[generated/{module}.py:{line}](../source/generated/{module}.py.txt)"))
        facts.append(("spec", f"[ops_spec/{path.name}:{entry.line}](../source/ops_spec/{path.name}.txt)"))
        if entry.name in passed:
            facts.append(("checks of torch's databases", passed[entry.name]))
        parts += [f"## {entry.name}\n", f"| schema | `{entry.func}` |", "| --- | --- |"]
        parts += [f"| {name} | {' '.join(str(text).split()).replace('|', '&#124;')} |" for name, text in facts]
        parts.append("")
    return "\n".join(parts)


def kind(entry: Any) -> str:
    """What an entry is."""
    return "unsupported" if entry.unsupported else "composed" if entry.decompose else "lowered"


def functions() -> dict[tuple[str, str], int]:
    """The lines of the generated functions, by module and name."""
    found = {}
    for path in (ROOT / "generated").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                found[path.stem, node.name] = node.lineno
    return found


def checks() -> dict[str, str]:
    """How many checks of torch's databases an operator passes, of those that apply."""
    counts: dict[str, Counter[str]] = {}
    for entry in json.loads(RESULTS.read_text())["entries"].values():
        for name in entry["ops"]:
            for letters in entry["dtypes"].values():
                counts.setdefault(name, Counter()).update(letters)
    return {name: f"{c['p']} of {sum(c[x] for x in 'pfct')} pass" for name, c in counts.items()}
