"""Modules that torch imports lazily, and functions of theirs, as strings: importing them takes up to a second."""

# In which Dynamo decides which Python frames to compile, and in which it traces optimizers.
TRACE_RULES, OPTIMIZERS = "torch._dynamo.trace_rules", "torch._dynamo.variables.optimizer"

# A module each, with names separated by spaces.
INDUCTOR = "torch._inductor.compile_fx", "compile_fx"  # the default backend of `torch.compile`
CAPTURE = "torch._dynamo.convert_frame", "trace_frame"  # which captures the graphs of a Python frame
JAGGED_ATTENTION = "torch.nested._internal.ops", "jagged_scaled_dot_product_attention"
RING_ATTENTION = (
    "torch.distributed.tensor.experimental._context_parallel._attention",
    "_templated_ring_attention _templated_ring_attention_backward",
)
