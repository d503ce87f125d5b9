"""Hooks of MkDocs: pages from files outside of docs/, and the catalogue of operators, made from the specs."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from charts import with_charts

from tenax.codegen import spec
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
    for path in sorted((ROOT / "ops_spec").glob("*.yaml")):
        entries, _ = spec.load(path)
        if not entries:
            continue
        kinds = Counter(kind(entry) for entry in entries)
        counts = [kinds[name] for name in ("lowered", "composed", "unsupported")]
        lines.append(f"| [{path.stem}]({path.stem}.md) | {len(entries)} | {' | '.join(map(str, counts))} |")
        pages[f"catalogue/{path.stem}.md"] = family(path, entries, passed)
    head = (
        "# Operators\n\nEach spec entry defines the lowering of one torch overload; its in-place and `out=` variants "
        f"are derived from it. {len(ROWS)} overloads have a lowering.\n\n"
    )
    return pages | {"catalogue/index.md": head + "\n".join(lines) + "\n"}


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
