"""Collectives are read from the text of a program in each of XLA's notations."""

from tenax._jit.collectives import Collective, collectives

# The notations of JAX 0.12: groups as axes of a mesh, and the gather of an argument, and its copy, named after it.
TEXT = """HloModule jit_program

ENTRY %main (p: f32[32,64], q: f32[8,64]) -> f32[8,128] {
  %p = f32[32,64]{1,0} parameter(0), metadata={op_name="operands[0]"}
  %q = f32[8,64]{1,0} parameter(1), metadata={op_name="operands[1]"}
  %g = f32[128,64]{1,0} all-gather(%p), replica_groups=mesh['a'=4,'b'=2] {'a'}, metadata={op_name="operands[0]"}
  %copy = f32[128,64]{0,1} fusion(%g), kind=kLoop, calls=%c, metadata={op_name="operands[0]"}
  %dot = f32[8,128]{1,0} fusion(%q, %copy), kind=kCustom, calls=%d, metadata={op_name="jit(f)/layers.0/up/dot"}
  %rs = f32[2,128]{1,0} reduce-scatter(%dot), replica_groups=mesh['a'=4,'b'=2] {'a'}, metadata={op_name="jit(f)/up/add"}
  %u = f32[128,64]{1,0} all-gather(%p), replica_groups={{0,1,2,3}}, metadata={op_name="operands[0]"}
}
"""


def test_a_gathered_argument_belongs_to_the_operation_that_reads_it_and_groups_may_be_axes() -> None:
    assert collectives(TEXT) == (
        Collective("all-gather", 4 * 128 * 64, "layers.0.up", ""),
        Collective("reduce-scatter", 4 * 8 * 128, "up", ""),
        Collective("all-gather", 4 * 128 * 64, "", ""),
    )


# The result of an asynchronous collective is a tuple of operands, results and others; an all-reduce's is its result.
STARTED = """HloModule jit_program

ENTRY %main (p: f32[32,64], q: f32[8,64]) -> f32[8,128] {
  %a = (f32[32,64]{1,0}, f32[128,64]{1,0}) all-gather-start(%p), replica_groups={{0,1,2,3}}
  %b = ((f32[8]{0}, bf16[8,4]{1,0}), (f32[2]{0}, bf16[2,4]{1,0})) reduce-scatter-start(%p), replica_groups={{0,1,2,3}}
  %c = (f32[8]{0}, f32[8]{0}, u32[], u32[]) collective-permute-start(%p)
  %d = (f32[8]{0}, f32[4]{0}) all-reduce-start(%p, %q), replica_groups={{0,1,2,3}}
}
"""


def test_asynchronous_collectives_count_as_synchronous_ones() -> None:
    assert collectives(STARTED) == (
        Collective("all-gather", 4 * 128 * 64, "", ""),
        Collective("reduce-scatter", 4 * 8 + 2 * 8 * 4, "", ""),
        Collective("collective-permute", 4 * 8, "", ""),
        Collective("all-reduce", 4 * 12, "", ""),
    )
