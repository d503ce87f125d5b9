"""What computes each overload. Generated from ops_spec/ by `python -m tenax.codegen`: edit the specs."""

from typing import NamedTuple


class Row(NamedTuple):
    """The lowering of one overload and what the runtime must know to call it."""

    module: str  # of tenax.generated
    function: str
    # functional: gives the results. inplace: gives results, then the new value of each written argument.
    # out: gives what is stored in the out arguments, then the new value of each other written argument.
    form: str = "functional"
    random: bool = False  # takes a PRNG key first
    dynamic: str = ""  # why the result's shape depends on data
    static: tuple[str, ...] = ()  # numbers passed as Python numbers
    writes: tuple[str, ...] = ()  # written though the schema does not say so
    renamed: tuple[tuple[str, str], ...] = ()  # arguments, and what earlier releases of torch call them
    dtypes: tuple[tuple[str, str], ...] = ()  # arguments ("" for all), and what torch takes there
    checks: tuple[tuple[str, str], ...] = ()  # exception and message of each condition of <function>__checks
    grad: str = ""  # vjp: a composite kept whole


# The dtypes that the words of `Row.dtypes` stand for; a single dtype may stand there too.
DTYPES: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "integral": ("uint8", "int8", "int16", "int32", "int64"),
    "unsigned": ("uint16", "uint32", "uint64"),
    "floating": ("float16", "bfloat16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
    "float8": ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
}

ROWS: dict[str, Row] = {
    "__ilshift__.Scalar": Row("pointwise", "__lshift____Scalar", "inplace", dtypes=(("", "bool integral"),)),
    "__ilshift__.Tensor": Row("pointwise", "__lshift____Tensor", "inplace", dtypes=(("", "integral"),)),
    "__irshift__.Scalar": Row("pointwise", "__rshift____Scalar", "inplace", dtypes=(("", "bool integral"),)),
    "__irshift__.Tensor": Row("pointwise", "__rshift____Tensor", "inplace", dtypes=(("", "integral"),)),
    "__lshift__.Scalar": Row("pointwise", "__lshift____Scalar", dtypes=(("", "bool integral"),)),
    "__lshift__.Scalar_out": Row("pointwise", "__lshift____Scalar", "out", dtypes=(("", "bool integral"),)),
    "__lshift__.Tensor": Row("pointwise", "__lshift____Tensor", dtypes=(("", "integral"),)),
    "__lshift__.Tensor_out": Row("pointwise", "__lshift____Tensor", "out", dtypes=(("", "integral"),)),
    "__rshift__.Scalar": Row("pointwise", "__rshift____Scalar", dtypes=(("", "bool integral"),)),
    "__rshift__.Scalar_out": Row("pointwise", "__rshift____Scalar", "out", dtypes=(("", "bool integral"),)),
    "__rshift__.Tensor": Row("pointwise", "__rshift____Tensor", dtypes=(("", "integral"),)),
    "__rshift__.Tensor_out": Row("pointwise", "__rshift____Tensor", "out", dtypes=(("", "integral"),)),
    "_adaptive_avg_pool2d": Row("pool", "_adaptive_avg_pool2d", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool2d.out": Row("pool", "_adaptive_avg_pool2d", "out", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool2d_backward": Row("pool", "_adaptive_avg_pool2d_backward"),
    "_adaptive_avg_pool2d_backward.out": Row("pool", "_adaptive_avg_pool2d_backward", "out"),
    "_adaptive_avg_pool3d": Row("pool", "_adaptive_avg_pool3d", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool3d.out": Row("pool", "_adaptive_avg_pool3d", "out", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool3d_backward": Row("pool", "_adaptive_avg_pool3d_backward"),
    "_adaptive_avg_pool3d_backward.out": Row("pool", "_adaptive_avg_pool3d_backward", "out"),
    "_add_relu.Scalar": Row("pointwise", "_add_relu__Scalar", dtypes=(("", "int8 int16 int32 int64 floating"),)),
    "_add_relu.Scalar_out": Row(
        "pointwise", "_add_relu__Scalar", "out", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_add_relu.Tensor": Row("pointwise", "_add_relu__Tensor", dtypes=(("", "int8 int16 int32 int64 floating"),)),
    "_add_relu.out": Row("pointwise", "_add_relu__Tensor", "out", dtypes=(("", "int8 int16 int32 int64 floating"),)),
    "_add_relu_.Scalar": Row(
        "pointwise", "_add_relu__Scalar", "inplace", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_add_relu_.Tensor": Row(
        "pointwise", "_add_relu__Tensor", "inplace", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_addmm_activation": Row("matmul", "_addmm_activation", static=("beta", "alpha"), dtypes=(("", "floating"),)),
    "_addmm_activation.out": Row(
        "matmul", "_addmm_activation", "out", static=("beta", "alpha"), dtypes=(("", "floating"),)
    ),
    "_aminmax": Row("reduction", "_aminmax", dtypes=(("", "bool integral floating"),)),
    "_aminmax.dim": Row("reduction", "_aminmax__dim", dtypes=(("", "bool integral floating"),)),
    "_aminmax.dim_out": Row("reduction", "_aminmax__dim", "out", dtypes=(("", "bool integral floating"),)),
    "_aminmax.out": Row("reduction", "_aminmax", "out", dtypes=(("", "bool integral floating"),)),
    "_amp_foreach_non_finite_check_and_unscale": Row("amp", "_amp_foreach_non_finite_check_and_unscale_"),
    "_amp_foreach_non_finite_check_and_unscale.out": Row("amp", "_amp_foreach_non_finite_check_and_unscale_", "out"),
    "_amp_foreach_non_finite_check_and_unscale_": Row("amp", "_amp_foreach_non_finite_check_and_unscale_", "inplace"),
    "_amp_update_scale": Row("amp", "_amp_update_scale_"),
    "_amp_update_scale.out": Row("amp", "_amp_update_scale_", "out"),
    "_amp_update_scale_": Row("amp", "_amp_update_scale_", "inplace"),
    "_assert_async": Row(
        "copying",
        "_assert_async",
        checks=(("RuntimeError", "Expected Tensor with single nonzero value, but got zero"),),
    ),
    "_assert_async.msg": Row("copying", "_assert_async__msg", checks=(("RuntimeError", "Assertion is failed"),)),
    "_batch_norm_no_update": Row("norm", "_batch_norm_no_update"),
    "_batch_norm_no_update.out": Row("norm", "_batch_norm_no_update", "out"),
    "_batch_norm_with_update": Row("norm", "_batch_norm_with_update", "inplace", dtypes=(("", "floating"),)),
    "_batch_norm_with_update.out": Row("norm", "_batch_norm_with_update", "out", dtypes=(("", "floating"),)),
    "_batch_norm_with_update_functional": Row("norm", "_batch_norm_with_update", dtypes=(("", "floating"),)),
    "_cdist_backward": Row("distance", "_cdist_backward", static=("p",), renamed=(("grad_output", "grad"),)),
    "_cdist_backward.out": Row("distance", "_cdist_backward", "out", static=("p",), renamed=(("grad_output", "grad"),)),
    "_cdist_forward": Row("distance", "_cdist_forward", static=("p",), dtypes=(("", "floating"),)),
    "_cdist_forward.out": Row("distance", "_cdist_forward", "out", static=("p",), dtypes=(("", "floating"),)),
    "_cholesky_solve_helper": Row("linalg", "_cholesky_solve_helper", dtypes=(("", "floating complex"),)),
    "_cholesky_solve_helper.out": Row("linalg", "_cholesky_solve_helper", "out", dtypes=(("", "floating complex"),)),
    "_chunk_cat": Row("shape", "_chunk_cat"),
    "_chunk_cat.out": Row("shape", "_chunk_cat", "out"),
    "_conj_physical": Row("pointwise", "_conj_physical", dtypes=(("", "not unsigned float8"),)),
    "_conj_physical.out": Row("pointwise", "_conj_physical", "out", dtypes=(("", "not unsigned float8"),)),
    "_conv_depthwise2d": Row("conv", "_conv_depthwise2d"),
    "_conv_depthwise2d.out": Row("conv", "_conv_depthwise2d", "out"),
    "_convert_indices_from_coo_to_csr": Row("sparse", "_convert_indices_from_coo_to_csr"),
    "_convert_indices_from_coo_to_csr.out": Row("sparse", "_convert_indices_from_coo_to_csr", "out"),
    "_convert_indices_from_csr_to_coo": Row("sparse", "_convert_indices_from_csr_to_coo"),
    "_convert_indices_from_csr_to_coo.out": Row("sparse", "_convert_indices_from_csr_to_coo", "out"),
    "_ctc_loss": Row("loss", "_ctc_loss", dtypes=(("log_probs", "floating"), ("targets", "int32 int64"))),
    "_ctc_loss.Tensor": Row(
        "loss", "_ctc_loss__Tensor", dtypes=(("log_probs", "floating"), ("targets", "int32 int64"))
    ),
    "_ctc_loss.Tensor_out": Row(
        "loss", "_ctc_loss__Tensor", "out", dtypes=(("log_probs", "floating"), ("targets", "int32 int64"))
    ),
    "_ctc_loss.out": Row("loss", "_ctc_loss", "out", dtypes=(("log_probs", "floating"), ("targets", "int32 int64"))),
    "_ctc_loss_backward": Row("loss", "_ctc_loss_backward"),
    "_ctc_loss_backward.Tensor": Row("loss", "_ctc_loss_backward__Tensor"),
    "_ctc_loss_backward.out": Row("loss", "_ctc_loss_backward", "out"),
    "_cummax_helper": Row(
        "scan", "_cummax_helper", "inplace", dtypes=(("self", "bool integral floating"), ("indices", "int64"))
    ),
    "_cummin_helper": Row(
        "scan", "_cummin_helper", "inplace", dtypes=(("self", "bool integral floating"), ("indices", "int64"))
    ),
    "_dirichlet_grad": Row("random", "_dirichlet_grad", dtypes=(("", "floating"),)),
    "_dirichlet_grad.out": Row("random", "_dirichlet_grad", "out", dtypes=(("", "floating"),)),
    "_efficientzerotensor": Row("creation", "_efficientzerotensor"),
    "_efficientzerotensor.out": Row("creation", "_efficientzerotensor", "out"),
    "_embedding_bag": Row(
        "embedding",
        "_embedding_bag",
        dtypes=(("weight", "floating"), ("indices", "bool integral"), ("offsets", "bool integral")),
        checks=(
            ("RuntimeError", "embedding_bag: an index of input takes a value which is not in the valid range of rows"),
            (
                "RuntimeError",
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0.",
            ),
            ("RuntimeError", "offsets[-1] can not be greater than input's length"),
        ),
    ),
    "_embedding_bag.out": Row(
        "embedding",
        "_embedding_bag",
        "out",
        dtypes=(("weight", "floating"), ("indices", "bool integral"), ("offsets", "bool integral")),
        checks=(
            ("RuntimeError", "embedding_bag: an index of input takes a value which is not in the valid range of rows"),
            (
                "RuntimeError",
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0.",
            ),
            ("RuntimeError", "offsets[-1] can not be greater than input's length"),
        ),
    ),
    "_embedding_bag_dense_backward": Row("embedding", "_embedding_bag_dense_backward"),
    "_embedding_bag_dense_backward.out": Row("embedding", "_embedding_bag_dense_backward", "out"),
    "_embedding_bag_forward_only": Row(
        "embedding",
        "_embedding_bag_forward_only",
        checks=(
            ("RuntimeError", "embedding_bag: an index of input takes a value which is not in the valid range of rows"),
            (
                "RuntimeError",
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0.",
            ),
            ("RuntimeError", "offsets[-1] can not be greater than input's length"),
        ),
    ),
    "_embedding_bag_forward_only.out": Row(
        "embedding",
        "_embedding_bag_forward_only",
        "out",
        checks=(
            ("RuntimeError", "embedding_bag: an index of input takes a value which is not in the valid range of rows"),
            (
                "RuntimeError",
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0.",
            ),
            ("RuntimeError", "offsets[-1] can not be greater than input's length"),
        ),
    ),
    "_embedding_bag_per_sample_weights_backward": Row("embedding", "_embedding_bag_per_sample_weights_backward"),
    "_embedding_bag_per_sample_weights_backward.out": Row(
        "embedding", "_embedding_bag_per_sample_weights_backward", "out"
    ),
    "_euclidean_dist": Row("distance", "_euclidean_dist", dtypes=(("", "bool integral floating"),)),
    "_euclidean_dist.out": Row("distance", "_euclidean_dist", "out", dtypes=(("", "bool integral floating"),)),
    "_fake_quantize_learnable_per_channel_affine": Row("quantize", "_fake_quantize_learnable_per_channel_affine"),
    "_fake_quantize_learnable_per_channel_affine.out": Row(
        "quantize", "_fake_quantize_learnable_per_channel_affine", "out"
    ),
    "_fake_quantize_learnable_per_channel_affine_backward": Row(
        "quantize", "_fake_quantize_learnable_per_channel_affine_backward"
    ),
    "_fake_quantize_learnable_per_tensor_affine": Row("quantize", "_fake_quantize_learnable_per_tensor_affine"),
    "_fake_quantize_learnable_per_tensor_affine.out": Row(
        "quantize", "_fake_quantize_learnable_per_tensor_affine", "out"
    ),
    "_fake_quantize_learnable_per_tensor_affine_backward": Row(
        "quantize", "_fake_quantize_learnable_per_tensor_affine_backward"
    ),
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": Row(
        "quantize", "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
    ),
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.out": Row(
        "quantize", "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "out"
    ),
    "_fft_c2c": Row("fft", "_fft_c2c", dtypes=(("", "complex"),)),
    "_fft_c2c.out": Row("fft", "_fft_c2c", "out", dtypes=(("", "complex"),)),
    "_fft_c2r": Row("fft", "_fft_c2r", dtypes=(("", "complex"),)),
    "_fft_c2r.out": Row("fft", "_fft_c2r", "out", dtypes=(("", "complex"),)),
    "_fft_r2c": Row("fft", "_fft_r2c", dtypes=(("", "floating"),)),
    "_fft_r2c.out": Row("fft", "_fft_r2c", "out", dtypes=(("", "floating"),)),
    "_foreach_abs": Row("foreach", "_foreach_abs", dtypes=(("", "not unsigned"),)),
    "_foreach_abs.out": Row("foreach", "_foreach_abs", "out", dtypes=(("", "not unsigned"),)),
    "_foreach_abs_": Row("foreach", "_foreach_abs", "inplace", dtypes=(("", "not unsigned"),)),
    "_foreach_acos": Row("foreach", "_foreach_acos", dtypes=(("", "not float8"),)),
    "_foreach_acos.out": Row("foreach", "_foreach_acos", "out", dtypes=(("", "not float8"),)),
    "_foreach_acos_": Row("foreach", "_foreach_acos", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_add.List": Row("foreach", "_foreach_add__List", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.List_out": Row("foreach", "_foreach_add__List", "out", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.Scalar": Row("foreach", "_foreach_add__Scalar", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.ScalarList": Row("foreach", "_foreach_add__ScalarList", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.ScalarList_out": Row(
        "foreach", "_foreach_add__ScalarList", "out", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add.Scalar_out": Row("foreach", "_foreach_add__Scalar", "out", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.Tensor": Row("foreach", "_foreach_add__Tensor", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.Tensor_out": Row("foreach", "_foreach_add__Tensor", "out", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add_.List": Row("foreach", "_foreach_add__List", "inplace", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add_.Scalar": Row("foreach", "_foreach_add__Scalar", "inplace", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add_.ScalarList": Row(
        "foreach", "_foreach_add__ScalarList", "inplace", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add_.Tensor": Row("foreach", "_foreach_add__Tensor", "inplace", dtypes=(("", "not unsigned float8"),)),
    "_foreach_addcdiv.Scalar": Row("foreach", "_foreach_addcdiv__Scalar", dtypes=(("", "floating complex"),)),
    "_foreach_addcdiv.ScalarList": Row("foreach", "_foreach_addcdiv__ScalarList", dtypes=(("", "floating complex"),)),
    "_foreach_addcdiv.ScalarList_out": Row(
        "foreach", "_foreach_addcdiv__ScalarList", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcdiv.Scalar_out": Row(
        "foreach", "_foreach_addcdiv__Scalar", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcdiv_.Scalar": Row(
        "foreach", "_foreach_addcdiv__Scalar", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcdiv_.ScalarList": Row(
        "foreach", "_foreach_addcdiv__ScalarList", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcmul.Scalar": Row("foreach", "_foreach_addcmul__Scalar", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_addcmul.ScalarList": Row(
        "foreach", "_foreach_addcmul__ScalarList", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul.ScalarList_out": Row(
        "foreach", "_foreach_addcmul__ScalarList", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul.Scalar_out": Row(
        "foreach", "_foreach_addcmul__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul_.Scalar": Row(
        "foreach", "_foreach_addcmul__Scalar", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul_.ScalarList": Row(
        "foreach", "_foreach_addcmul__ScalarList", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_asin": Row("foreach", "_foreach_asin", dtypes=(("", "not float8"),)),
    "_foreach_asin.out": Row("foreach", "_foreach_asin", "out", dtypes=(("", "not float8"),)),
    "_foreach_asin_": Row("foreach", "_foreach_asin", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_atan": Row("foreach", "_foreach_atan", dtypes=(("", "not float8"),)),
    "_foreach_atan.out": Row("foreach", "_foreach_atan", "out", dtypes=(("", "not float8"),)),
    "_foreach_atan_": Row("foreach", "_foreach_atan", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_ceil": Row("foreach", "_foreach_ceil", dtypes=(("", "not bool complex float8"),)),
    "_foreach_ceil.out": Row("foreach", "_foreach_ceil", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_ceil_": Row("foreach", "_foreach_ceil", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_clamp_max.List": Row("foreach", "_foreach_clamp_max__List", dtypes=(("", "bool integral floating"),)),
    "_foreach_clamp_max.List_out": Row(
        "foreach", "_foreach_clamp_max__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_max.Scalar": Row("foreach", "_foreach_clamp_max__Scalar", dtypes=(("", "not complex float8"),)),
    "_foreach_clamp_max.ScalarList": Row(
        "foreach", "_foreach_clamp_max__ScalarList", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max.ScalarList_out": Row(
        "foreach", "_foreach_clamp_max__ScalarList", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max.Scalar_out": Row(
        "foreach", "_foreach_clamp_max__Scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max_.List": Row(
        "foreach", "_foreach_clamp_max__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_max_.Scalar": Row(
        "foreach", "_foreach_clamp_max__Scalar", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max_.ScalarList": Row(
        "foreach", "_foreach_clamp_max__ScalarList", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_min.List": Row("foreach", "_foreach_clamp_min__List", dtypes=(("", "bool integral floating"),)),
    "_foreach_clamp_min.List_out": Row(
        "foreach", "_foreach_clamp_min__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.Scalar": Row("foreach", "_foreach_clamp_min__Scalar", dtypes=(("", "bool integral floating"),)),
    "_foreach_clamp_min.ScalarList": Row(
        "foreach", "_foreach_clamp_min__ScalarList", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.ScalarList_out": Row(
        "foreach", "_foreach_clamp_min__ScalarList", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.Scalar_out": Row(
        "foreach", "_foreach_clamp_min__Scalar", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min_.List": Row(
        "foreach", "_foreach_clamp_min__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min_.Scalar": Row(
        "foreach", "_foreach_clamp_min__Scalar", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min_.ScalarList": Row(
        "foreach", "_foreach_clamp_min__ScalarList", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clone": Row("foreach", "_foreach_clone"),
    "_foreach_clone.out": Row("foreach", "_foreach_clone", "out"),
    "_foreach_copy": Row("foreach", "_foreach_copy"),
    "_foreach_copy.out": Row("foreach", "_foreach_copy", "out"),
    "_foreach_copy_": Row("foreach", "_foreach_copy", "inplace"),
    "_foreach_cos": Row("foreach", "_foreach_cos", dtypes=(("", "not float8"),)),
    "_foreach_cos.out": Row("foreach", "_foreach_cos", "out", dtypes=(("", "not float8"),)),
    "_foreach_cos_": Row("foreach", "_foreach_cos", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_cosh": Row("foreach", "_foreach_cosh", dtypes=(("", "not float8"),)),
    "_foreach_cosh.out": Row("foreach", "_foreach_cosh", "out", dtypes=(("", "not float8"),)),
    "_foreach_cosh_": Row("foreach", "_foreach_cosh", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_div.List": Row("foreach", "_foreach_div__List", dtypes=(("", "not float8"),)),
    "_foreach_div.List_out": Row("foreach", "_foreach_div__List", "out", dtypes=(("", "not float8"),)),
    "_foreach_div.Scalar": Row("foreach", "_foreach_div__Scalar", dtypes=(("", "not float8"),)),
    "_foreach_div.ScalarList": Row("foreach", "_foreach_div__ScalarList", dtypes=(("", "not float8"),)),
    "_foreach_div.ScalarList_out": Row("foreach", "_foreach_div__ScalarList", "out", dtypes=(("", "not float8"),)),
    "_foreach_div.Scalar_out": Row("foreach", "_foreach_div__Scalar", "out", dtypes=(("", "not float8"),)),
    "_foreach_div.Tensor": Row("foreach", "_foreach_div__Tensor", dtypes=(("", "not float8"),)),
    "_foreach_div.Tensor_out": Row("foreach", "_foreach_div__Tensor", "out", dtypes=(("", "not float8"),)),
    "_foreach_div_.List": Row("foreach", "_foreach_div__List", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_div_.Scalar": Row("foreach", "_foreach_div__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_div_.ScalarList": Row("foreach", "_foreach_div__ScalarList", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_div_.Tensor": Row("foreach", "_foreach_div__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_erf": Row("foreach", "_foreach_erf", dtypes=(("", "not complex float8"),)),
    "_foreach_erf.out": Row("foreach", "_foreach_erf", "out", dtypes=(("", "not complex float8"),)),
    "_foreach_erf_": Row("foreach", "_foreach_erf", "inplace", dtypes=(("", "not complex float8"),)),
    "_foreach_erfc": Row("foreach", "_foreach_erfc", dtypes=(("", "not complex float8"),)),
    "_foreach_erfc.out": Row("foreach", "_foreach_erfc", "out", dtypes=(("", "not complex float8"),)),
    "_foreach_erfc_": Row("foreach", "_foreach_erfc", "inplace", dtypes=(("", "not complex float8"),)),
    "_foreach_exp": Row("foreach", "_foreach_exp", dtypes=(("", "not float8"),)),
    "_foreach_exp.out": Row("foreach", "_foreach_exp", "out", dtypes=(("", "not float8"),)),
    "_foreach_exp_": Row("foreach", "_foreach_exp", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_expm1": Row("foreach", "_foreach_expm1", dtypes=(("", "not float8"),)),
    "_foreach_expm1.out": Row("foreach", "_foreach_expm1", "out", dtypes=(("", "not float8"),)),
    "_foreach_expm1_": Row("foreach", "_foreach_expm1", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_floor": Row("foreach", "_foreach_floor", dtypes=(("", "not bool complex float8"),)),
    "_foreach_floor.out": Row("foreach", "_foreach_floor", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_floor_": Row("foreach", "_foreach_floor", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_frac": Row("foreach", "_foreach_frac", dtypes=(("", "floating"),)),
    "_foreach_frac.out": Row("foreach", "_foreach_frac", "out", dtypes=(("", "floating"),)),
    "_foreach_frac_": Row("foreach", "_foreach_frac", "inplace", dtypes=(("", "floating"),)),
    "_foreach_lerp.List": Row("foreach", "_foreach_lerp__List", dtypes=(("", "floating complex"),)),
    "_foreach_lerp.List_out": Row("foreach", "_foreach_lerp__List", "out", dtypes=(("", "floating complex"),)),
    "_foreach_lerp.Scalar": Row("foreach", "_foreach_lerp__Scalar", dtypes=(("", "floating complex"),)),
    "_foreach_lerp.ScalarList": Row("foreach", "_foreach_lerp__ScalarList", dtypes=(("", "floating complex"),)),
    "_foreach_lerp.ScalarList_out": Row(
        "foreach", "_foreach_lerp__ScalarList", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lerp.Scalar_out": Row("foreach", "_foreach_lerp__Scalar", "out", dtypes=(("", "floating complex"),)),
    "_foreach_lerp_.List": Row("foreach", "_foreach_lerp__List", "inplace", dtypes=(("", "floating complex"),)),
    "_foreach_lerp_.Scalar": Row("foreach", "_foreach_lerp__Scalar", "inplace", dtypes=(("", "floating complex"),)),
    "_foreach_lerp_.ScalarList": Row(
        "foreach", "_foreach_lerp__ScalarList", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lgamma": Row("foreach", "_foreach_lgamma", dtypes=(("", "not complex float8"),)),
    "_foreach_lgamma.out": Row("foreach", "_foreach_lgamma", "out", dtypes=(("", "not complex float8"),)),
    "_foreach_lgamma_": Row("foreach", "_foreach_lgamma", "inplace", dtypes=(("", "not complex float8"),)),
    "_foreach_log": Row("foreach", "_foreach_log", dtypes=(("", "not float8"),)),
    "_foreach_log.out": Row("foreach", "_foreach_log", "out", dtypes=(("", "not float8"),)),
    "_foreach_log10": Row("foreach", "_foreach_log10", dtypes=(("", "not float8"),)),
    "_foreach_log10.out": Row("foreach", "_foreach_log10", "out", dtypes=(("", "not float8"),)),
    "_foreach_log10_": Row("foreach", "_foreach_log10", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_log1p": Row("foreach", "_foreach_log1p", dtypes=(("", "not float8"),)),
    "_foreach_log1p.out": Row("foreach", "_foreach_log1p", "out", dtypes=(("", "not float8"),)),
    "_foreach_log1p_": Row("foreach", "_foreach_log1p", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_log2": Row("foreach", "_foreach_log2", dtypes=(("", "not float8"),)),
    "_foreach_log2.out": Row("foreach", "_foreach_log2", "out", dtypes=(("", "not float8"),)),
    "_foreach_log2_": Row("foreach", "_foreach_log2", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_log_": Row("foreach", "_foreach_log", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_max": Row("foreach", "_foreach_max", dtypes=(("", "bool integral floating"),)),
    "_foreach_max.out": Row("foreach", "_foreach_max", "out", dtypes=(("", "bool integral floating"),)),
    "_foreach_maximum.List": Row("foreach", "_foreach_maximum__List", dtypes=(("", "bool integral floating"),)),
    "_foreach_maximum.List_out": Row(
        "foreach", "_foreach_maximum__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.Scalar": Row("foreach", "_foreach_maximum__Scalar", dtypes=(("", "bool integral floating"),)),
    "_foreach_maximum.ScalarList": Row(
        "foreach", "_foreach_maximum__ScalarList", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.ScalarList_out": Row(
        "foreach", "_foreach_maximum__ScalarList", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.Scalar_out": Row(
        "foreach", "_foreach_maximum__Scalar", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum_.List": Row(
        "foreach", "_foreach_maximum__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum_.Scalar": Row(
        "foreach", "_foreach_maximum__Scalar", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum_.ScalarList": Row(
        "foreach", "_foreach_maximum__ScalarList", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_minimum.List": Row("foreach", "_foreach_minimum__List", dtypes=(("", "bool integral floating"),)),
    "_foreach_minimum.List_out": Row(
        "foreach", "_foreach_minimum__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_minimum.Scalar": Row("foreach", "_foreach_minimum__Scalar", dtypes=(("", "not complex float8"),)),
    "_foreach_minimum.ScalarList": Row("foreach", "_foreach_minimum__ScalarList", dtypes=(("", "not complex float8"),)),
    "_foreach_minimum.ScalarList_out": Row(
        "foreach", "_foreach_minimum__ScalarList", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum.Scalar_out": Row(
        "foreach", "_foreach_minimum__Scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum_.List": Row(
        "foreach", "_foreach_minimum__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_minimum_.Scalar": Row(
        "foreach", "_foreach_minimum__Scalar", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum_.ScalarList": Row(
        "foreach", "_foreach_minimum__ScalarList", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_mm": Row("foreach", "_foreach_mm", dtypes=(("", "not bool unsigned"),)),
    "_foreach_mul.List": Row("foreach", "_foreach_mul__List", dtypes=(("", "not float8"),)),
    "_foreach_mul.List_out": Row("foreach", "_foreach_mul__List", "out", dtypes=(("", "not float8"),)),
    "_foreach_mul.Scalar": Row("foreach", "_foreach_mul__Scalar", dtypes=(("", "not float8"),)),
    "_foreach_mul.ScalarList": Row("foreach", "_foreach_mul__ScalarList", dtypes=(("", "not float8"),)),
    "_foreach_mul.ScalarList_out": Row("foreach", "_foreach_mul__ScalarList", "out", dtypes=(("", "not float8"),)),
    "_foreach_mul.Scalar_out": Row("foreach", "_foreach_mul__Scalar", "out", dtypes=(("", "not float8"),)),
    "_foreach_mul.Tensor": Row("foreach", "_foreach_mul__Tensor", dtypes=(("", "not float8"),)),
    "_foreach_mul.Tensor_out": Row("foreach", "_foreach_mul__Tensor", "out", dtypes=(("", "not float8"),)),
    "_foreach_mul_.List": Row("foreach", "_foreach_mul__List", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_mul_.Scalar": Row("foreach", "_foreach_mul__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_mul_.ScalarList": Row("foreach", "_foreach_mul__ScalarList", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_mul_.Tensor": Row("foreach", "_foreach_mul__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_neg": Row("foreach", "_foreach_neg", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_neg.out": Row("foreach", "_foreach_neg", "out", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_neg_": Row("foreach", "_foreach_neg", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_norm.Scalar": Row(
        "foreach", "_foreach_norm__Scalar", static=("ord",), dtypes=(("", "floating complex"),)
    ),
    "_foreach_norm.Scalar_out": Row(
        "foreach", "_foreach_norm__Scalar", "out", static=("ord",), dtypes=(("", "floating complex"),)
    ),
    "_foreach_pow.List": Row("foreach", "_foreach_pow__List", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_pow.List_out": Row("foreach", "_foreach_pow__List", "out", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_pow.Scalar": Row(
        "foreach", "_foreach_pow__Scalar", static=("exponent",), dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_pow.ScalarAndTensor": Row(
        "foreach", "_foreach_pow__ScalarAndTensor", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_pow.ScalarList": Row("foreach", "_foreach_pow__ScalarList", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_pow.ScalarList_out": Row(
        "foreach", "_foreach_pow__ScalarList", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_pow.Scalar_out": Row(
        "foreach", "_foreach_pow__Scalar", "out", static=("exponent",), dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_pow_.List": Row("foreach", "_foreach_pow__List", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_pow_.Scalar": Row(
        "foreach", "_foreach_pow__Scalar", "inplace", static=("exponent",), dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_pow_.ScalarList": Row(
        "foreach", "_foreach_pow__ScalarList", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_powsum.Scalar": Row("foreach", "_foreach_powsum__Scalar", static=("ord",)),
    "_foreach_powsum.Scalar_out": Row("foreach", "_foreach_powsum__Scalar", "out", static=("ord",)),
    "_foreach_reciprocal": Row("foreach", "_foreach_reciprocal", dtypes=(("", "not float8"),)),
    "_foreach_reciprocal.out": Row("foreach", "_foreach_reciprocal", "out", dtypes=(("", "not float8"),)),
    "_foreach_reciprocal_": Row("foreach", "_foreach_reciprocal", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_round": Row("foreach", "_foreach_round", dtypes=(("", "not bool complex float8"),)),
    "_foreach_round.out": Row("foreach", "_foreach_round", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_round_": Row("foreach", "_foreach_round", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_rsqrt": Row("foreach", "_foreach_rsqrt", dtypes=(("", "not float8"),)),
    "_foreach_rsqrt.out": Row("foreach", "_foreach_rsqrt", "out", dtypes=(("", "not float8"),)),
    "_foreach_rsqrt_": Row("foreach", "_foreach_rsqrt", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sigmoid": Row("foreach", "_foreach_sigmoid", dtypes=(("", "not float8"),)),
    "_foreach_sigmoid.out": Row("foreach", "_foreach_sigmoid", "out", dtypes=(("", "not float8"),)),
    "_foreach_sigmoid_": Row("foreach", "_foreach_sigmoid", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sign": Row("foreach", "_foreach_sign", dtypes=(("", "bool integral floating"),)),
    "_foreach_sign.out": Row("foreach", "_foreach_sign", "out", dtypes=(("", "bool integral floating"),)),
    "_foreach_sign_": Row("foreach", "_foreach_sign", "inplace", dtypes=(("", "bool integral floating"),)),
    "_foreach_sin": Row("foreach", "_foreach_sin", dtypes=(("", "not float8"),)),
    "_foreach_sin.out": Row("foreach", "_foreach_sin", "out", dtypes=(("", "not float8"),)),
    "_foreach_sin_": Row("foreach", "_foreach_sin", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sinh": Row("foreach", "_foreach_sinh", dtypes=(("", "not float8"),)),
    "_foreach_sinh.out": Row("foreach", "_foreach_sinh", "out", dtypes=(("", "not float8"),)),
    "_foreach_sinh_": Row("foreach", "_foreach_sinh", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sqrt": Row("foreach", "_foreach_sqrt", dtypes=(("", "not float8"),)),
    "_foreach_sqrt.out": Row("foreach", "_foreach_sqrt", "out", dtypes=(("", "not float8"),)),
    "_foreach_sqrt_": Row("foreach", "_foreach_sqrt", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sub.List": Row("foreach", "_foreach_sub__List", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_sub.List_out": Row("foreach", "_foreach_sub__List", "out", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_sub.Scalar": Row("foreach", "_foreach_sub__Scalar", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_sub.ScalarList": Row("foreach", "_foreach_sub__ScalarList", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_sub.ScalarList_out": Row(
        "foreach", "_foreach_sub__ScalarList", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub.Scalar_out": Row(
        "foreach", "_foreach_sub__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub_.List": Row("foreach", "_foreach_sub__List", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_sub_.Scalar": Row(
        "foreach", "_foreach_sub__Scalar", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub_.ScalarList": Row(
        "foreach", "_foreach_sub__ScalarList", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_tan": Row("foreach", "_foreach_tan", dtypes=(("", "not float8"),)),
    "_foreach_tan.out": Row("foreach", "_foreach_tan", "out", dtypes=(("", "not float8"),)),
    "_foreach_tan_": Row("foreach", "_foreach_tan", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_tanh": Row("foreach", "_foreach_tanh", dtypes=(("", "not float8"),)),
    "_foreach_tanh.out": Row("foreach", "_foreach_tanh", "out", dtypes=(("", "not float8"),)),
    "_foreach_tanh_": Row("foreach", "_foreach_tanh", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_trunc": Row("foreach", "_foreach_trunc", dtypes=(("", "not bool complex float8"),)),
    "_foreach_trunc.out": Row("foreach", "_foreach_trunc", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_trunc_": Row("foreach", "_foreach_trunc", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_zero": Row("foreach", "_foreach_zero_"),
    "_foreach_zero.out": Row("foreach", "_foreach_zero_", "out"),
    "_foreach_zero_": Row("foreach", "_foreach_zero_", "inplace"),
    "_functional_assert_async.msg": Row(
        "copying", "_functional_assert_async__msg", checks=(("RuntimeError", "Assertion is failed"),)
    ),
    "_fused_adagrad": Row("optim", "_fused_adagrad_", dtypes=(("", "floating"),)),
    "_fused_adagrad.out": Row("optim", "_fused_adagrad_", "out", dtypes=(("", "floating"),)),
    "_fused_adagrad.tensor_lr": Row("optim", "_fused_adagrad___tensor_lr", dtypes=(("", "floating"),)),
    "_fused_adagrad.tensor_lr_out": Row("optim", "_fused_adagrad___tensor_lr", "out", dtypes=(("", "floating"),)),
    "_fused_adagrad_": Row("optim", "_fused_adagrad_", "inplace", dtypes=(("", "floating"),)),
    "_fused_adagrad_.tensor_lr": Row("optim", "_fused_adagrad___tensor_lr", "inplace", dtypes=(("", "floating"),)),
    "_fused_adam": Row("optim", "_fused_adam_", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adam.out": Row("optim", "_fused_adam_", "out", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adam.tensor_lr": Row("optim", "_fused_adam___tensor_lr", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adam.tensor_lr_out": Row(
        "optim", "_fused_adam___tensor_lr", "out", static=("beta2",), dtypes=(("", "floating"),)
    ),
    "_fused_adam_": Row("optim", "_fused_adam_", "inplace", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adam_.tensor_lr": Row(
        "optim", "_fused_adam___tensor_lr", "inplace", static=("beta2",), dtypes=(("", "floating"),)
    ),
    "_fused_adamw": Row("optim", "_fused_adamw_", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adamw.out": Row("optim", "_fused_adamw_", "out", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adamw.tensor_lr": Row("optim", "_fused_adamw___tensor_lr", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adamw.tensor_lr_out": Row(
        "optim", "_fused_adamw___tensor_lr", "out", static=("beta2",), dtypes=(("", "floating"),)
    ),
    "_fused_adamw_": Row("optim", "_fused_adamw_", "inplace", static=("beta2",), dtypes=(("", "floating"),)),
    "_fused_adamw_.tensor_lr": Row(
        "optim", "_fused_adamw___tensor_lr", "inplace", static=("beta2",), dtypes=(("", "floating"),)
    ),
    "_fused_dropout": Row("random", "_fused_dropout", random=True),
    "_fused_dropout.out": Row("random", "_fused_dropout", "out", random=True),
    "_fused_moving_avg_obs_fq_helper": Row("quantize", "_fused_moving_avg_obs_fq_helper", "inplace"),
    "_fused_moving_avg_obs_fq_helper.out": Row("quantize", "_fused_moving_avg_obs_fq_helper", "out"),
    "_fused_moving_avg_obs_fq_helper_functional": Row("quantize", "_fused_moving_avg_obs_fq_helper"),
    "_fused_rms_norm": Row("norm", "_fused_rms_norm"),
    "_fused_rms_norm_backward": Row("norm", "_fused_rms_norm_backward"),
    "_fused_sdp_choice": Row("attention", "_fused_sdp_choice", dynamic="answers with a Python int"),
    "_fused_sgd": Row("optim", "_fused_sgd_", dtypes=(("", "floating"),)),
    "_fused_sgd.out": Row("optim", "_fused_sgd_", "out", dtypes=(("", "floating"),)),
    "_fused_sgd.tensor_lr": Row("optim", "_fused_sgd___tensor_lr", dtypes=(("", "floating"),)),
    "_fused_sgd.tensor_lr_out": Row("optim", "_fused_sgd___tensor_lr", "out", dtypes=(("", "floating"),)),
    "_fused_sgd_": Row("optim", "_fused_sgd_", "inplace", dtypes=(("", "floating"),)),
    "_fused_sgd_.tensor_lr": Row("optim", "_fused_sgd___tensor_lr", "inplace", dtypes=(("", "floating"),)),
    "_grid_sampler_2d_cpu_fallback": Row("resize", "_grid_sampler_2d_cpu_fallback"),
    "_grid_sampler_2d_cpu_fallback.out": Row("resize", "_grid_sampler_2d_cpu_fallback", "out"),
    "_grid_sampler_2d_cpu_fallback_backward": Row("resize", "_grid_sampler_2d_cpu_fallback_backward"),
    "_grouped_mm": Row("matmul", "_grouped_mm"),
    "_histogramdd_bin_edges": Row(
        "histogram",
        "_histogramdd_bin_edges",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "_histogramdd_bin_edges.out": Row(
        "histogram",
        "_histogramdd_bin_edges",
        "out",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "_histogramdd_from_bin_cts": Row("histogram", "_histogramdd_from_bin_cts", dtypes=(("", "floating"),)),
    "_histogramdd_from_bin_cts.out": Row("histogram", "_histogramdd_from_bin_cts", "out", dtypes=(("", "floating"),)),
    "_histogramdd_from_bin_tensors": Row("histogram", "_histogramdd_from_bin_tensors", dtypes=(("", "floating"),)),
    "_histogramdd_from_bin_tensors.out": Row(
        "histogram", "_histogramdd_from_bin_tensors", "out", dtypes=(("", "floating"),)
    ),
    "_index_put_impl": Row(
        "indexing",
        "_index_put_impl_",
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "_index_put_impl.out": Row(
        "indexing",
        "_index_put_impl_",
        "out",
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "_index_put_impl_": Row(
        "indexing",
        "_index_put_impl_",
        "inplace",
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "_int_mm": Row("matmul", "_int_mm"),
    "_int_mm.out": Row("matmul", "_int_mm", "out"),
    "_is_all_true": Row("reduction", "_is_all_true", dtypes=(("", "bool"),)),
    "_is_any_true": Row("reduction", "_is_any_true", dtypes=(("", "bool"),)),
    "_jagged_to_padded_dense_forward": Row("nested", "_jagged_to_padded_dense_forward"),
    "_linalg_check_errors": Row(
        "linalg",
        "_linalg_check_errors",
        checks=(
            (
                "LinAlgError",
                "The factorization or inversion could not be completed because the input matrix is singular or not positive-definite.",
            ),
        ),
    ),
    "_linalg_det": Row("linalg", "_linalg_det", dtypes=(("", "floating complex"),)),
    "_linalg_det.result": Row("linalg", "_linalg_det", "out", dtypes=(("", "floating complex"),)),
    "_linalg_eigh": Row(
        "linalg",
        "_linalg_eigh",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.eigh: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_linalg_eigh.eigenvalues": Row(
        "linalg",
        "_linalg_eigh",
        "out",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.eigh: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_linalg_eigvals": Row("linalg", "_linalg_eigvals", dtypes=(("", "floating complex"),)),
    "_linalg_slogdet": Row("linalg", "_linalg_slogdet", dtypes=(("", "floating complex"),)),
    "_linalg_slogdet.sign": Row("linalg", "_linalg_slogdet", "out", dtypes=(("", "floating complex"),)),
    "_linalg_solve_ex": Row("linalg", "_linalg_solve_ex", dtypes=(("", "floating complex"),)),
    "_linalg_solve_ex.result": Row("linalg", "_linalg_solve_ex", "out", dtypes=(("", "floating complex"),)),
    "_linalg_svd": Row(
        "linalg",
        "_linalg_svd",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_linalg_svd.U": Row(
        "linalg",
        "_linalg_svd",
        "out",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_log_softmax": Row("softmax", "_log_softmax", dtypes=(("", "floating"),)),
    "_log_softmax.out": Row("softmax", "_log_softmax", "out", dtypes=(("", "floating"),)),
    "_log_softmax_backward_data": Row("softmax", "_log_softmax_backward_data"),
    "_log_softmax_backward_data.out": Row("softmax", "_log_softmax_backward_data", "out"),
    "_logcumsumexp": Row("scan", "_logcumsumexp", dtypes=(("", "floating complex"),)),
    "_logcumsumexp.out": Row("scan", "_logcumsumexp", "out", dtypes=(("", "floating complex"),)),
    "_masked_scale": Row("random", "_masked_scale"),
    "_masked_scale.out": Row("random", "_masked_scale", "out"),
    "_masked_softmax": Row("softmax", "_masked_softmax", dtypes=(("self", "floating"), ("mask", "bool"))),
    "_masked_softmax.out": Row("softmax", "_masked_softmax", "out", dtypes=(("self", "floating"), ("mask", "bool"))),
    "_masked_softmax_backward": Row("softmax", "_masked_softmax_backward"),
    "_masked_softmax_backward.out": Row("softmax", "_masked_softmax_backward", "out"),
    "_native_batch_norm_legit": Row("norm", "_native_batch_norm_legit", "inplace", dtypes=(("", "floating"),)),
    "_native_batch_norm_legit.no_stats": Row("norm", "_native_batch_norm_legit__no_stats", dtypes=(("", "floating"),)),
    "_native_batch_norm_legit.no_stats_out": Row(
        "norm", "_native_batch_norm_legit__no_stats", "out", dtypes=(("", "floating"),)
    ),
    "_native_batch_norm_legit.out": Row("norm", "_native_batch_norm_legit", "out", dtypes=(("", "floating"),)),
    "_native_batch_norm_legit_functional": Row("norm", "_native_batch_norm_legit", dtypes=(("", "floating"),)),
    "_native_batch_norm_legit_no_training": Row(
        "norm", "_native_batch_norm_legit_no_training", dtypes=(("", "floating"),)
    ),
    "_native_batch_norm_legit_no_training.out": Row(
        "norm", "_native_batch_norm_legit_no_training", "out", dtypes=(("", "floating"),)
    ),
    "_native_multi_head_attention": Row("attention", "_native_multi_head_attention", dtypes=(("query", "floating"),)),
    "_native_multi_head_attention.out": Row(
        "attention", "_native_multi_head_attention", "out", dtypes=(("query", "floating"),)
    ),
    "_nested_tensor_from_mask_left_aligned": Row(
        "attention", "_nested_tensor_from_mask_left_aligned", dynamic="answers with a Python bool"
    ),
    "_new_zeros_with_same_feature_meta": Row("creation", "_new_zeros_with_same_feature_meta"),
    "_new_zeros_with_same_feature_meta.out": Row("creation", "_new_zeros_with_same_feature_meta", "out"),
    "_padded_dense_to_jagged_forward": Row(
        "nested", "_padded_dense_to_jagged_forward", dynamic="without total_L, the number of rows lies in the offsets"
    ),
    "_pdist_backward": Row("distance", "_pdist_backward", static=("p",), renamed=(("grad_output", "grad"),)),
    "_pdist_backward.out": Row("distance", "_pdist_backward", "out", static=("p",), renamed=(("grad_output", "grad"),)),
    "_pdist_forward": Row("distance", "_pdist_forward", static=("p",), dtypes=(("", "floating"),)),
    "_pdist_forward.out": Row("distance", "_pdist_forward", "out", static=("p",), dtypes=(("", "floating"),)),
    "_prelu_kernel": Row("activation", "_prelu_kernel", dtypes=(("", "floating"),)),
    "_prelu_kernel_backward": Row("activation", "_prelu_kernel_backward"),
    "_reshape_copy": Row("shape", "_reshape_copy"),
    "_safe_softmax": Row("softmax", "_safe_softmax", dtypes=(("", "floating"),)),
    "_sample_dirichlet": Row("random", "_sample_dirichlet", random=True),
    "_sample_dirichlet.out": Row("random", "_sample_dirichlet", "out", random=True),
    "_scaled_dot_product_flash_attention_for_cpu": Row(
        "attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        static=("dropout_p", "scale"),
        dtypes=(("query", "floating"),),
    ),
    "_scaled_dot_product_flash_attention_for_cpu_backward": Row(
        "attention", "_scaled_dot_product_flash_attention_for_cpu_backward", static=("dropout_p", "scale")
    ),
    "_scaled_mm": Row("matmul", "_scaled_mm"),
    "_scaled_mm.out": Row("matmul", "_scaled_mm", "out"),
    "_scaled_mm_v2": Row("matmul", "_scaled_mm_v2"),
    "_scaled_mm_v2.out": Row("matmul", "_scaled_mm_v2", "out"),
    "_segment_reduce_backward": Row("segment", "_segment_reduce_backward"),
    "_segment_reduce_backward.out": Row("segment", "_segment_reduce_backward", "out"),
    "_slow_conv2d_backward.grad_input": Row("conv", "_slow_conv2d_backward__grad_input", "out"),
    "_slow_conv2d_backward.output_mask": Row("conv", "_slow_conv2d_backward__output_mask"),
    "_slow_conv2d_backward.output_mask_out": Row("conv", "_slow_conv2d_backward__output_mask", "out"),
    "_slow_conv2d_forward": Row("conv", "_slow_conv2d_forward", dtypes=(("", "integral floating"),)),
    "_slow_conv2d_forward.output": Row("conv", "_slow_conv2d_forward", "out", dtypes=(("", "integral floating"),)),
    "_softmax": Row("softmax", "_softmax", dtypes=(("", "floating"),)),
    "_softmax.out": Row("softmax", "_softmax", "out", dtypes=(("", "floating"),)),
    "_softmax_backward_data": Row("softmax", "_softmax_backward_data"),
    "_softmax_backward_data.out": Row("softmax", "_softmax_backward_data", "out"),
    "_stack": Row("shape", "_stack"),
    "_stack.out": Row("shape", "_stack", "out"),
    "_standard_gamma": Row("random", "_standard_gamma", random=True),
    "_standard_gamma.out": Row("random", "_standard_gamma", "out", random=True),
    "_standard_gamma_grad": Row("random", "_standard_gamma_grad"),
    "_standard_gamma_grad.out": Row("random", "_standard_gamma_grad", "out"),
    "_thnn_fused_gru_cell": Row("cells", "_thnn_fused_gru_cell"),
    "_thnn_fused_gru_cell.out": Row("cells", "_thnn_fused_gru_cell", "out"),
    "_thnn_fused_gru_cell_backward": Row("cells", "_thnn_fused_gru_cell_backward"),
    "_thnn_fused_gru_cell_backward.out": Row("cells", "_thnn_fused_gru_cell_backward", "out"),
    "_thnn_fused_lstm_cell": Row("cells", "_thnn_fused_lstm_cell"),
    "_thnn_fused_lstm_cell.out": Row("cells", "_thnn_fused_lstm_cell", "out"),
    "_thnn_fused_lstm_cell_backward_impl": Row("cells", "_thnn_fused_lstm_cell_backward_impl"),
    "_thnn_fused_lstm_cell_backward_impl.out": Row("cells", "_thnn_fused_lstm_cell_backward_impl", "out"),
    "_transformer_encoder_layer_fwd": Row("attention", "_transformer_encoder_layer_fwd", dtypes=(("src", "floating"),)),
    "_transformer_encoder_layer_fwd.out": Row(
        "attention", "_transformer_encoder_layer_fwd", "out", dtypes=(("src", "floating"),)
    ),
    "_trilinear": Row("matmul", "_trilinear", dtypes=(("", "not bool unsigned float8"),)),
    "_trilinear.out": Row("matmul", "_trilinear", "out", dtypes=(("", "not bool unsigned float8"),)),
    "_unique": Row("unique", "_unique", dynamic="the number of distinct values", dtypes=(("", "not complex float8"),)),
    "_unique.out": Row(
        "unique", "_unique", "out", dynamic="the number of distinct values", dtypes=(("", "not complex float8"),)
    ),
    "_unique2": Row(
        "unique", "_unique2", dynamic="the number of distinct values", dtypes=(("", "not complex float8"),)
    ),
    "_unique2.out": Row(
        "unique", "_unique2", "out", dynamic="the number of distinct values", dtypes=(("", "not complex float8"),)
    ),
    "_unsafe_index.Tensor": Row("indexing", "_unsafe_index__Tensor"),
    "_unsafe_index_put": Row("indexing", "_unsafe_index_put", dtypes=(("self", "not unsigned"),)),
    "_unsafe_masked_index": Row("indexing", "_unsafe_masked_index", dtypes=(("self", "not unsigned float8"),)),
    "_unsafe_masked_index_put_accumulate": Row(
        "indexing", "_unsafe_masked_index_put_accumulate", dtypes=(("self", "not unsigned float8"),)
    ),
    "_upsample_bicubic2d_aa": Row(
        "resize", "_upsample_bicubic2d_aa", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_bicubic2d_aa.out": Row(
        "resize", "_upsample_bicubic2d_aa", "out", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_bicubic2d_aa_backward": Row(
        "resize", "_upsample_bicubic2d_aa_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_bicubic2d_aa_backward.grad_input": Row(
        "resize", "_upsample_bicubic2d_aa_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_bilinear2d_aa": Row(
        "resize", "_upsample_bilinear2d_aa", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_bilinear2d_aa.out": Row(
        "resize", "_upsample_bilinear2d_aa", "out", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_bilinear2d_aa_backward": Row(
        "resize", "_upsample_bilinear2d_aa_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_bilinear2d_aa_backward.grad_input": Row(
        "resize", "_upsample_bilinear2d_aa_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_lanczos2d_aa": Row(
        "resize", "_upsample_lanczos2d_aa", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_lanczos2d_aa.out": Row(
        "resize", "_upsample_lanczos2d_aa", "out", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_lanczos2d_aa_backward": Row(
        "resize", "_upsample_lanczos2d_aa_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_lanczos2d_aa_backward.grad_input": Row(
        "resize", "_upsample_lanczos2d_aa_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_nearest_exact1d": Row(
        "resize", "_upsample_nearest_exact1d", static=("scales",), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_nearest_exact1d.out": Row(
        "resize", "_upsample_nearest_exact1d", "out", static=("scales",), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_nearest_exact1d_backward": Row("resize", "_upsample_nearest_exact1d_backward", static=("scales",)),
    "_upsample_nearest_exact1d_backward.grad_input": Row(
        "resize", "_upsample_nearest_exact1d_backward", "out", static=("scales",)
    ),
    "_upsample_nearest_exact2d": Row(
        "resize", "_upsample_nearest_exact2d", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_nearest_exact2d.out": Row(
        "resize", "_upsample_nearest_exact2d", "out", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_nearest_exact2d_backward": Row(
        "resize", "_upsample_nearest_exact2d_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_nearest_exact2d_backward.grad_input": Row(
        "resize", "_upsample_nearest_exact2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d": Row(
        "resize", "_upsample_nearest_exact3d", static=("scales_d", "scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d.out": Row(
        "resize", "_upsample_nearest_exact3d", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d_backward": Row(
        "resize", "_upsample_nearest_exact3d_backward", static=("scales_d", "scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d_backward.grad_input": Row(
        "resize", "_upsample_nearest_exact3d_backward", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "_weight_int8pack_mm": Row("matmul", "_weight_int8pack_mm"),
    "_weight_norm_interface": Row("norm", "_weight_norm_interface", dtypes=(("", "floating"),)),
    "_weight_norm_interface.out": Row("norm", "_weight_norm_interface", "out", dtypes=(("", "floating"),)),
    "_weight_norm_interface_backward": Row("norm", "_weight_norm_interface_backward"),
    "_weight_norm_interface_backward.out": Row("norm", "_weight_norm_interface_backward", "out"),
    "abs": Row("pointwise", "abs", dtypes=(("", "not unsigned"),)),
    "abs.out": Row("pointwise", "abs", "out", dtypes=(("", "not unsigned"),)),
    "abs_": Row("pointwise", "abs", "inplace", dtypes=(("", "not unsigned"),)),
    "acos": Row("pointwise", "acos", dtypes=(("", "not float8"),)),
    "acos.out": Row("pointwise", "acos", "out", dtypes=(("", "not float8"),)),
    "acos_": Row("pointwise", "acos", "inplace", dtypes=(("", "not float8"),)),
    "acosh": Row("pointwise", "acosh", dtypes=(("", "not float8"),)),
    "acosh.out": Row("pointwise", "acosh", "out", dtypes=(("", "not float8"),)),
    "acosh_": Row("pointwise", "acosh", "inplace", dtypes=(("", "not float8"),)),
    "adaptive_avg_pool2d.out": Row("pool", "adaptive_avg_pool2d__out", "out", dtypes=(("", "floating"),)),
    "adaptive_avg_pool3d.out": Row("pool", "adaptive_avg_pool3d__out", "out", dtypes=(("", "floating"),)),
    "adaptive_avg_pool3d_backward.grad_input": Row("pool", "adaptive_avg_pool3d_backward__grad_input", "out"),
    "adaptive_max_pool2d": Row("pool", "adaptive_max_pool2d", dtypes=(("", "floating"),)),
    "adaptive_max_pool2d.out": Row("pool", "adaptive_max_pool2d", "out", dtypes=(("", "floating"),)),
    "adaptive_max_pool2d_backward": Row("pool", "adaptive_max_pool2d_backward"),
    "adaptive_max_pool2d_backward.grad_input": Row("pool", "adaptive_max_pool2d_backward", "out"),
    "adaptive_max_pool3d": Row("pool", "adaptive_max_pool3d", dtypes=(("", "floating"),)),
    "adaptive_max_pool3d.out": Row("pool", "adaptive_max_pool3d", "out", dtypes=(("", "floating"),)),
    "adaptive_max_pool3d_backward": Row("pool", "adaptive_max_pool3d_backward"),
    "adaptive_max_pool3d_backward.grad_input": Row("pool", "adaptive_max_pool3d_backward", "out"),
    "add.Scalar": Row("pointwise", "add__Scalar", dtypes=(("", "not unsigned float8"),)),
    "add.Scalar_out": Row("pointwise", "add__Scalar", "out", dtypes=(("", "not unsigned float8"),)),
    "add.Tensor": Row("pointwise", "add__Tensor", dtypes=(("", "not unsigned float8"),)),
    "add.out": Row("pointwise", "add__Tensor", "out", dtypes=(("", "not unsigned float8"),)),
    "add_.Scalar": Row("pointwise", "add__Scalar", "inplace", dtypes=(("", "not unsigned float8"),)),
    "add_.Tensor": Row("pointwise", "add__Tensor", "inplace", dtypes=(("", "not unsigned float8"),)),
    "addbmm": Row("matmul", "addbmm", static=("beta", "alpha"), dtypes=(("", "not bool unsigned"),)),
    "addbmm.out": Row("matmul", "addbmm", "out", static=("beta", "alpha"), dtypes=(("", "not bool unsigned"),)),
    "addbmm_": Row("matmul", "addbmm", "inplace", static=("beta", "alpha"), dtypes=(("", "not bool unsigned"),)),
    "addcdiv": Row("pointwise", "addcdiv", dtypes=(("", "floating complex"),)),
    "addcdiv.out": Row("pointwise", "addcdiv", "out", dtypes=(("", "floating complex"),)),
    "addcdiv_": Row("pointwise", "addcdiv", "inplace", dtypes=(("", "floating complex"),)),
    "addcmul": Row("pointwise", "addcmul", dtypes=(("", "not bool unsigned float8"),)),
    "addcmul.out": Row("pointwise", "addcmul", "out", dtypes=(("", "not bool unsigned float8"),)),
    "addcmul_": Row("pointwise", "addcmul", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "addmm": Row("matmul", "addmm", static=("beta", "alpha"), dtypes=(("", "not bool unsigned"),)),
    "addmm.dtype": Row("matmul", "addmm__dtype", static=("beta", "alpha")),
    "addmm.dtype_out": Row("matmul", "addmm__dtype", "out", static=("beta", "alpha")),
    "addmm.out": Row("matmul", "addmm", "out", static=("beta", "alpha"), dtypes=(("", "not bool unsigned"),)),
    "addmm_": Row("matmul", "addmm", "inplace", static=("beta", "alpha"), dtypes=(("", "not bool unsigned"),)),
    "addmv": Row("matmul", "addmv", static=("beta", "alpha"), dtypes=(("", "not bool unsigned float8"),)),
    "addmv.out": Row("matmul", "addmv", "out", static=("beta", "alpha"), dtypes=(("", "not bool unsigned float8"),)),
    "addmv_": Row("matmul", "addmv", "inplace", static=("beta", "alpha"), dtypes=(("", "not bool unsigned float8"),)),
    "addr": Row("matmul", "addr", static=("beta", "alpha"), dtypes=(("", "not unsigned float8"),)),
    "addr.out": Row("matmul", "addr", "out", static=("beta", "alpha"), dtypes=(("", "not unsigned float8"),)),
    "addr_": Row("matmul", "addr", "inplace", static=("beta", "alpha"), dtypes=(("", "not unsigned float8"),)),
    "affine_grid_generator": Row("resize", "affine_grid_generator", dtypes=(("", "not bool unsigned float8"),)),
    "affine_grid_generator.out": Row(
        "resize", "affine_grid_generator", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "all": Row("reduction", "all"),
    "all.all_out": Row("reduction", "all", "out"),
    "all.dim": Row("reduction", "all__dim"),
    "all.dims": Row("reduction", "all__dims"),
    "all.dims_out": Row("reduction", "all__dims", "out"),
    "all.out": Row("reduction", "all__dim", "out"),
    "amax": Row("reduction", "amax", dtypes=(("", "bool integral floating"),)),
    "amax.out": Row("reduction", "amax", "out", dtypes=(("", "bool integral floating"),)),
    "amin": Row("reduction", "amin", dtypes=(("", "bool integral floating"),)),
    "amin.out": Row("reduction", "amin", "out", dtypes=(("", "bool integral floating"),)),
    "aminmax": Row("reduction", "aminmax", dtypes=(("", "bool integral floating"),)),
    "aminmax.out": Row("reduction", "aminmax", "out", dtypes=(("", "bool integral floating"),)),
    "angle": Row("pointwise", "angle", dtypes=(("", "not float8"),)),
    "angle.out": Row("pointwise", "angle", "out", dtypes=(("", "not float8"),)),
    "any": Row("reduction", "any"),
    "any.all_out": Row("reduction", "any", "out"),
    "any.dim": Row("reduction", "any__dim"),
    "any.dims": Row("reduction", "any__dims"),
    "any.dims_out": Row("reduction", "any__dims", "out"),
    "any.out": Row("reduction", "any__dim", "out"),
    "arange": Row("creation", "arange", static=("end",)),
    "arange.out": Row("creation", "arange", "out", static=("end",)),
    "arange.start": Row("creation", "arange__start", static=("start", "end")),
    "arange.start_out": Row("creation", "arange__start_step", "out", static=("start", "end", "step")),
    "arange.start_step": Row("creation", "arange__start_step", static=("start", "end", "step")),
    "argmax": Row("reduction", "argmax", dtypes=(("", "integral floating"),)),
    "argmax.out": Row("reduction", "argmax", "out", dtypes=(("", "integral floating"),)),
    "argmin": Row("reduction", "argmin", dtypes=(("", "integral floating"),)),
    "argmin.out": Row("reduction", "argmin", "out", dtypes=(("", "integral floating"),)),
    "as_strided_scatter": Row("shape", "as_strided_scatter"),
    "as_strided_scatter.out": Row("shape", "as_strided_scatter", "out"),
    "asin": Row("pointwise", "asin", dtypes=(("", "not float8"),)),
    "asin.out": Row("pointwise", "asin", "out", dtypes=(("", "not float8"),)),
    "asin_": Row("pointwise", "asin", "inplace", dtypes=(("", "not float8"),)),
    "asinh": Row("pointwise", "asinh", dtypes=(("", "not float8"),)),
    "asinh.out": Row("pointwise", "asinh", "out", dtypes=(("", "not float8"),)),
    "asinh_": Row("pointwise", "asinh", "inplace", dtypes=(("", "not float8"),)),
    "atan": Row("pointwise", "atan", dtypes=(("", "not float8"),)),
    "atan.out": Row("pointwise", "atan", "out", dtypes=(("", "not float8"),)),
    "atan2": Row("pointwise", "atan2", dtypes=(("", "not complex float8"),)),
    "atan2.out": Row("pointwise", "atan2", "out", dtypes=(("", "not complex float8"),)),
    "atan2_": Row("pointwise", "atan2", "inplace", dtypes=(("", "not complex float8"),)),
    "atan_": Row("pointwise", "atan", "inplace", dtypes=(("", "not float8"),)),
    "atanh": Row("pointwise", "atanh", dtypes=(("", "not float8"),)),
    "atanh.out": Row("pointwise", "atanh", "out", dtypes=(("", "not float8"),)),
    "atanh_": Row("pointwise", "atanh", "inplace", dtypes=(("", "not float8"),)),
    "avg_pool2d": Row("pool", "avg_pool2d", dtypes=(("", "int64 floating"),)),
    "avg_pool2d.out": Row("pool", "avg_pool2d", "out", dtypes=(("", "int64 floating"),)),
    "avg_pool2d_backward": Row("pool", "avg_pool2d_backward"),
    "avg_pool2d_backward.grad_input": Row("pool", "avg_pool2d_backward", "out"),
    "avg_pool3d": Row("pool", "avg_pool3d", dtypes=(("", "int64 floating"),)),
    "avg_pool3d.out": Row("pool", "avg_pool3d", "out", dtypes=(("", "int64 floating"),)),
    "avg_pool3d_backward": Row("pool", "avg_pool3d_backward"),
    "avg_pool3d_backward.grad_input": Row("pool", "avg_pool3d_backward", "out"),
    "baddbmm": Row("matmul", "baddbmm", static=("beta", "alpha"), dtypes=(("", "not bool unsigned float8"),)),
    "baddbmm.dtype": Row("matmul", "baddbmm__dtype", static=("beta", "alpha")),
    "baddbmm.dtype_out": Row("matmul", "baddbmm__dtype", "out", static=("beta", "alpha")),
    "baddbmm.out": Row(
        "matmul", "baddbmm", "out", static=("beta", "alpha"), dtypes=(("", "not bool unsigned float8"),)
    ),
    "baddbmm_": Row(
        "matmul", "baddbmm", "inplace", static=("beta", "alpha"), dtypes=(("", "not bool unsigned float8"),)
    ),
    "batch_norm_backward": Row("norm", "batch_norm_backward"),
    "batch_norm_backward_elemt": Row("norm", "batch_norm_backward_elemt"),
    "batch_norm_backward_elemt.out": Row("norm", "batch_norm_backward_elemt", "out"),
    "batch_norm_backward_reduce": Row("norm", "batch_norm_backward_reduce"),
    "batch_norm_backward_reduce.out": Row("norm", "batch_norm_backward_reduce", "out"),
    "batch_norm_elemt": Row("norm", "batch_norm_elemt"),
    "batch_norm_elemt.out": Row("norm", "batch_norm_elemt", "out"),
    "batch_norm_gather_stats": Row("norm", "batch_norm_gather_stats", writes=("running_mean", "running_var")),
    "batch_norm_gather_stats.out": Row(
        "norm", "batch_norm_gather_stats", "out", writes=("running_mean", "running_var")
    ),
    "batch_norm_gather_stats_with_counts": Row(
        "norm", "batch_norm_gather_stats_with_counts", writes=("running_mean", "running_var")
    ),
    "batch_norm_gather_stats_with_counts.out": Row(
        "norm", "batch_norm_gather_stats_with_counts", "out", writes=("running_mean", "running_var")
    ),
    "batch_norm_stats": Row("norm", "batch_norm_stats"),
    "batch_norm_stats.out": Row("norm", "batch_norm_stats", "out"),
    "batch_norm_update_stats": Row(
        "norm", "batch_norm_update_stats", writes=("running_mean", "running_var"), dtypes=(("", "floating"),)
    ),
    "batch_norm_update_stats.out": Row(
        "norm", "batch_norm_update_stats", "out", writes=("running_mean", "running_var"), dtypes=(("", "floating"),)
    ),
    "bernoulli": Row(
        "random",
        "bernoulli",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.Tensor": Row(
        "random",
        "bernoulli___Tensor",
        random=True,
        dtypes=(("self", "bool integral floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.Tensor_out": Row(
        "random",
        "bernoulli___Tensor",
        "out",
        random=True,
        dtypes=(("self", "bool integral floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.float_out": Row(
        "random", "bernoulli__p", "out", random=True, checks=(("RuntimeError", "bernoulli_ expects p to be in [0, 1]"),)
    ),
    "bernoulli.out": Row(
        "random",
        "bernoulli",
        "out",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.p": Row(
        "random", "bernoulli__p", random=True, checks=(("RuntimeError", "bernoulli_ expects p to be in [0, 1]"),)
    ),
    "bernoulli_.Tensor": Row(
        "random",
        "bernoulli___Tensor",
        "inplace",
        random=True,
        dtypes=(("self", "bool integral floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli_.float": Row(
        "random",
        "bernoulli___float",
        "inplace",
        random=True,
        dtypes=(("", "bool integral floating"),),
        checks=(("RuntimeError", "bernoulli_ expects p to be in [0, 1]"),),
    ),
    "binary_cross_entropy": Row(
        "loss",
        "binary_cross_entropy",
        dtypes=(("", "floating"),),
        checks=(
            ("RuntimeError", "all elements of input should be between 0 and 1"),
            ("RuntimeError", "all elements of target should be between 0 and 1"),
        ),
    ),
    "binary_cross_entropy.out": Row(
        "loss",
        "binary_cross_entropy",
        "out",
        dtypes=(("", "floating"),),
        checks=(
            ("RuntimeError", "all elements of input should be between 0 and 1"),
            ("RuntimeError", "all elements of target should be between 0 and 1"),
        ),
    ),
    "binary_cross_entropy_backward": Row("loss", "binary_cross_entropy_backward"),
    "binary_cross_entropy_backward.grad_input": Row("loss", "binary_cross_entropy_backward", "out"),
    "binary_cross_entropy_with_logits": Row("loss", "binary_cross_entropy_with_logits", dtypes=(("", "floating"),)),
    "binary_cross_entropy_with_logits.out": Row(
        "loss", "binary_cross_entropy_with_logits", "out", dtypes=(("", "floating"),)
    ),
    "bincount": Row("histogram", "bincount", dynamic="as long as the largest value", dtypes=(("", "integral"),)),
    "bincount.out": Row(
        "histogram", "bincount", "out", dynamic="as long as the largest value", dtypes=(("", "integral"),)
    ),
    "binomial": Row("random", "binomial", random=True, dtypes=(("", "floating"),)),
    "binomial.out": Row("random", "binomial", "out", random=True, dtypes=(("", "floating"),)),
    "bitwise_and.Scalar": Row("pointwise", "bitwise_and__Scalar", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_and.Scalar_Tensor": Row(
        "pointwise", "bitwise_and__Scalar_Tensor", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_and.Scalar_Tensor_out": Row(
        "pointwise", "bitwise_and__Scalar_Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_and.Scalar_out": Row("pointwise", "bitwise_and__Scalar", "out", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_and.Tensor": Row("pointwise", "bitwise_and__Tensor", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_and.Tensor_out": Row("pointwise", "bitwise_and__Tensor", "out", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_and_.Scalar": Row("pointwise", "bitwise_and__Scalar", "inplace", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_and_.Tensor": Row("pointwise", "bitwise_and__Tensor", "inplace", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_left_shift.Scalar_Tensor": Row(
        "pointwise", "bitwise_left_shift__Scalar_Tensor", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Scalar_Tensor_out": Row(
        "pointwise", "bitwise_left_shift__Scalar_Tensor", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Tensor": Row("pointwise", "bitwise_left_shift__Tensor", dtypes=(("", "integral"),)),
    "bitwise_left_shift.Tensor_Scalar": Row(
        "pointwise", "bitwise_left_shift__Tensor_Scalar", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Tensor_Scalar_out": Row(
        "pointwise", "bitwise_left_shift__Tensor_Scalar", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Tensor_out": Row("pointwise", "bitwise_left_shift__Tensor", "out", dtypes=(("", "integral"),)),
    "bitwise_left_shift_.Tensor": Row("pointwise", "bitwise_left_shift__Tensor", "inplace", dtypes=(("", "integral"),)),
    "bitwise_left_shift_.Tensor_Scalar": Row(
        "pointwise", "bitwise_left_shift__Tensor_Scalar", "inplace", dtypes=(("", "bool integral"),)
    ),
    "bitwise_not": Row("pointwise", "bitwise_not", dtypes=(("", "bool integral"),)),
    "bitwise_not.out": Row("pointwise", "bitwise_not", "out", dtypes=(("", "bool integral"),)),
    "bitwise_not_": Row("pointwise", "bitwise_not", "inplace", dtypes=(("", "bool integral"),)),
    "bitwise_or.Scalar": Row("pointwise", "bitwise_or__Scalar", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or.Scalar_Tensor": Row("pointwise", "bitwise_or__Scalar_Tensor", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or.Scalar_Tensor_out": Row(
        "pointwise", "bitwise_or__Scalar_Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_or.Scalar_out": Row("pointwise", "bitwise_or__Scalar", "out", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or.Tensor": Row("pointwise", "bitwise_or__Tensor", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or.Tensor_out": Row("pointwise", "bitwise_or__Tensor", "out", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or_.Scalar": Row("pointwise", "bitwise_or__Scalar", "inplace", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or_.Tensor": Row("pointwise", "bitwise_or__Tensor", "inplace", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_right_shift.Scalar_Tensor": Row(
        "pointwise", "bitwise_right_shift__Scalar_Tensor", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Scalar_Tensor_out": Row(
        "pointwise", "bitwise_right_shift__Scalar_Tensor", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Tensor": Row("pointwise", "bitwise_right_shift__Tensor", dtypes=(("", "integral"),)),
    "bitwise_right_shift.Tensor_Scalar": Row(
        "pointwise", "bitwise_right_shift__Tensor_Scalar", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Tensor_Scalar_out": Row(
        "pointwise", "bitwise_right_shift__Tensor_Scalar", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Tensor_out": Row(
        "pointwise", "bitwise_right_shift__Tensor", "out", dtypes=(("", "integral"),)
    ),
    "bitwise_right_shift_.Tensor": Row(
        "pointwise", "bitwise_right_shift__Tensor", "inplace", dtypes=(("", "integral"),)
    ),
    "bitwise_right_shift_.Tensor_Scalar": Row(
        "pointwise", "bitwise_right_shift__Tensor_Scalar", "inplace", dtypes=(("", "bool integral"),)
    ),
    "bitwise_xor.Scalar": Row("pointwise", "bitwise_xor__Scalar", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_xor.Scalar_Tensor": Row(
        "pointwise", "bitwise_xor__Scalar_Tensor", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_xor.Scalar_Tensor_out": Row(
        "pointwise", "bitwise_xor__Scalar_Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_xor.Scalar_out": Row("pointwise", "bitwise_xor__Scalar", "out", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_xor.Tensor": Row("pointwise", "bitwise_xor__Tensor", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_xor.Tensor_out": Row("pointwise", "bitwise_xor__Tensor", "out", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_xor_.Scalar": Row("pointwise", "bitwise_xor__Scalar", "inplace", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_xor_.Tensor": Row("pointwise", "bitwise_xor__Tensor", "inplace", dtypes=(("", "bool integral unsigned"),)),
    "block_diag": Row("shape", "block_diag"),
    "block_diag.out": Row("shape", "block_diag", "out"),
    "bmm": Row("matmul", "bmm", dtypes=(("", "not bool unsigned float8"),)),
    "bmm.dtype": Row("matmul", "bmm__dtype"),
    "bmm.dtype_out": Row("matmul", "bmm__dtype", "out"),
    "bmm.out": Row("matmul", "bmm", "out", dtypes=(("", "not bool unsigned float8"),)),
    "bucketize.Scalar": Row("search", "bucketize__Scalar", dtypes=(("", "not complex float8"),)),
    "bucketize.Scalar_out": Row("search", "bucketize__Scalar", "out", dtypes=(("", "not complex float8"),)),
    "bucketize.Tensor": Row("search", "bucketize__Tensor", dtypes=(("", "integral floating"),)),
    "bucketize.Tensor_out": Row("search", "bucketize__Tensor", "out", dtypes=(("", "integral floating"),)),
    "cat": Row("shape", "cat"),
    "cat.out": Row("shape", "cat", "out"),
    "cauchy": Row(
        "random",
        "cauchy_",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "cauchy_ expects sigma > 0.0"),),
    ),
    "cauchy.out": Row(
        "random",
        "cauchy_",
        "out",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "cauchy_ expects sigma > 0.0"),),
    ),
    "cauchy_": Row(
        "random",
        "cauchy_",
        "inplace",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "cauchy_ expects sigma > 0.0"),),
    ),
    "ceil": Row("pointwise", "ceil", dtypes=(("", "not bool complex float8"),)),
    "ceil.out": Row("pointwise", "ceil", "out", dtypes=(("", "not bool complex float8"),)),
    "ceil_": Row("pointwise", "ceil", "inplace", dtypes=(("", "not bool complex float8"),)),
    "celu": Row("activation", "celu", dtypes=(("", "floating"),)),
    "celu.out": Row("activation", "celu", "out", dtypes=(("", "floating"),)),
    "celu_": Row("activation", "celu", "inplace", dtypes=(("", "floating"),)),
    "channel_shuffle": Row("resize", "channel_shuffle", dtypes=(("", "not unsigned float8"),)),
    "channel_shuffle.out": Row("resize", "channel_shuffle", "out", dtypes=(("", "not unsigned float8"),)),
    "cholesky": Row(
        "linalg",
        "cholesky",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "RuntimeError",
                "cholesky: The factorization could not be completed because the input is not positive-definite.",
            ),
        ),
    ),
    "cholesky.out": Row(
        "linalg",
        "cholesky",
        "out",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "RuntimeError",
                "cholesky: The factorization could not be completed because the input is not positive-definite.",
            ),
        ),
    ),
    "cholesky_inverse": Row(
        "linalg",
        "cholesky_inverse",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "cholesky_inverse: A diagonal element is zero, the inversion could not be completed because the input matrix is singular.",
            ),
        ),
    ),
    "cholesky_inverse.out": Row(
        "linalg",
        "cholesky_inverse",
        "out",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "cholesky_inverse: A diagonal element is zero, the inversion could not be completed because the input matrix is singular.",
            ),
        ),
    ),
    "cholesky_solve": Row("linalg", "cholesky_solve", dtypes=(("", "floating complex"),)),
    "cholesky_solve.out": Row("linalg", "cholesky_solve", "out", dtypes=(("", "floating complex"),)),
    "clamp": Row("pointwise", "clamp", dtypes=(("", "bool integral floating"),)),
    "clamp.Tensor": Row("pointwise", "clamp__Tensor", dtypes=(("", "integral floating"),)),
    "clamp.Tensor_out": Row("pointwise", "clamp__Tensor", "out", dtypes=(("", "integral floating"),)),
    "clamp.out": Row("pointwise", "clamp", "out", dtypes=(("", "bool integral floating"),)),
    "clamp_": Row("pointwise", "clamp", "inplace", dtypes=(("", "bool integral floating"),)),
    "clamp_.Tensor": Row("pointwise", "clamp__Tensor", "inplace", dtypes=(("", "integral floating"),)),
    "clamp_max": Row("pointwise", "clamp_max", dtypes=(("", "not complex float8"),)),
    "clamp_max.Tensor": Row("pointwise", "clamp_max__Tensor", dtypes=(("", "bool integral floating"),)),
    "clamp_max.Tensor_out": Row("pointwise", "clamp_max__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "clamp_max.out": Row("pointwise", "clamp_max", "out", dtypes=(("", "not complex float8"),)),
    "clamp_max_": Row("pointwise", "clamp_max", "inplace", dtypes=(("", "not complex float8"),)),
    "clamp_max_.Tensor": Row("pointwise", "clamp_max__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "clamp_min": Row("pointwise", "clamp_min", dtypes=(("", "bool integral floating"),)),
    "clamp_min.Tensor": Row("pointwise", "clamp_min__Tensor", dtypes=(("", "bool integral floating"),)),
    "clamp_min.Tensor_out": Row("pointwise", "clamp_min__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "clamp_min.out": Row("pointwise", "clamp_min", "out", dtypes=(("", "bool integral floating"),)),
    "clamp_min_": Row("pointwise", "clamp_min", "inplace", dtypes=(("", "bool integral floating"),)),
    "clamp_min_.Tensor": Row("pointwise", "clamp_min__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "clone": Row("copying", "clone"),
    "clone.out": Row("copying", "clone", "out"),
    "col2im": Row("conv", "col2im", dtypes=(("", "bool floating complex"),)),
    "col2im.out": Row("conv", "col2im", "out", dtypes=(("", "bool floating complex"),)),
    "complex": Row("pointwise", "complex", dtypes=(("", "floating"),)),
    "complex.out": Row("pointwise", "complex", "out", dtypes=(("", "floating"),)),
    "conj_physical.out": Row("pointwise", "conj_physical__out", "out", dtypes=(("", "not unsigned float8"),)),
    "conj_physical_": Row("pointwise", "conj_physical__out", "inplace", dtypes=(("", "not unsigned float8"),)),
    "constant_pad_nd": Row("resize", "constant_pad_nd"),
    "constant_pad_nd.out": Row("resize", "constant_pad_nd", "out"),
    "conv_depthwise3d": Row("conv", "conv_depthwise3d"),
    "conv_depthwise3d.out": Row("conv", "conv_depthwise3d", "out"),
    "conv_tbc": Row("conv", "conv_tbc", dtypes=(("", "not bool unsigned"),)),
    "conv_tbc.out": Row("conv", "conv_tbc", "out", dtypes=(("", "not bool unsigned"),)),
    "convolution": Row("conv", "convolution", dtypes=(("", "int64 floating"),)),
    "convolution.out": Row("conv", "convolution", "out", dtypes=(("", "int64 floating"),)),
    "convolution_backward": Row("conv", "convolution_backward"),
    "convolution_backward.out": Row("conv", "convolution_backward", "out"),
    "convolution_backward_overrideable": Row("conv", "convolution_backward_overrideable"),
    "convolution_backward_overrideable.out": Row("conv", "convolution_backward_overrideable", "out"),
    "convolution_overrideable": Row("conv", "convolution_overrideable"),
    "convolution_overrideable.out": Row("conv", "convolution_overrideable", "out"),
    "copy": Row("copying", "copy"),
    "copy.out": Row("copying", "copy", "out"),
    "copy_": Row("copying", "copy", "inplace"),
    "copysign.Scalar": Row("pointwise", "copysign__Scalar", dtypes=(("", "not complex float8"),)),
    "copysign.Scalar_out": Row("pointwise", "copysign__Scalar", "out", dtypes=(("", "not complex float8"),)),
    "copysign.Tensor": Row("pointwise", "copysign__Tensor", dtypes=(("", "not complex float8"),)),
    "copysign.out": Row("pointwise", "copysign__Tensor", "out", dtypes=(("", "not complex float8"),)),
    "copysign_.Scalar": Row("pointwise", "copysign__Scalar", "inplace", dtypes=(("", "not complex float8"),)),
    "copysign_.Tensor": Row("pointwise", "copysign__Tensor", "inplace", dtypes=(("", "not complex float8"),)),
    "cos": Row("pointwise", "cos", dtypes=(("", "not float8"),)),
    "cos.out": Row("pointwise", "cos", "out", dtypes=(("", "not float8"),)),
    "cos_": Row("pointwise", "cos", "inplace", dtypes=(("", "not float8"),)),
    "cosh": Row("pointwise", "cosh", dtypes=(("", "not float8"),)),
    "cosh.out": Row("pointwise", "cosh", "out", dtypes=(("", "not float8"),)),
    "cosh_": Row("pointwise", "cosh", "inplace", dtypes=(("", "not float8"),)),
    "count_nonzero": Row("reduction", "count_nonzero", dtypes=(("", "not unsigned float8"),)),
    "count_nonzero.dim_IntList": Row("reduction", "count_nonzero__dim_IntList", dtypes=(("", "not unsigned float8"),)),
    "count_nonzero.dim_IntList_out": Row(
        "reduction", "count_nonzero__dim_IntList", "out", dtypes=(("", "not unsigned float8"),)
    ),
    "count_nonzero.out": Row("reduction", "count_nonzero", "out", dtypes=(("", "not unsigned float8"),)),
    "cummax": Row("scan", "cummax", dtypes=(("", "bool integral floating"),)),
    "cummax.out": Row("scan", "cummax", "out", dtypes=(("", "bool integral floating"),)),
    "cummin": Row("scan", "cummin", dtypes=(("", "bool integral floating"),)),
    "cummin.out": Row("scan", "cummin", "out", dtypes=(("", "bool integral floating"),)),
    "cumprod": Row("scan", "cumprod", dtypes=(("", "not float8"),)),
    "cumprod.out": Row("scan", "cumprod", "out", dtypes=(("", "not float8"),)),
    "cumprod_": Row("scan", "cumprod", "inplace", dtypes=(("", "not float8"),)),
    "cumsum": Row("scan", "cumsum", dtypes=(("", "not float8"),)),
    "cumsum.out": Row("scan", "cumsum", "out", dtypes=(("", "not float8"),)),
    "cumsum_": Row("scan", "cumsum", "inplace", dtypes=(("", "not float8"),)),
    "deg2rad": Row("pointwise", "deg2rad", dtypes=(("", "not complex float8"),)),
    "deg2rad.out": Row("pointwise", "deg2rad", "out", dtypes=(("", "not complex float8"),)),
    "deg2rad_": Row("pointwise", "deg2rad", "inplace", dtypes=(("", "not complex float8"),)),
    "diag_embed": Row("shape", "diag_embed"),
    "diag_embed.out": Row("shape", "diag_embed", "out"),
    "diagonal_backward": Row("shape", "diagonal_backward"),
    "diagonal_backward.out": Row("shape", "diagonal_backward", "out"),
    "diagonal_scatter": Row("shape", "diagonal_scatter"),
    "diagonal_scatter.out": Row("shape", "diagonal_scatter", "out"),
    "digamma": Row("special", "digamma", dtypes=(("", "not complex float8"),)),
    "digamma.out": Row("special", "digamma", "out", dtypes=(("", "not complex float8"),)),
    "digamma_": Row("special", "digamma", "inplace", dtypes=(("", "not complex float8"),)),
    "dist": Row("distance", "dist", static=("p",), dtypes=(("", "floating complex"),)),
    "dist.out": Row("distance", "dist", "out", static=("p",), dtypes=(("", "floating complex"),)),
    "div.Scalar": Row("pointwise", "div__Scalar", dtypes=(("", "not float8"),)),
    "div.Scalar_mode": Row("pointwise", "div__Scalar_mode", dtypes=(("", "not complex float8"),)),
    "div.Scalar_mode_out": Row("pointwise", "div__Scalar_mode", "out", dtypes=(("", "not complex float8"),)),
    "div.Scalar_out": Row("pointwise", "div__Scalar", "out", dtypes=(("", "not float8"),)),
    "div.Tensor": Row("pointwise", "div__Tensor", dtypes=(("", "not float8"),)),
    "div.Tensor_mode": Row("pointwise", "div__Tensor_mode", dtypes=(("", "integral floating"),)),
    "div.out": Row("pointwise", "div__Tensor", "out", dtypes=(("", "not float8"),)),
    "div.out_mode": Row("pointwise", "div__Tensor_mode", "out", dtypes=(("", "integral floating"),)),
    "div_.Scalar": Row("pointwise", "div__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "div_.Scalar_mode": Row("pointwise", "div__Scalar_mode", "inplace", dtypes=(("", "not complex float8"),)),
    "div_.Tensor": Row("pointwise", "div__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "div_.Tensor_mode": Row("pointwise", "div__Tensor_mode", "inplace", dtypes=(("", "integral floating"),)),
    "dot": Row("matmul", "dot", dtypes=(("", "not bool unsigned float8"),)),
    "dot.out": Row("matmul", "dot", "out", dtypes=(("", "not bool unsigned float8"),)),
    "elu": Row("activation", "elu", dtypes=(("", "floating"),)),
    "elu.out": Row("activation", "elu", "out", dtypes=(("", "floating"),)),
    "elu_": Row("activation", "elu", "inplace", dtypes=(("", "floating"),)),
    "elu_backward": Row("activation", "elu_backward"),
    "elu_backward.grad_input": Row("activation", "elu_backward", "out"),
    "embedding": Row(
        "embedding",
        "embedding",
        dtypes=(("indices", "int32 int64"),),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "embedding.out": Row(
        "embedding",
        "embedding",
        "out",
        dtypes=(("indices", "int32 int64"),),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "embedding_dense_backward": Row("embedding", "embedding_dense_backward"),
    "embedding_dense_backward.out": Row("embedding", "embedding_dense_backward", "out"),
    "embedding_renorm": Row(
        "embedding", "embedding_renorm_", static=("norm_type",), checks=(("IndexError", "index out of range in self"),)
    ),
    "embedding_renorm.out": Row(
        "embedding",
        "embedding_renorm_",
        "out",
        static=("norm_type",),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "embedding_renorm_": Row(
        "embedding",
        "embedding_renorm_",
        "inplace",
        static=("norm_type",),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "eq.Scalar": Row("pointwise", "eq__Scalar"),
    "eq.Scalar_out": Row("pointwise", "eq__Scalar", "out"),
    "eq.Tensor": Row("pointwise", "eq__Tensor"),
    "eq.Tensor_out": Row("pointwise", "eq__Tensor", "out"),
    "eq_.Scalar": Row("pointwise", "eq__Scalar", "inplace"),
    "eq_.Tensor": Row("pointwise", "eq__Tensor", "inplace"),
    "equal": Row("pointwise", "equal", dynamic="answers with a Python bool"),
    "erf": Row("special", "erf", dtypes=(("", "not complex float8"),)),
    "erf.out": Row("special", "erf", "out", dtypes=(("", "not complex float8"),)),
    "erf_": Row("special", "erf", "inplace", dtypes=(("", "not complex float8"),)),
    "erfc": Row("special", "erfc", dtypes=(("", "not complex float8"),)),
    "erfc.out": Row("special", "erfc", "out", dtypes=(("", "not complex float8"),)),
    "erfc_": Row("special", "erfc", "inplace", dtypes=(("", "not complex float8"),)),
    "erfinv": Row("special", "erfinv", dtypes=(("", "not complex float8"),)),
    "erfinv.out": Row("special", "erfinv", "out", dtypes=(("", "not complex float8"),)),
    "erfinv_": Row("special", "erfinv", "inplace", dtypes=(("", "not complex float8"),)),
    "exp": Row("pointwise", "exp", dtypes=(("", "not float8"),)),
    "exp.out": Row("pointwise", "exp", "out", dtypes=(("", "not float8"),)),
    "exp2": Row("pointwise", "exp2", dtypes=(("", "not float8"),)),
    "exp2.out": Row("pointwise", "exp2", "out", dtypes=(("", "not float8"),)),
    "exp2_": Row("pointwise", "exp2", "inplace", dtypes=(("", "not float8"),)),
    "exp_": Row("pointwise", "exp", "inplace", dtypes=(("", "not float8"),)),
    "expm1": Row("pointwise", "expm1", dtypes=(("", "not float8"),)),
    "expm1.out": Row("pointwise", "expm1", "out", dtypes=(("", "not float8"),)),
    "expm1_": Row("pointwise", "expm1", "inplace", dtypes=(("", "not float8"),)),
    "exponential": Row(
        "random",
        "exponential_",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "exponential_ expects lambda > 0.0"),),
    ),
    "exponential.out": Row(
        "random",
        "exponential_",
        "out",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "exponential_ expects lambda > 0.0"),),
    ),
    "exponential_": Row(
        "random",
        "exponential_",
        "inplace",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "exponential_ expects lambda > 0.0"),),
    ),
    "eye": Row("creation", "eye"),
    "eye.m": Row("creation", "eye__m"),
    "eye.m_out": Row("creation", "eye__m", "out"),
    "eye.out": Row("creation", "eye", "out"),
    "fake_quantize_per_channel_affine_cachemask": Row(
        "quantize",
        "fake_quantize_per_channel_affine_cachemask",
        checks=(("RuntimeError", "`zero_point` must be between `quant_min` and `quant_max`."),),
    ),
    "fake_quantize_per_channel_affine_cachemask.out": Row(
        "quantize",
        "fake_quantize_per_channel_affine_cachemask",
        "out",
        checks=(("RuntimeError", "`zero_point` must be between `quant_min` and `quant_max`."),),
    ),
    "fake_quantize_per_tensor_affine_cachemask": Row("quantize", "fake_quantize_per_tensor_affine_cachemask"),
    "fake_quantize_per_tensor_affine_cachemask.out": Row(
        "quantize", "fake_quantize_per_tensor_affine_cachemask", "out"
    ),
    "fft_fftfreq": Row("fft", "fft_fftfreq", static=("d",)),
    "fft_fftfreq.out": Row("fft", "fft_fftfreq", "out", static=("d",)),
    "fft_rfftfreq": Row("fft", "fft_rfftfreq", static=("d",)),
    "fft_rfftfreq.out": Row("fft", "fft_rfftfreq", "out", static=("d",)),
    "fill.Scalar": Row("copying", "fill__Scalar"),
    "fill.Scalar_out": Row("copying", "fill__Scalar", "out"),
    "fill.Tensor": Row("copying", "fill__Tensor"),
    "fill.Tensor_out": Row("copying", "fill__Tensor", "out"),
    "fill_.Scalar": Row("copying", "fill__Scalar", "inplace"),
    "fill_.Tensor": Row("copying", "fill__Tensor", "inplace"),
    "flip": Row("shape", "flip", dtypes=(("", "not unsigned float8"),)),
    "flip.out": Row("shape", "flip", "out", dtypes=(("", "not unsigned float8"),)),
    "floor": Row("pointwise", "floor", dtypes=(("", "not bool complex float8"),)),
    "floor.out": Row("pointwise", "floor", "out", dtypes=(("", "not bool complex float8"),)),
    "floor_": Row("pointwise", "floor", "inplace", dtypes=(("", "not bool complex float8"),)),
    "floor_divide": Row("pointwise", "floor_divide", dtypes=(("", "integral floating"),)),
    "floor_divide.Scalar": Row("pointwise", "floor_divide__Scalar", dtypes=(("", "not complex float8"),)),
    "floor_divide.Scalar_out": Row("pointwise", "floor_divide__Scalar", "out", dtypes=(("", "not complex float8"),)),
    "floor_divide.out": Row("pointwise", "floor_divide", "out", dtypes=(("", "integral floating"),)),
    "floor_divide_.Scalar": Row("pointwise", "floor_divide__Scalar", "inplace", dtypes=(("", "not complex float8"),)),
    "floor_divide_.Tensor": Row("pointwise", "floor_divide", "inplace", dtypes=(("", "integral floating"),)),
    "fmax": Row("pointwise", "fmax", dtypes=(("", "bool integral floating"),)),
    "fmax.out": Row("pointwise", "fmax", "out", dtypes=(("", "bool integral floating"),)),
    "fmin": Row("pointwise", "fmin", dtypes=(("", "bool integral floating"),)),
    "fmin.out": Row("pointwise", "fmin", "out", dtypes=(("", "bool integral floating"),)),
    "fmod.Scalar": Row("pointwise", "fmod__Scalar", dtypes=(("", "not complex float8"),)),
    "fmod.Scalar_out": Row("pointwise", "fmod__Scalar", "out", dtypes=(("", "not complex float8"),)),
    "fmod.Tensor": Row("pointwise", "fmod__Tensor", dtypes=(("", "integral floating"),)),
    "fmod.Tensor_out": Row("pointwise", "fmod__Tensor", "out", dtypes=(("", "integral floating"),)),
    "fmod_.Scalar": Row("pointwise", "fmod__Scalar", "inplace", dtypes=(("", "not complex float8"),)),
    "fmod_.Tensor": Row("pointwise", "fmod__Tensor", "inplace", dtypes=(("", "integral floating"),)),
    "frac": Row("pointwise", "frac", dtypes=(("", "floating"),)),
    "frac.out": Row("pointwise", "frac", "out", dtypes=(("", "floating"),)),
    "frac_": Row("pointwise", "frac", "inplace", dtypes=(("", "floating"),)),
    "fractional_max_pool2d": Row("pool", "fractional_max_pool2d", dtypes=(("", "floating"),)),
    "fractional_max_pool2d.output": Row("pool", "fractional_max_pool2d", "out", dtypes=(("", "floating"),)),
    "fractional_max_pool2d_backward": Row("pool", "fractional_max_pool2d_backward"),
    "fractional_max_pool2d_backward.grad_input": Row("pool", "fractional_max_pool2d_backward", "out"),
    "fractional_max_pool3d": Row("pool", "fractional_max_pool3d", dtypes=(("", "floating"),)),
    "fractional_max_pool3d.output": Row("pool", "fractional_max_pool3d", "out", dtypes=(("", "floating"),)),
    "fractional_max_pool3d_backward": Row("pool", "fractional_max_pool3d_backward"),
    "fractional_max_pool3d_backward.grad_input": Row("pool", "fractional_max_pool3d_backward", "out"),
    "frexp.Tensor": Row("pointwise", "frexp__Tensor", dtypes=(("", "floating"),)),
    "frexp.Tensor_out": Row("pointwise", "frexp__Tensor", "out", dtypes=(("", "floating"),)),
    "full": Row("creation", "full"),
    "full.out": Row("creation", "full", "out"),
    "full_like": Row("creation", "full_like"),
    "full_like.out": Row("creation", "full_like", "out"),
    "gather": Row(
        "indexing",
        "gather",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "gather.out": Row(
        "indexing",
        "gather",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "gcd": Row("pointwise", "gcd", dtypes=(("", "integral"),)),
    "gcd.out": Row("pointwise", "gcd", "out", dtypes=(("", "integral"),)),
    "gcd_": Row("pointwise", "gcd", "inplace", dtypes=(("", "integral"),)),
    "ge.Scalar": Row("pointwise", "ge__Scalar", dtypes=(("", "bool integral floating"),)),
    "ge.Scalar_out": Row("pointwise", "ge__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "ge.Tensor": Row("pointwise", "ge__Tensor", dtypes=(("", "bool integral floating"),)),
    "ge.Tensor_out": Row("pointwise", "ge__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "ge_.Scalar": Row("pointwise", "ge__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "ge_.Tensor": Row("pointwise", "ge__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "gelu": Row("activation", "gelu", dtypes=(("", "floating"),)),
    "gelu.out": Row("activation", "gelu", "out", dtypes=(("", "floating"),)),
    "gelu_": Row("activation", "gelu", "inplace", dtypes=(("", "floating"),)),
    "gelu_backward": Row("activation", "gelu_backward"),
    "gelu_backward.grad_input": Row("activation", "gelu_backward", "out"),
    "geometric": Row(
        "random",
        "geometric_",
        random=True,
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "geometric_ expects p to be in (0, 1)"),),
    ),
    "geometric.out": Row(
        "random",
        "geometric_",
        "out",
        random=True,
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "geometric_ expects p to be in (0, 1)"),),
    ),
    "geometric_": Row(
        "random",
        "geometric_",
        "inplace",
        random=True,
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "geometric_ expects p to be in (0, 1)"),),
    ),
    "geqrf": Row("linalg", "geqrf", dtypes=(("", "floating complex"),)),
    "geqrf.a": Row("linalg", "geqrf", "out", dtypes=(("", "floating complex"),)),
    "glu": Row("activation", "glu", dtypes=(("", "floating"),)),
    "glu.out": Row("activation", "glu", "out", dtypes=(("", "floating"),)),
    "glu_backward": Row("activation", "glu_backward"),
    "glu_backward.grad_input": Row("activation", "glu_backward", "out"),
    "glu_backward_jvp": Row("activation", "glu_backward_jvp"),
    "glu_backward_jvp.out": Row("activation", "glu_backward_jvp", "out"),
    "glu_jvp": Row("activation", "glu_jvp"),
    "glu_jvp.out": Row("activation", "glu_jvp", "out"),
    "grid_sampler_2d": Row("resize", "grid_sampler_2d", dtypes=(("", "floating"),)),
    "grid_sampler_2d.out": Row("resize", "grid_sampler_2d", "out", dtypes=(("", "floating"),)),
    "grid_sampler_2d_backward": Row("resize", "grid_sampler_2d_backward"),
    "grid_sampler_2d_backward.out": Row("resize", "grid_sampler_2d_backward", "out"),
    "grid_sampler_3d": Row("resize", "grid_sampler_3d", dtypes=(("", "floating"),)),
    "grid_sampler_3d.out": Row("resize", "grid_sampler_3d", "out", dtypes=(("", "floating"),)),
    "grid_sampler_3d_backward": Row("resize", "grid_sampler_3d_backward"),
    "grid_sampler_3d_backward.out": Row("resize", "grid_sampler_3d_backward", "out"),
    "gru.data": Row(
        "rnn",
        "gru__data",
        random=True,
        static=("dropout",),
        dtypes=(("data", "not bool unsigned float8"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "gru.input": Row(
        "rnn", "gru__input", random=True, static=("dropout",), dtypes=(("", "not bool unsigned float8"),), grad="vjp"
    ),
    "gt.Scalar": Row("pointwise", "gt__Scalar", dtypes=(("", "bool integral floating"),)),
    "gt.Scalar_out": Row("pointwise", "gt__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "gt.Tensor": Row("pointwise", "gt__Tensor", dtypes=(("", "bool integral floating"),)),
    "gt.Tensor_out": Row("pointwise", "gt__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "gt_.Scalar": Row("pointwise", "gt__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "gt_.Tensor": Row("pointwise", "gt__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "hardshrink": Row("activation", "hardshrink", dtypes=(("", "floating"),)),
    "hardshrink.out": Row("activation", "hardshrink", "out", dtypes=(("", "floating"),)),
    "hardshrink_backward": Row("activation", "hardshrink_backward"),
    "hardshrink_backward.grad_input": Row("activation", "hardshrink_backward", "out"),
    "hardsigmoid": Row("activation", "hardsigmoid", dtypes=(("", "floating"),)),
    "hardsigmoid.out": Row("activation", "hardsigmoid", "out", dtypes=(("", "floating"),)),
    "hardsigmoid_": Row("activation", "hardsigmoid", "inplace", dtypes=(("", "floating"),)),
    "hardsigmoid_backward": Row("activation", "hardsigmoid_backward"),
    "hardsigmoid_backward.grad_input": Row("activation", "hardsigmoid_backward", "out"),
    "hardswish": Row("activation", "hardswish", dtypes=(("", "floating"),)),
    "hardswish.out": Row("activation", "hardswish", "out", dtypes=(("", "floating"),)),
    "hardswish_": Row("activation", "hardswish", "inplace", dtypes=(("", "floating"),)),
    "hardswish_backward": Row("activation", "hardswish_backward"),
    "hardswish_backward.out": Row("activation", "hardswish_backward", "out"),
    "hardtanh": Row("activation", "hardtanh", dtypes=(("", "integral floating"),)),
    "hardtanh.out": Row("activation", "hardtanh", "out", dtypes=(("", "integral floating"),)),
    "hardtanh_": Row("activation", "hardtanh", "inplace", dtypes=(("", "integral floating"),)),
    "hardtanh_backward": Row("activation", "hardtanh_backward"),
    "hardtanh_backward.grad_input": Row("activation", "hardtanh_backward", "out"),
    "hash_tensor": Row("reduction", "hash_tensor", dtypes=(("", "bool integral floating"),)),
    "hash_tensor.out": Row("reduction", "hash_tensor", "out", dtypes=(("", "bool integral floating"),)),
    "heaviside": Row("pointwise", "heaviside", dtypes=(("", "bool integral floating"),)),
    "heaviside.out": Row("pointwise", "heaviside", "out", dtypes=(("", "bool integral floating"),)),
    "heaviside_": Row("pointwise", "heaviside", "inplace", dtypes=(("", "bool integral floating"),)),
    "histc": Row(
        "histogram",
        "histc",
        static=("min", "max"),
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "torch.histc: range of the data is not finite"),),
    ),
    "histc.out": Row(
        "histogram",
        "histc",
        "out",
        static=("min", "max"),
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "torch.histc: range of the data is not finite"),),
    ),
    "histogram.bin_ct": Row(
        "histogram",
        "histogram__bin_ct",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "histogram.bin_ct_out": Row(
        "histogram",
        "histogram__bin_ct",
        "out",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "histogram.bins_tensor": Row("histogram", "histogram__bins_tensor", dtypes=(("", "floating"),)),
    "histogram.bins_tensor_out": Row("histogram", "histogram__bins_tensor", "out", dtypes=(("", "floating"),)),
    "huber_loss": Row("loss", "huber_loss", dtypes=(("", "floating"),)),
    "huber_loss.out": Row("loss", "huber_loss", "out", dtypes=(("", "floating"),)),
    "huber_loss_backward": Row("loss", "huber_loss_backward"),
    "huber_loss_backward.out": Row("loss", "huber_loss_backward", "out"),
    "hypot": Row("pointwise", "hypot", dtypes=(("", "floating"),)),
    "hypot.out": Row("pointwise", "hypot", "out", dtypes=(("", "floating"),)),
    "hypot_": Row("pointwise", "hypot", "inplace", dtypes=(("", "floating"),)),
    "i0": Row("special", "i0", dtypes=(("", "not complex float8"),)),
    "i0.out": Row("special", "i0", "out", dtypes=(("", "not complex float8"),)),
    "i0_": Row("special", "i0", "inplace", dtypes=(("", "not complex float8"),)),
    "igamma": Row("special", "igamma", dtypes=(("", "floating"),)),
    "igamma.out": Row("special", "igamma", "out", dtypes=(("", "floating"),)),
    "igamma_": Row("special", "igamma", "inplace", dtypes=(("", "floating"),)),
    "igammac": Row("special", "igammac", dtypes=(("", "floating"),)),
    "igammac.out": Row("special", "igammac", "out", dtypes=(("", "floating"),)),
    "igammac_": Row("special", "igammac", "inplace", dtypes=(("", "floating"),)),
    "im2col": Row("conv", "im2col", dtypes=(("", "bool floating complex"),)),
    "im2col.out": Row("conv", "im2col", "out", dtypes=(("", "bool floating complex"),)),
    "index.Tensor": Row(
        "indexing",
        "index__Tensor",
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index.Tensor_out": Row(
        "indexing",
        "index__Tensor",
        "out",
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_add": Row(
        "indexing",
        "index_add",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_add.out": Row(
        "indexing",
        "index_add",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_add_": Row(
        "indexing",
        "index_add",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_copy": Row(
        "indexing",
        "index_copy",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index_copy_(): index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_copy.out": Row(
        "indexing",
        "index_copy",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index_copy_(): index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_copy_": Row(
        "indexing",
        "index_copy",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index_copy_(): index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Scalar": Row(
        "indexing",
        "index_fill__int_Scalar",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Scalar_out": Row(
        "indexing",
        "index_fill__int_Scalar",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Tensor": Row(
        "indexing",
        "index_fill__int_Tensor",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Tensor_out": Row(
        "indexing",
        "index_fill__int_Tensor",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill_.int_Scalar": Row(
        "indexing",
        "index_fill__int_Scalar",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill_.int_Tensor": Row(
        "indexing",
        "index_fill__int_Tensor",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_put": Row(
        "indexing",
        "index_put",
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_put.out": Row(
        "indexing",
        "index_put",
        "out",
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_put_": Row(
        "indexing",
        "index_put",
        "inplace",
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_reduce": Row(
        "indexing",
        "index_reduce",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_reduce.out": Row(
        "indexing",
        "index_reduce",
        "out",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_reduce_": Row(
        "indexing",
        "index_reduce",
        "inplace",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_select": Row(
        "indexing",
        "index_select",
        dtypes=(("self", "not unsigned"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_select.out": Row(
        "indexing",
        "index_select",
        "out",
        dtypes=(("self", "not unsigned"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "isin.Scalar_Tensor": Row("search", "isin__Scalar_Tensor", dtypes=(("", "integral floating"),)),
    "isin.Scalar_Tensor_out": Row("search", "isin__Scalar_Tensor", "out", dtypes=(("", "integral floating"),)),
    "isin.Tensor_Scalar": Row("search", "isin__Tensor_Scalar", dtypes=(("", "not bool complex"),)),
    "isin.Tensor_Scalar_out": Row("search", "isin__Tensor_Scalar", "out", dtypes=(("", "not bool complex"),)),
    "isin.Tensor_Tensor": Row("search", "isin__Tensor_Tensor", dtypes=(("", "integral floating"),)),
    "isin.Tensor_Tensor_out": Row("search", "isin__Tensor_Tensor", "out", dtypes=(("", "integral floating"),)),
    "isinf": Row("pointwise", "isinf", dtypes=(("", "not float8_e4m3fn"),)),
    "isinf.out": Row("pointwise", "isinf", "out", dtypes=(("", "not float8_e4m3fn"),)),
    "isnan": Row("pointwise", "isnan"),
    "isnan.out": Row("pointwise", "isnan", "out"),
    "isneginf": Row("pointwise", "isneginf", dtypes=(("", "not complex float8"),)),
    "isneginf.out": Row("pointwise", "isneginf", "out", dtypes=(("", "not complex float8"),)),
    "isposinf": Row("pointwise", "isposinf", dtypes=(("", "not complex float8"),)),
    "isposinf.out": Row("pointwise", "isposinf", "out", dtypes=(("", "not complex float8"),)),
    "kthvalue": Row("sort", "kthvalue", dtypes=(("", "integral floating"),)),
    "kthvalue.values": Row("sort", "kthvalue", "out", dtypes=(("", "integral floating"),)),
    "lcm": Row("pointwise", "lcm", dtypes=(("", "integral"),)),
    "lcm.out": Row("pointwise", "lcm", "out", dtypes=(("", "integral"),)),
    "lcm_": Row("pointwise", "lcm", "inplace", dtypes=(("", "integral"),)),
    "le.Scalar": Row("pointwise", "le__Scalar", dtypes=(("", "bool integral floating"),)),
    "le.Scalar_out": Row("pointwise", "le__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "le.Tensor": Row("pointwise", "le__Tensor", dtypes=(("", "bool integral floating"),)),
    "le.Tensor_out": Row("pointwise", "le__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "le_.Scalar": Row("pointwise", "le__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "le_.Tensor": Row("pointwise", "le__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "leaky_relu": Row("activation", "leaky_relu", dtypes=(("", "floating"),)),
    "leaky_relu.out": Row("activation", "leaky_relu", "out", dtypes=(("", "floating"),)),
    "leaky_relu_": Row("activation", "leaky_relu", "inplace", dtypes=(("", "floating"),)),
    "leaky_relu_backward": Row("activation", "leaky_relu_backward"),
    "leaky_relu_backward.grad_input": Row("activation", "leaky_relu_backward", "out"),
    "lerp.Scalar": Row("pointwise", "lerp__Scalar", dtypes=(("", "floating complex"),)),
    "lerp.Scalar_out": Row("pointwise", "lerp__Scalar", "out", dtypes=(("", "floating complex"),)),
    "lerp.Tensor": Row("pointwise", "lerp__Tensor", dtypes=(("", "floating complex"),)),
    "lerp.Tensor_out": Row("pointwise", "lerp__Tensor", "out", dtypes=(("", "floating complex"),)),
    "lerp_.Scalar": Row("pointwise", "lerp__Scalar", "inplace", dtypes=(("", "floating complex"),)),
    "lerp_.Tensor": Row("pointwise", "lerp__Tensor", "inplace", dtypes=(("", "floating complex"),)),
    "lgamma": Row("special", "lgamma", dtypes=(("", "not complex float8"),)),
    "lgamma.out": Row("special", "lgamma", "out", dtypes=(("", "not complex float8"),)),
    "lgamma_": Row("special", "lgamma", "inplace", dtypes=(("", "not complex float8"),)),
    "linalg__powsum": Row("reduction", "linalg__powsum", static=("ord",), dtypes=(("", "floating complex"),)),
    "linalg_cholesky_ex": Row("linalg", "linalg_cholesky_ex", dtypes=(("", "floating complex"),)),
    "linalg_cholesky_ex.L": Row("linalg", "linalg_cholesky_ex", "out", dtypes=(("", "floating complex"),)),
    "linalg_cross": Row("linalg", "linalg_cross", dtypes=(("", "not bool unsigned float8"),)),
    "linalg_cross.out": Row("linalg", "linalg_cross", "out", dtypes=(("", "not bool unsigned float8"),)),
    "linalg_eig": Row(
        "linalg",
        "linalg_eig",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "torch.linalg.eig: input tensor should not contain infs or NaNs."),),
    ),
    "linalg_eig.out": Row(
        "linalg",
        "linalg_eig",
        "out",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "torch.linalg.eig: input tensor should not contain infs or NaNs."),),
    ),
    "linalg_eigvals.out": Row("linalg", "linalg_eigvals__out", "out", dtypes=(("", "floating complex"),)),
    "linalg_householder_product": Row("linalg", "linalg_householder_product", dtypes=(("", "floating complex"),)),
    "linalg_householder_product.out": Row(
        "linalg", "linalg_householder_product", "out", dtypes=(("", "floating complex"),)
    ),
    "linalg_inv_ex": Row("linalg", "linalg_inv_ex", dtypes=(("", "floating complex"),)),
    "linalg_inv_ex.inverse": Row("linalg", "linalg_inv_ex", "out", dtypes=(("", "floating complex"),)),
    "linalg_ldl_factor_ex": Row("linalg", "linalg_ldl_factor_ex", dtypes=(("", "floating complex"),)),
    "linalg_ldl_factor_ex.out": Row("linalg", "linalg_ldl_factor_ex", "out", dtypes=(("", "floating complex"),)),
    "linalg_ldl_solve": Row("linalg", "linalg_ldl_solve", dtypes=(("LD", "floating complex"), ("pivots", "integral"))),
    "linalg_ldl_solve.out": Row(
        "linalg", "linalg_ldl_solve", "out", dtypes=(("LD", "floating complex"), ("pivots", "integral"))
    ),
    "linalg_lstsq": Row("linalg", "linalg_lstsq", dtypes=(("", "floating complex"),)),
    "linalg_lstsq.out": Row("linalg", "linalg_lstsq", "out", dtypes=(("", "floating complex"),)),
    "linalg_lu": Row("linalg", "linalg_lu", dtypes=(("", "floating complex"),)),
    "linalg_lu.out": Row("linalg", "linalg_lu", "out", dtypes=(("", "floating complex"),)),
    "linalg_lu_factor_ex": Row("linalg", "linalg_lu_factor_ex", dtypes=(("", "floating complex"),)),
    "linalg_lu_factor_ex.out": Row("linalg", "linalg_lu_factor_ex", "out", dtypes=(("", "floating complex"),)),
    "linalg_lu_solve": Row("linalg", "linalg_lu_solve", dtypes=(("LU", "floating complex"), ("pivots", "int32"))),
    "linalg_lu_solve.out": Row(
        "linalg", "linalg_lu_solve", "out", dtypes=(("LU", "floating complex"), ("pivots", "int32"))
    ),
    "linalg_matrix_exp": Row("linalg", "linalg_matrix_exp", dtypes=(("", "floating complex"),)),
    "linalg_matrix_exp.out": Row("linalg", "linalg_matrix_exp", "out", dtypes=(("", "floating complex"),)),
    "linalg_matrix_sqrth": Row("linalg", "linalg_matrix_sqrth"),
    "linalg_matrix_sqrth.out": Row("linalg", "linalg_matrix_sqrth", "out"),
    "linalg_polar": Row("linalg", "linalg_polar"),
    "linalg_polar.out": Row("linalg", "linalg_polar", "out"),
    "linalg_qr": Row("linalg", "linalg_qr", dtypes=(("", "floating complex"),)),
    "linalg_qr.out": Row("linalg", "linalg_qr", "out", dtypes=(("", "floating complex"),)),
    "linalg_solve_triangular": Row("linalg", "linalg_solve_triangular", dtypes=(("", "floating complex"),)),
    "linalg_solve_triangular.out": Row("linalg", "linalg_solve_triangular", "out", dtypes=(("", "floating complex"),)),
    "linalg_vector_norm": Row("reduction", "linalg_vector_norm", static=("ord",), dtypes=(("", "floating complex"),)),
    "linalg_vector_norm.out": Row(
        "reduction", "linalg_vector_norm", "out", static=("ord",), dtypes=(("", "floating complex"),)
    ),
    "linspace": Row("creation", "linspace"),
    "linspace.Scalar_Tensor": Row("creation", "linspace__Scalar_Tensor", dtypes=(("", "not complex"),)),
    "linspace.Scalar_Tensor_out": Row("creation", "linspace__Scalar_Tensor", "out", dtypes=(("", "not complex"),)),
    "linspace.Tensor_Scalar": Row("creation", "linspace__Tensor_Scalar", dtypes=(("", "not complex"),)),
    "linspace.Tensor_Scalar_out": Row("creation", "linspace__Tensor_Scalar", "out", dtypes=(("", "not complex"),)),
    "linspace.Tensor_Tensor": Row("creation", "linspace__Tensor_Tensor", dtypes=(("", "not complex"),)),
    "linspace.Tensor_Tensor_out": Row("creation", "linspace__Tensor_Tensor", "out", dtypes=(("", "not complex"),)),
    "linspace.out": Row("creation", "linspace", "out"),
    "log": Row("pointwise", "log", dtypes=(("", "not float8"),)),
    "log.out": Row("pointwise", "log", "out", dtypes=(("", "not float8"),)),
    "log10": Row("pointwise", "log10", dtypes=(("", "not float8"),)),
    "log10.out": Row("pointwise", "log10", "out", dtypes=(("", "not float8"),)),
    "log10_": Row("pointwise", "log10", "inplace", dtypes=(("", "not float8"),)),
    "log1p": Row("pointwise", "log1p", dtypes=(("", "not float8"),)),
    "log1p.out": Row("pointwise", "log1p", "out", dtypes=(("", "not float8"),)),
    "log1p_": Row("pointwise", "log1p", "inplace", dtypes=(("", "not float8"),)),
    "log2": Row("pointwise", "log2", dtypes=(("", "not float8"),)),
    "log2.out": Row("pointwise", "log2", "out", dtypes=(("", "not float8"),)),
    "log2_": Row("pointwise", "log2", "inplace", dtypes=(("", "not float8"),)),
    "log_": Row("pointwise", "log", "inplace", dtypes=(("", "not float8"),)),
    "log_normal": Row(
        "random",
        "log_normal_",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "log_normal_ expects std > 0.0"),),
    ),
    "log_normal.out": Row(
        "random",
        "log_normal_",
        "out",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "log_normal_ expects std > 0.0"),),
    ),
    "log_normal_": Row(
        "random",
        "log_normal_",
        "inplace",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "log_normal_ expects std > 0.0"),),
    ),
    "log_sigmoid_backward": Row("activation", "log_sigmoid_backward"),
    "log_sigmoid_backward.grad_input": Row("activation", "log_sigmoid_backward", "out"),
    "log_sigmoid_forward": Row("activation", "log_sigmoid_forward", dtypes=(("", "floating"),)),
    "log_sigmoid_forward.output": Row("activation", "log_sigmoid_forward", "out", dtypes=(("", "floating"),)),
    "logaddexp": Row("pointwise", "logaddexp", dtypes=(("", "floating complex"),)),
    "logaddexp.out": Row("pointwise", "logaddexp", "out", dtypes=(("", "floating complex"),)),
    "logaddexp2": Row("pointwise", "logaddexp2", dtypes=(("", "floating"),)),
    "logaddexp2.out": Row("pointwise", "logaddexp2", "out", dtypes=(("", "floating"),)),
    "logcumsumexp": Row("scan", "logcumsumexp", dtypes=(("", "floating complex"),)),
    "logcumsumexp.out": Row("scan", "logcumsumexp", "out", dtypes=(("", "floating complex"),)),
    "logical_and": Row("pointwise", "logical_and", dtypes=(("", "not unsigned float8"),)),
    "logical_and.out": Row("pointwise", "logical_and", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_and_": Row("pointwise", "logical_and", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logical_not": Row("pointwise", "logical_not", dtypes=(("", "not unsigned float8"),)),
    "logical_not.out": Row("pointwise", "logical_not", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_not_": Row("pointwise", "logical_not", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logical_or": Row("pointwise", "logical_or", dtypes=(("", "not unsigned float8"),)),
    "logical_or.out": Row("pointwise", "logical_or", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_or_": Row("pointwise", "logical_or", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logical_xor": Row("pointwise", "logical_xor", dtypes=(("", "not unsigned float8"),)),
    "logical_xor.out": Row("pointwise", "logical_xor", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_xor_": Row("pointwise", "logical_xor", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logit": Row("activation", "logit", static=("eps",), dtypes=(("", "not complex float8"),)),
    "logit.out": Row("activation", "logit", "out", static=("eps",), dtypes=(("", "not complex float8"),)),
    "logit_": Row("activation", "logit", "inplace", static=("eps",), dtypes=(("", "not complex float8"),)),
    "logit_backward": Row("activation", "logit_backward", static=("eps",)),
    "logit_backward.grad_input": Row("activation", "logit_backward", "out", static=("eps",)),
    "logspace": Row("creation", "logspace"),
    "logspace.Scalar_Tensor": Row("creation", "logspace__Scalar_Tensor", dtypes=(("", "not complex"),)),
    "logspace.Scalar_Tensor_out": Row("creation", "logspace__Scalar_Tensor", "out", dtypes=(("", "not complex"),)),
    "logspace.Tensor_Scalar": Row("creation", "logspace__Tensor_Scalar", dtypes=(("", "not complex"),)),
    "logspace.Tensor_Scalar_out": Row("creation", "logspace__Tensor_Scalar", "out", dtypes=(("", "not complex"),)),
    "logspace.Tensor_Tensor": Row("creation", "logspace__Tensor_Tensor", dtypes=(("", "not complex"),)),
    "logspace.Tensor_Tensor_out": Row("creation", "logspace__Tensor_Tensor", "out", dtypes=(("", "not complex"),)),
    "logspace.out": Row("creation", "logspace", "out"),
    "logsumexp": Row("reduction", "logsumexp", dtypes=(("", "not float8"),)),
    "logsumexp.out": Row("reduction", "logsumexp", "out", dtypes=(("", "not float8"),)),
    "lstm.data": Row(
        "rnn",
        "lstm__data",
        random=True,
        static=("dropout",),
        dtypes=(("data", "not bool unsigned float8"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "lstm.input": Row(
        "rnn", "lstm__input", random=True, static=("dropout",), dtypes=(("", "not bool unsigned float8"),), grad="vjp"
    ),
    "lt.Scalar": Row("pointwise", "lt__Scalar", dtypes=(("", "bool integral floating"),)),
    "lt.Scalar_out": Row("pointwise", "lt__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "lt.Tensor": Row("pointwise", "lt__Tensor", dtypes=(("", "bool integral floating"),)),
    "lt.Tensor_out": Row("pointwise", "lt__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "lt_.Scalar": Row("pointwise", "lt__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "lt_.Tensor": Row("pointwise", "lt__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "lu_unpack": Row("linalg", "lu_unpack", dtypes=(("LU_data", "not unsigned float8"), ("LU_pivots", "int32"))),
    "lu_unpack.out": Row(
        "linalg", "lu_unpack", "out", dtypes=(("LU_data", "not unsigned float8"), ("LU_pivots", "int32"))
    ),
    "masked_fill.Scalar": Row(
        "pointwise", "masked_fill__Scalar", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill.Scalar_out": Row(
        "pointwise", "masked_fill__Scalar", "out", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill.Tensor": Row(
        "pointwise", "masked_fill__Tensor", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill.Tensor_out": Row(
        "pointwise", "masked_fill__Tensor", "out", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill_.Scalar": Row(
        "pointwise", "masked_fill__Scalar", "inplace", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill_.Tensor": Row(
        "pointwise", "masked_fill__Tensor", "inplace", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_scatter": Row(
        "indexing",
        "masked_scatter",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
        checks=(("RuntimeError", "Number of elements of source < number of ones in mask"),),
    ),
    "masked_scatter.out": Row(
        "indexing",
        "masked_scatter",
        "out",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
        checks=(("RuntimeError", "Number of elements of source < number of ones in mask"),),
    ),
    "masked_scatter_": Row(
        "indexing",
        "masked_scatter",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
        checks=(("RuntimeError", "Number of elements of source < number of ones in mask"),),
    ),
    "masked_scatter_backward": Row("indexing", "masked_scatter_backward"),
    "masked_select": Row(
        "indexing",
        "masked_select",
        dynamic="one result for each element where the mask holds",
        dtypes=(("self", "not unsigned"), ("mask", "bool")),
    ),
    "masked_select.out": Row(
        "indexing",
        "masked_select",
        "out",
        dynamic="one result for each element where the mask holds",
        dtypes=(("self", "not unsigned"), ("mask", "bool")),
    ),
    "max": Row("reduction", "max", dtypes=(("", "bool integral floating"),)),
    "max.dim": Row("reduction", "max__dim", dtypes=(("", "bool integral floating"),)),
    "max.dim_max": Row("reduction", "max__dim", "out", dtypes=(("", "bool integral floating"),)),
    "max.unary_out": Row("reduction", "max", "out", dtypes=(("", "bool integral floating"),)),
    "max_pool2d_backward": Row("pool", "max_pool2d_backward"),
    "max_pool2d_backward.out": Row("pool", "max_pool2d_backward", "out"),
    "max_pool2d_with_indices": Row("pool", "max_pool2d_with_indices", dtypes=(("", "integral floating"),)),
    "max_pool2d_with_indices.out": Row("pool", "max_pool2d_with_indices", "out", dtypes=(("", "integral floating"),)),
    "max_pool2d_with_indices_backward": Row("pool", "max_pool2d_with_indices_backward"),
    "max_pool2d_with_indices_backward.grad_input": Row("pool", "max_pool2d_with_indices_backward", "out"),
    "max_pool3d_with_indices": Row("pool", "max_pool3d_with_indices", dtypes=(("", "integral floating"),)),
    "max_pool3d_with_indices.out": Row("pool", "max_pool3d_with_indices", "out", dtypes=(("", "integral floating"),)),
    "max_pool3d_with_indices_backward": Row("pool", "max_pool3d_with_indices_backward"),
    "max_pool3d_with_indices_backward.grad_input": Row("pool", "max_pool3d_with_indices_backward", "out"),
    "max_unpool2d": Row(
        "pool",
        "max_unpool2d",
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "max_unpool2d.out": Row(
        "pool",
        "max_unpool2d",
        "out",
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "max_unpool3d": Row(
        "pool",
        "max_unpool3d",
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "max_unpool3d.out": Row(
        "pool",
        "max_unpool3d",
        "out",
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "maximum": Row("pointwise", "maximum", dtypes=(("", "bool integral floating"),)),
    "maximum.out": Row("pointwise", "maximum", "out", dtypes=(("", "bool integral floating"),)),
    "mean": Row("reduction", "mean", dtypes=(("", "floating complex"),)),
    "mean.dim": Row("reduction", "mean__dim", dtypes=(("", "floating complex"),)),
    "mean.dtype_out": Row("reduction", "mean", "out", dtypes=(("", "floating complex"),)),
    "mean.out": Row("reduction", "mean__dim", "out", dtypes=(("", "floating complex"),)),
    "median": Row("sort", "median", dtypes=(("", "integral floating"),)),
    "median.dim": Row("sort", "median__dim", dtypes=(("", "integral floating"),)),
    "median.dim_values": Row("sort", "median__dim", "out", dtypes=(("", "integral floating"),)),
    "median.out": Row("sort", "median", "out", dtypes=(("", "integral floating"),)),
    "min": Row("reduction", "min", dtypes=(("", "bool integral floating"),)),
    "min.dim": Row("reduction", "min__dim", dtypes=(("", "bool integral floating"),)),
    "min.dim_min": Row("reduction", "min__dim", "out", dtypes=(("", "bool integral floating"),)),
    "min.unary_out": Row("reduction", "min", "out", dtypes=(("", "bool integral floating"),)),
    "minimum": Row("pointwise", "minimum", dtypes=(("", "bool integral floating"),)),
    "minimum.out": Row("pointwise", "minimum", "out", dtypes=(("", "bool integral floating"),)),
    "mish": Row("activation", "mish", dtypes=(("", "floating"),)),
    "mish.out": Row("activation", "mish", "out", dtypes=(("", "floating"),)),
    "mish_": Row("activation", "mish", "inplace", dtypes=(("", "floating"),)),
    "mish_backward": Row("activation", "mish_backward", grad="vjp"),
    "mm": Row("matmul", "mm", dtypes=(("", "not bool unsigned"),)),
    "mm.dtype": Row("matmul", "mm__dtype"),
    "mm.dtype_out": Row("matmul", "mm__dtype", "out"),
    "mm.out": Row("matmul", "mm", "out", dtypes=(("", "not bool unsigned"),)),
    "mode": Row("sort", "mode", dtypes=(("", "bool integral floating"),)),
    "mode.values": Row("sort", "mode", "out", dtypes=(("", "bool integral floating"),)),
    "mse_loss": Row("loss", "mse_loss", dtypes=(("", "floating"),)),
    "mse_loss.out": Row("loss", "mse_loss", "out", dtypes=(("", "floating"),)),
    "mse_loss_backward": Row("loss", "mse_loss_backward"),
    "mse_loss_backward.grad_input": Row("loss", "mse_loss_backward", "out"),
    "mul.Scalar": Row("pointwise", "mul__Scalar", dtypes=(("", "not float8"),)),
    "mul.Scalar_out": Row("pointwise", "mul__Scalar", "out", dtypes=(("", "not float8"),)),
    "mul.Tensor": Row("pointwise", "mul__Tensor", dtypes=(("", "not float8"),)),
    "mul.out": Row("pointwise", "mul__Tensor", "out", dtypes=(("", "not float8"),)),
    "mul_.Scalar": Row("pointwise", "mul__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "mul_.Tensor": Row("pointwise", "mul__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "multi_margin_loss": Row(
        "loss",
        "multi_margin_loss",
        static=("p",),
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "target out of range"),),
    ),
    "multi_margin_loss.out": Row(
        "loss",
        "multi_margin_loss",
        "out",
        static=("p",),
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "target out of range"),),
    ),
    "multi_margin_loss_backward": Row("loss", "multi_margin_loss_backward", static=("p",)),
    "multi_margin_loss_backward.grad_input": Row("loss", "multi_margin_loss_backward", "out", static=("p",)),
    "multilabel_margin_loss_backward": Row("loss", "multilabel_margin_loss_backward"),
    "multilabel_margin_loss_backward.grad_input": Row("loss", "multilabel_margin_loss_backward", "out"),
    "multilabel_margin_loss_forward": Row(
        "loss",
        "multilabel_margin_loss_forward",
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "argument #2 'target' is out of range"),),
    ),
    "multilabel_margin_loss_forward.output": Row(
        "loss",
        "multilabel_margin_loss_forward",
        "out",
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "argument #2 'target' is out of range"),),
    ),
    "multinomial": Row(
        "random",
        "multinomial",
        random=True,
        dtypes=(("", "floating"),),
        checks=(
            ("RuntimeError", "probability tensor contains either `inf`, `nan` or element < 0"),
            ("RuntimeError", "invalid multinomial distribution (sum of probabilities <= 0)"),
        ),
    ),
    "multinomial.out": Row(
        "random",
        "multinomial",
        "out",
        random=True,
        dtypes=(("", "floating"),),
        checks=(
            ("RuntimeError", "probability tensor contains either `inf`, `nan` or element < 0"),
            ("RuntimeError", "invalid multinomial distribution (sum of probabilities <= 0)"),
        ),
    ),
    "mv": Row("matmul", "mv", dtypes=(("", "not bool unsigned float8"),)),
    "mv.out": Row("matmul", "mv", "out", dtypes=(("", "not bool unsigned float8"),)),
    "mvlgamma": Row("special", "mvlgamma", dtypes=(("", "not bool complex float8"),)),
    "mvlgamma.out": Row("special", "mvlgamma", "out", dtypes=(("", "not bool complex float8"),)),
    "mvlgamma_": Row("special", "mvlgamma", "inplace", dtypes=(("", "not bool complex float8"),)),
    "nan_to_num": Row("pointwise", "nan_to_num", dtypes=(("", "not float8"),)),
    "nan_to_num.out": Row("pointwise", "nan_to_num", "out", dtypes=(("", "not float8"),)),
    "nan_to_num_": Row("pointwise", "nan_to_num", "inplace", dtypes=(("", "not float8"),)),
    "nanmedian": Row("sort", "nanmedian", dtypes=(("", "integral floating"),)),
    "nanmedian.dim": Row("sort", "nanmedian__dim", dtypes=(("", "integral floating"),)),
    "nanmedian.dim_values": Row("sort", "nanmedian__dim", "out", dtypes=(("", "integral floating"),)),
    "nanmedian.out": Row("sort", "nanmedian", "out", dtypes=(("", "integral floating"),)),
    "nansum": Row("reduction", "nansum", dtypes=(("", "not float8"),)),
    "nansum.out": Row("reduction", "nansum", "out", dtypes=(("", "not float8"),)),
    "narrow_copy": Row("shape", "narrow_copy"),
    "narrow_copy.out": Row("shape", "narrow_copy", "out"),
    "native_batch_norm": Row(
        "norm", "native_batch_norm", writes=("running_mean", "running_var"), dtypes=(("", "floating"),)
    ),
    "native_batch_norm.out": Row(
        "norm", "native_batch_norm", "out", writes=("running_mean", "running_var"), dtypes=(("", "floating"),)
    ),
    "native_batch_norm_backward": Row("norm", "native_batch_norm_backward"),
    "native_batch_norm_backward.out": Row("norm", "native_batch_norm_backward", "out"),
    "native_dropout": Row("random", "native_dropout", random=True),
    "native_dropout.out": Row("random", "native_dropout", "out", random=True),
    "native_dropout_backward": Row("random", "native_dropout_backward"),
    "native_dropout_backward.out": Row("random", "native_dropout_backward", "out"),
    "native_group_norm": Row("norm", "native_group_norm", dtypes=(("", "floating"),)),
    "native_group_norm.out": Row("norm", "native_group_norm", "out", dtypes=(("", "floating"),)),
    "native_group_norm_backward": Row("norm", "native_group_norm_backward"),
    "native_group_norm_backward.out": Row("norm", "native_group_norm_backward", "out"),
    "native_layer_norm": Row("norm", "native_layer_norm", dtypes=(("", "floating"),)),
    "native_layer_norm.out": Row("norm", "native_layer_norm", "out", dtypes=(("", "floating"),)),
    "native_layer_norm_backward": Row("norm", "native_layer_norm_backward"),
    "native_layer_norm_backward.out": Row("norm", "native_layer_norm_backward", "out"),
    "ne.Scalar": Row("pointwise", "ne__Scalar"),
    "ne.Scalar_out": Row("pointwise", "ne__Scalar", "out"),
    "ne.Tensor": Row("pointwise", "ne__Tensor"),
    "ne.Tensor_out": Row("pointwise", "ne__Tensor", "out"),
    "ne_.Scalar": Row("pointwise", "ne__Scalar", "inplace"),
    "ne_.Tensor": Row("pointwise", "ne__Tensor", "inplace"),
    "neg": Row("pointwise", "neg", dtypes=(("", "not bool unsigned float8"),)),
    "neg.out": Row("pointwise", "neg", "out", dtypes=(("", "not bool unsigned float8"),)),
    "neg_": Row("pointwise", "neg", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "new_full": Row("creation", "new_full"),
    "new_full.out": Row("creation", "new_full", "out"),
    "new_ones": Row("creation", "new_ones"),
    "new_ones.out": Row("creation", "new_ones", "out"),
    "new_zeros": Row("creation", "new_zeros"),
    "new_zeros.out": Row("creation", "new_zeros", "out"),
    "nextafter": Row("pointwise", "nextafter", dtypes=(("", "floating"),)),
    "nextafter.out": Row("pointwise", "nextafter", "out", dtypes=(("", "floating"),)),
    "nextafter_": Row("pointwise", "nextafter", "inplace", dtypes=(("", "floating"),)),
    "nll_loss2d_backward": Row("loss", "nll_loss2d_backward"),
    "nll_loss2d_backward.grad_input": Row("loss", "nll_loss2d_backward", "out"),
    "nll_loss2d_forward": Row(
        "loss",
        "nll_loss2d_forward",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nll_loss2d_forward.output": Row(
        "loss",
        "nll_loss2d_forward",
        "out",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nll_loss_backward": Row("loss", "nll_loss_backward"),
    "nll_loss_backward.grad_input": Row("loss", "nll_loss_backward", "out"),
    "nll_loss_forward": Row(
        "loss",
        "nll_loss_forward",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nll_loss_forward.output": Row(
        "loss",
        "nll_loss_forward",
        "out",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nonzero": Row(
        "indexing", "nonzero", dynamic="one row for each nonzero element", dtypes=(("", "not unsigned float8"),)
    ),
    "nonzero.out": Row(
        "indexing", "nonzero", "out", dynamic="one row for each nonzero element", dtypes=(("", "not unsigned float8"),)
    ),
    "nonzero_static": Row("indexing", "nonzero_static"),
    "nonzero_static.out": Row("indexing", "nonzero_static", "out"),
    "norm.Scalar": Row("reduction", "norm__Scalar", static=("p",), dtypes=(("", "floating complex"),)),
    "norm.ScalarOpt_dim": Row("reduction", "norm__ScalarOpt_dim", static=("p",), dtypes=(("", "floating complex"),)),
    "norm.ScalarOpt_dim_dtype": Row(
        "reduction", "norm__ScalarOpt_dim_dtype", static=("p",), dtypes=(("", "floating complex"),)
    ),
    "norm.ScalarOpt_dtype": Row(
        "reduction", "norm__ScalarOpt_dtype", static=("p",), dtypes=(("", "floating complex"),)
    ),
    "norm.ScalarOpt_dtype_out": Row(
        "reduction", "norm__ScalarOpt_dtype", "out", static=("p",), dtypes=(("", "floating complex"),)
    ),
    "norm.Scalar_out": Row("reduction", "norm__Scalar", "out", static=("p",), dtypes=(("", "floating complex"),)),
    "norm.dtype_out": Row(
        "reduction", "norm__ScalarOpt_dim_dtype", "out", static=("p",), dtypes=(("", "floating complex"),)
    ),
    "norm.out": Row("reduction", "norm__ScalarOpt_dim", "out", static=("p",), dtypes=(("", "floating complex"),)),
    "normal.Tensor_Tensor": Row(
        "random",
        "normal__Tensor_Tensor",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.Tensor_Tensor_out": Row(
        "random",
        "normal__Tensor_Tensor",
        "out",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.Tensor_float": Row(
        "random",
        "normal__Tensor_float",
        random=True,
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal.Tensor_float_out": Row(
        "random",
        "normal__Tensor_float",
        "out",
        random=True,
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal.float_Tensor": Row(
        "random",
        "normal__float_Tensor",
        random=True,
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.float_Tensor_out": Row(
        "random",
        "normal__float_Tensor",
        "out",
        random=True,
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.float_float": Row(
        "random", "normal__float_float", random=True, checks=(("RuntimeError", "normal expects std >= 0.0"),)
    ),
    "normal.float_float_out": Row(
        "random", "normal__float_float", "out", random=True, checks=(("RuntimeError", "normal expects std >= 0.0"),)
    ),
    "normal.out": Row(
        "random", "normal_functional", "out", random=True, checks=(("RuntimeError", "normal expects std >= 0.0"),)
    ),
    "normal_": Row(
        "random",
        "normal_",
        "inplace",
        random=True,
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal_functional": Row(
        "random", "normal_functional", random=True, checks=(("RuntimeError", "normal expects std >= 0.0"),)
    ),
    "ones": Row("creation", "ones"),
    "ones.out": Row("creation", "ones", "out"),
    "ones_like": Row("creation", "ones_like"),
    "ones_like.out": Row("creation", "ones_like", "out"),
    "ormqr": Row("linalg", "ormqr", dtypes=(("", "floating complex"),)),
    "ormqr.out": Row("linalg", "ormqr", "out", dtypes=(("", "floating complex"),)),
    "pixel_shuffle": Row("resize", "pixel_shuffle", dtypes=(("", "not unsigned float8"),)),
    "pixel_shuffle.out": Row("resize", "pixel_shuffle", "out", dtypes=(("", "not unsigned float8"),)),
    "pixel_unshuffle": Row("resize", "pixel_unshuffle", dtypes=(("", "not unsigned float8"),)),
    "pixel_unshuffle.out": Row("resize", "pixel_unshuffle", "out", dtypes=(("", "not unsigned float8"),)),
    "poisson": Row(
        "random",
        "poisson",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "invalid Poisson rate, expected rate to be non-negative"),),
    ),
    "poisson.out": Row(
        "random",
        "poisson",
        "out",
        random=True,
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "invalid Poisson rate, expected rate to be non-negative"),),
    ),
    "polar": Row("pointwise", "polar", dtypes=(("", "floating"),)),
    "polar.out": Row("pointwise", "polar", "out", dtypes=(("", "floating"),)),
    "polygamma": Row("special", "polygamma", dtypes=(("", "not complex float8"),)),
    "polygamma.out": Row("special", "polygamma", "out", dtypes=(("", "not complex float8"),)),
    "pow.Scalar": Row("pointwise", "pow__Scalar", dtypes=(("", "not unsigned float8"),)),
    "pow.Scalar_out": Row("pointwise", "pow__Scalar", "out", dtypes=(("", "not unsigned float8"),)),
    "pow.Tensor_Scalar": Row(
        "pointwise", "pow__Tensor_Scalar", static=("exponent",), dtypes=(("", "not unsigned float8"),)
    ),
    "pow.Tensor_Scalar_out": Row(
        "pointwise", "pow__Tensor_Scalar", "out", static=("exponent",), dtypes=(("", "not unsigned float8"),)
    ),
    "pow.Tensor_Tensor": Row("pointwise", "pow__Tensor_Tensor", dtypes=(("", "not bool unsigned float8"),)),
    "pow.Tensor_Tensor_out": Row("pointwise", "pow__Tensor_Tensor", "out", dtypes=(("", "not bool unsigned float8"),)),
    "pow_.Scalar": Row(
        "pointwise", "pow__Tensor_Scalar", "inplace", static=("exponent",), dtypes=(("", "not unsigned float8"),)
    ),
    "pow_.Tensor": Row("pointwise", "pow__Tensor_Tensor", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "prod": Row("reduction", "prod", dtypes=(("", "not float8"),)),
    "prod.dim_int": Row("reduction", "prod__dim_int", dtypes=(("", "not float8"),)),
    "prod.int_out": Row("reduction", "prod__dim_int", "out", dtypes=(("", "not float8"),)),
    "prod.out": Row("reduction", "prod", "out", dtypes=(("", "not float8"),)),
    "put": Row(
        "indexing",
        "put",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "put.out": Row(
        "indexing",
        "put",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "put_": Row(
        "indexing",
        "put",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "rad2deg": Row("pointwise", "rad2deg", dtypes=(("", "not complex float8"),)),
    "rad2deg.out": Row("pointwise", "rad2deg", "out", dtypes=(("", "not complex float8"),)),
    "rad2deg_": Row("pointwise", "rad2deg", "inplace", dtypes=(("", "not complex float8"),)),
    "rand": Row("random", "rand", random=True),
    "rand.generator": Row("random", "rand__generator", random=True),
    "rand.out": Row("random", "rand", "out", random=True),
    "rand_like": Row("random", "rand_like", random=True),
    "rand_like.generator": Row("random", "rand_like__generator", random=True),
    "rand_like.generator_out": Row("random", "rand_like__generator", "out", random=True),
    "rand_like.out": Row("random", "rand_like", "out", random=True),
    "randint": Row("random", "randint", random=True),
    "randint.generator": Row("random", "randint__generator", random=True),
    "randint.generator_out": Row("random", "randint__generator", "out", random=True),
    "randint.low": Row("random", "randint__low", random=True),
    "randint.low_generator": Row("random", "randint__low_generator", random=True),
    "randint.low_generator_out": Row("random", "randint__low_generator", "out", random=True),
    "randint.low_out": Row("random", "randint__low", "out", random=True),
    "randint.out": Row("random", "randint", "out", random=True),
    "randint_like": Row("random", "randint_like", random=True, dtypes=(("", "not complex float8"),)),
    "randint_like.Tensor": Row(
        "random",
        "randint_like__Tensor",
        random=True,
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.Tensor_generator": Row(
        "random",
        "randint_like__Tensor_generator",
        random=True,
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.Tensor_generator_out": Row(
        "random",
        "randint_like__Tensor_generator",
        "out",
        random=True,
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.Tensor_out": Row(
        "random",
        "randint_like__Tensor",
        "out",
        random=True,
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.generator": Row(
        "random", "randint_like__generator", random=True, dtypes=(("", "not complex float8"),)
    ),
    "randint_like.generator_out": Row(
        "random", "randint_like__generator", "out", random=True, dtypes=(("", "not complex float8"),)
    ),
    "randint_like.low_dtype": Row(
        "random", "randint_like__low_dtype", random=True, dtypes=(("", "not complex float8"),)
    ),
    "randint_like.low_dtype_out": Row(
        "random", "randint_like__low_dtype", "out", random=True, dtypes=(("", "not complex float8"),)
    ),
    "randint_like.low_generator_dtype": Row(
        "random", "randint_like__low_generator_dtype", random=True, dtypes=(("", "not complex float8"),)
    ),
    "randint_like.low_generator_dtype_out": Row(
        "random", "randint_like__low_generator_dtype", "out", random=True, dtypes=(("", "not complex float8"),)
    ),
    "randint_like.out": Row("random", "randint_like", "out", random=True, dtypes=(("", "not complex float8"),)),
    "randn": Row("random", "randn", random=True),
    "randn.generator": Row("random", "randn__generator", random=True),
    "randn_like": Row("random", "randn_like", random=True, dtypes=(("", "floating complex"),)),
    "randn_like.generator": Row("random", "randn_like__generator", random=True),
    "randn_like.generator_out": Row("random", "randn_like__generator", "out", random=True),
    "randn_like.out": Row("random", "randn_like", "out", random=True, dtypes=(("", "floating complex"),)),
    "random": Row("random", "random_", random=True, dtypes=(("", "not complex float8"),)),
    "random.from": Row("random", "random___from", random=True, dtypes=(("", "not complex float8"),)),
    "random.from_out": Row("random", "random___from", "out", random=True, dtypes=(("", "not complex float8"),)),
    "random.out": Row("random", "random_", "out", random=True, dtypes=(("", "not complex float8"),)),
    "random.to": Row("random", "random___to", random=True, dtypes=(("", "not complex float8"),)),
    "random.to_out": Row("random", "random___to", "out", random=True, dtypes=(("", "not complex float8"),)),
    "random_": Row("random", "random_", "inplace", random=True, dtypes=(("", "not complex float8"),)),
    "random_.from": Row("random", "random___from", "inplace", random=True, dtypes=(("", "not complex float8"),)),
    "random_.to": Row("random", "random___to", "inplace", random=True, dtypes=(("", "not complex float8"),)),
    "randperm": Row("random", "randperm", random=True),
    "randperm.generator": Row("random", "randperm__generator", random=True),
    "randperm.generator_out": Row("random", "randperm__generator", "out", random=True),
    "randperm.out": Row("random", "randperm", "out", random=True),
    "range": Row("creation", "range", static=("start", "end")),
    "range.out": Row("creation", "range__step", "out", static=("start", "end", "step")),
    "range.out_": Row("creation", "range", "out", static=("start", "end")),
    "range.step": Row("creation", "range__step", static=("start", "end", "step")),
    "reciprocal": Row("pointwise", "reciprocal", dtypes=(("", "not float8"),)),
    "reciprocal.out": Row("pointwise", "reciprocal", "out", dtypes=(("", "not float8"),)),
    "reciprocal_": Row("pointwise", "reciprocal", "inplace", dtypes=(("", "not float8"),)),
    "reflection_pad1d": Row("resize", "reflection_pad1d", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad1d.out": Row("resize", "reflection_pad1d", "out", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad1d_backward": Row("resize", "reflection_pad1d_backward"),
    "reflection_pad1d_backward.grad_input": Row("resize", "reflection_pad1d_backward", "out"),
    "reflection_pad2d": Row("resize", "reflection_pad2d", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad2d.out": Row("resize", "reflection_pad2d", "out", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad2d_backward": Row("resize", "reflection_pad2d_backward"),
    "reflection_pad2d_backward.grad_input": Row("resize", "reflection_pad2d_backward", "out"),
    "reflection_pad3d": Row("resize", "reflection_pad3d", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad3d.out": Row("resize", "reflection_pad3d", "out", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad3d_backward": Row("resize", "reflection_pad3d_backward"),
    "reflection_pad3d_backward.grad_input": Row("resize", "reflection_pad3d_backward", "out"),
    "relu": Row("activation", "relu", dtypes=(("", "integral floating"),)),
    "relu.out": Row("activation", "relu", "out", dtypes=(("", "integral floating"),)),
    "relu_": Row("activation", "relu", "inplace", dtypes=(("", "integral floating"),)),
    "remainder.Scalar": Row("pointwise", "remainder__Scalar", dtypes=(("", "bool integral floating"),)),
    "remainder.Scalar_Tensor": Row("pointwise", "remainder__Scalar_Tensor", dtypes=(("", "not complex float8"),)),
    "remainder.Scalar_Tensor_out": Row(
        "pointwise", "remainder__Scalar_Tensor", "out", dtypes=(("", "not complex float8"),)
    ),
    "remainder.Scalar_out": Row("pointwise", "remainder__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "remainder.Tensor": Row("pointwise", "remainder__Tensor", dtypes=(("", "integral floating"),)),
    "remainder.Tensor_out": Row("pointwise", "remainder__Tensor", "out", dtypes=(("", "integral floating"),)),
    "remainder_.Scalar": Row("pointwise", "remainder__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "remainder_.Tensor": Row("pointwise", "remainder__Tensor", "inplace", dtypes=(("", "integral floating"),)),
    "renorm": Row("reduction", "renorm", static=("p", "maxnorm"), dtypes=(("", "floating complex"),)),
    "renorm.out": Row("reduction", "renorm", "out", static=("p", "maxnorm"), dtypes=(("", "floating complex"),)),
    "renorm_": Row("reduction", "renorm", "inplace", static=("p", "maxnorm"), dtypes=(("", "floating complex"),)),
    "repeat": Row("shape", "repeat"),
    "repeat.out": Row("shape", "repeat", "out"),
    "repeat_interleave.Tensor": Row(
        "shape",
        "repeat_interleave__Tensor",
        dynamic="without output_size, the number of results is the sum of repeats",
        dtypes=(("", "int32 int64"),),
    ),
    "repeat_interleave.Tensor_out": Row(
        "shape",
        "repeat_interleave__Tensor",
        "out",
        dynamic="without output_size, the number of results is the sum of repeats",
        dtypes=(("", "int32 int64"),),
    ),
    "replication_pad1d": Row("resize", "replication_pad1d", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad1d.out": Row("resize", "replication_pad1d", "out", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad1d_backward": Row("resize", "replication_pad1d_backward"),
    "replication_pad1d_backward.grad_input": Row("resize", "replication_pad1d_backward", "out"),
    "replication_pad2d": Row("resize", "replication_pad2d", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad2d.out": Row("resize", "replication_pad2d", "out", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad2d_backward": Row("resize", "replication_pad2d_backward"),
    "replication_pad2d_backward.grad_input": Row("resize", "replication_pad2d_backward", "out"),
    "replication_pad3d": Row("resize", "replication_pad3d", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad3d.out": Row("resize", "replication_pad3d", "out", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad3d_backward": Row("resize", "replication_pad3d_backward"),
    "replication_pad3d_backward.grad_input": Row("resize", "replication_pad3d_backward", "out"),
    "rnn_relu.data": Row(
        "rnn",
        "rnn_relu__data",
        random=True,
        static=("dropout",),
        dtypes=(("data", "integral floating"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "rnn_relu.input": Row(
        "rnn", "rnn_relu__input", random=True, static=("dropout",), dtypes=(("", "integral floating"),), grad="vjp"
    ),
    "rnn_tanh.data": Row(
        "rnn",
        "rnn_tanh__data",
        random=True,
        static=("dropout",),
        dtypes=(("data", "floating complex"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "rnn_tanh.input": Row(
        "rnn", "rnn_tanh__input", random=True, static=("dropout",), dtypes=(("", "floating complex"),), grad="vjp"
    ),
    "roll": Row("shape", "roll"),
    "roll.out": Row("shape", "roll", "out"),
    "rot90": Row("shape", "rot90"),
    "rot90.out": Row("shape", "rot90", "out"),
    "round": Row("pointwise", "round", dtypes=(("", "not bool complex float8"),)),
    "round.decimals": Row("pointwise", "round__decimals", dtypes=(("", "floating"),)),
    "round.decimals_out": Row("pointwise", "round__decimals", "out", dtypes=(("", "floating"),)),
    "round.out": Row("pointwise", "round", "out", dtypes=(("", "not bool complex float8"),)),
    "round_": Row("pointwise", "round", "inplace", dtypes=(("", "not bool complex float8"),)),
    "round_.decimals": Row("pointwise", "round__decimals", "inplace", dtypes=(("", "floating"),)),
    "rrelu_with_noise": Row("activation", "rrelu_with_noise", "inplace", random=True, dtypes=(("", "floating"),)),
    "rrelu_with_noise.out": Row("activation", "rrelu_with_noise", "out", random=True, dtypes=(("", "floating"),)),
    "rrelu_with_noise_": Row("activation", "rrelu_with_noise", "inplace", random=True, dtypes=(("", "floating"),)),
    "rrelu_with_noise_backward": Row("activation", "rrelu_with_noise_backward"),
    "rrelu_with_noise_backward.out": Row("activation", "rrelu_with_noise_backward", "out"),
    "rrelu_with_noise_functional": Row("activation", "rrelu_with_noise", random=True, dtypes=(("", "floating"),)),
    "rsqrt": Row("pointwise", "rsqrt", dtypes=(("", "not float8"),)),
    "rsqrt.out": Row("pointwise", "rsqrt", "out", dtypes=(("", "not float8"),)),
    "rsqrt_": Row("pointwise", "rsqrt", "inplace", dtypes=(("", "not float8"),)),
    "rsub.Scalar": Row("pointwise", "rsub__Scalar", dtypes=(("", "not bool unsigned float8"),)),
    "rsub.Scalar_out": Row("pointwise", "rsub__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)),
    "rsub.Tensor": Row("pointwise", "rsub__Tensor", dtypes=(("", "not bool unsigned float8"),)),
    "rsub.Tensor_out": Row("pointwise", "rsub__Tensor", "out", dtypes=(("", "not bool unsigned float8"),)),
    "scalar_tensor": Row("creation", "scalar_tensor"),
    "scalar_tensor.out": Row("creation", "scalar_tensor", "out"),
    "scaled_dot_product_attention": Row(
        "attention",
        "scaled_dot_product_attention",
        random=True,
        static=("dropout_p", "scale"),
        dtypes=(("query", "floating"),),
        grad="vjp",
    ),
    "scatter.reduce": Row(
        "indexing",
        "scatter__reduce",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.reduce_out": Row(
        "indexing",
        "scatter__reduce",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.src": Row(
        "indexing",
        "scatter__src",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.src_out": Row(
        "indexing",
        "scatter__src",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value": Row(
        "indexing",
        "scatter__value",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value_out": Row(
        "indexing",
        "scatter__value",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value_reduce": Row(
        "indexing",
        "scatter__value_reduce",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value_reduce_out": Row(
        "indexing",
        "scatter__value_reduce",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.reduce": Row(
        "indexing",
        "scatter__reduce",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.src": Row(
        "indexing",
        "scatter__src",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.value": Row(
        "indexing",
        "scatter__value",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.value_reduce": Row(
        "indexing",
        "scatter__value_reduce",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_add": Row(
        "indexing",
        "scatter_add",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_add.out": Row(
        "indexing",
        "scatter_add",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_add_": Row(
        "indexing",
        "scatter_add",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_reduce.two": Row(
        "indexing",
        "scatter_reduce__two",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_reduce.two_out": Row(
        "indexing",
        "scatter_reduce__two",
        "out",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_reduce_.two": Row(
        "indexing",
        "scatter_reduce__two",
        "inplace",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "searchsorted.Scalar": Row(
        "search",
        "searchsorted__Scalar",
        dtypes=(("", "not complex float8"),),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "searchsorted.Scalar_out": Row(
        "search",
        "searchsorted__Scalar",
        "out",
        dtypes=(("", "not complex float8"),),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "searchsorted.Tensor": Row(
        "search",
        "searchsorted__Tensor",
        dtypes=(("sorted_sequence", "not complex float8"), ("self", "not complex float8"), ("sorter", "int64")),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "searchsorted.Tensor_out": Row(
        "search",
        "searchsorted__Tensor",
        "out",
        dtypes=(("sorted_sequence", "not complex float8"), ("self", "not complex float8"), ("sorter", "int64")),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "segment_reduce": Row(
        "segment",
        "segment_reduce",
        dtypes=(("data", "floating"), ("lengths", "int32 int64"), ("offsets", "int32 int64")),
        checks=(
            ("RuntimeError", "lengths contains negative value!"),
            (
                "RuntimeError",
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.",
            ),
        ),
    ),
    "segment_reduce.out": Row(
        "segment",
        "segment_reduce",
        "out",
        dtypes=(("data", "floating"), ("lengths", "int32 int64"), ("offsets", "int32 int64")),
        checks=(
            ("RuntimeError", "lengths contains negative value!"),
            (
                "RuntimeError",
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.",
            ),
        ),
    ),
    "select_backward": Row("shape", "select_backward"),
    "select_backward.out": Row("shape", "select_backward", "out"),
    "select_scatter": Row("shape", "select_scatter"),
    "select_scatter.out": Row("shape", "select_scatter", "out"),
    "sgn": Row("pointwise", "sgn", dtypes=(("", "not unsigned float8"),)),
    "sgn.out": Row("pointwise", "sgn", "out", dtypes=(("", "not unsigned float8"),)),
    "sgn_": Row("pointwise", "sgn", "inplace", dtypes=(("", "not unsigned float8"),)),
    "sigmoid": Row("activation", "sigmoid", dtypes=(("", "not float8"),)),
    "sigmoid.out": Row("activation", "sigmoid", "out", dtypes=(("", "not float8"),)),
    "sigmoid_": Row("activation", "sigmoid", "inplace", dtypes=(("", "not float8"),)),
    "sigmoid_backward": Row("activation", "sigmoid_backward"),
    "sigmoid_backward.grad_input": Row("activation", "sigmoid_backward", "out"),
    "sign": Row("pointwise", "sign", dtypes=(("", "bool integral floating"),)),
    "sign.out": Row("pointwise", "sign", "out", dtypes=(("", "bool integral floating"),)),
    "sign_": Row("pointwise", "sign", "inplace", dtypes=(("", "bool integral floating"),)),
    "signbit": Row("pointwise", "signbit", dtypes=(("", "not complex float8"),)),
    "signbit.out": Row("pointwise", "signbit", "out", dtypes=(("", "not complex float8"),)),
    "silu": Row("activation", "silu", dtypes=(("", "floating complex"),)),
    "silu.out": Row("activation", "silu", "out", dtypes=(("", "floating complex"),)),
    "silu_": Row("activation", "silu", "inplace", dtypes=(("", "floating complex"),)),
    "silu_backward": Row("activation", "silu_backward", grad="vjp"),
    "silu_backward.grad_input": Row("activation", "silu_backward", "out", grad="vjp"),
    "sin": Row("pointwise", "sin", dtypes=(("", "not float8"),)),
    "sin.out": Row("pointwise", "sin", "out", dtypes=(("", "not float8"),)),
    "sin_": Row("pointwise", "sin", "inplace", dtypes=(("", "not float8"),)),
    "sinc": Row("pointwise", "sinc", dtypes=(("", "not float8"),)),
    "sinc.out": Row("pointwise", "sinc", "out", dtypes=(("", "not float8"),)),
    "sinc_": Row("pointwise", "sinc", "inplace", dtypes=(("", "not float8"),)),
    "sinh": Row("pointwise", "sinh", dtypes=(("", "not float8"),)),
    "sinh.out": Row("pointwise", "sinh", "out", dtypes=(("", "not float8"),)),
    "sinh_": Row("pointwise", "sinh", "inplace", dtypes=(("", "not float8"),)),
    "slice_backward": Row("shape", "slice_backward"),
    "slice_backward.out": Row("shape", "slice_backward", "out"),
    "slice_scatter": Row("shape", "slice_scatter"),
    "slice_scatter.out": Row("shape", "slice_scatter", "out"),
    "slow_conv3d_forward": Row("conv", "slow_conv3d_forward", dtypes=(("", "integral floating"),)),
    "slow_conv3d_forward.output": Row("conv", "slow_conv3d_forward", "out", dtypes=(("", "integral floating"),)),
    "slow_conv_dilated2d": Row("conv", "slow_conv_dilated2d", dtypes=(("", "int64 floating"),)),
    "slow_conv_dilated2d.out": Row("conv", "slow_conv_dilated2d", "out", dtypes=(("", "int64 floating"),)),
    "slow_conv_dilated3d": Row("conv", "slow_conv_dilated3d", dtypes=(("", "int64 floating"),)),
    "slow_conv_dilated3d.out": Row("conv", "slow_conv_dilated3d", "out", dtypes=(("", "int64 floating"),)),
    "slow_conv_transpose2d": Row("conv", "slow_conv_transpose2d", dtypes=(("", "int64 floating"),)),
    "slow_conv_transpose2d.out": Row("conv", "slow_conv_transpose2d", "out", dtypes=(("", "int64 floating"),)),
    "slow_conv_transpose3d": Row("conv", "slow_conv_transpose3d", dtypes=(("", "int64 floating"),)),
    "slow_conv_transpose3d.out": Row("conv", "slow_conv_transpose3d", "out", dtypes=(("", "int64 floating"),)),
    "smooth_l1_loss": Row("loss", "smooth_l1_loss", static=("beta",), dtypes=(("", "floating"),)),
    "smooth_l1_loss.out": Row("loss", "smooth_l1_loss", "out", static=("beta",), dtypes=(("", "floating"),)),
    "smooth_l1_loss_backward": Row("loss", "smooth_l1_loss_backward"),
    "smooth_l1_loss_backward.grad_input": Row("loss", "smooth_l1_loss_backward", "out"),
    "soft_margin_loss": Row("loss", "soft_margin_loss", dtypes=(("", "not bool unsigned float8"),)),
    "soft_margin_loss.out": Row("loss", "soft_margin_loss", "out", dtypes=(("", "not bool unsigned float8"),)),
    "soft_margin_loss_backward": Row("loss", "soft_margin_loss_backward"),
    "soft_margin_loss_backward.grad_input": Row("loss", "soft_margin_loss_backward", "out"),
    "softplus": Row("activation", "softplus", dtypes=(("", "floating"),)),
    "softplus.out": Row("activation", "softplus", "out", dtypes=(("", "floating"),)),
    "softplus_backward": Row("activation", "softplus_backward"),
    "softplus_backward.grad_input": Row("activation", "softplus_backward", "out"),
    "softshrink": Row("activation", "softshrink", dtypes=(("", "floating"),)),
    "softshrink.out": Row("activation", "softshrink", "out", dtypes=(("", "floating"),)),
    "softshrink_backward": Row("activation", "softshrink_backward"),
    "softshrink_backward.grad_input": Row("activation", "softshrink_backward", "out"),
    "sort": Row("sort", "sort", dtypes=(("", "not complex float8"),)),
    "sort.stable": Row("sort", "sort__stable", dtypes=(("", "not complex float8"),)),
    "sort.values": Row("sort", "sort", "out", dtypes=(("", "not complex float8"),)),
    "sort.values_stable": Row("sort", "sort__stable", "out", dtypes=(("", "not complex float8"),)),
    "special_airy_ai": Row("special", "special_airy_ai", dtypes=(("", "not complex float8"),)),
    "special_airy_ai.out": Row("special", "special_airy_ai", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_j0": Row("special", "special_bessel_j0", dtypes=(("", "not complex float8"),)),
    "special_bessel_j0.out": Row("special", "special_bessel_j0", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_j1": Row("special", "special_bessel_j1", dtypes=(("", "not complex float8"),)),
    "special_bessel_j1.out": Row("special", "special_bessel_j1", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_y0": Row("special", "special_bessel_y0", dtypes=(("", "not complex float8"),)),
    "special_bessel_y0.out": Row("special", "special_bessel_y0", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_y1": Row("special", "special_bessel_y1", dtypes=(("", "not complex float8"),)),
    "special_bessel_y1.out": Row("special", "special_bessel_y1", "out", dtypes=(("", "not complex float8"),)),
    "special_chebyshev_polynomial_t": Row(
        "special", "special_chebyshev_polynomial_t", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.n_scalar": Row(
        "special", "special_chebyshev_polynomial_t__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.n_scalar_out": Row(
        "special", "special_chebyshev_polynomial_t__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.out": Row(
        "special", "special_chebyshev_polynomial_t", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.x_scalar": Row(
        "special", "special_chebyshev_polynomial_t__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.x_scalar_out": Row(
        "special", "special_chebyshev_polynomial_t__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u": Row(
        "special", "special_chebyshev_polynomial_u", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.n_scalar": Row(
        "special", "special_chebyshev_polynomial_u__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.n_scalar_out": Row(
        "special", "special_chebyshev_polynomial_u__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.out": Row(
        "special", "special_chebyshev_polynomial_u", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.x_scalar": Row(
        "special", "special_chebyshev_polynomial_u__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.x_scalar_out": Row(
        "special", "special_chebyshev_polynomial_u__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v": Row(
        "special", "special_chebyshev_polynomial_v", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.n_scalar": Row(
        "special", "special_chebyshev_polynomial_v__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.n_scalar_out": Row(
        "special", "special_chebyshev_polynomial_v__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.out": Row(
        "special", "special_chebyshev_polynomial_v", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.x_scalar": Row(
        "special", "special_chebyshev_polynomial_v__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.x_scalar_out": Row(
        "special", "special_chebyshev_polynomial_v__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w": Row(
        "special", "special_chebyshev_polynomial_w", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.n_scalar": Row(
        "special", "special_chebyshev_polynomial_w__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.n_scalar_out": Row(
        "special", "special_chebyshev_polynomial_w__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.out": Row(
        "special", "special_chebyshev_polynomial_w", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.x_scalar": Row(
        "special", "special_chebyshev_polynomial_w__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.x_scalar_out": Row(
        "special", "special_chebyshev_polynomial_w__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_entr": Row("special", "special_entr", dtypes=(("", "not complex float8"),)),
    "special_entr.out": Row("special", "special_entr", "out", dtypes=(("", "not complex float8"),)),
    "special_erfcx": Row("special", "special_erfcx", dtypes=(("", "not complex float8"),)),
    "special_erfcx.out": Row("special", "special_erfcx", "out", dtypes=(("", "not complex float8"),)),
    "special_hermite_polynomial_h": Row(
        "special", "special_hermite_polynomial_h", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.n_scalar": Row(
        "special", "special_hermite_polynomial_h__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.n_scalar_out": Row(
        "special", "special_hermite_polynomial_h__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.out": Row(
        "special", "special_hermite_polynomial_h", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.x_scalar": Row(
        "special", "special_hermite_polynomial_h__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.x_scalar_out": Row(
        "special", "special_hermite_polynomial_h__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he": Row(
        "special", "special_hermite_polynomial_he", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.n_scalar": Row(
        "special", "special_hermite_polynomial_he__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.n_scalar_out": Row(
        "special", "special_hermite_polynomial_he__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.out": Row(
        "special", "special_hermite_polynomial_he", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.x_scalar": Row(
        "special", "special_hermite_polynomial_he__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.x_scalar_out": Row(
        "special", "special_hermite_polynomial_he__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_i0e": Row("special", "special_i0e", dtypes=(("", "not complex float8"),)),
    "special_i0e.out": Row("special", "special_i0e", "out", dtypes=(("", "not complex float8"),)),
    "special_i1": Row("special", "special_i1", dtypes=(("", "not complex float8"),)),
    "special_i1.out": Row("special", "special_i1", "out", dtypes=(("", "not complex float8"),)),
    "special_i1e": Row("special", "special_i1e", dtypes=(("", "not complex float8"),)),
    "special_i1e.out": Row("special", "special_i1e", "out", dtypes=(("", "not complex float8"),)),
    "special_laguerre_polynomial_l": Row(
        "special", "special_laguerre_polynomial_l", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.n_scalar": Row(
        "special", "special_laguerre_polynomial_l__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.n_scalar_out": Row(
        "special", "special_laguerre_polynomial_l__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.out": Row(
        "special", "special_laguerre_polynomial_l", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.x_scalar": Row(
        "special", "special_laguerre_polynomial_l__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.x_scalar_out": Row(
        "special", "special_laguerre_polynomial_l__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p": Row(
        "special", "special_legendre_polynomial_p", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.n_scalar": Row(
        "special", "special_legendre_polynomial_p__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.n_scalar_out": Row(
        "special", "special_legendre_polynomial_p__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.out": Row(
        "special", "special_legendre_polynomial_p", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.x_scalar": Row(
        "special", "special_legendre_polynomial_p__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.x_scalar_out": Row(
        "special", "special_legendre_polynomial_p__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_log_ndtr": Row("special", "special_log_ndtr", dtypes=(("", "not complex float8"),)),
    "special_log_ndtr.out": Row("special", "special_log_ndtr", "out", dtypes=(("", "not complex float8"),)),
    "special_modified_bessel_i0": Row("special", "special_modified_bessel_i0", dtypes=(("", "not complex float8"),)),
    "special_modified_bessel_i0.out": Row(
        "special", "special_modified_bessel_i0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_i1": Row("special", "special_modified_bessel_i1", dtypes=(("", "not complex float8"),)),
    "special_modified_bessel_i1.out": Row(
        "special", "special_modified_bessel_i1", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_k0": Row("special", "special_modified_bessel_k0", dtypes=(("", "not complex float8"),)),
    "special_modified_bessel_k0.out": Row(
        "special", "special_modified_bessel_k0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_k1": Row("special", "special_modified_bessel_k1", dtypes=(("", "not complex float8"),)),
    "special_modified_bessel_k1.out": Row(
        "special", "special_modified_bessel_k1", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_ndtri": Row("special", "special_ndtri", dtypes=(("", "not complex float8"),)),
    "special_ndtri.out": Row("special", "special_ndtri", "out", dtypes=(("", "not complex float8"),)),
    "special_scaled_modified_bessel_k0": Row(
        "special", "special_scaled_modified_bessel_k0", dtypes=(("", "not complex float8"),)
    ),
    "special_scaled_modified_bessel_k0.out": Row(
        "special", "special_scaled_modified_bessel_k0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_scaled_modified_bessel_k1": Row(
        "special", "special_scaled_modified_bessel_k1", dtypes=(("", "not complex float8"),)
    ),
    "special_scaled_modified_bessel_k1.out": Row(
        "special", "special_scaled_modified_bessel_k1", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t": Row(
        "special", "special_shifted_chebyshev_polynomial_t", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.n_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_t__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.n_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_t__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.out": Row(
        "special", "special_shifted_chebyshev_polynomial_t", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.x_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_t__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.x_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_t__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u": Row(
        "special", "special_shifted_chebyshev_polynomial_u", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.n_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_u__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.n_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_u__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.out": Row(
        "special", "special_shifted_chebyshev_polynomial_u", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.x_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_u__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.x_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_u__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v": Row(
        "special", "special_shifted_chebyshev_polynomial_v", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.n_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_v__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.n_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_v__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.out": Row(
        "special", "special_shifted_chebyshev_polynomial_v", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.x_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_v__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.x_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_v__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w": Row(
        "special", "special_shifted_chebyshev_polynomial_w", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.n_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_w__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.n_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_w__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.out": Row(
        "special", "special_shifted_chebyshev_polynomial_w", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.x_scalar": Row(
        "special", "special_shifted_chebyshev_polynomial_w__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.x_scalar_out": Row(
        "special", "special_shifted_chebyshev_polynomial_w__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_spherical_bessel_j0": Row("special", "special_spherical_bessel_j0", dtypes=(("", "not complex float8"),)),
    "special_spherical_bessel_j0.out": Row(
        "special", "special_spherical_bessel_j0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_xlog1py": Row("special", "special_xlog1py", dtypes=(("", "not complex float8"),)),
    "special_xlog1py.other_scalar": Row(
        "special", "special_xlog1py__other_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_xlog1py.other_scalar_out": Row(
        "special", "special_xlog1py__other_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_xlog1py.out": Row("special", "special_xlog1py", "out", dtypes=(("", "not complex float8"),)),
    "special_xlog1py.self_scalar": Row("special", "special_xlog1py__self_scalar", dtypes=(("", "not complex float8"),)),
    "special_xlog1py.self_scalar_out": Row(
        "special", "special_xlog1py__self_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_zeta": Row("special", "special_zeta", dtypes=(("", "not complex float8"),)),
    "special_zeta.other_scalar": Row("special", "special_zeta__other_scalar", dtypes=(("", "not complex float8"),)),
    "special_zeta.other_scalar_out": Row(
        "special", "special_zeta__other_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_zeta.out": Row("special", "special_zeta", "out", dtypes=(("", "not complex float8"),)),
    "special_zeta.self_scalar": Row("special", "special_zeta__self_scalar", dtypes=(("", "not complex float8"),)),
    "special_zeta.self_scalar_out": Row(
        "special", "special_zeta__self_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "sqrt": Row("pointwise", "sqrt", dtypes=(("", "not float8"),)),
    "sqrt.out": Row("pointwise", "sqrt", "out", dtypes=(("", "not float8"),)),
    "sqrt_": Row("pointwise", "sqrt", "inplace", dtypes=(("", "not float8"),)),
    "stack": Row("shape", "stack"),
    "stack.out": Row("shape", "stack", "out"),
    "std.correction": Row("reduction", "std__correction", static=("correction",), dtypes=(("", "floating complex"),)),
    "std.correction_out": Row(
        "reduction", "std__correction", "out", static=("correction",), dtypes=(("", "floating complex"),)
    ),
    "std_mean.correction": Row(
        "reduction", "std_mean__correction", static=("correction",), dtypes=(("", "floating complex"),)
    ),
    "std_mean.correction_out": Row(
        "reduction", "std_mean__correction", "out", static=("correction",), dtypes=(("", "floating complex"),)
    ),
    "sub.Scalar": Row("pointwise", "sub__Scalar", dtypes=(("", "not bool unsigned float8"),)),
    "sub.Scalar_out": Row("pointwise", "sub__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)),
    "sub.Tensor": Row("pointwise", "sub__Tensor", dtypes=(("", "not bool unsigned float8"),)),
    "sub.out": Row("pointwise", "sub__Tensor", "out", dtypes=(("", "not bool unsigned float8"),)),
    "sub_.Scalar": Row("pointwise", "sub__Scalar", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "sub_.Tensor": Row("pointwise", "sub__Tensor", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "sum": Row("reduction", "sum", dtypes=(("", "not float8"),)),
    "sum.IntList_out": Row("reduction", "sum__dim_IntList", "out", dtypes=(("", "not float8"),)),
    "sum.dim_IntList": Row("reduction", "sum__dim_IntList", dtypes=(("", "not float8"),)),
    "sum.out": Row("reduction", "sum", "out", dtypes=(("", "not float8"),)),
    "take": Row(
        "indexing",
        "take",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "take.out": Row(
        "indexing",
        "take",
        "out",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "tan": Row("pointwise", "tan", dtypes=(("", "not float8"),)),
    "tan.out": Row("pointwise", "tan", "out", dtypes=(("", "not float8"),)),
    "tan_": Row("pointwise", "tan", "inplace", dtypes=(("", "not float8"),)),
    "tanh": Row("activation", "tanh", dtypes=(("", "not float8"),)),
    "tanh.out": Row("activation", "tanh", "out", dtypes=(("", "not float8"),)),
    "tanh_": Row("activation", "tanh", "inplace", dtypes=(("", "not float8"),)),
    "tanh_backward": Row("activation", "tanh_backward"),
    "tanh_backward.grad_input": Row("activation", "tanh_backward", "out"),
    "threshold": Row("activation", "threshold", dtypes=(("", "integral floating"),)),
    "threshold.out": Row("activation", "threshold", "out", dtypes=(("", "integral floating"),)),
    "threshold_": Row("activation", "threshold", "inplace", dtypes=(("", "integral floating"),)),
    "threshold_backward": Row("activation", "threshold_backward"),
    "threshold_backward.grad_input": Row("activation", "threshold_backward", "out"),
    "topk": Row("sort", "topk", dtypes=(("", "integral floating"),)),
    "topk.values": Row("sort", "topk", "out", dtypes=(("", "integral floating"),)),
    "torchvision::_deform_conv2d_backward": Row("torchvision", "_deform_conv2d_backward"),
    "torchvision::_ps_roi_align_backward": Row("torchvision", "_ps_roi_align_backward"),
    "torchvision::_roi_align_backward": Row("torchvision", "_roi_align_backward"),
    "torchvision::_roi_pool_backward": Row("torchvision", "_roi_pool_backward"),
    "torchvision::deform_conv2d": Row("torchvision", "deform_conv2d"),
    "torchvision::nms": Row("torchvision", "nms", dynamic="the number of boxes that are kept"),
    "torchvision::ps_roi_align": Row("torchvision", "ps_roi_align"),
    "torchvision::roi_align": Row("torchvision", "roi_align"),
    "torchvision::roi_pool": Row("torchvision", "roi_pool"),
    "trace": Row("reduction", "trace", dtypes=(("", "not unsigned float8"),)),
    "trace.out": Row("reduction", "trace", "out", dtypes=(("", "not unsigned float8"),)),
    "triangular_solve": Row("linalg", "triangular_solve", dtypes=(("", "floating complex"),)),
    "triangular_solve.X": Row("linalg", "triangular_solve", "out", dtypes=(("", "floating complex"),)),
    "tril": Row("indexing", "tril", dtypes=(("", "not unsigned float8"),)),
    "tril.out": Row("indexing", "tril", "out", dtypes=(("", "not unsigned float8"),)),
    "tril_": Row("indexing", "tril", "inplace", dtypes=(("", "not unsigned float8"),)),
    "tril_indices": Row("creation", "tril_indices"),
    "tril_indices.out": Row("creation", "tril_indices", "out"),
    "triu": Row("indexing", "triu", dtypes=(("", "not unsigned float8"),)),
    "triu.out": Row("indexing", "triu", "out", dtypes=(("", "not unsigned float8"),)),
    "triu_": Row("indexing", "triu", "inplace", dtypes=(("", "not unsigned float8"),)),
    "triu_indices": Row("creation", "triu_indices"),
    "triu_indices.out": Row("creation", "triu_indices", "out"),
    "trunc": Row("pointwise", "trunc", dtypes=(("", "not bool complex float8"),)),
    "trunc.out": Row("pointwise", "trunc", "out", dtypes=(("", "not bool complex float8"),)),
    "trunc_": Row("pointwise", "trunc", "inplace", dtypes=(("", "not bool complex float8"),)),
    "unfold_backward": Row("shape", "unfold_backward"),
    "unfold_backward.out": Row("shape", "unfold_backward", "out"),
    "uniform": Row(
        "random",
        "uniform_",
        random=True,
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "uniform_ expects to return a [from, to) range, but found from > to"),),
    ),
    "uniform.out": Row(
        "random",
        "uniform_",
        "out",
        random=True,
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "uniform_ expects to return a [from, to) range, but found from > to"),),
    ),
    "uniform_": Row(
        "random",
        "uniform_",
        "inplace",
        random=True,
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "uniform_ expects to return a [from, to) range, but found from > to"),),
    ),
    "unique_consecutive": Row(
        "unique", "unique_consecutive", dynamic="the number of runs", dtypes=(("", "not complex float8"),)
    ),
    "unique_consecutive.out": Row(
        "unique", "unique_consecutive", "out", dynamic="the number of runs", dtypes=(("", "not complex float8"),)
    ),
    "unique_dim": Row("unique", "unique_dim", dynamic="the number of distinct slices"),
    "unique_dim.out": Row("unique", "unique_dim", "out", dynamic="the number of distinct slices"),
    "unique_dim_consecutive": Row(
        "unique", "unique_dim_consecutive", dynamic="the number of runs", dtypes=(("", "not complex float8"),)
    ),
    "unique_dim_consecutive.out": Row(
        "unique", "unique_dim_consecutive", "out", dynamic="the number of runs", dtypes=(("", "not complex float8"),)
    ),
    "upsample_bicubic2d": Row(
        "resize", "upsample_bicubic2d", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_bicubic2d.out": Row(
        "resize", "upsample_bicubic2d", "out", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_bicubic2d_backward": Row("resize", "upsample_bicubic2d_backward", static=("scales_h", "scales_w")),
    "upsample_bicubic2d_backward.grad_input": Row(
        "resize", "upsample_bicubic2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "upsample_bilinear2d": Row(
        "resize", "upsample_bilinear2d", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_bilinear2d.out": Row(
        "resize", "upsample_bilinear2d", "out", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_bilinear2d_backward": Row("resize", "upsample_bilinear2d_backward", static=("scales_h", "scales_w")),
    "upsample_bilinear2d_backward.grad_input": Row(
        "resize", "upsample_bilinear2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "upsample_linear1d": Row("resize", "upsample_linear1d", static=("scales",), dtypes=(("", "floating"),)),
    "upsample_linear1d.out": Row("resize", "upsample_linear1d", "out", static=("scales",), dtypes=(("", "floating"),)),
    "upsample_linear1d_backward": Row("resize", "upsample_linear1d_backward", static=("scales",)),
    "upsample_linear1d_backward.grad_input": Row("resize", "upsample_linear1d_backward", "out", static=("scales",)),
    "upsample_nearest1d": Row("resize", "upsample_nearest1d", static=("scales",), dtypes=(("", "uint8 floating"),)),
    "upsample_nearest1d.out": Row(
        "resize", "upsample_nearest1d", "out", static=("scales",), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_nearest1d_backward": Row("resize", "upsample_nearest1d_backward", static=("scales",)),
    "upsample_nearest1d_backward.grad_input": Row("resize", "upsample_nearest1d_backward", "out", static=("scales",)),
    "upsample_nearest2d": Row(
        "resize", "upsample_nearest2d", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_nearest2d.out": Row(
        "resize", "upsample_nearest2d", "out", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_nearest2d_backward": Row("resize", "upsample_nearest2d_backward", static=("scales_h", "scales_w")),
    "upsample_nearest2d_backward.grad_input": Row(
        "resize", "upsample_nearest2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "upsample_nearest3d": Row(
        "resize", "upsample_nearest3d", static=("scales_d", "scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_nearest3d.out": Row(
        "resize",
        "upsample_nearest3d",
        "out",
        static=("scales_d", "scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "upsample_nearest3d_backward": Row(
        "resize", "upsample_nearest3d_backward", static=("scales_d", "scales_h", "scales_w")
    ),
    "upsample_nearest3d_backward.grad_input": Row(
        "resize", "upsample_nearest3d_backward", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "upsample_trilinear3d": Row(
        "resize", "upsample_trilinear3d", static=("scales_d", "scales_h", "scales_w"), dtypes=(("", "floating"),)
    ),
    "upsample_trilinear3d.out": Row(
        "resize", "upsample_trilinear3d", "out", static=("scales_d", "scales_h", "scales_w"), dtypes=(("", "floating"),)
    ),
    "upsample_trilinear3d_backward": Row(
        "resize", "upsample_trilinear3d_backward", static=("scales_d", "scales_h", "scales_w")
    ),
    "upsample_trilinear3d_backward.grad_input": Row(
        "resize", "upsample_trilinear3d_backward", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "var.correction": Row("reduction", "var__correction", static=("correction",), dtypes=(("", "floating complex"),)),
    "var.correction_out": Row(
        "reduction", "var__correction", "out", static=("correction",), dtypes=(("", "floating complex"),)
    ),
    "var_mean.correction": Row(
        "reduction", "var_mean__correction", static=("correction",), dtypes=(("", "floating complex"),)
    ),
    "var_mean.correction_out": Row(
        "reduction", "var_mean__correction", "out", static=("correction",), dtypes=(("", "floating complex"),)
    ),
    "vdot": Row("matmul", "vdot", dtypes=(("", "not bool unsigned float8"),)),
    "vdot.out": Row("matmul", "vdot", "out", dtypes=(("", "not bool unsigned float8"),)),
    "where.self": Row("pointwise", "where__self", dtypes=(("condition", "bool uint8"),)),
    "where.self_out": Row("pointwise", "where__self", "out", dtypes=(("condition", "bool uint8"),)),
    "xlogy.OutScalar_Other": Row("pointwise", "xlogy__Scalar_Other", "out", dtypes=(("", "not complex float8"),)),
    "xlogy.OutScalar_Self": Row("pointwise", "xlogy__Scalar_Self", "out", dtypes=(("", "not complex float8"),)),
    "xlogy.OutTensor": Row("pointwise", "xlogy__Tensor", "out", dtypes=(("", "not complex float8"),)),
    "xlogy.Scalar_Other": Row("pointwise", "xlogy__Scalar_Other", dtypes=(("", "not complex float8"),)),
    "xlogy.Scalar_Self": Row("pointwise", "xlogy__Scalar_Self", dtypes=(("", "not complex float8"),)),
    "xlogy.Tensor": Row("pointwise", "xlogy__Tensor", dtypes=(("", "not complex float8"),)),
    "xlogy_.Scalar_Other": Row("pointwise", "xlogy__Scalar_Other", "inplace", dtypes=(("", "not complex float8"),)),
    "xlogy_.Tensor": Row("pointwise", "xlogy__Tensor", "inplace", dtypes=(("", "not complex float8"),)),
    "zero": Row("copying", "zero"),
    "zero.out": Row("copying", "zero", "out"),
    "zero_": Row("copying", "zero", "inplace"),
    "zeros": Row("creation", "zeros"),
    "zeros.out": Row("creation", "zeros", "out"),
    "zeros_like": Row("creation", "zeros_like"),
    "zeros_like.out": Row("creation", "zeros_like", "out"),
}

# Carried out by torch's own decomposition, on purpose; with the note of the spec.
DECOMPOSED: dict[str, str] = {
    "_foreach_addcdiv.Tensor": "the scalars are a vector of the CPU, whose numbers torch reads",
    "_foreach_addcmul.Tensor": "the scalars are a vector of the CPU, whose numbers torch reads",
    "ldexp.Tensor": "",
}

# What cannot be done on this device, with the reason a user reads.
UNSUPPORTED: dict[str, str] = {
    "_compute_linear_combination": "an op of torch's own tests",
    "_compute_linear_combination.out": "an op of torch's own tests",
    "_convert_weight_to_int4pack": "weights packed for one CPU",
    "_convert_weight_to_int4pack_for_cpu": "weights packed for one CPU",
    "_cslt_compress": "a call into a vendor's library",
    "_cslt_sparse_mm": "a call into a vendor's library",
    "_cslt_sparse_mm_search": "a call into a vendor's library",
    "_cudnn_attention_backward": "a call into a vendor's library",
    "_cudnn_attention_forward": "a call into a vendor's library",
    "_cudnn_attention_forward_no_dropout_inplace": "a call into a vendor's library",
    "_cudnn_ctc_loss": "a call into a vendor's library",
    "_cudnn_ctc_loss.Tensor": "a call into a vendor's library",
    "_cudnn_ctc_loss.out": "a call into a vendor's library",
    "_cudnn_init_dropout_state": "a call into a vendor's library",
    "_cudnn_init_dropout_state.out": "a call into a vendor's library",
    "_cudnn_rnn": "a call into a vendor's library",
    "_cudnn_rnn.out": "a call into a vendor's library",
    "_cudnn_rnn_backward": "a call into a vendor's library",
    "_cudnn_rnn_backward.out": "a call into a vendor's library",
    "_cudnn_rnn_flatten_weight": "a call into a vendor's library",
    "_cudnn_rnn_flatten_weight.out": "a call into a vendor's library",
    "_dyn_quant_matmul_4bit": "weights packed for one CPU",
    "_dyn_quant_pack_4bit_weight": "weights packed for one CPU",
    "_efficient_attention_backward": "torch has it for CUDA only",
    "_efficient_attention_forward": "torch has it for CUDA only",
    "_empty_affine_quantized": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_empty_affine_quantized.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_empty_per_channel_affine_quantized": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_empty_per_channel_affine_quantized.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_fill_mem_eff_dropout_mask_": "torch has it for CUDA and XPU only",
    "_flash_attention_backward": "torch has it for CUDA only",
    "_flash_attention_forward": "torch has it for CUDA only",
    "_flash_attention_forward.quantized": "torch has it for CUDA only",
    "_flash_attention_forward_no_dropout_inplace": "torch has it for CUDA only",
    "_foobar": "an op of torch's own tests",
    "_foobar.out": "an op of torch's own tests",
    "_lstm_mps": "torch has it for MPS only",
    "_make_per_channel_quantized_tensor": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_make_per_channel_quantized_tensor.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_make_per_tensor_quantized_tensor": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_make_per_tensor_quantized_tensor.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_mixed_dtypes_linear": "a CUTLASS call on packed weights; use _weight_int8pack_mm or linear",
    "_mkldnn_reshape": "a call into a vendor's library",
    "_mkldnn_reshape.out": "a call into a vendor's library",
    "_mkldnn_transpose": "a call into a vendor's library",
    "_mkldnn_transpose.out": "a call into a vendor's library",
    "_mkldnn_transpose_": "a call into a vendor's library",
    "_mps_convolution": "a call into a vendor's library",
    "_mps_convolution.out": "a call into a vendor's library",
    "_mps_convolution_transpose": "a call into a vendor's library",
    "_mps_convolution_transpose.out": "a call into a vendor's library",
    "_nested_compute_contiguous_strides_offsets": "strided nested tensors; use layout=torch.jagged",
    "_nested_from_padded": "strided nested tensors; use layout=torch.jagged",
    "_nested_from_padded.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_from_padded_and_nested_example": "strided nested tensors; use layout=torch.jagged",
    "_nested_from_padded_and_nested_example.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_from_padded_tensor": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_jagged_dummy": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_lengths": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_max_seqlen": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_min_seqlen": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_offsets": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_ragged_idx": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_values": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_values_copy": "strided nested tensors; use layout=torch.jagged",
    "_nested_get_values_copy.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_select_backward": "strided nested tensors; use layout=torch.jagged",
    "_nested_sum_backward": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_from_mask": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_from_mask.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_from_tensor_list": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_from_tensor_list.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_size": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_size.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_softmax_with_shape": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_storage_offsets": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_storage_offsets.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_strides": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_strides.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_buffer": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_buffer_copy": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_buffer_copy.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_jagged": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_jagged_copy": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_jagged_copy.out": "strided nested tensors; use layout=torch.jagged",
    "_nnpack_spatial_convolution": "a call into a vendor's library",
    "_nnpack_spatial_convolution.out": "a call into a vendor's library",
    "_philox_key_fold_in": "explicit Philox keys are a CUDA form; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_key_fold_in.Tensor": "explicit Philox keys are a CUDA form; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_key_split": "explicit Philox keys are a CUDA form; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_normal_": "explicit Philox keys are a CUDA form; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_randint_": "explicit Philox keys are a CUDA form; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_uniform_": "explicit Philox keys are a CUDA form; use a torch.Generator, or jax.random through tenax.interop",
    "_resize_output_": "torch has it for Meta only",
    "_scaled_addmm": "torch has it for CUDA only",
    "_scaled_addmm.out": "torch has it for CUDA only",
    "_scaled_addmm_": "torch has it for CUDA only",
    "_scaled_dot_product_attention_math_for_mps": "torch has it for MPS only",
    "_scaled_dot_product_cudnn_attention": "torch has it for CUDA only",
    "_scaled_dot_product_cudnn_attention_backward": "torch has it for CUDA only",
    "_scaled_dot_product_efficient_attention": "torch has it for CUDA and XPU only",
    "_scaled_dot_product_efficient_attention_backward": "torch has it for CUDA and XPU only",
    "_scaled_dot_product_flash_attention": "torch has it for CUDA and XPU only",
    "_scaled_dot_product_flash_attention.quantized": "torch has it for CUDA only",
    "_scaled_dot_product_flash_attention_backward": "torch has it for CUDA and XPU only",
    "_scaled_grouped_mm": "grouped float8 products have no XLA form; use _grouped_mm in bfloat16",
    "_scaled_grouped_mm_v2": "grouped float8 products have no XLA form; use _grouped_mm in bfloat16",
    "_scaled_grouped_mm_v2.out": "torch has it for CUDA only",
    "_sparse_semi_structured_addmm": "2:4 sparsity is a call into CUTLASS or cuSPARSELt",
    "_sparse_semi_structured_apply": "2:4 sparsity is a call into CUTLASS or cuSPARSELt",
    "_sparse_semi_structured_apply_dense": "2:4 sparsity is a call into CUTLASS or cuSPARSELt",
    "_sparse_semi_structured_linear": "2:4 sparsity is a call into CUTLASS or cuSPARSELt",
    "_sparse_semi_structured_mm": "2:4 sparsity is a call into CUTLASS or cuSPARSELt",
    "_sparse_semi_structured_tile": "2:4 sparsity is a call into CUTLASS or cuSPARSELt",
    "_spdiags": "no kernel for sparse layouts; convert with .to_dense()",
    "_spsolve": "no kernel for sparse layouts; convert with .to_dense()",
    "_test_autograd_multiple_dispatch.fullcoverage": "an op of torch's own tests",
    "_test_autograd_multiple_dispatch.fullcoverage_out": "an op of torch's own tests",
    "_test_autograd_multiple_dispatch_view": "an op of torch's own tests",
    "_test_autograd_multiple_dispatch_view_copy": "an op of torch's own tests",
    "_test_autograd_multiple_dispatch_view_copy.out": "an op of torch's own tests",
    "_test_functorch_fallback": "an op of torch's own tests",
    "_test_functorch_fallback.out": "an op of torch's own tests",
    "_test_optional_filled_intlist": "an op of torch's own tests",
    "_test_optional_filled_intlist.out": "an op of torch's own tests",
    "_test_optional_floatlist": "an op of torch's own tests",
    "_test_optional_floatlist.out": "an op of torch's own tests",
    "_test_optional_intlist": "an op of torch's own tests",
    "_test_optional_intlist.out": "an op of torch's own tests",
    "_test_parallel_materialize": "an op of torch's own tests",
    "_test_warn_in_autograd": "an op of torch's own tests",
    "_test_warn_in_autograd.out": "an op of torch's own tests",
    "_to_sparse_semi_structured": "2:4 sparsity is a call into CUTLASS or cuSPARSELt",
    "_transform_bias_rescale_qkv": "strided nested tensors; use layout=torch.jagged",
    "_transform_bias_rescale_qkv.out": "strided nested tensors; use layout=torch.jagged",
    "_triton_multi_head_attention": "torch has it for CUDA only",
    "_triton_scaled_dot_attention": "torch has it for CUDA only",
    "_use_cudnn_ctc_loss": "torch has it for CUDA only",
    "_use_cudnn_ctc_loss.Tensor": "torch has it for CUDA only",
    "_use_miopen_ctc_loss": "torch has it for CUDA only",
    "_use_miopen_ctc_loss.Tensor": "torch has it for CUDA only",
    "_weight_int4pack_mm": "weights packed for one CPU",
    "_weight_int4pack_mm_for_cpu": "weights packed for one CPU",
    "_weight_int4pack_mm_with_scales_and_zeros": "weights packed for one CPU",
    "cudnn_affine_grid_generator": "a call into a vendor's library",
    "cudnn_affine_grid_generator.out": "a call into a vendor's library",
    "cudnn_affine_grid_generator_backward": "a call into a vendor's library",
    "cudnn_affine_grid_generator_backward.out": "a call into a vendor's library",
    "cudnn_batch_norm": "a call into a vendor's library",
    "cudnn_batch_norm.out": "a call into a vendor's library",
    "cudnn_batch_norm_backward": "a call into a vendor's library",
    "cudnn_batch_norm_backward.out": "a call into a vendor's library",
    "cudnn_convolution": "a call into a vendor's library",
    "cudnn_convolution.out": "a call into a vendor's library",
    "cudnn_convolution_add_relu": "a call into a vendor's library",
    "cudnn_convolution_add_relu.out": "a call into a vendor's library",
    "cudnn_convolution_relu": "a call into a vendor's library",
    "cudnn_convolution_relu.out": "a call into a vendor's library",
    "cudnn_convolution_transpose": "a call into a vendor's library",
    "cudnn_convolution_transpose.out": "a call into a vendor's library",
    "cudnn_grid_sampler": "a call into a vendor's library",
    "cudnn_grid_sampler.out": "a call into a vendor's library",
    "cudnn_grid_sampler_backward": "a call into a vendor's library",
    "cudnn_grid_sampler_backward.out": "a call into a vendor's library",
    "dequantize.self": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "dequantize.self_out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "dequantize.tensors": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "dequantize.tensors_out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "empty_quantized": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "from_file": "a file mapped into host memory",
    "from_file.out": "a file mapped into host memory",
    "int_repr": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "int_repr.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "linear_backward": "torch calls it for nested tensors only; the gradient of linear is that of addmm",
    "lstm_mps_backward": "torch has it for MPS only",
    "matmul_backward": "torch calls it for nested tensors only; the gradient of matmul is that of mm and bmm",
    "miopen_batch_norm": "a call into a vendor's library",
    "miopen_batch_norm.out": "a call into a vendor's library",
    "miopen_batch_norm_backward": "a call into a vendor's library",
    "miopen_batch_norm_backward.out": "a call into a vendor's library",
    "miopen_convolution": "a call into a vendor's library",
    "miopen_convolution.out": "a call into a vendor's library",
    "miopen_convolution_add_relu": "a call into a vendor's library",
    "miopen_convolution_relu": "a call into a vendor's library",
    "miopen_convolution_transpose": "a call into a vendor's library",
    "miopen_convolution_transpose.out": "a call into a vendor's library",
    "miopen_ctc_loss": "a call into a vendor's library",
    "miopen_ctc_loss.Tensor": "a call into a vendor's library",
    "miopen_ctc_loss.out": "a call into a vendor's library",
    "miopen_depthwise_convolution": "a call into a vendor's library",
    "miopen_depthwise_convolution.out": "a call into a vendor's library",
    "miopen_rnn": "a call into a vendor's library",
    "miopen_rnn.out": "a call into a vendor's library",
    "miopen_rnn_backward": "a call into a vendor's library",
    "miopen_rnn_backward.out": "a call into a vendor's library",
    "mkldnn_adaptive_avg_pool2d": "a call into a vendor's library",
    "mkldnn_adaptive_avg_pool2d.out": "a call into a vendor's library",
    "mkldnn_adaptive_avg_pool2d_backward": "a call into a vendor's library",
    "mkldnn_adaptive_avg_pool2d_backward.out": "a call into a vendor's library",
    "mkldnn_convolution": "a call into a vendor's library",
    "mkldnn_convolution.out": "a call into a vendor's library",
    "mkldnn_linear": "a call into a vendor's library",
    "mkldnn_linear.out": "a call into a vendor's library",
    "mkldnn_linear_backward": "a call into a vendor's library",
    "mkldnn_linear_backward.out": "a call into a vendor's library",
    "mkldnn_linear_backward_input": "a call into a vendor's library",
    "mkldnn_linear_backward_input.out": "a call into a vendor's library",
    "mkldnn_linear_backward_weights": "a call into a vendor's library",
    "mkldnn_linear_backward_weights.out": "a call into a vendor's library",
    "mkldnn_max_pool2d": "a call into a vendor's library",
    "mkldnn_max_pool2d.out": "a call into a vendor's library",
    "mkldnn_max_pool2d_backward": "a call into a vendor's library",
    "mkldnn_max_pool2d_backward.out": "a call into a vendor's library",
    "mkldnn_max_pool3d": "a call into a vendor's library",
    "mkldnn_max_pool3d.out": "a call into a vendor's library",
    "mkldnn_max_pool3d_backward": "a call into a vendor's library",
    "mkldnn_max_pool3d_backward.out": "a call into a vendor's library",
    "mkldnn_reorder_conv2d_weight": "a call into a vendor's library",
    "mkldnn_reorder_conv2d_weight.out": "a call into a vendor's library",
    "mkldnn_reorder_conv3d_weight": "a call into a vendor's library",
    "mkldnn_reorder_conv3d_weight.out": "a call into a vendor's library",
    "mkldnn_rnn_layer": "a call into a vendor's library",
    "mkldnn_rnn_layer.out": "a call into a vendor's library",
    "mkldnn_rnn_layer_backward": "a call into a vendor's library",
    "mkldnn_rnn_layer_backward.out": "a call into a vendor's library",
    "mps_convolution_backward": "torch has it for MPS only",
    "mps_convolution_transpose_backward": "torch has it for MPS only",
    "q_per_channel_axis": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "q_per_channel_scales": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "q_per_channel_scales.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "q_per_channel_zero_points": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "q_per_channel_zero_points.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "q_scale": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "q_zero_point": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "qscheme": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_channel": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_channel.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor.tensor_qparams": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor.tensor_qparams_out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor.tensors": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor.tensors_out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor_dynamic": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantize_per_tensor_dynamic.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_batch_norm": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_batch_norm.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_max_pool1d": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_max_pool1d.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_max_pool2d": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_max_pool2d.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_max_pool3d": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "quantized_max_pool3d.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "record_stream": "torch has it for CUDA and MPS and XPU only",
    "sspaddmm.out": "no kernel for sparse layouts; convert with .to_dense()",
    "to_mkldnn": "a call into a vendor's library",
    "to_mkldnn.out": "a call into a vendor's library",
    "to_padded_tensor": "strided nested tensors; use layout=torch.jagged",
}
