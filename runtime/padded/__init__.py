"""Programs that serve many sizes: on the CPU, an operation that is called with ever new sizes is compiled for rounded
sizes, and its arguments are padded to them.

`families` finds the calls that they serve, `operations` traces and compiles, `runs` pads and cuts arrays; `evaluation`
and `rules` compute on padded arrays.
"""
