"""Parsing: what an entry says is kept, what it should not say is refused with its place."""

from __future__ import annotations

import re

import pytest

from tenax import words
from tenax.codegen import conditions, policy, spec
from tenax.codegen.build import build
from tenax.codegen.schema import Schemas
from tenax.codegen.source import free_names, kinds
from tenax.codegen.tree import Tree

ADD = "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"

REFUSED = [
    (ADD + "  jmp: self\n", "ops_spec/ops.yaml:2: unknown key `jmp`; expected `jnp`"),
    (ADD + "  x: self\n", "ops_spec/ops.yaml:2: unknown key `x`; expected one of `func`, `jnp`, `kernel`, `each`, "),
    (ADD, "ops_spec/ops.yaml:1: add.Tensor has no body; expected one of jnp, kernel, each, decompose, unsupported"),
    (ADD + "  jnp: self\n  kernel: a.b\n", "ops_spec/ops.yaml:1: add.Tensor has `jnp` and `kernel`; expected one of "),
    (ADD + "  jnp: self\n  jnp: other\n", "ops_spec/ops.yaml:1: the key `jnp` appears twice; expected it once"),
    (ADD + "  jnp: [self]\n", "ops_spec/ops.yaml:2: `jnp`: a sequence in place of text; expected text; quote "),
    (
        ADD + "  jnp: self\n  static: alpha\n",
        "ops_spec/ops.yaml:3: `static`: `alpha` is not a list; expected a list of ",
    ),
    (ADD + "  jnp: self\n  special: [alpha]\n", "ops_spec/ops.yaml:3: `special`: a sequence in place of a mapping; "),
    (
        ADD + "  jnp: self\n  special: {alpha: 1}\n",
        "ops_spec/ops.yaml:3: `special`: `1` is not a list; expected a list",
    ),
    (
        ADD + "  jnp: self\n  special: {alpha: [one]}\n",
        "ops_spec/ops.yaml:3: `special`: `one` is neither a number nor a known word; expected ",
    ),
    (ADD + "  jnp: self\n  random: yes\n", "ops_spec/ops.yaml:3: `random`: `yes`; expected true, or no such key"),
    (ADD + "  promote: DEFAULT self\n  jnp: self\n", "ops_spec/ops.yaml:2: `promote`: `DEFAULT self` does not parse; "),
    (ADD + "  jnp: self\n  check: [{that: x}]\n", "ops_spec/ops.yaml:3: `check`: a check with the keys that; expected"),
    (
        ADD + "  jnp: self\n  check:\n  - {that: self, error: too big}\n",
        "ops_spec/ops.yaml:3: `check`: `too big`; expected an exception and a message, such as `IndexError: ",
    ),
    (ADD + "  decompose: torch\n  random: true\n", "ops_spec/ops.yaml:3: `random` on an entry without a lowering; "),
    (ADD + "  jnp:\n", "ops_spec/ops.yaml:2: `jnp` is empty; expected a value, or no such key"),
    ("- jnp: self\n", "ops_spec/ops.yaml:1: an entry without a schema; expected `func:` with a schema of "),
    ("func: 1\n", "ops_spec/ops.yaml:1: the file is not a list; expected `- func: <schema>` entries"),
    ("- text\n", "ops_spec/ops.yaml:1: an entry that is not a mapping; expected `- func: <schema>` and further keys"),
    (ADD + "  jnp: {a: b: c}\n", "ops_spec/ops.yaml:2: not YAML: "),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_malformed_entry_is_refused_at_its_line(text: str, message: str) -> None:
    entries, faults = spec.parse(text, "ops")
    assert not entries
    assert [str(f)[: len(message)] for f in faults] == [message]


def test_the_other_entries_of_the_file_survive_a_malformed_one() -> None:
    text = ADD + "  jmp: self\n\n- func: relu(Tensor self) -> Tensor\n  jnp: self\n"
    entries, faults = spec.parse(text, "ops")
    assert [e.name for e in entries] == ["relu"]
    assert entries[0].lines == {"func": 4, "jnp": 5}
    assert len(faults) == 1


def test_a_parsed_entry_prints_back_to_what_was_parsed() -> None:
    text = (
        ADD
        + "  jnp: '{''a'': self}[''a''] != other'\n  promote: DEFAULT(self, other)\n  static: [alpha]\n"
        + "  special: {alpha: [0, -0.5, -inf, sign], p: []}\n  dtypes: {self: floating, other: not complex}\n"
        + "  dynamic: 'because: of data'\n  on_host: host.add\n  writes: {self: unread}\n  note: \"a formula #3\"\n"
        + "  check:\n  - that: jnp.all(self > 0)\n    error: 'ValueError: too small: expected > 0'\n"
        + "  - in_bounds(self, 3)\n  - places.in_axis(self)\n  random: [alpha]\n"
        + '  prepare: a.raise_info("a.b", self)\n'
    )
    [entry], faults = spec.parse(text, "ops")
    assert not faults
    [again], faults = spec.parse(str(entry), "ops")
    assert not faults
    assert again == entry
    assert str(again) == str(entry)
    assert entry.check[0].error.endswith("too small: expected > 0")


def test_every_entry_of_the_specs_prints_back_to_what_was_parsed() -> None:
    for path in Tree.at().spec_files():
        for entry in spec.load(path)[0]:
            assert spec.parse(str(entry), entry.family)[0] == [entry]


def test_the_grammar_explains_every_key_and_kind() -> None:
    grammar = (Tree.at().specs / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", grammar, re.MULTILINE)
    assert not {*spec.KEYS, *kinds(Tree.at().words)} - {*rows}, "no row in ops_spec/README.md"
    assert all(f"`{word}`" in grammar for word in (*conditions.KEYS, *policy.KEYS, *spec.WRITES, *spec.SPECIAL_WORDS))


def test_every_word_that_an_expression_uses_is_explained(schemas: Schemas) -> None:
    made = build(Tree.at(), schemas)
    texts = [t for e in made.entries for t in (e.jnp, *(c.that for c in e.check if c.error)) if t]
    texts += [c.that for c in made.context.conditions.values()]
    used = {n.id for text in texts for n in free_names(text)} & made.context.words
    assert not {word for word in used if not word.isupper() and not getattr(words, word).__doc__}
