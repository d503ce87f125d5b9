"""Bessel functions of orders 0 and 1, and the Airy function Ai: Chebyshev series of each without its zeros, logarithm
or exponential.

The series were computed with mpmath at 50 digits, by interpolation at Chebyshev nodes, from the definitions in DLMF
10.8 (power series), 10.17 (the amplitudes P and Q), 10.31 and 10.40 (K), and 9.7 (Ai). In float64 they are exact to
1e-16 of their largest value; float32 drops the terms that it cannot resolve.

`jax.scipy.special.bessel_jn` is NaN at 2.5e-9 (jax 0.10), and JAX has no Y and no K.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from tenax.kernels.special import series, wide
from tenax.words import Array, cast

_EDGE = 8.0  # between the power series in x² and the amplitudes in (8/x)²

# J(x) without its zeros below 8, in x² on [0, 64]: J0 / ((x² - a)(x² - b)), J1 / (x (x² - a)(x² - b)).
_J0_ZEROS = (5.783185962946785, 30.471262343662087)
_J1_ZEROS = (14.681970642123893, 49.21845632169460)
_J0 = (
    0.0019903555001601486, -0.002620939138497025, 0.0008687721472062577, -0.00017040584951557357,
    2.204908639454817e-05, -2.0248894980012834e-06, 1.3898025173428905e-07, -7.406701254344167e-09,
    3.1559927583611334e-10, -1.1003860827939697e-11, 3.1989232970233477e-13, -7.875041254709154e-15,
    1.6632588015211278e-16, -3.0475993756698376e-18, 4.8912290055811176e-20,
)  # fmt: skip
_J1 = (
    0.00027895709887613106, -0.0003115684036643562, 8.553646588540538e-05, -1.4149356425623485e-05,
    1.576470099225889e-06, -1.269075502369425e-07, 7.747614077073057e-09, -3.716577146675772e-10,
    1.4395417669312554e-11, -4.60007822413452e-13, 1.2341465589619718e-14, -2.8205466239524856e-16,
    5.558821065951572e-18, -9.546930865755219e-20, 1.4418291781315051e-21,
)  # fmt: skip

# Y(x) without its logarithm, in x² on [0, 64]: Y0 - (2/π) ln x J0 and (Y1 - (2/π) (ln x J1 - 1/x)) / x.
_Y0 = (
    -0.03314611320328494, -0.2744743055297453, 0.17903431407718265, 0.26156734625504663,
    -0.17730201278114358, 0.04719668959576339, -0.007287962479552079, 0.0007531135932577742,
    -5.632079141056987e-05, 3.206532537654801e-06, -1.44072332740187e-07, 5.248794787330516e-09,
    -1.5837552541812015e-10, 4.02633081830612e-12, -8.747341203310769e-14, 1.6434898714919468e-15,
    -2.6977881152566837e-17,
)  # fmt: skip
_Y1 = (
    0.0025380132357417816, -0.01608717304766875, -0.09591204536083074, 0.08445197259652346,
    -0.028328123944594365, 0.005289897544167113, -0.0006414551451326356, 5.505982873338744e-05,
    -3.53808001868935e-06, 1.7707804556154404e-07, -7.11055004989928e-09, 2.344337905911516e-10,
    -6.4651518414115946e-12, 1.51429151205002e-13, -3.0511859694473254e-15, 5.34668038572867e-17,
    -8.224911372021585e-19,
)  # fmt: skip

# J = √(2/πx) (P cos χ - Q sin χ) and Y = √(2/πx) (P sin χ + Q cos χ): P and (x/8) Q, in (8/x)² on [0, 1].
_P0 = (
    0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-06, -5.1705945376060975e-08,
    1.6306464635151382e-09, -7.86409137723707e-11, 5.168262387349193e-12, -4.3045788699253914e-13,
    4.3265957431549404e-14, -5.069034095935236e-15, 6.748072215733873e-16, -1.0011513723467786e-16,
    1.6305919233744186e-17, -2.880866169482871e-18,
)  # fmt: skip
_Q0 = (
    -0.015555854605337009, 6.838519942611649e-05, -7.414498411060647e-07, 1.7972457247968992e-08,
    -7.27191593686632e-10, 4.2201219046687385e-11, -3.206747420996635e-12, 3.006145125351706e-13,
    -3.336328185322427e-14, 4.255225040245461e-15, -6.09993013164005e-16, 9.662128970303257e-17,
    -1.6686065214378146e-17, 3.1082440486738143e-18, -6.191115787358145e-19, 1.3091448717220122e-19,
)  # fmt: skip
_P1 = (
    1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-06, 6.177633960644299e-08,
    -1.8718907491063067e-09, 8.816898659582339e-11, -5.704863640395645e-12, 4.699195515230542e-13,
    -4.6842237839904895e-14, 5.452674896044717e-15, -7.221180842274018e-16, 1.0667689114335412e-16,
    -1.7312313216116335e-17, 3.0492991197665872e-18,
)  # fmt: skip
_Q1 = (
    0.04677778706953532, -9.62772354915708e-05, 9.138615257955454e-07, -2.0959781384083424e-08,
    8.229193327650554e-10, -4.686363688176945e-11, 3.5152187949686082e-12, -3.2643156743279e-13,
    3.5967765829165294e-14, -4.5612523950772974e-15, 6.508282957783384e-16, -1.0269147531823243e-16,
    1.767635548776479e-17, -3.2834519872981614e-18, 6.524081149589261e-19, -1.3765771484849487e-19,
)  # fmt: skip

# K(x) without its logarithm, in x² on [0, 4]: K0 + ln(x/2) I0 and x (K1 - ln(x/2) I1).
_K0 = (
    -0.2676636966169514, 0.3442898999246285, 0.0359799365153615, 0.001264615411446926,
    2.286212103119452e-05, 2.5347910790261494e-07, 1.904516377220209e-09, 1.0349695257633625e-11,
    4.2598161427910826e-14, 1.3744654358807508e-16,
)  # fmt: skip
_K1 = (
    0.7626501136694739, -0.3531559607765449, -0.12261118082265715, -0.006975723859639864,
    -0.0001730288957513052, -2.4334061415659684e-06, -2.213387630734726e-08, -1.4114883926335278e-10,
    -6.666901694199329e-13, -2.427449850519366e-15, -7.023863479386288e-18,
)  # fmt: skip

# exp(x) √x K(x), in 2/x on [0, 1].
_K0_TAIL = (
    1.2201515410329777, -0.0314481013119645, 0.0015698838857300533, -0.00012849549581627802,
    1.39498137188765e-05, -1.8317555227191195e-06, 2.766813639445015e-07, -4.660489897687948e-08,
    8.574034017414225e-09, -1.6975345093890614e-09, 3.5773972814003283e-10, -7.957489244477396e-11,
    1.8559491149549264e-11, -4.514597883374519e-12, 1.1403405882073441e-12, -2.9800969231481784e-13,
    8.032890775068375e-14, -2.2275133267462965e-14, 6.340076476276646e-15, -1.848593377920907e-15,
    5.5120559994043335e-16, -1.6782311257549006e-16, 5.2103917776435543e-17, -1.6475805939842632e-17,
    5.3004337711773354e-18,
)  # fmt: skip
_K1_TAIL = (
    1.3603130952422213, 0.10392373657681724, -0.002857816859622779, 0.00019521551847135162,
    -1.936197974166083e-05, 2.406484947837217e-06, -3.5019606030878126e-07, 5.7410841254500495e-08,
    -1.0345762465678097e-08, 2.0150497551970347e-09, -4.1903547593419254e-10, 9.218315187605315e-11,
    -2.129967838427791e-11, 5.139639673482343e-12, -1.2891739609498229e-12, 3.348419666052243e-13,
    -8.976705182010146e-14, 2.4771544242195988e-14, -7.0198370892147685e-15, 2.038703166239861e-15,
    -6.057047270643018e-16, 1.8380935752430455e-16, -5.689462849193648e-17, 1.7940510478863572e-17,
    -5.7567444820733025e-18,
)  # fmt: skip


def _amplitudes(x: Array, p: tuple[float, ...], q: tuple[float, ...]) -> tuple[Array, Array, Array, Array]:
    """√(1/πx) P, √(1/πx) Q, and √2 times cosine and sine of x - π/4, without the rounding of that difference."""
    ratio = _EDGE / x
    t = 2 * ratio * ratio - 1
    size = lax.rsqrt(x * cast(math.pi, x.dtype))
    sin, cos = lax.sin(x), lax.cos(x)
    return size * series(p, t), size * ratio * series(q, t), cos + sin, sin - cos


def _between(x: Array) -> tuple[Array, Array, Array, Array]:
    """(x is below the edge, x clamped to below the edge, x clamped to above it, the series variable of x²), x >= 0."""
    small = x < _EDGE
    low, high = jnp.where(small, x, _EDGE), jnp.where(small, _EDGE, x)
    return small, low, high, low * low / 32 - 1


def _j0_small(x: Array, t: Array) -> Array:
    first, second = (cast(z, x.dtype) for z in _J0_ZEROS)
    return (x * x - first) * (x * x - second) * series(_J0, t)


def _j1_small(x: Array, t: Array) -> Array:
    first, second = (cast(z, x.dtype) for z in _J1_ZEROS)
    return x * (x * x - first) * (x * x - second) * series(_J1, t)


@wide
def special_bessel_j0(self: Array) -> Array:
    """J0, even; any float dtype (DLMF 10.2.2)."""
    small, low, high, t = _between(jnp.abs(self))
    p, q, cos, sin = _amplitudes(high, _P0, _Q0)
    return jnp.where(small, _j0_small(low, t), p * cos - q * sin)


@wide
def special_bessel_j1(self: Array) -> Array:
    """J1, odd; the phase is that of J0 less π/2."""
    small, low, high, t = _between(jnp.abs(self))
    p, q, cos, sin = _amplitudes(high, _P1, _Q1)
    value = jnp.where(small, _j1_small(low, t), p * sin + q * cos)
    return jnp.where(self < 0, -value, value)


def _right_of_zero(x: Array, value: Array, at_zero: float) -> Array:
    """`value` for x > 0, `at_zero` at 0, and NaN below."""
    return jnp.where(x > 0, value, jnp.where(x == 0, at_zero, jnp.nan))


@wide
def special_bessel_y0(self: Array) -> Array:
    """Y0; -inf at 0 and NaN below."""
    small, low, high, t = _between(jnp.where(self > 0, self, 1))
    p, q, cos, sin = _amplitudes(high, _P0, _Q0)
    left = series(_Y0, t) + cast(2 / math.pi, low.dtype) * lax.log(low) * _j0_small(low, t)
    return _right_of_zero(self, jnp.where(small, left, p * sin + q * cos), -jnp.inf)


@wide
def special_bessel_y1(self: Array) -> Array:
    """Y1; -inf at 0 and NaN below."""
    small, low, high, t = _between(jnp.where(self > 0, self, 1))
    p, q, cos, sin = _amplitudes(high, _P1, _Q1)
    left = low * series(_Y1, t) + cast(2 / math.pi, low.dtype) * (lax.log(low) * _j1_small(low, t) - 1 / low)
    return _right_of_zero(self, jnp.where(small, left, q * sin - p * cos), -jnp.inf)


@wide
def special_scaled_modified_bessel_k0(x: Array) -> Array:
    """exp(x) K0(x); inf at 0 and NaN below."""
    low, high = jnp.where((x > 0) & (x <= 2), x, 1), jnp.where(x > 2, x, 2)
    power = lax.exp(low) * series(_K0, low * low / 2 - 1) - lax.log(low / 2) * lax.exp(2 * low) * lax.bessel_i0e(low)
    tail = series(_K0_TAIL, 4 / high - 1) * lax.rsqrt(high)
    return _right_of_zero(x, jnp.where(x <= 2, power, tail), jnp.inf)


@wide
def special_scaled_modified_bessel_k1(x: Array) -> Array:
    """exp(x) K1(x); inf at 0 and NaN below."""
    low, high = jnp.where((x > 0) & (x <= 2), x, 1), jnp.where(x > 2, x, 2)
    power = lax.exp(low) * series(_K1, low * low / 2 - 1) / low
    power = power + lax.log(low / 2) * lax.exp(2 * low) * lax.bessel_i1e(low)
    tail = series(_K1_TAIL, 4 / high - 1) * lax.rsqrt(high)
    return _right_of_zero(x, jnp.where(x <= 2, power, tail), jnp.inf)


@wide
def special_modified_bessel_i0(self: Array) -> Array:
    """I0, even, from XLA's scaled function; `jax.scipy.special.i0` has derivative 1 at 0, that of its |x|."""
    size = self * lax.stop_gradient(jnp.sign(self))  # with the derivative 0 at 0
    return lax.exp(size) * lax.bessel_i0e(self)


@wide
def special_spherical_bessel_j0(x: Array) -> Array:
    """sin(x) / x, by its power series near 0 (DLMF 10.49.3); 0 at infinity."""
    near = jnp.abs(x) < 0.5
    square = jnp.where(near, x * x, 0)
    total = jnp.ones_like(x)
    for k in range(6, 0, -1):
        total = 1 - square / (2 * k * (2 * k + 1)) * total
    far = jnp.where(near, 1, x)
    return jnp.where(near, total, jnp.where(jnp.isinf(x), 0, lax.sin(far) / far))


# With ζ = (2/3) |x|^(3/2): Ai on [-4, 2]; 2 √π x^(1/4) exp(ζ) Ai(x) in ζ(2)/ζ on [0, 1]; and, in (ζ(4)/ζ)² on
# [0, 1], P and (ζ/ζ(4)) Q of Ai(-x) = π^(-1/2) x^(-1/4) (P cos(ζ - π/4) + Q sin(ζ - π/4)).
_AI_LEFT, _AI_RIGHT = -4.0, 2.0
_AI_MIDDLE = (
    0.06078525685079726, 0.18996030881729123, -0.250924387032336, -0.09512014013503055,
    0.20236324198370076, -0.06418728306305249, -0.026814703186039963, 0.024051904281273857,
    -0.00413259164974895, -0.0020196817905494225, 0.0011250768750654559, -0.00011697538709676606,
    -7.125499253060682e-05, 2.8167833107042442e-05, -1.7594742389691562e-06, -1.4587201524168717e-06,
    4.388747958436033e-07, -1.4627095866197506e-08, -1.9495992841846798e-08, 4.660552774163884e-09,
    -5.106245117904234e-11, -1.8343326708789198e-10, 3.5857642041278925e-11, 2.658241327479573e-13,
    -1.2805447574198059e-12, 2.0885896604502407e-13, 4.8741837202287105e-15, -6.895080927885035e-15,
    9.51965014570017e-16, 3.5978991422145034e-17, -2.9502705833721254e-17, 3.483989442459416e-18,
)  # fmt: skip
_AI_TAIL = (
    0.9844053049171552, -0.014792784850104199, 0.0007327177465426715, -6.12595423417825e-05,
    6.83476697557269e-06, -9.237229735403982e-07, 1.436225340438052e-07, -2.489319422322096e-08,
    4.709793440054328e-09, -9.583863708112733e-10, 2.0745855483677591e-10, -4.737267332192277e-11,
    1.1336099808224236e-11, -2.827706782319351e-12, 7.320712095125598e-13, -1.9599793911089723e-13,
    5.4101162570683925e-14, -1.5356466802223836e-14, 4.472340393300025e-15, -1.3338094674756683e-15,
    4.066582046456231e-16, -1.265583225645289e-16, 4.015126334015871e-17, -1.2969972135960937e-17,
    4.2613499074124e-18,
)  # fmt: skip
_AI_P = (
    0.9993708890742778, -0.0006216836584374116, 7.181193774368645e-06, -2.316269813501758e-07,
    1.3216283888528755e-08, -1.0938736172758127e-09, 1.1794620737908535e-10, -1.5518841909929856e-11,
    2.386927411492466e-12, -4.16552889201035e-13, 8.071678110741467e-14, -1.708757321110567e-14,
    3.902945148540815e-15, -9.523976784907064e-16, 2.4632810885752603e-16, -6.709077463464858e-17,
    1.913939683718707e-17, -5.69308436211377e-18,
)  # fmt: skip
_AI_Q = (
    0.012904069793077502, -0.00011417159701561301, 2.47015331514187e-06, -1.1276384836703058e-07,
    8.114132516809686e-09, -7.96449699929011e-10, 9.810535081564676e-11, -1.438554557834067e-11,
    2.4232142723810082e-12, -4.572243294578044e-13, 9.485713571010158e-14, -2.1334713360480614e-14,
    5.145258245310423e-15, -1.3189653961186086e-15, 3.5685214438497966e-16, -1.0130701015142451e-16,
    3.003133317484731e-17, -9.257863950661513e-18, 2.957519212083966e-18, -9.761492965947109e-19,
    3.320022740137531e-19, -1.160938053896864e-19, 4.16529978414508e-20,
)  # fmt: skip


def _zeta(x: Array) -> Array:
    """(2/3) x^(3/2)."""
    return x * lax.sqrt(x) * 2 / 3


@wide
def special_airy_ai(x: Array) -> Array:
    """Ai(x) of a float array; NaN at infinity, as in torch (the limit is 0)."""
    middle = series(_AI_MIDDLE, (jnp.clip(x, _AI_LEFT, _AI_RIGHT) + 1) / 3)
    right = jnp.maximum(x, _AI_RIGHT)
    phase = _zeta(right)
    tail = lax.exp(-phase) * lax.rsqrt(lax.sqrt(right))
    tail = tail * series(_AI_TAIL, 2 * _zeta(cast(_AI_RIGHT, x.dtype)) / phase - 1)
    left = jnp.maximum(-x, -_AI_LEFT)
    phase = _zeta(left)
    ratio = _zeta(cast(-_AI_LEFT, x.dtype)) / phase
    t = 2 * ratio * ratio - 1
    sin, cos = lax.sin(phase), lax.cos(phase)
    wave = series(_AI_P, t) * (cos + sin) + ratio * series(_AI_Q, t) * (sin - cos)
    pi = cast(math.pi, x.dtype)
    wave = wave * lax.rsqrt(2 * pi * lax.sqrt(left))
    value = jnp.where(x < _AI_LEFT, wave, jnp.where(x > _AI_RIGHT, tail * 0.5 * lax.rsqrt(pi), middle))
    return jnp.where(jnp.isinf(x), jnp.nan, value)
