"""The lowering of each overload. Generated from ops_spec/ by `python -m tenax.codegen`: edit the specs."""

from typing import NamedTuple


class Row(NamedTuple):
    """The lowering of one overload and what the runtime must know to call it."""

    module: str  # within tenax: of generated, or of kernels if a kernel is the lowering
    function: str
    # functional: returns the results. inplace: returns results, then the new value of each written argument.
    # out: returns the values for the out arguments, then the new value of each other written argument.
    form: str = "functional"
    random: bool = False  # the first argument is a PRNG key
    dynamic: str = ""  # why the result's shape depends on data
    static: tuple[str, ...] = ()  # numbers passed as Python numbers
    # The same at these values, others are traced. With "sign", negative numbers have a program of their own; with
    # "wide", all 64 bits are passed; with "cpu", other platforms pass Python numbers.
    special: tuple[tuple[str, tuple[float | str, ...]], ...] = ()
    writes: tuple[str, ...] = ()  # arguments that are written although the schema does not say so
    renamed: tuple[tuple[str, str], ...] = ()  # arguments, with their names in earlier releases of torch
    dtypes: tuple[tuple[str, str], ...] = ()  # arguments ("" for all), with the dtypes that torch supports
    conditions: str = ""  # the function in tenax.generated that computes the conditions
    checks: tuple[tuple[str, str], ...] = ()  # exception and message of each condition
    overwrites: bool = False  # the written argument is not read
    writes_expanded: bool = False  # like torch, writes to expanded tensors
    draws_if: tuple[str, ...] = ()  # no random number is drawn if one of these arguments is false or 0
    prepare: tuple[str, ...] = ()  # a preparation before the lowering, and its arguments
    guard: tuple[str, ...] = ()  # a check of the arguments before every call, and its arguments
    on_host: str = ""  # the function of kernels that computes it with NumPy, for arrays in host memory
    not_donated: tuple[str, ...] = ()  # written arguments that the lowering may return unchanged
    results: str = ""  # how the results differ from those of torch's Meta kernel
    grad: str = ""  # vjp: a composite kept whole


# The dtypes of each word of `Row.dtypes`, which may also name single dtypes.
DTYPES: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "integral": ("uint8", "int8", "int16", "int32", "int64"),
    "unsigned": ("uint16", "uint32", "uint64"),
    "floating": ("float16", "bfloat16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
    "float8": ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
}

ROWS: dict[str, Row] = {
    "__ilshift__.Scalar": Row("generated.pointwise", "__lshift____Scalar", "inplace", dtypes=(("", "bool integral"),)),
    "__ilshift__.Tensor": Row("generated.pointwise", "__lshift____Tensor", "inplace", dtypes=(("", "integral"),)),
    "__irshift__.Scalar": Row("generated.pointwise", "__rshift____Scalar", "inplace", dtypes=(("", "bool integral"),)),
    "__irshift__.Tensor": Row("generated.pointwise", "__rshift____Tensor", "inplace", dtypes=(("", "integral"),)),
    "__lshift__.Scalar": Row("generated.pointwise", "__lshift____Scalar", dtypes=(("", "bool integral"),)),
    "__lshift__.Scalar_out": Row("generated.pointwise", "__lshift____Scalar", "out", dtypes=(("", "bool integral"),)),
    "__lshift__.Tensor": Row("generated.pointwise", "__lshift____Tensor", dtypes=(("", "integral"),)),
    "__lshift__.Tensor_out": Row("generated.pointwise", "__lshift____Tensor", "out", dtypes=(("", "integral"),)),
    "__rshift__.Scalar": Row("generated.pointwise", "__rshift____Scalar", dtypes=(("", "bool integral"),)),
    "__rshift__.Scalar_out": Row("generated.pointwise", "__rshift____Scalar", "out", dtypes=(("", "bool integral"),)),
    "__rshift__.Tensor": Row("generated.pointwise", "__rshift____Tensor", dtypes=(("", "integral"),)),
    "__rshift__.Tensor_out": Row("generated.pointwise", "__rshift____Tensor", "out", dtypes=(("", "integral"),)),
    "_adaptive_avg_pool2d": Row("kernels.average", "_adaptive_avg_pool2d", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool2d.out": Row("kernels.average", "_adaptive_avg_pool2d", "out", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool2d_backward": Row("kernels.average", "_adaptive_avg_pool2d_backward"),
    "_adaptive_avg_pool2d_backward.out": Row("kernels.average", "_adaptive_avg_pool2d_backward", "out"),
    "_adaptive_avg_pool3d": Row("kernels.average", "_adaptive_avg_pool3d", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool3d.out": Row("kernels.average", "_adaptive_avg_pool3d", "out", dtypes=(("", "floating"),)),
    "_adaptive_avg_pool3d_backward": Row("kernels.average", "_adaptive_avg_pool3d_backward"),
    "_adaptive_avg_pool3d_backward.out": Row("kernels.average", "_adaptive_avg_pool3d_backward", "out"),
    "_add_relu.Scalar": Row(
        "generated.pointwise", "_add_relu__Scalar", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_add_relu.Scalar_out": Row(
        "generated.pointwise", "_add_relu__Scalar", "out", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_add_relu.Tensor": Row(
        "generated.pointwise", "_add_relu__Tensor", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_add_relu.out": Row(
        "generated.pointwise", "_add_relu__Tensor", "out", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_add_relu_.Scalar": Row(
        "generated.pointwise", "_add_relu__Scalar", "inplace", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_add_relu_.Tensor": Row(
        "generated.pointwise", "_add_relu__Tensor", "inplace", dtypes=(("", "int8 int16 int32 int64 floating"),)
    ),
    "_addmm_activation": Row(
        "generated.matmul", "_addmm_activation", special=(("beta", (0,)), ("alpha", ())), dtypes=(("", "floating"),)
    ),
    "_addmm_activation.out": Row(
        "generated.matmul",
        "_addmm_activation",
        "out",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "floating"),),
    ),
    "_aminmax": Row("generated.reduction", "_aminmax", dtypes=(("", "bool integral floating"),)),
    "_aminmax.dim": Row("generated.reduction", "_aminmax__dim", dtypes=(("", "bool integral floating"),)),
    "_aminmax.dim_out": Row("generated.reduction", "_aminmax__dim", "out", dtypes=(("", "bool integral floating"),)),
    "_aminmax.out": Row("generated.reduction", "_aminmax", "out", dtypes=(("", "bool integral floating"),)),
    "_amp_foreach_non_finite_check_and_unscale": Row("kernels.amp", "_amp_foreach_non_finite_check_and_unscale_"),
    "_amp_foreach_non_finite_check_and_unscale.out": Row(
        "kernels.amp", "_amp_foreach_non_finite_check_and_unscale_", "out"
    ),
    "_amp_foreach_non_finite_check_and_unscale_": Row(
        "kernels.amp", "_amp_foreach_non_finite_check_and_unscale_", "inplace"
    ),
    "_amp_update_scale": Row("kernels.amp", "_amp_update_scale_"),
    "_amp_update_scale.out": Row("kernels.amp", "_amp_update_scale_", "out"),
    "_amp_update_scale_": Row("kernels.amp", "_amp_update_scale_", "inplace"),
    "_assert_async": Row(
        "generated.copying",
        "_assert_async",
        conditions="copying._assert_async__checks",
        checks=(("RuntimeError", "Expected Tensor with single nonzero value, but got zero"),),
    ),
    "_assert_async.msg": Row(
        "generated.copying",
        "_assert_async__msg",
        conditions="copying._assert_async__msg__checks",
        checks=(("RuntimeError", "{assert_msg}"),),
    ),
    "_batch_norm_no_update": Row("kernels.batchnorm", "_batch_norm_no_update"),
    "_batch_norm_no_update.out": Row("kernels.batchnorm", "_batch_norm_no_update", "out"),
    "_batch_norm_with_update": Row(
        "kernels.batchnorm", "_batch_norm_with_update", "inplace", dtypes=(("", "floating"),)
    ),
    "_batch_norm_with_update.out": Row(
        "kernels.batchnorm", "_batch_norm_with_update", "out", dtypes=(("", "floating"),)
    ),
    "_batch_norm_with_update_functional": Row(
        "kernels.batchnorm", "_batch_norm_with_update", dtypes=(("", "floating"),)
    ),
    "_cdist_backward": Row(
        "kernels.distance",
        "_cdist_backward",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        renamed=(("grad_output", "grad"),),
    ),
    "_cdist_backward.out": Row(
        "kernels.distance",
        "_cdist_backward",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        renamed=(("grad_output", "grad"),),
    ),
    "_cdist_forward": Row(
        "generated.distance",
        "_cdist_forward",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating"),),
    ),
    "_cdist_forward.out": Row(
        "generated.distance",
        "_cdist_forward",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating"),),
    ),
    "_cholesky_solve_helper": Row("generated.linalg", "_cholesky_solve_helper", dtypes=(("", "floating complex"),)),
    "_cholesky_solve_helper.out": Row(
        "generated.linalg", "_cholesky_solve_helper", "out", dtypes=(("", "floating complex"),)
    ),
    "_chunk_cat": Row("kernels.shape", "_chunk_cat"),
    "_chunk_cat.out": Row("kernels.shape", "_chunk_cat", "out"),
    "_conj_physical": Row("generated.pointwise", "_conj_physical", dtypes=(("", "not unsigned float8"),)),
    "_conj_physical.out": Row("generated.pointwise", "_conj_physical", "out", dtypes=(("", "not unsigned float8"),)),
    "_conv_depthwise2d": Row("generated.conv", "_conv_depthwise2d"),
    "_conv_depthwise2d.out": Row("generated.conv", "_conv_depthwise2d", "out"),
    "_convert_indices_from_coo_to_csr": Row("kernels.sparse", "_convert_indices_from_coo_to_csr"),
    "_convert_indices_from_coo_to_csr.out": Row("kernels.sparse", "_convert_indices_from_coo_to_csr", "out"),
    "_convert_indices_from_csr_to_coo": Row("kernels.sparse", "_convert_indices_from_csr_to_coo"),
    "_convert_indices_from_csr_to_coo.out": Row("kernels.sparse", "_convert_indices_from_csr_to_coo", "out"),
    "_ctc_loss": Row(
        "generated.loss",
        "_ctc_loss",
        prepare=("preparations.with_lengths", "targets", "input_lengths", "target_lengths"),
        dtypes=(("log_probs", "floating"), ("targets", "int32 int64")),
    ),
    "_ctc_loss.Tensor": Row(
        "generated.loss",
        "_ctc_loss__Tensor",
        prepare=("preparations.to_device", "input_lengths", "target_lengths"),
        dtypes=(("log_probs", "floating"), ("targets", "int32 int64")),
    ),
    "_ctc_loss.Tensor_out": Row(
        "generated.loss",
        "_ctc_loss__Tensor",
        "out",
        prepare=("preparations.to_device", "input_lengths", "target_lengths"),
        dtypes=(("log_probs", "floating"), ("targets", "int32 int64")),
    ),
    "_ctc_loss.out": Row(
        "generated.loss",
        "_ctc_loss",
        "out",
        prepare=("preparations.with_lengths", "targets", "input_lengths", "target_lengths"),
        dtypes=(("log_probs", "floating"), ("targets", "int32 int64")),
    ),
    "_ctc_loss_backward": Row(
        "kernels.ctc",
        "_ctc_loss_backward",
        prepare=("preparations.with_lengths", "targets", "input_lengths", "target_lengths"),
    ),
    "_ctc_loss_backward.Tensor": Row(
        "kernels.ctc", "_ctc_loss_backward", prepare=("preparations.to_device", "input_lengths", "target_lengths")
    ),
    "_ctc_loss_backward.out": Row(
        "kernels.ctc",
        "_ctc_loss_backward",
        "out",
        prepare=("preparations.with_lengths", "targets", "input_lengths", "target_lengths"),
    ),
    "_cummax_helper": Row(
        "generated.scan", "_cummax_helper", "inplace", dtypes=(("self", "bool integral floating"), ("indices", "int64"))
    ),
    "_cummin_helper": Row(
        "generated.scan", "_cummin_helper", "inplace", dtypes=(("self", "bool integral floating"), ("indices", "int64"))
    ),
    "_dirichlet_grad": Row("kernels.sampling", "_dirichlet_grad", dtypes=(("", "floating"),)),
    "_dirichlet_grad.out": Row("kernels.sampling", "_dirichlet_grad", "out", dtypes=(("", "floating"),)),
    "_efficientzerotensor": Row("generated.creation", "_efficientzerotensor"),
    "_efficientzerotensor.out": Row("generated.creation", "_efficientzerotensor", "out"),
    "_embedding_bag": Row(
        "generated.embedding",
        "_embedding_bag",
        special=(("padding_idx", (-1,)),),
        conditions="embedding._embedding_bag__checks",
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
        "generated.embedding",
        "_embedding_bag",
        "out",
        special=(("padding_idx", (-1,)),),
        conditions="embedding._embedding_bag__checks",
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
    "_embedding_bag_dense_backward": Row(
        "kernels.embedding", "_embedding_bag_dense_backward", special=(("padding_idx", (-1,)),)
    ),
    "_embedding_bag_dense_backward.out": Row(
        "kernels.embedding", "_embedding_bag_dense_backward", "out", special=(("padding_idx", (-1,)),)
    ),
    "_embedding_bag_forward_only": Row(
        "generated.embedding",
        "_embedding_bag_forward_only",
        special=(("padding_idx", (-1,)),),
        conditions="embedding._embedding_bag_forward_only__checks",
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
        "generated.embedding",
        "_embedding_bag_forward_only",
        "out",
        special=(("padding_idx", (-1,)),),
        conditions="embedding._embedding_bag_forward_only__checks",
        checks=(
            ("RuntimeError", "embedding_bag: an index of input takes a value which is not in the valid range of rows"),
            (
                "RuntimeError",
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0.",
            ),
            ("RuntimeError", "offsets[-1] can not be greater than input's length"),
        ),
    ),
    "_embedding_bag_per_sample_weights_backward": Row(
        "kernels.embedding", "_embedding_bag_per_sample_weights_backward", special=(("padding_idx", (-1,)),)
    ),
    "_embedding_bag_per_sample_weights_backward.out": Row(
        "kernels.embedding", "_embedding_bag_per_sample_weights_backward", "out", special=(("padding_idx", (-1,)),)
    ),
    "_euclidean_dist": Row("kernels.distance", "_euclidean_dist", dtypes=(("", "bool integral floating"),)),
    "_euclidean_dist.out": Row("kernels.distance", "_euclidean_dist", "out", dtypes=(("", "bool integral floating"),)),
    "_fake_quantize_learnable_per_channel_affine": Row(
        "generated.quantize", "_fake_quantize_learnable_per_channel_affine"
    ),
    "_fake_quantize_learnable_per_channel_affine.out": Row(
        "generated.quantize", "_fake_quantize_learnable_per_channel_affine", "out"
    ),
    "_fake_quantize_learnable_per_channel_affine_backward": Row(
        "kernels.quantize", "_fake_quantize_learnable_per_channel_affine_backward"
    ),
    "_fake_quantize_learnable_per_tensor_affine": Row(
        "generated.quantize", "_fake_quantize_learnable_per_tensor_affine"
    ),
    "_fake_quantize_learnable_per_tensor_affine.out": Row(
        "generated.quantize", "_fake_quantize_learnable_per_tensor_affine", "out"
    ),
    "_fake_quantize_learnable_per_tensor_affine_backward": Row(
        "generated.quantize", "_fake_quantize_learnable_per_tensor_affine_backward"
    ),
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": Row(
        "generated.quantize", "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
    ),
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.out": Row(
        "generated.quantize", "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "out"
    ),
    "_fft_c2c": Row(
        "kernels.fft", "_fft_c2c", results="result_layouts.in_order_of_transform", dtypes=(("", "complex"),)
    ),
    "_fft_c2c.out": Row(
        "kernels.fft", "_fft_c2c", "out", results="result_layouts.in_order_of_transform", dtypes=(("", "complex"),)
    ),
    "_fft_c2r": Row(
        "kernels.fft", "_fft_c2r", results="result_layouts.in_order_of_transform", dtypes=(("", "complex"),)
    ),
    "_fft_c2r.out": Row(
        "kernels.fft", "_fft_c2r", "out", results="result_layouts.in_order_of_transform", dtypes=(("", "complex"),)
    ),
    "_fft_r2c": Row(
        "kernels.fft", "_fft_r2c", results="result_layouts.in_order_of_transform", dtypes=(("", "floating"),)
    ),
    "_fft_r2c.out": Row(
        "kernels.fft", "_fft_r2c", "out", results="result_layouts.in_order_of_transform", dtypes=(("", "floating"),)
    ),
    "_foreach_abs": Row("generated.foreach", "_foreach_abs", dtypes=(("", "not unsigned"),)),
    "_foreach_abs.out": Row("generated.foreach", "_foreach_abs", "out", dtypes=(("", "not unsigned"),)),
    "_foreach_abs_": Row("generated.foreach", "_foreach_abs", "inplace", dtypes=(("", "not unsigned"),)),
    "_foreach_acos": Row("generated.foreach", "_foreach_acos", dtypes=(("", "not float8"),)),
    "_foreach_acos.out": Row("generated.foreach", "_foreach_acos", "out", dtypes=(("", "not float8"),)),
    "_foreach_acos_": Row("generated.foreach", "_foreach_acos", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_add.List": Row("generated.foreach", "_foreach_add__List", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.List_out": Row(
        "generated.foreach", "_foreach_add__List", "out", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add.Scalar": Row("generated.foreach", "_foreach_add__Scalar", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.ScalarList": Row(
        "generated.foreach", "_foreach_add__ScalarList", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add.ScalarList_out": Row(
        "generated.foreach", "_foreach_add__ScalarList", "out", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add.Scalar_out": Row(
        "generated.foreach", "_foreach_add__Scalar", "out", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add.Tensor": Row("generated.foreach", "_foreach_add__Tensor", dtypes=(("", "not unsigned float8"),)),
    "_foreach_add.Tensor_out": Row(
        "generated.foreach", "_foreach_add__Tensor", "out", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add_.List": Row(
        "generated.foreach", "_foreach_add__List", "inplace", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add_.Scalar": Row(
        "generated.foreach", "_foreach_add__Scalar", "inplace", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add_.ScalarList": Row(
        "generated.foreach", "_foreach_add__ScalarList", "inplace", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_add_.Tensor": Row(
        "generated.foreach", "_foreach_add__Tensor", "inplace", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_addcdiv.Scalar": Row("generated.foreach", "_foreach_addcdiv__Scalar", dtypes=(("", "floating complex"),)),
    "_foreach_addcdiv.ScalarList": Row(
        "generated.foreach", "_foreach_addcdiv__ScalarList", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcdiv.ScalarList_out": Row(
        "generated.foreach", "_foreach_addcdiv__ScalarList", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcdiv.Scalar_out": Row(
        "generated.foreach", "_foreach_addcdiv__Scalar", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcdiv_.Scalar": Row(
        "generated.foreach", "_foreach_addcdiv__Scalar", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcdiv_.ScalarList": Row(
        "generated.foreach", "_foreach_addcdiv__ScalarList", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_addcmul.Scalar": Row(
        "generated.foreach", "_foreach_addcmul__Scalar", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul.ScalarList": Row(
        "generated.foreach", "_foreach_addcmul__ScalarList", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul.ScalarList_out": Row(
        "generated.foreach", "_foreach_addcmul__ScalarList", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul.Scalar_out": Row(
        "generated.foreach", "_foreach_addcmul__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul_.Scalar": Row(
        "generated.foreach", "_foreach_addcmul__Scalar", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_addcmul_.ScalarList": Row(
        "generated.foreach", "_foreach_addcmul__ScalarList", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_asin": Row("generated.foreach", "_foreach_asin", dtypes=(("", "not float8"),)),
    "_foreach_asin.out": Row("generated.foreach", "_foreach_asin", "out", dtypes=(("", "not float8"),)),
    "_foreach_asin_": Row("generated.foreach", "_foreach_asin", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_atan": Row("generated.foreach", "_foreach_atan", dtypes=(("", "not float8"),)),
    "_foreach_atan.out": Row("generated.foreach", "_foreach_atan", "out", dtypes=(("", "not float8"),)),
    "_foreach_atan_": Row("generated.foreach", "_foreach_atan", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_ceil": Row("generated.foreach", "_foreach_ceil", dtypes=(("", "not bool complex float8"),)),
    "_foreach_ceil.out": Row("generated.foreach", "_foreach_ceil", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_ceil_": Row("generated.foreach", "_foreach_ceil", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_clamp_max.List": Row(
        "generated.foreach", "_foreach_clamp_max__List", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_max.List_out": Row(
        "generated.foreach", "_foreach_clamp_max__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_max.Scalar": Row(
        "generated.foreach", "_foreach_clamp_max__Scalar", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max.ScalarList": Row(
        "generated.foreach", "_foreach_clamp_max__ScalarList", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max.ScalarList_out": Row(
        "generated.foreach", "_foreach_clamp_max__ScalarList", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max.Scalar_out": Row(
        "generated.foreach", "_foreach_clamp_max__Scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max_.List": Row(
        "generated.foreach", "_foreach_clamp_max__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_max_.Scalar": Row(
        "generated.foreach", "_foreach_clamp_max__Scalar", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_max_.ScalarList": Row(
        "generated.foreach", "_foreach_clamp_max__ScalarList", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_clamp_min.List": Row(
        "generated.foreach", "_foreach_clamp_min__List", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.List_out": Row(
        "generated.foreach", "_foreach_clamp_min__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.Scalar": Row(
        "generated.foreach", "_foreach_clamp_min__Scalar", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.ScalarList": Row(
        "generated.foreach", "_foreach_clamp_min__ScalarList", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.ScalarList_out": Row(
        "generated.foreach", "_foreach_clamp_min__ScalarList", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min.Scalar_out": Row(
        "generated.foreach", "_foreach_clamp_min__Scalar", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min_.List": Row(
        "generated.foreach", "_foreach_clamp_min__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min_.Scalar": Row(
        "generated.foreach", "_foreach_clamp_min__Scalar", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clamp_min_.ScalarList": Row(
        "generated.foreach", "_foreach_clamp_min__ScalarList", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_clone": Row("generated.foreach", "_foreach_clone"),
    "_foreach_clone.out": Row("generated.foreach", "_foreach_clone", "out"),
    "_foreach_copy": Row("generated.foreach", "_foreach_copy"),
    "_foreach_copy.out": Row("generated.foreach", "_foreach_copy", "out"),
    "_foreach_copy_": Row("generated.foreach", "_foreach_copy", "inplace"),
    "_foreach_cos": Row("generated.foreach", "_foreach_cos", dtypes=(("", "not float8"),)),
    "_foreach_cos.out": Row("generated.foreach", "_foreach_cos", "out", dtypes=(("", "not float8"),)),
    "_foreach_cos_": Row("generated.foreach", "_foreach_cos", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_cosh": Row("generated.foreach", "_foreach_cosh", dtypes=(("", "not float8"),)),
    "_foreach_cosh.out": Row("generated.foreach", "_foreach_cosh", "out", dtypes=(("", "not float8"),)),
    "_foreach_cosh_": Row("generated.foreach", "_foreach_cosh", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_div.List": Row("generated.foreach", "_foreach_div__List", dtypes=(("", "not float8"),)),
    "_foreach_div.List_out": Row("generated.foreach", "_foreach_div__List", "out", dtypes=(("", "not float8"),)),
    "_foreach_div.Scalar": Row("generated.foreach", "_foreach_div__Scalar", dtypes=(("", "not float8"),)),
    "_foreach_div.ScalarList": Row("generated.foreach", "_foreach_div__ScalarList", dtypes=(("", "not float8"),)),
    "_foreach_div.ScalarList_out": Row(
        "generated.foreach", "_foreach_div__ScalarList", "out", dtypes=(("", "not float8"),)
    ),
    "_foreach_div.Scalar_out": Row("generated.foreach", "_foreach_div__Scalar", "out", dtypes=(("", "not float8"),)),
    "_foreach_div.Tensor": Row("generated.foreach", "_foreach_div__Tensor", dtypes=(("", "not float8"),)),
    "_foreach_div.Tensor_out": Row("generated.foreach", "_foreach_div__Tensor", "out", dtypes=(("", "not float8"),)),
    "_foreach_div_.List": Row("generated.foreach", "_foreach_div__List", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_div_.Scalar": Row("generated.foreach", "_foreach_div__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_div_.ScalarList": Row(
        "generated.foreach", "_foreach_div__ScalarList", "inplace", dtypes=(("", "not float8"),)
    ),
    "_foreach_div_.Tensor": Row("generated.foreach", "_foreach_div__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_erf": Row("generated.foreach", "_foreach_erf", dtypes=(("", "not complex float8"),)),
    "_foreach_erf.out": Row("generated.foreach", "_foreach_erf", "out", dtypes=(("", "not complex float8"),)),
    "_foreach_erf_": Row("generated.foreach", "_foreach_erf", "inplace", dtypes=(("", "not complex float8"),)),
    "_foreach_erfc": Row("generated.foreach", "_foreach_erfc", dtypes=(("", "not complex float8"),)),
    "_foreach_erfc.out": Row("generated.foreach", "_foreach_erfc", "out", dtypes=(("", "not complex float8"),)),
    "_foreach_erfc_": Row("generated.foreach", "_foreach_erfc", "inplace", dtypes=(("", "not complex float8"),)),
    "_foreach_exp": Row("generated.foreach", "_foreach_exp", dtypes=(("", "not float8"),)),
    "_foreach_exp.out": Row("generated.foreach", "_foreach_exp", "out", dtypes=(("", "not float8"),)),
    "_foreach_exp_": Row("generated.foreach", "_foreach_exp", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_expm1": Row("generated.foreach", "_foreach_expm1", dtypes=(("", "not float8"),)),
    "_foreach_expm1.out": Row("generated.foreach", "_foreach_expm1", "out", dtypes=(("", "not float8"),)),
    "_foreach_expm1_": Row("generated.foreach", "_foreach_expm1", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_floor": Row("generated.foreach", "_foreach_floor", dtypes=(("", "not bool complex float8"),)),
    "_foreach_floor.out": Row("generated.foreach", "_foreach_floor", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_floor_": Row("generated.foreach", "_foreach_floor", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_frac": Row("generated.foreach", "_foreach_frac", dtypes=(("", "floating"),)),
    "_foreach_frac.out": Row("generated.foreach", "_foreach_frac", "out", dtypes=(("", "floating"),)),
    "_foreach_frac_": Row("generated.foreach", "_foreach_frac", "inplace", dtypes=(("", "floating"),)),
    "_foreach_lerp.List": Row("generated.foreach", "_foreach_lerp__List", dtypes=(("", "floating complex"),)),
    "_foreach_lerp.List_out": Row(
        "generated.foreach", "_foreach_lerp__List", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lerp.Scalar": Row("generated.foreach", "_foreach_lerp__Scalar", dtypes=(("", "floating complex"),)),
    "_foreach_lerp.ScalarList": Row(
        "generated.foreach", "_foreach_lerp__ScalarList", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lerp.ScalarList_out": Row(
        "generated.foreach", "_foreach_lerp__ScalarList", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lerp.Scalar_out": Row(
        "generated.foreach", "_foreach_lerp__Scalar", "out", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lerp_.List": Row(
        "generated.foreach", "_foreach_lerp__List", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lerp_.Scalar": Row(
        "generated.foreach", "_foreach_lerp__Scalar", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lerp_.ScalarList": Row(
        "generated.foreach", "_foreach_lerp__ScalarList", "inplace", dtypes=(("", "floating complex"),)
    ),
    "_foreach_lgamma": Row("generated.foreach", "_foreach_lgamma", dtypes=(("", "not complex float8"),)),
    "_foreach_lgamma.out": Row("generated.foreach", "_foreach_lgamma", "out", dtypes=(("", "not complex float8"),)),
    "_foreach_lgamma_": Row("generated.foreach", "_foreach_lgamma", "inplace", dtypes=(("", "not complex float8"),)),
    "_foreach_log": Row("generated.foreach", "_foreach_log", dtypes=(("", "not float8"),)),
    "_foreach_log.out": Row("generated.foreach", "_foreach_log", "out", dtypes=(("", "not float8"),)),
    "_foreach_log10": Row("generated.foreach", "_foreach_log10", dtypes=(("", "not float8"),)),
    "_foreach_log10.out": Row("generated.foreach", "_foreach_log10", "out", dtypes=(("", "not float8"),)),
    "_foreach_log10_": Row("generated.foreach", "_foreach_log10", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_log1p": Row("generated.foreach", "_foreach_log1p", dtypes=(("", "not float8"),)),
    "_foreach_log1p.out": Row("generated.foreach", "_foreach_log1p", "out", dtypes=(("", "not float8"),)),
    "_foreach_log1p_": Row("generated.foreach", "_foreach_log1p", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_log2": Row("generated.foreach", "_foreach_log2", dtypes=(("", "not float8"),)),
    "_foreach_log2.out": Row("generated.foreach", "_foreach_log2", "out", dtypes=(("", "not float8"),)),
    "_foreach_log2_": Row("generated.foreach", "_foreach_log2", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_log_": Row("generated.foreach", "_foreach_log", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_max": Row("generated.foreach", "_foreach_max", dtypes=(("", "bool integral floating"),)),
    "_foreach_max.out": Row("generated.foreach", "_foreach_max", "out", dtypes=(("", "bool integral floating"),)),
    "_foreach_maximum.List": Row(
        "generated.foreach", "_foreach_maximum__List", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.List_out": Row(
        "generated.foreach", "_foreach_maximum__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.Scalar": Row(
        "generated.foreach", "_foreach_maximum__Scalar", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.ScalarList": Row(
        "generated.foreach", "_foreach_maximum__ScalarList", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.ScalarList_out": Row(
        "generated.foreach", "_foreach_maximum__ScalarList", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum.Scalar_out": Row(
        "generated.foreach", "_foreach_maximum__Scalar", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum_.List": Row(
        "generated.foreach", "_foreach_maximum__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum_.Scalar": Row(
        "generated.foreach", "_foreach_maximum__Scalar", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_maximum_.ScalarList": Row(
        "generated.foreach", "_foreach_maximum__ScalarList", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_minimum.List": Row(
        "generated.foreach", "_foreach_minimum__List", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_minimum.List_out": Row(
        "generated.foreach", "_foreach_minimum__List", "out", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_minimum.Scalar": Row(
        "generated.foreach", "_foreach_minimum__Scalar", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum.ScalarList": Row(
        "generated.foreach", "_foreach_minimum__ScalarList", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum.ScalarList_out": Row(
        "generated.foreach", "_foreach_minimum__ScalarList", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum.Scalar_out": Row(
        "generated.foreach", "_foreach_minimum__Scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum_.List": Row(
        "generated.foreach", "_foreach_minimum__List", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "_foreach_minimum_.Scalar": Row(
        "generated.foreach", "_foreach_minimum__Scalar", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_minimum_.ScalarList": Row(
        "generated.foreach", "_foreach_minimum__ScalarList", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "_foreach_mm": Row("generated.foreach", "_foreach_mm", dtypes=(("", "not bool unsigned"),)),
    "_foreach_mul.List": Row("generated.foreach", "_foreach_mul__List", dtypes=(("", "not float8"),)),
    "_foreach_mul.List_out": Row("generated.foreach", "_foreach_mul__List", "out", dtypes=(("", "not float8"),)),
    "_foreach_mul.Scalar": Row("generated.foreach", "_foreach_mul__Scalar", dtypes=(("", "not float8"),)),
    "_foreach_mul.ScalarList": Row("generated.foreach", "_foreach_mul__ScalarList", dtypes=(("", "not float8"),)),
    "_foreach_mul.ScalarList_out": Row(
        "generated.foreach", "_foreach_mul__ScalarList", "out", dtypes=(("", "not float8"),)
    ),
    "_foreach_mul.Scalar_out": Row("generated.foreach", "_foreach_mul__Scalar", "out", dtypes=(("", "not float8"),)),
    "_foreach_mul.Tensor": Row("generated.foreach", "_foreach_mul__Tensor", dtypes=(("", "not float8"),)),
    "_foreach_mul.Tensor_out": Row("generated.foreach", "_foreach_mul__Tensor", "out", dtypes=(("", "not float8"),)),
    "_foreach_mul_.List": Row("generated.foreach", "_foreach_mul__List", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_mul_.Scalar": Row("generated.foreach", "_foreach_mul__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_mul_.ScalarList": Row(
        "generated.foreach", "_foreach_mul__ScalarList", "inplace", dtypes=(("", "not float8"),)
    ),
    "_foreach_mul_.Tensor": Row("generated.foreach", "_foreach_mul__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_neg": Row("generated.foreach", "_foreach_neg", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_neg.out": Row("generated.foreach", "_foreach_neg", "out", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_neg_": Row("generated.foreach", "_foreach_neg", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_norm.Scalar": Row(
        "generated.foreach",
        "_foreach_norm__Scalar",
        special=(("ord", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "_foreach_norm.Scalar_out": Row(
        "generated.foreach",
        "_foreach_norm__Scalar",
        "out",
        special=(("ord", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "_foreach_pow.List": Row("generated.foreach", "_foreach_pow__List", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_pow.List_out": Row(
        "generated.foreach", "_foreach_pow__List", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_pow.Scalar": Row(
        "generated.foreach",
        "_foreach_pow__Scalar",
        special=(("exponent", (-4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, "sign")),),
        dtypes=(("", "not unsigned float8"),),
    ),
    "_foreach_pow.ScalarAndTensor": Row(
        "generated.foreach", "_foreach_pow__ScalarAndTensor", dtypes=(("", "not unsigned float8"),)
    ),
    "_foreach_pow.ScalarList": Row(
        "generated.foreach", "_foreach_pow__ScalarList", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_pow.ScalarList_out": Row(
        "generated.foreach", "_foreach_pow__ScalarList", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_pow.Scalar_out": Row(
        "generated.foreach",
        "_foreach_pow__Scalar",
        "out",
        special=(("exponent", (-4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, "sign")),),
        dtypes=(("", "not unsigned float8"),),
    ),
    "_foreach_pow_.List": Row(
        "generated.foreach", "_foreach_pow__List", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_pow_.Scalar": Row(
        "generated.foreach",
        "_foreach_pow__Scalar",
        "inplace",
        special=(("exponent", (-4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, "sign")),),
        dtypes=(("", "not unsigned float8"),),
    ),
    "_foreach_pow_.ScalarList": Row(
        "generated.foreach", "_foreach_pow__ScalarList", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_powsum.Scalar": Row(
        "generated.foreach",
        "_foreach_powsum__Scalar",
        special=(("ord", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "_foreach_powsum.Scalar_out": Row(
        "generated.foreach",
        "_foreach_powsum__Scalar",
        "out",
        special=(("ord", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "_foreach_reciprocal": Row("generated.foreach", "_foreach_reciprocal", dtypes=(("", "not float8"),)),
    "_foreach_reciprocal.out": Row("generated.foreach", "_foreach_reciprocal", "out", dtypes=(("", "not float8"),)),
    "_foreach_reciprocal_": Row("generated.foreach", "_foreach_reciprocal", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_round": Row("generated.foreach", "_foreach_round", dtypes=(("", "not bool complex float8"),)),
    "_foreach_round.out": Row("generated.foreach", "_foreach_round", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_round_": Row("generated.foreach", "_foreach_round", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_rsqrt": Row("generated.foreach", "_foreach_rsqrt", dtypes=(("", "not float8"),)),
    "_foreach_rsqrt.out": Row("generated.foreach", "_foreach_rsqrt", "out", dtypes=(("", "not float8"),)),
    "_foreach_rsqrt_": Row("generated.foreach", "_foreach_rsqrt", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sigmoid": Row("generated.foreach", "_foreach_sigmoid", dtypes=(("", "not float8"),)),
    "_foreach_sigmoid.out": Row("generated.foreach", "_foreach_sigmoid", "out", dtypes=(("", "not float8"),)),
    "_foreach_sigmoid_": Row("generated.foreach", "_foreach_sigmoid", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sign": Row("generated.foreach", "_foreach_sign", dtypes=(("", "bool integral floating"),)),
    "_foreach_sign.out": Row("generated.foreach", "_foreach_sign", "out", dtypes=(("", "bool integral floating"),)),
    "_foreach_sign_": Row("generated.foreach", "_foreach_sign", "inplace", dtypes=(("", "bool integral floating"),)),
    "_foreach_sin": Row("generated.foreach", "_foreach_sin", dtypes=(("", "not float8"),)),
    "_foreach_sin.out": Row("generated.foreach", "_foreach_sin", "out", dtypes=(("", "not float8"),)),
    "_foreach_sin_": Row("generated.foreach", "_foreach_sin", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sinh": Row("generated.foreach", "_foreach_sinh", dtypes=(("", "not float8"),)),
    "_foreach_sinh.out": Row("generated.foreach", "_foreach_sinh", "out", dtypes=(("", "not float8"),)),
    "_foreach_sinh_": Row("generated.foreach", "_foreach_sinh", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sqrt": Row("generated.foreach", "_foreach_sqrt", dtypes=(("", "not float8"),)),
    "_foreach_sqrt.out": Row("generated.foreach", "_foreach_sqrt", "out", dtypes=(("", "not float8"),)),
    "_foreach_sqrt_": Row("generated.foreach", "_foreach_sqrt", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_sub.List": Row("generated.foreach", "_foreach_sub__List", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_sub.List_out": Row(
        "generated.foreach", "_foreach_sub__List", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub.Scalar": Row("generated.foreach", "_foreach_sub__Scalar", dtypes=(("", "not bool unsigned float8"),)),
    "_foreach_sub.ScalarList": Row(
        "generated.foreach", "_foreach_sub__ScalarList", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub.ScalarList_out": Row(
        "generated.foreach", "_foreach_sub__ScalarList", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub.Scalar_out": Row(
        "generated.foreach", "_foreach_sub__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub_.List": Row(
        "generated.foreach", "_foreach_sub__List", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub_.Scalar": Row(
        "generated.foreach", "_foreach_sub__Scalar", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_sub_.ScalarList": Row(
        "generated.foreach", "_foreach_sub__ScalarList", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "_foreach_tan": Row("generated.foreach", "_foreach_tan", dtypes=(("", "not float8"),)),
    "_foreach_tan.out": Row("generated.foreach", "_foreach_tan", "out", dtypes=(("", "not float8"),)),
    "_foreach_tan_": Row("generated.foreach", "_foreach_tan", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_tanh": Row("generated.foreach", "_foreach_tanh", dtypes=(("", "not float8"),)),
    "_foreach_tanh.out": Row("generated.foreach", "_foreach_tanh", "out", dtypes=(("", "not float8"),)),
    "_foreach_tanh_": Row("generated.foreach", "_foreach_tanh", "inplace", dtypes=(("", "not float8"),)),
    "_foreach_trunc": Row("generated.foreach", "_foreach_trunc", dtypes=(("", "not bool complex float8"),)),
    "_foreach_trunc.out": Row("generated.foreach", "_foreach_trunc", "out", dtypes=(("", "not bool complex float8"),)),
    "_foreach_trunc_": Row("generated.foreach", "_foreach_trunc", "inplace", dtypes=(("", "not bool complex float8"),)),
    "_foreach_zero": Row("generated.foreach", "_foreach_zero_"),
    "_foreach_zero.out": Row("generated.foreach", "_foreach_zero_", "out"),
    "_foreach_zero_": Row("generated.foreach", "_foreach_zero_", "inplace", writes_expanded=True),
    "_functional_assert_async.msg": Row(
        "generated.copying",
        "_functional_assert_async__msg",
        conditions="copying._functional_assert_async__msg__checks",
        checks=(("RuntimeError", "{assert_msg}"),),
    ),
    "_fused_adagrad": Row("kernels.optim", "_fused_adagrad_", not_donated=("grads",), dtypes=(("", "floating"),)),
    "_fused_adagrad.out": Row(
        "kernels.optim", "_fused_adagrad_", "out", not_donated=("grads",), dtypes=(("", "floating"),)
    ),
    "_fused_adagrad.tensor_lr": Row("kernels.optim", "adagrad", not_donated=("grads",), dtypes=(("", "floating"),)),
    "_fused_adagrad.tensor_lr_out": Row(
        "kernels.optim", "adagrad", "out", not_donated=("grads",), dtypes=(("", "floating"),)
    ),
    "_fused_adagrad_": Row(
        "kernels.optim", "_fused_adagrad_", "inplace", not_donated=("grads",), dtypes=(("", "floating"),)
    ),
    "_fused_adagrad_.tensor_lr": Row(
        "kernels.optim", "adagrad", "inplace", not_donated=("grads",), dtypes=(("", "floating"),)
    ),
    "_fused_adam": Row(
        "kernels.optim",
        "_fused_adam_",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adam.out": Row(
        "kernels.optim",
        "_fused_adam_",
        "out",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adam.tensor_lr": Row(
        "kernels.optim",
        "_fused_adam_",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adam.tensor_lr_out": Row(
        "kernels.optim",
        "_fused_adam_",
        "out",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adam_": Row(
        "kernels.optim",
        "_fused_adam_",
        "inplace",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adam_.tensor_lr": Row(
        "kernels.optim",
        "_fused_adam_",
        "inplace",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adamw": Row(
        "kernels.optim",
        "_fused_adamw_",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adamw.out": Row(
        "kernels.optim",
        "_fused_adamw_",
        "out",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adamw.tensor_lr": Row(
        "kernels.optim",
        "_fused_adamw_",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adamw.tensor_lr_out": Row(
        "kernels.optim",
        "_fused_adamw_",
        "out",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adamw_": Row(
        "kernels.optim",
        "_fused_adamw_",
        "inplace",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_adamw_.tensor_lr": Row(
        "kernels.optim",
        "_fused_adamw_",
        "inplace",
        special=(("beta1", ("wide",)), ("beta2", ("wide",))),
        not_donated=("grads",),
        dtypes=(("", "floating"),),
    ),
    "_fused_dropout": Row("kernels.random", "_fused_dropout", random=True),
    "_fused_dropout.out": Row("kernels.random", "_fused_dropout", "out", random=True),
    "_fused_moving_avg_obs_fq_helper": Row("generated.quantize", "_fused_moving_avg_obs_fq_helper", "inplace"),
    "_fused_moving_avg_obs_fq_helper.out": Row("generated.quantize", "_fused_moving_avg_obs_fq_helper", "out"),
    "_fused_moving_avg_obs_fq_helper_functional": Row("generated.quantize", "_fused_moving_avg_obs_fq_helper"),
    "_fused_rms_norm": Row("kernels.norm", "_fused_rms_norm"),
    "_fused_rms_norm_backward": Row("kernels.norm", "_fused_rms_norm_backward"),
    "_fused_sdp_choice": Row("generated.attention", "_fused_sdp_choice", dynamic="returns a Python int"),
    "_fused_sgd": Row("kernels.optim", "_fused_sgd_", not_donated=("grads",), dtypes=(("", "floating"),)),
    "_fused_sgd.out": Row("kernels.optim", "_fused_sgd_", "out", not_donated=("grads",), dtypes=(("", "floating"),)),
    "_fused_sgd.tensor_lr": Row("kernels.optim", "_fused_sgd_", not_donated=("grads",), dtypes=(("", "floating"),)),
    "_fused_sgd.tensor_lr_out": Row(
        "kernels.optim", "_fused_sgd_", "out", not_donated=("grads",), dtypes=(("", "floating"),)
    ),
    "_fused_sgd_": Row("kernels.optim", "_fused_sgd_", "inplace", not_donated=("grads",), dtypes=(("", "floating"),)),
    "_fused_sgd_.tensor_lr": Row(
        "kernels.optim", "_fused_sgd_", "inplace", not_donated=("grads",), dtypes=(("", "floating"),)
    ),
    "_grid_sampler_2d_cpu_fallback": Row("generated.resize", "_grid_sampler_2d_cpu_fallback"),
    "_grid_sampler_2d_cpu_fallback.out": Row("generated.resize", "_grid_sampler_2d_cpu_fallback", "out"),
    "_grid_sampler_2d_cpu_fallback_backward": Row("generated.resize", "_grid_sampler_2d_cpu_fallback_backward"),
    "_grouped_mm": Row("kernels.matmul", "_grouped_mm"),
    "_histogramdd_bin_edges": Row(
        "kernels.histogram",
        "_histogramdd_bin_edges",
        conditions="histogram._histogramdd_bin_edges__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "_histogramdd_bin_edges.out": Row(
        "kernels.histogram",
        "_histogramdd_bin_edges",
        "out",
        conditions="histogram._histogramdd_bin_edges__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "_histogramdd_from_bin_cts": Row("generated.histogram", "_histogramdd_from_bin_cts", dtypes=(("", "floating"),)),
    "_histogramdd_from_bin_cts.out": Row(
        "generated.histogram", "_histogramdd_from_bin_cts", "out", dtypes=(("", "floating"),)
    ),
    "_histogramdd_from_bin_tensors": Row(
        "kernels.histogram", "_histogramdd_from_bin_tensors", dtypes=(("", "floating"),)
    ),
    "_histogramdd_from_bin_tensors.out": Row(
        "kernels.histogram", "_histogramdd_from_bin_tensors", "out", dtypes=(("", "floating"),)
    ),
    "_index_put_impl": Row(
        "generated.indexing",
        "_index_put_impl_",
        conditions="indexing._index_put_impl___checks",
        prepare=("index_masks.put_masks", "indices", "values"),
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "_index_put_impl.out": Row(
        "generated.indexing",
        "_index_put_impl_",
        "out",
        conditions="indexing._index_put_impl___checks",
        prepare=("index_masks.put_masks", "indices", "values"),
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "_index_put_impl_": Row(
        "generated.indexing",
        "_index_put_impl_",
        "inplace",
        conditions="indexing._index_put_impl___checks",
        prepare=("index_masks.put_masks", "indices", "values"),
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "_int_mm": Row("generated.matmul", "_int_mm"),
    "_int_mm.out": Row("generated.matmul", "_int_mm", "out"),
    "_is_all_true": Row("generated.reduction", "_is_all_true", dtypes=(("", "bool"),)),
    "_is_any_true": Row("generated.reduction", "_is_any_true", dtypes=(("", "bool"),)),
    "_jagged_to_padded_dense_forward": Row("kernels.nested", "_jagged_to_padded_dense_forward"),
    "_linalg_check_errors": Row(
        "generated.linalg",
        "_linalg_check_errors",
        conditions="linalg._linalg_check_errors__checks",
        checks=(
            (
                "LinAlgError",
                "The factorization or inversion could not be completed because the input matrix is singular or not positive-definite.",
            ),
        ),
    ),
    "_linalg_det": Row(
        "kernels.lu", "_linalg_det", prepare=("preparations.transpose_strided", "A"), dtypes=(("", "floating complex"),)
    ),
    "_linalg_det.result": Row(
        "kernels.lu",
        "_linalg_det",
        "out",
        prepare=("preparations.transpose_strided", "A"),
        dtypes=(("", "floating complex"),),
    ),
    "_linalg_eigh": Row(
        "kernels.spectral",
        "_linalg_eigh",
        conditions="linalg._linalg_eigh__checks",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.eigh: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_linalg_eigh.eigenvalues": Row(
        "kernels.spectral",
        "_linalg_eigh",
        "out",
        conditions="linalg._linalg_eigh__checks",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.eigh: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_linalg_eigvals": Row("generated.linalg", "_linalg_eigvals", dtypes=(("", "floating complex"),)),
    "_linalg_slogdet": Row(
        "kernels.lu",
        "_linalg_slogdet",
        prepare=("preparations.transpose_strided", "A"),
        dtypes=(("", "floating complex"),),
    ),
    "_linalg_slogdet.sign": Row(
        "kernels.lu",
        "_linalg_slogdet",
        "out",
        prepare=("preparations.transpose_strided", "A"),
        dtypes=(("", "floating complex"),),
    ),
    "_linalg_solve_ex": Row(
        "kernels.lu",
        "_linalg_solve_ex",
        prepare=("preparations.raise_info", "torch.linalg.solve_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "_linalg_solve_ex.result": Row(
        "kernels.lu",
        "_linalg_solve_ex",
        "out",
        prepare=("preparations.raise_info", "torch.linalg.solve_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "_linalg_svd": Row(
        "kernels.spectral",
        "_linalg_svd",
        conditions="linalg._linalg_svd__checks",
        results="result_layouts.column_major_vh",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_linalg_svd.U": Row(
        "kernels.spectral",
        "_linalg_svd",
        "out",
        conditions="linalg._linalg_svd__checks",
        results="result_layouts.column_major_vh",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
            ),
        ),
    ),
    "_log_softmax": Row("kernels.softmax", "_log_softmax", dtypes=(("", "floating"),)),
    "_log_softmax.out": Row("kernels.softmax", "_log_softmax", "out", dtypes=(("", "floating"),)),
    "_log_softmax_backward_data": Row(
        "kernels.softmax", "_log_softmax_backward_data", results="result_layouts.contiguous"
    ),
    "_log_softmax_backward_data.out": Row(
        "kernels.softmax", "_log_softmax_backward_data", "out", results="result_layouts.contiguous"
    ),
    "_logcumsumexp": Row("generated.scan", "_logcumsumexp", dtypes=(("", "floating complex"),)),
    "_logcumsumexp.out": Row("generated.scan", "_logcumsumexp", "out", dtypes=(("", "floating complex"),)),
    "_masked_scale": Row("generated.random", "_masked_scale"),
    "_masked_scale.out": Row("generated.random", "_masked_scale", "out"),
    "_masked_softmax": Row("kernels.softmax", "_masked_softmax", dtypes=(("self", "floating"), ("mask", "bool"))),
    "_masked_softmax.out": Row(
        "kernels.softmax", "_masked_softmax", "out", dtypes=(("self", "floating"), ("mask", "bool"))
    ),
    "_masked_softmax_backward": Row("kernels.softmax", "_masked_softmax_backward"),
    "_masked_softmax_backward.out": Row("kernels.softmax", "_masked_softmax_backward", "out"),
    "_native_batch_norm_legit": Row(
        "kernels.batchnorm",
        "native_batch_norm",
        "inplace",
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "_native_batch_norm_legit.no_stats": Row(
        "generated.norm",
        "_native_batch_norm_legit__no_stats",
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "_native_batch_norm_legit.no_stats_out": Row(
        "generated.norm",
        "_native_batch_norm_legit__no_stats",
        "out",
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "_native_batch_norm_legit.out": Row(
        "kernels.batchnorm",
        "native_batch_norm",
        "out",
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "_native_batch_norm_legit_functional": Row(
        "kernels.batchnorm", "native_batch_norm", results="result_layouts.saved_in_training", dtypes=(("", "floating"),)
    ),
    "_native_batch_norm_legit_no_training": Row(
        "generated.norm",
        "_native_batch_norm_legit_no_training",
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "_native_batch_norm_legit_no_training.out": Row(
        "generated.norm",
        "_native_batch_norm_legit_no_training",
        "out",
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "_native_multi_head_attention": Row(
        "kernels.encoder",
        "_native_multi_head_attention",
        results="result_layouts.weights_if_needed",
        dtypes=(("query", "floating"),),
    ),
    "_native_multi_head_attention.out": Row(
        "kernels.encoder",
        "_native_multi_head_attention",
        "out",
        results="result_layouts.weights_if_needed",
        dtypes=(("query", "floating"),),
    ),
    "_nested_tensor_from_mask_left_aligned": Row(
        "generated.attention", "_nested_tensor_from_mask_left_aligned", dynamic="returns a Python bool"
    ),
    "_new_zeros_with_same_feature_meta": Row(
        "generated.creation", "_new_zeros_with_same_feature_meta", prepare=("preparations.to_device", "other")
    ),
    "_new_zeros_with_same_feature_meta.out": Row(
        "generated.creation", "_new_zeros_with_same_feature_meta", "out", prepare=("preparations.to_device", "other")
    ),
    "_padded_dense_to_jagged_forward": Row(
        "kernels.nested",
        "_padded_dense_to_jagged_forward",
        dynamic="without total_L, the number of rows is known only from the offsets",
    ),
    "_pdist_backward": Row(
        "kernels.distance",
        "_pdist_backward",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        renamed=(("grad_output", "grad"),),
    ),
    "_pdist_backward.out": Row(
        "kernels.distance",
        "_pdist_backward",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        renamed=(("grad_output", "grad"),),
    ),
    "_pdist_forward": Row(
        "generated.distance",
        "_pdist_forward",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating"),),
    ),
    "_pdist_forward.out": Row(
        "generated.distance",
        "_pdist_forward",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating"),),
    ),
    "_prelu_kernel": Row("generated.activation", "_prelu_kernel", dtypes=(("", "floating"),)),
    "_prelu_kernel_backward": Row("generated.activation", "_prelu_kernel_backward"),
    "_reshape_copy": Row("generated.shape", "_reshape_copy"),
    "_safe_softmax": Row("kernels.softmax", "_safe_softmax", dtypes=(("", "floating"),)),
    "_sample_dirichlet": Row("kernels.sampling", "_sample_dirichlet", random=True),
    "_sample_dirichlet.out": Row("kernels.sampling", "_sample_dirichlet", "out", random=True),
    "_scaled_dot_product_flash_attention_for_cpu": Row(
        "kernels.attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        static=("dropout_p",),
        special=(("scale", ()),),
        dtypes=(("query", "floating"),),
    ),
    "_scaled_dot_product_flash_attention_for_cpu_backward": Row(
        "kernels.attention",
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        static=("dropout_p",),
        special=(("scale", ()),),
    ),
    "_scaled_mm": Row("kernels.matmul", "_scaled_mm"),
    "_scaled_mm.out": Row("kernels.matmul", "_scaled_mm", "out"),
    "_scaled_mm_v2": Row("kernels.matmul", "_scaled_mm_v2"),
    "_scaled_mm_v2.out": Row("kernels.matmul", "_scaled_mm_v2", "out"),
    "_segment_reduce_backward": Row("kernels.segment", "_segment_reduce_backward"),
    "_segment_reduce_backward.out": Row("kernels.segment", "_segment_reduce_backward", "out"),
    "_slow_conv2d_backward.grad_input": Row("generated.conv", "_slow_conv2d_backward__grad_input", "out"),
    "_slow_conv2d_backward.output_mask": Row("generated.conv", "_slow_conv2d_backward__output_mask"),
    "_slow_conv2d_backward.output_mask_out": Row("generated.conv", "_slow_conv2d_backward__output_mask", "out"),
    "_slow_conv2d_forward": Row("generated.conv", "_slow_conv2d_forward", dtypes=(("", "integral floating"),)),
    "_slow_conv2d_forward.output": Row(
        "generated.conv", "_slow_conv2d_forward", "out", dtypes=(("", "integral floating"),)
    ),
    "_softmax": Row("kernels.softmax", "_softmax", dtypes=(("", "floating"),)),
    "_softmax.out": Row("kernels.softmax", "_softmax", "out", dtypes=(("", "floating"),)),
    "_softmax_backward_data": Row("kernels.softmax", "_softmax_backward_data"),
    "_softmax_backward_data.out": Row("kernels.softmax", "_softmax_backward_data", "out"),
    "_stack": Row("generated.shape", "_stack"),
    "_stack.out": Row("generated.shape", "_stack", "out"),
    "_standard_gamma": Row("kernels.sampling", "_standard_gamma", random=True),
    "_standard_gamma.out": Row("kernels.sampling", "_standard_gamma", "out", random=True),
    "_standard_gamma_grad": Row("kernels.sampling", "_standard_gamma_grad"),
    "_standard_gamma_grad.out": Row("kernels.sampling", "_standard_gamma_grad", "out"),
    "_thnn_fused_gru_cell": Row("kernels.cells", "_thnn_fused_gru_cell"),
    "_thnn_fused_gru_cell.out": Row("kernels.cells", "_thnn_fused_gru_cell", "out"),
    "_thnn_fused_gru_cell_backward": Row("kernels.cells", "_thnn_fused_gru_cell_backward"),
    "_thnn_fused_gru_cell_backward.out": Row("kernels.cells", "_thnn_fused_gru_cell_backward", "out"),
    "_thnn_fused_lstm_cell": Row("kernels.cells", "_thnn_fused_lstm_cell"),
    "_thnn_fused_lstm_cell.out": Row("kernels.cells", "_thnn_fused_lstm_cell", "out"),
    "_thnn_fused_lstm_cell_backward_impl": Row("kernels.cells", "_thnn_fused_lstm_cell_backward_impl"),
    "_thnn_fused_lstm_cell_backward_impl.out": Row("kernels.cells", "_thnn_fused_lstm_cell_backward_impl", "out"),
    "_transformer_encoder_layer_fwd": Row(
        "kernels.encoder", "_transformer_encoder_layer_fwd", dtypes=(("src", "floating"),)
    ),
    "_transformer_encoder_layer_fwd.out": Row(
        "kernels.encoder", "_transformer_encoder_layer_fwd", "out", dtypes=(("src", "floating"),)
    ),
    "_trilinear": Row("kernels.matmul", "_trilinear", dtypes=(("", "not bool unsigned float8"),)),
    "_trilinear.out": Row("kernels.matmul", "_trilinear", "out", dtypes=(("", "not bool unsigned float8"),)),
    "_unique": Row(
        "generated.unique",
        "_unique",
        dynamic="the number of distinct values",
        on_host="host._unique",
        dtypes=(("", "not complex float8"),),
    ),
    "_unique.out": Row(
        "generated.unique",
        "_unique",
        "out",
        dynamic="the number of distinct values",
        on_host="host._unique",
        dtypes=(("", "not complex float8"),),
    ),
    "_unique2": Row(
        "kernels.unique",
        "_unique2",
        dynamic="the number of distinct values",
        on_host="host._unique2",
        dtypes=(("", "not complex float8"),),
    ),
    "_unique2.out": Row(
        "kernels.unique",
        "_unique2",
        "out",
        dynamic="the number of distinct values",
        on_host="host._unique2",
        dtypes=(("", "not complex float8"),),
    ),
    "_unsafe_index.Tensor": Row("kernels.indexing", "index", prepare=("index_masks.expand_masks", "indices")),
    "_unsafe_index_put": Row(
        "kernels.indexing",
        "index_put",
        prepare=("index_masks.expand_masks", "indices"),
        dtypes=(("self", "not unsigned"),),
    ),
    "_unsafe_masked_index": Row("kernels.indexing", "_unsafe_masked_index", dtypes=(("self", "not unsigned float8"),)),
    "_unsafe_masked_index_put_accumulate": Row(
        "kernels.indexing", "_unsafe_masked_index_put_accumulate", dtypes=(("self", "not unsigned float8"),)
    ),
    "_upsample_bicubic2d_aa": Row(
        "generated.resize", "_upsample_bicubic2d_aa", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_bicubic2d_aa.out": Row(
        "generated.resize",
        "_upsample_bicubic2d_aa",
        "out",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "_upsample_bicubic2d_aa_backward": Row(
        "generated.resize", "_upsample_bicubic2d_aa_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_bicubic2d_aa_backward.grad_input": Row(
        "generated.resize", "_upsample_bicubic2d_aa_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_bilinear2d_aa": Row(
        "generated.resize", "_upsample_bilinear2d_aa", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_bilinear2d_aa.out": Row(
        "generated.resize",
        "_upsample_bilinear2d_aa",
        "out",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "_upsample_bilinear2d_aa_backward": Row(
        "generated.resize", "_upsample_bilinear2d_aa_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_bilinear2d_aa_backward.grad_input": Row(
        "generated.resize", "_upsample_bilinear2d_aa_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_lanczos2d_aa": Row(
        "generated.resize", "_upsample_lanczos2d_aa", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_lanczos2d_aa.out": Row(
        "generated.resize",
        "_upsample_lanczos2d_aa",
        "out",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "_upsample_lanczos2d_aa_backward": Row(
        "generated.resize", "_upsample_lanczos2d_aa_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_lanczos2d_aa_backward.grad_input": Row(
        "generated.resize", "_upsample_lanczos2d_aa_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_nearest_exact1d": Row(
        "generated.resize", "_upsample_nearest_exact1d", static=("scales",), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_nearest_exact1d.out": Row(
        "generated.resize", "_upsample_nearest_exact1d", "out", static=("scales",), dtypes=(("", "uint8 floating"),)
    ),
    "_upsample_nearest_exact1d_backward": Row(
        "generated.resize", "_upsample_nearest_exact1d_backward", static=("scales",)
    ),
    "_upsample_nearest_exact1d_backward.grad_input": Row(
        "generated.resize", "_upsample_nearest_exact1d_backward", "out", static=("scales",)
    ),
    "_upsample_nearest_exact2d": Row(
        "generated.resize",
        "_upsample_nearest_exact2d",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "_upsample_nearest_exact2d.out": Row(
        "generated.resize",
        "_upsample_nearest_exact2d",
        "out",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "_upsample_nearest_exact2d_backward": Row(
        "generated.resize", "_upsample_nearest_exact2d_backward", static=("scales_h", "scales_w")
    ),
    "_upsample_nearest_exact2d_backward.grad_input": Row(
        "generated.resize", "_upsample_nearest_exact2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d": Row(
        "generated.resize", "_upsample_nearest_exact3d", static=("scales_d", "scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d.out": Row(
        "generated.resize", "_upsample_nearest_exact3d", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d_backward": Row(
        "generated.resize", "_upsample_nearest_exact3d_backward", static=("scales_d", "scales_h", "scales_w")
    ),
    "_upsample_nearest_exact3d_backward.grad_input": Row(
        "generated.resize", "_upsample_nearest_exact3d_backward", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "_weight_int8pack_mm": Row("kernels.matmul", "_weight_int8pack_mm"),
    "_weight_norm_interface": Row("kernels.norm", "_weight_norm_interface", dtypes=(("", "floating"),)),
    "_weight_norm_interface.out": Row("kernels.norm", "_weight_norm_interface", "out", dtypes=(("", "floating"),)),
    "_weight_norm_interface_backward": Row("kernels.norm", "_weight_norm_interface_backward"),
    "_weight_norm_interface_backward.out": Row("kernels.norm", "_weight_norm_interface_backward", "out"),
    "abs": Row("generated.pointwise", "abs", dtypes=(("", "not unsigned"),)),
    "abs.out": Row("generated.pointwise", "abs", "out", dtypes=(("", "not unsigned"),)),
    "abs_": Row("generated.pointwise", "abs", "inplace", dtypes=(("", "not unsigned"),)),
    "acos": Row("generated.pointwise", "acos", dtypes=(("", "not float8"),)),
    "acos.out": Row("generated.pointwise", "acos", "out", dtypes=(("", "not float8"),)),
    "acos_": Row("generated.pointwise", "acos", "inplace", dtypes=(("", "not float8"),)),
    "acosh": Row("generated.pointwise", "acosh", dtypes=(("", "not float8"),)),
    "acosh.out": Row("generated.pointwise", "acosh", "out", dtypes=(("", "not float8"),)),
    "acosh_": Row("generated.pointwise", "acosh", "inplace", dtypes=(("", "not float8"),)),
    "adaptive_avg_pool2d.out": Row("generated.pool", "adaptive_avg_pool2d__out", "out", dtypes=(("", "floating"),)),
    "adaptive_avg_pool3d.out": Row("generated.pool", "adaptive_avg_pool3d__out", "out", dtypes=(("", "floating"),)),
    "adaptive_avg_pool3d_backward.grad_input": Row("generated.pool", "adaptive_avg_pool3d_backward__grad_input", "out"),
    "adaptive_max_pool2d": Row("kernels.pool", "adaptive_max_pool2d", dtypes=(("", "floating"),)),
    "adaptive_max_pool2d.out": Row("kernels.pool", "adaptive_max_pool2d", "out", dtypes=(("", "floating"),)),
    "adaptive_max_pool2d_backward": Row("kernels.unpool", "adaptive_max_pool2d_backward"),
    "adaptive_max_pool2d_backward.grad_input": Row("kernels.unpool", "adaptive_max_pool2d_backward", "out"),
    "adaptive_max_pool3d": Row("kernels.pool", "adaptive_max_pool3d", dtypes=(("", "floating"),)),
    "adaptive_max_pool3d.out": Row("kernels.pool", "adaptive_max_pool3d", "out", dtypes=(("", "floating"),)),
    "adaptive_max_pool3d_backward": Row("kernels.unpool", "adaptive_max_pool3d_backward"),
    "adaptive_max_pool3d_backward.grad_input": Row("kernels.unpool", "adaptive_max_pool3d_backward", "out"),
    "add.Scalar": Row("generated.pointwise", "add__Scalar", dtypes=(("", "not unsigned float8"),)),
    "add.Scalar_out": Row("generated.pointwise", "add__Scalar", "out", dtypes=(("", "not unsigned float8"),)),
    "add.Tensor": Row("generated.pointwise", "add__Tensor", dtypes=(("", "not unsigned float8"),)),
    "add.out": Row("generated.pointwise", "add__Tensor", "out", dtypes=(("", "not unsigned float8"),)),
    "add_.Scalar": Row("generated.pointwise", "add__Scalar", "inplace", dtypes=(("", "not unsigned float8"),)),
    "add_.Tensor": Row("generated.pointwise", "add__Tensor", "inplace", dtypes=(("", "not unsigned float8"),)),
    "addbmm": Row(
        "generated.matmul", "addbmm", special=(("beta", (0,)), ("alpha", ())), dtypes=(("", "not bool unsigned"),)
    ),
    "addbmm.out": Row(
        "generated.matmul",
        "addbmm",
        "out",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned"),),
    ),
    "addbmm_": Row(
        "generated.matmul",
        "addbmm",
        "inplace",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned"),),
    ),
    "addcdiv": Row("generated.pointwise", "addcdiv", dtypes=(("", "floating complex"),)),
    "addcdiv.out": Row("generated.pointwise", "addcdiv", "out", dtypes=(("", "floating complex"),)),
    "addcdiv_": Row("generated.pointwise", "addcdiv", "inplace", dtypes=(("", "floating complex"),)),
    "addcmul": Row("generated.pointwise", "addcmul", dtypes=(("", "not bool unsigned float8"),)),
    "addcmul.out": Row("generated.pointwise", "addcmul", "out", dtypes=(("", "not bool unsigned float8"),)),
    "addcmul_": Row("generated.pointwise", "addcmul", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "addmm": Row(
        "generated.matmul", "addmm", special=(("beta", (0,)), ("alpha", ())), dtypes=(("", "not bool unsigned"),)
    ),
    "addmm.dtype": Row("generated.matmul", "addmm__dtype", special=(("beta", (0,)), ("alpha", ()))),
    "addmm.dtype_out": Row("generated.matmul", "addmm__dtype", "out", special=(("beta", (0,)), ("alpha", ()))),
    "addmm.out": Row(
        "generated.matmul", "addmm", "out", special=(("beta", (0,)), ("alpha", ())), dtypes=(("", "not bool unsigned"),)
    ),
    "addmm_": Row(
        "generated.matmul",
        "addmm",
        "inplace",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned"),),
    ),
    "addmv": Row(
        "generated.matmul", "addmv", special=(("beta", (0,)), ("alpha", ())), dtypes=(("", "not bool unsigned float8"),)
    ),
    "addmv.out": Row(
        "generated.matmul",
        "addmv",
        "out",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "addmv_": Row(
        "generated.matmul",
        "addmv",
        "inplace",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "addr": Row(
        "generated.matmul", "addr", special=(("beta", (0,)), ("alpha", ())), dtypes=(("", "not unsigned float8"),)
    ),
    "addr.out": Row(
        "generated.matmul",
        "addr",
        "out",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not unsigned float8"),),
    ),
    "addr_": Row(
        "generated.matmul",
        "addr",
        "inplace",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not unsigned float8"),),
    ),
    "affine_grid_generator": Row("kernels.grid", "affine_grid_generator", dtypes=(("", "not bool unsigned float8"),)),
    "affine_grid_generator.out": Row(
        "kernels.grid", "affine_grid_generator", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "all": Row("generated.reduction", "all"),
    "all.all_out": Row("generated.reduction", "all", "out", prepare=("preparations.truth_to_out", "self")),
    "all.dim": Row("generated.reduction", "all__dim"),
    "all.dims": Row("kernels.reduction", "all"),
    "all.dims_out": Row("kernels.reduction", "all", "out", prepare=("preparations.truth_to_out", "self")),
    "all.out": Row("generated.reduction", "all__dim", "out", prepare=("preparations.truth_to_out", "self")),
    "amax": Row("generated.reduction", "amax", dtypes=(("", "bool integral floating"),)),
    "amax.out": Row("generated.reduction", "amax", "out", dtypes=(("", "bool integral floating"),)),
    "amin": Row("generated.reduction", "amin", dtypes=(("", "bool integral floating"),)),
    "amin.out": Row("generated.reduction", "amin", "out", dtypes=(("", "bool integral floating"),)),
    "aminmax": Row("generated.reduction", "aminmax", dtypes=(("", "bool integral floating"),)),
    "aminmax.out": Row("generated.reduction", "aminmax", "out", dtypes=(("", "bool integral floating"),)),
    "angle": Row("kernels.pointwise", "angle", dtypes=(("", "not float8"),)),
    "angle.out": Row("kernels.pointwise", "angle", "out", dtypes=(("", "not float8"),)),
    "any": Row("generated.reduction", "any"),
    "any.all_out": Row("generated.reduction", "any", "out", prepare=("preparations.truth_to_out", "self")),
    "any.dim": Row("generated.reduction", "any__dim"),
    "any.dims": Row("kernels.reduction", "any"),
    "any.dims_out": Row("kernels.reduction", "any", "out", prepare=("preparations.truth_to_out", "self")),
    "any.out": Row("generated.reduction", "any__dim", "out", prepare=("preparations.truth_to_out", "self")),
    "arange": Row(
        "generated.creation",
        "arange",
        static=("end",),
        prepare=("ranges.from_length", "end"),
        dtypes=(("", "integral floating"),),
    ),
    "arange.out": Row(
        "generated.creation",
        "arange",
        "out",
        static=("end",),
        prepare=("ranges.from_length", "end"),
        results="result_layouts.kept_out",
        dtypes=(("", "integral floating"),),
    ),
    "arange.start": Row(
        "generated.creation",
        "arange__start",
        static=("start", "end"),
        prepare=("ranges.from_length", "end"),
        dtypes=(("", "integral floating"),),
    ),
    "arange.start_out": Row(
        "kernels.creation",
        "arange",
        "out",
        static=("start", "end", "step"),
        prepare=("ranges.from_length", "end"),
        results="result_layouts.kept_out",
        dtypes=(("", "integral floating"),),
    ),
    "arange.start_step": Row(
        "kernels.creation",
        "arange",
        static=("start", "end", "step"),
        prepare=("ranges.from_length", "end"),
        dtypes=(("", "integral floating"),),
    ),
    "argmax": Row("kernels.reduction", "argmax", dtypes=(("", "integral floating"),)),
    "argmax.out": Row("kernels.reduction", "argmax", "out", dtypes=(("", "integral floating"),)),
    "argmin": Row("kernels.reduction", "argmin", dtypes=(("", "integral floating"),)),
    "argmin.out": Row("kernels.reduction", "argmin", "out", dtypes=(("", "integral floating"),)),
    "as_strided_scatter": Row("kernels.slices", "as_strided_scatter"),
    "as_strided_scatter.out": Row("kernels.slices", "as_strided_scatter", "out"),
    "asin": Row("generated.pointwise", "asin", dtypes=(("", "not float8"),)),
    "asin.out": Row("generated.pointwise", "asin", "out", dtypes=(("", "not float8"),)),
    "asin_": Row("generated.pointwise", "asin", "inplace", dtypes=(("", "not float8"),)),
    "asinh": Row("generated.pointwise", "asinh", dtypes=(("", "not float8"),)),
    "asinh.out": Row("generated.pointwise", "asinh", "out", dtypes=(("", "not float8"),)),
    "asinh_": Row("generated.pointwise", "asinh", "inplace", dtypes=(("", "not float8"),)),
    "atan": Row("generated.pointwise", "atan", dtypes=(("", "not float8"),)),
    "atan.out": Row("generated.pointwise", "atan", "out", dtypes=(("", "not float8"),)),
    "atan2": Row("generated.pointwise", "atan2", dtypes=(("", "not complex float8"),)),
    "atan2.out": Row("generated.pointwise", "atan2", "out", dtypes=(("", "not complex float8"),)),
    "atan2_": Row("generated.pointwise", "atan2", "inplace", dtypes=(("", "not complex float8"),)),
    "atan_": Row("generated.pointwise", "atan", "inplace", dtypes=(("", "not float8"),)),
    "atanh": Row("generated.pointwise", "atanh", dtypes=(("", "not float8"),)),
    "atanh.out": Row("generated.pointwise", "atanh", "out", dtypes=(("", "not float8"),)),
    "atanh_": Row("generated.pointwise", "atanh", "inplace", dtypes=(("", "not float8"),)),
    "avg_pool2d": Row("kernels.average", "avg_pool2d", dtypes=(("", "int64 floating"),)),
    "avg_pool2d.out": Row("kernels.average", "avg_pool2d", "out", dtypes=(("", "int64 floating"),)),
    "avg_pool2d_backward": Row("kernels.average", "avg_pool2d_backward"),
    "avg_pool2d_backward.grad_input": Row("kernels.average", "avg_pool2d_backward", "out"),
    "avg_pool3d": Row("kernels.average", "avg_pool3d", dtypes=(("", "int64 floating"),)),
    "avg_pool3d.out": Row("kernels.average", "avg_pool3d", "out", dtypes=(("", "int64 floating"),)),
    "avg_pool3d_backward": Row("kernels.average", "avg_pool3d_backward"),
    "avg_pool3d_backward.grad_input": Row("kernels.average", "avg_pool3d_backward", "out"),
    "baddbmm": Row(
        "generated.matmul",
        "baddbmm",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "baddbmm.dtype": Row("kernels.matmul", "baddbmm_to", special=(("beta", (0,)), ("alpha", ()))),
    "baddbmm.dtype_out": Row("kernels.matmul", "baddbmm_to", "out", special=(("beta", (0,)), ("alpha", ()))),
    "baddbmm.out": Row(
        "generated.matmul",
        "baddbmm",
        "out",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "baddbmm_": Row(
        "generated.matmul",
        "baddbmm",
        "inplace",
        special=(("beta", (0,)), ("alpha", ())),
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "batch_norm_backward": Row("generated.norm", "batch_norm_backward", results="result_layouts.input_if_requested"),
    "batch_norm_backward_elemt": Row("kernels.batchnorm", "batch_norm_backward_elemt"),
    "batch_norm_backward_elemt.out": Row("kernels.batchnorm", "batch_norm_backward_elemt", "out"),
    "batch_norm_backward_reduce": Row("kernels.batchnorm", "batch_norm_backward_reduce"),
    "batch_norm_backward_reduce.out": Row("kernels.batchnorm", "batch_norm_backward_reduce", "out"),
    "batch_norm_elemt": Row("kernels.batchnorm", "batch_norm_elemt"),
    "batch_norm_elemt.out": Row("kernels.batchnorm", "batch_norm_elemt", "out"),
    "batch_norm_gather_stats": Row("generated.norm", "batch_norm_gather_stats", writes=("running_mean", "running_var")),
    "batch_norm_gather_stats.out": Row(
        "generated.norm", "batch_norm_gather_stats", "out", writes=("running_mean", "running_var")
    ),
    "batch_norm_gather_stats_with_counts": Row(
        "kernels.batchnorm", "batch_norm_gather_stats_with_counts", writes=("running_mean", "running_var")
    ),
    "batch_norm_gather_stats_with_counts.out": Row(
        "kernels.batchnorm", "batch_norm_gather_stats_with_counts", "out", writes=("running_mean", "running_var")
    ),
    "batch_norm_stats": Row("kernels.batchnorm", "batch_norm_stats"),
    "batch_norm_stats.out": Row("kernels.batchnorm", "batch_norm_stats", "out"),
    "batch_norm_update_stats": Row(
        "kernels.batchnorm",
        "batch_norm_update_stats",
        writes=("running_mean", "running_var"),
        dtypes=(("", "floating"),),
    ),
    "batch_norm_update_stats.out": Row(
        "kernels.batchnorm",
        "batch_norm_update_stats",
        "out",
        writes=("running_mean", "running_var"),
        dtypes=(("", "floating"),),
    ),
    "bernoulli": Row(
        "generated.random",
        "bernoulli",
        random=True,
        conditions="random.bernoulli__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.Tensor": Row(
        "generated.random",
        "bernoulli___Tensor",
        random=True,
        conditions="random.bernoulli___Tensor__checks",
        dtypes=(("self", "bool integral floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.Tensor_out": Row(
        "generated.random",
        "bernoulli___Tensor",
        "out",
        random=True,
        conditions="random.bernoulli___Tensor__checks",
        dtypes=(("self", "bool integral floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.float_out": Row(
        "generated.random",
        "bernoulli__p",
        "out",
        random=True,
        conditions="random.bernoulli__p__checks",
        checks=(("RuntimeError", "bernoulli_ expects p to be in [0, 1]"),),
    ),
    "bernoulli.out": Row(
        "generated.random",
        "bernoulli",
        "out",
        random=True,
        conditions="random.bernoulli__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli.p": Row(
        "generated.random",
        "bernoulli__p",
        random=True,
        conditions="random.bernoulli__p__checks",
        checks=(("RuntimeError", "bernoulli_ expects p to be in [0, 1]"),),
    ),
    "bernoulli_.Tensor": Row(
        "generated.random",
        "bernoulli___Tensor",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.bernoulli___Tensor__checks",
        dtypes=(("self", "bool integral floating"),),
        checks=(("RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),),
    ),
    "bernoulli_.float": Row(
        "generated.random",
        "bernoulli___float",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.bernoulli___float__checks",
        dtypes=(("", "bool integral floating"),),
        checks=(("RuntimeError", "bernoulli_ expects p to be in [0, 1]"),),
    ),
    "binary_cross_entropy": Row(
        "generated.loss",
        "binary_cross_entropy",
        conditions="loss.binary_cross_entropy__checks",
        results="result_layouts.like_first",
        dtypes=(("", "floating"),),
        checks=(
            ("RuntimeError", "all elements of input should be between 0 and 1"),
            ("RuntimeError", "all elements of target should be between 0 and 1"),
        ),
    ),
    "binary_cross_entropy.out": Row(
        "generated.loss",
        "binary_cross_entropy",
        "out",
        conditions="loss.binary_cross_entropy__checks",
        results="result_layouts.like_first",
        dtypes=(("", "floating"),),
        checks=(
            ("RuntimeError", "all elements of input should be between 0 and 1"),
            ("RuntimeError", "all elements of target should be between 0 and 1"),
        ),
    ),
    "binary_cross_entropy_backward": Row(
        "generated.loss", "binary_cross_entropy_backward", results="result_layouts.like_second"
    ),
    "binary_cross_entropy_backward.grad_input": Row(
        "generated.loss", "binary_cross_entropy_backward", "out", results="result_layouts.like_second"
    ),
    "binary_cross_entropy_with_logits": Row(
        "generated.loss", "binary_cross_entropy_with_logits", dtypes=(("", "floating"),)
    ),
    "binary_cross_entropy_with_logits.out": Row(
        "generated.loss", "binary_cross_entropy_with_logits", "out", dtypes=(("", "floating"),)
    ),
    "bincount": Row(
        "kernels.histogram",
        "bincount",
        dynamic="the length depends on the largest value",
        on_host="host.bincount",
        dtypes=(("", "integral"),),
    ),
    "bincount.out": Row(
        "kernels.histogram",
        "bincount",
        "out",
        dynamic="the length depends on the largest value",
        on_host="host.bincount",
        dtypes=(("", "integral"),),
    ),
    "binomial": Row("kernels.sampling", "binomial", random=True, dtypes=(("", "floating"),)),
    "binomial.out": Row("kernels.sampling", "binomial", "out", random=True, dtypes=(("", "floating"),)),
    "bitwise_and.Scalar": Row("generated.pointwise", "bitwise_and__Scalar", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_and.Scalar_Tensor": Row(
        "generated.pointwise", "bitwise_and__Scalar_Tensor", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_and.Scalar_Tensor_out": Row(
        "generated.pointwise", "bitwise_and__Scalar_Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_and.Scalar_out": Row(
        "generated.pointwise", "bitwise_and__Scalar", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_and.Tensor": Row("generated.pointwise", "bitwise_and__Tensor", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_and.Tensor_out": Row(
        "generated.pointwise", "bitwise_and__Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_and_.Scalar": Row(
        "generated.pointwise", "bitwise_and__Scalar", "inplace", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_and_.Tensor": Row(
        "generated.pointwise", "bitwise_and__Tensor", "inplace", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_left_shift.Scalar_Tensor": Row(
        "generated.pointwise", "bitwise_left_shift__Scalar_Tensor", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Scalar_Tensor_out": Row(
        "generated.pointwise", "bitwise_left_shift__Scalar_Tensor", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Tensor": Row("generated.pointwise", "bitwise_left_shift__Tensor", dtypes=(("", "integral"),)),
    "bitwise_left_shift.Tensor_Scalar": Row(
        "generated.pointwise", "bitwise_left_shift__Tensor_Scalar", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Tensor_Scalar_out": Row(
        "generated.pointwise", "bitwise_left_shift__Tensor_Scalar", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_left_shift.Tensor_out": Row(
        "generated.pointwise", "bitwise_left_shift__Tensor", "out", dtypes=(("", "integral"),)
    ),
    "bitwise_left_shift_.Tensor": Row(
        "generated.pointwise", "bitwise_left_shift__Tensor", "inplace", dtypes=(("", "integral"),)
    ),
    "bitwise_left_shift_.Tensor_Scalar": Row(
        "generated.pointwise", "bitwise_left_shift__Tensor_Scalar", "inplace", dtypes=(("", "bool integral"),)
    ),
    "bitwise_not": Row("generated.pointwise", "bitwise_not", dtypes=(("", "bool integral"),)),
    "bitwise_not.out": Row("generated.pointwise", "bitwise_not", "out", dtypes=(("", "bool integral"),)),
    "bitwise_not_": Row("generated.pointwise", "bitwise_not", "inplace", dtypes=(("", "bool integral"),)),
    "bitwise_or.Scalar": Row("generated.pointwise", "bitwise_or__Scalar", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or.Scalar_Tensor": Row(
        "generated.pointwise", "bitwise_or__Scalar_Tensor", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_or.Scalar_Tensor_out": Row(
        "generated.pointwise", "bitwise_or__Scalar_Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_or.Scalar_out": Row(
        "generated.pointwise", "bitwise_or__Scalar", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_or.Tensor": Row("generated.pointwise", "bitwise_or__Tensor", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_or.Tensor_out": Row(
        "generated.pointwise", "bitwise_or__Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_or_.Scalar": Row(
        "generated.pointwise", "bitwise_or__Scalar", "inplace", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_or_.Tensor": Row(
        "generated.pointwise", "bitwise_or__Tensor", "inplace", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_right_shift.Scalar_Tensor": Row(
        "generated.pointwise", "bitwise_right_shift__Scalar_Tensor", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Scalar_Tensor_out": Row(
        "generated.pointwise", "bitwise_right_shift__Scalar_Tensor", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Tensor": Row("generated.pointwise", "bitwise_right_shift__Tensor", dtypes=(("", "integral"),)),
    "bitwise_right_shift.Tensor_Scalar": Row(
        "generated.pointwise", "bitwise_right_shift__Tensor_Scalar", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Tensor_Scalar_out": Row(
        "generated.pointwise", "bitwise_right_shift__Tensor_Scalar", "out", dtypes=(("", "bool integral"),)
    ),
    "bitwise_right_shift.Tensor_out": Row(
        "generated.pointwise", "bitwise_right_shift__Tensor", "out", dtypes=(("", "integral"),)
    ),
    "bitwise_right_shift_.Tensor": Row(
        "generated.pointwise", "bitwise_right_shift__Tensor", "inplace", dtypes=(("", "integral"),)
    ),
    "bitwise_right_shift_.Tensor_Scalar": Row(
        "generated.pointwise", "bitwise_right_shift__Tensor_Scalar", "inplace", dtypes=(("", "bool integral"),)
    ),
    "bitwise_xor.Scalar": Row("generated.pointwise", "bitwise_xor__Scalar", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_xor.Scalar_Tensor": Row(
        "generated.pointwise", "bitwise_xor__Scalar_Tensor", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_xor.Scalar_Tensor_out": Row(
        "generated.pointwise", "bitwise_xor__Scalar_Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_xor.Scalar_out": Row(
        "generated.pointwise", "bitwise_xor__Scalar", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_xor.Tensor": Row("generated.pointwise", "bitwise_xor__Tensor", dtypes=(("", "bool integral unsigned"),)),
    "bitwise_xor.Tensor_out": Row(
        "generated.pointwise", "bitwise_xor__Tensor", "out", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_xor_.Scalar": Row(
        "generated.pointwise", "bitwise_xor__Scalar", "inplace", dtypes=(("", "bool integral unsigned"),)
    ),
    "bitwise_xor_.Tensor": Row(
        "generated.pointwise", "bitwise_xor__Tensor", "inplace", dtypes=(("", "bool integral unsigned"),)
    ),
    "block_diag": Row("generated.shape", "block_diag"),
    "block_diag.out": Row("generated.shape", "block_diag", "out"),
    "bmm": Row("generated.matmul", "bmm", dtypes=(("", "not bool unsigned float8"),)),
    "bmm.dtype": Row("generated.matmul", "bmm__dtype"),
    "bmm.dtype_out": Row("generated.matmul", "bmm__dtype", "out"),
    "bmm.out": Row("generated.matmul", "bmm", "out", dtypes=(("", "not bool unsigned float8"),)),
    "bucketize.Scalar": Row("generated.search", "bucketize__Scalar", dtypes=(("", "not complex float8"),)),
    "bucketize.Scalar_out": Row("generated.search", "bucketize__Scalar", "out", dtypes=(("", "not complex float8"),)),
    "bucketize.Tensor": Row("kernels.search", "bucketize", dtypes=(("", "integral floating"),)),
    "bucketize.Tensor_out": Row("kernels.search", "bucketize", "out", dtypes=(("", "integral floating"),)),
    "cat": Row("kernels.shape", "cat"),
    "cat.out": Row("kernels.shape", "cat", "out"),
    "cauchy": Row(
        "generated.random",
        "cauchy_",
        random=True,
        conditions="random.cauchy___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "cauchy_ expects sigma > 0.0"),),
    ),
    "cauchy.out": Row(
        "generated.random",
        "cauchy_",
        "out",
        random=True,
        conditions="random.cauchy___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "cauchy_ expects sigma > 0.0"),),
    ),
    "cauchy_": Row(
        "generated.random",
        "cauchy_",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.cauchy___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "cauchy_ expects sigma > 0.0"),),
    ),
    "ceil": Row("generated.pointwise", "ceil", dtypes=(("", "not bool complex float8"),)),
    "ceil.out": Row("generated.pointwise", "ceil", "out", dtypes=(("", "not bool complex float8"),)),
    "ceil_": Row("generated.pointwise", "ceil", "inplace", dtypes=(("", "not bool complex float8"),)),
    "celu": Row("generated.activation", "celu", dtypes=(("", "floating"),)),
    "celu.out": Row("generated.activation", "celu", "out", dtypes=(("", "floating"),)),
    "celu_": Row("generated.activation", "celu", "inplace", dtypes=(("", "floating"),)),
    "channel_shuffle": Row(
        "kernels.shuffle", "channel_shuffle", results="result_layouts.like_image", dtypes=(("", "not unsigned float8"),)
    ),
    "channel_shuffle.out": Row(
        "kernels.shuffle",
        "channel_shuffle",
        "out",
        results="result_layouts.like_image",
        dtypes=(("", "not unsigned float8"),),
    ),
    "cholesky": Row(
        "kernels.cholesky",
        "cholesky",
        conditions="linalg.cholesky__checks",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "RuntimeError",
                "cholesky: The factorization could not be completed because the input is not positive-definite.",
            ),
        ),
    ),
    "cholesky.out": Row(
        "kernels.cholesky",
        "cholesky",
        "out",
        conditions="linalg.cholesky__checks",
        results="result_layouts.contiguous_out",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "RuntimeError",
                "cholesky: The factorization could not be completed because the input is not positive-definite.",
            ),
        ),
    ),
    "cholesky_inverse": Row(
        "generated.linalg",
        "cholesky_inverse",
        conditions="linalg.cholesky_inverse__checks",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "cholesky_inverse: A diagonal element is zero, the inversion could not be completed because the input matrix is singular.",
            ),
        ),
    ),
    "cholesky_inverse.out": Row(
        "generated.linalg",
        "cholesky_inverse",
        "out",
        conditions="linalg.cholesky_inverse__checks",
        dtypes=(("", "floating complex"),),
        checks=(
            (
                "LinAlgError",
                "cholesky_inverse: A diagonal element is zero, the inversion could not be completed because the input matrix is singular.",
            ),
        ),
    ),
    "cholesky_solve": Row("kernels.cholesky", "cholesky_solve", dtypes=(("", "floating complex"),)),
    "cholesky_solve.out": Row("kernels.cholesky", "cholesky_solve", "out", dtypes=(("", "floating complex"),)),
    "clamp": Row("generated.pointwise", "clamp", dtypes=(("", "bool integral floating"),)),
    "clamp.Tensor": Row("generated.pointwise", "clamp__Tensor", dtypes=(("", "integral floating"),)),
    "clamp.Tensor_out": Row("generated.pointwise", "clamp__Tensor", "out", dtypes=(("", "integral floating"),)),
    "clamp.out": Row("generated.pointwise", "clamp", "out", dtypes=(("", "bool integral floating"),)),
    "clamp_": Row("generated.pointwise", "clamp", "inplace", dtypes=(("", "bool integral floating"),)),
    "clamp_.Tensor": Row("generated.pointwise", "clamp__Tensor", "inplace", dtypes=(("", "integral floating"),)),
    "clamp_max": Row("generated.pointwise", "clamp_max", dtypes=(("", "not complex float8"),)),
    "clamp_max.Tensor": Row("generated.pointwise", "clamp_max__Tensor", dtypes=(("", "bool integral floating"),)),
    "clamp_max.Tensor_out": Row(
        "generated.pointwise", "clamp_max__Tensor", "out", dtypes=(("", "bool integral floating"),)
    ),
    "clamp_max.out": Row("generated.pointwise", "clamp_max", "out", dtypes=(("", "not complex float8"),)),
    "clamp_max_": Row("generated.pointwise", "clamp_max", "inplace", dtypes=(("", "not complex float8"),)),
    "clamp_max_.Tensor": Row(
        "generated.pointwise", "clamp_max__Tensor", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "clamp_min": Row("generated.pointwise", "clamp_min", dtypes=(("", "bool integral floating"),)),
    "clamp_min.Tensor": Row("generated.pointwise", "clamp_min__Tensor", dtypes=(("", "bool integral floating"),)),
    "clamp_min.Tensor_out": Row(
        "generated.pointwise", "clamp_min__Tensor", "out", dtypes=(("", "bool integral floating"),)
    ),
    "clamp_min.out": Row("generated.pointwise", "clamp_min", "out", dtypes=(("", "bool integral floating"),)),
    "clamp_min_": Row("generated.pointwise", "clamp_min", "inplace", dtypes=(("", "bool integral floating"),)),
    "clamp_min_.Tensor": Row(
        "generated.pointwise", "clamp_min__Tensor", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "clone": Row("generated.copying", "clone"),
    "clone.out": Row("generated.copying", "clone", "out"),
    "col2im": Row("kernels.unfold", "col2im", dtypes=(("", "bool floating complex"),)),
    "col2im.out": Row("kernels.unfold", "col2im", "out", dtypes=(("", "bool floating complex"),)),
    "complex": Row("kernels.pointwise", "make_complex", dtypes=(("", "floating"),)),
    "complex.out": Row("kernels.pointwise", "make_complex", "out", dtypes=(("", "floating"),)),
    "conj_physical.out": Row("generated.pointwise", "conj_physical__out", "out", dtypes=(("", "not unsigned float8"),)),
    "conj_physical_": Row(
        "generated.pointwise", "conj_physical__out", "inplace", dtypes=(("", "not unsigned float8"),)
    ),
    "constant_pad_nd": Row("kernels.pad", "constant_pad_nd"),
    "constant_pad_nd.out": Row("kernels.pad", "constant_pad_nd", "out"),
    "conv_depthwise3d": Row("generated.conv", "conv_depthwise3d"),
    "conv_depthwise3d.out": Row("generated.conv", "conv_depthwise3d", "out"),
    "conv_tbc": Row("generated.conv", "conv_tbc", dtypes=(("", "not bool unsigned"),)),
    "conv_tbc.out": Row("generated.conv", "conv_tbc", "out", dtypes=(("", "not bool unsigned"),)),
    "convolution": Row(
        "kernels.conv", "convolution", results="result_layouts.like_convolved", dtypes=(("", "int64 floating"),)
    ),
    "convolution.out": Row(
        "kernels.conv", "convolution", "out", results="result_layouts.like_convolved", dtypes=(("", "int64 floating"),)
    ),
    "convolution_backward": Row("kernels.conv", "convolution_backward", results="result_layouts.like_convolved"),
    "convolution_backward.out": Row(
        "kernels.conv", "convolution_backward", "out", results="result_layouts.like_convolved"
    ),
    "convolution_backward_overrideable": Row("generated.conv", "convolution_backward_overrideable"),
    "convolution_backward_overrideable.out": Row("generated.conv", "convolution_backward_overrideable", "out"),
    "convolution_overrideable": Row("generated.conv", "convolution_overrideable"),
    "convolution_overrideable.out": Row("generated.conv", "convolution_overrideable", "out"),
    "copy": Row("generated.copying", "copy"),
    "copy.out": Row("generated.copying", "copy", "out"),
    "copy_": Row("generated.copying", "copy", "inplace", overwrites=True),
    "copysign.Scalar": Row("generated.pointwise", "copysign__Scalar", dtypes=(("", "not complex float8"),)),
    "copysign.Scalar_out": Row("generated.pointwise", "copysign__Scalar", "out", dtypes=(("", "not complex float8"),)),
    "copysign.Tensor": Row("generated.pointwise", "copysign__Tensor", dtypes=(("", "not complex float8"),)),
    "copysign.out": Row("generated.pointwise", "copysign__Tensor", "out", dtypes=(("", "not complex float8"),)),
    "copysign_.Scalar": Row("generated.pointwise", "copysign__Scalar", "inplace", dtypes=(("", "not complex float8"),)),
    "copysign_.Tensor": Row("generated.pointwise", "copysign__Tensor", "inplace", dtypes=(("", "not complex float8"),)),
    "cos": Row("generated.pointwise", "cos", dtypes=(("", "not float8"),)),
    "cos.out": Row("generated.pointwise", "cos", "out", dtypes=(("", "not float8"),)),
    "cos_": Row("generated.pointwise", "cos", "inplace", dtypes=(("", "not float8"),)),
    "cosh": Row("generated.pointwise", "cosh", dtypes=(("", "not float8"),)),
    "cosh.out": Row("generated.pointwise", "cosh", "out", dtypes=(("", "not float8"),)),
    "cosh_": Row("generated.pointwise", "cosh", "inplace", dtypes=(("", "not float8"),)),
    "count_nonzero": Row("generated.reduction", "count_nonzero", dtypes=(("", "not unsigned float8"),)),
    "count_nonzero.dim_IntList": Row(
        "generated.reduction", "count_nonzero__dim_IntList", dtypes=(("", "not unsigned float8"),)
    ),
    "count_nonzero.dim_IntList_out": Row(
        "generated.reduction", "count_nonzero__dim_IntList", "out", dtypes=(("", "not unsigned float8"),)
    ),
    "count_nonzero.out": Row("generated.reduction", "count_nonzero", "out", dtypes=(("", "not unsigned float8"),)),
    "cummax": Row("generated.scan", "cummax", dtypes=(("", "bool integral floating"),)),
    "cummax.out": Row("generated.scan", "cummax", "out", dtypes=(("", "bool integral floating"),)),
    "cummin": Row("generated.scan", "cummin", dtypes=(("", "bool integral floating"),)),
    "cummin.out": Row("generated.scan", "cummin", "out", dtypes=(("", "bool integral floating"),)),
    "cumprod": Row("generated.scan", "cumprod", dtypes=(("", "not float8"),)),
    "cumprod.out": Row(
        "generated.scan", "cumprod", "out", prepare=("preparations.dtype_of_out", "dtype"), dtypes=(("", "not float8"),)
    ),
    "cumprod_": Row(
        "generated.scan",
        "cumprod",
        "inplace",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "not float8"),),
    ),
    "cumsum": Row("generated.scan", "cumsum", dtypes=(("", "not float8"),)),
    "cumsum.out": Row(
        "generated.scan", "cumsum", "out", prepare=("preparations.dtype_of_out", "dtype"), dtypes=(("", "not float8"),)
    ),
    "cumsum_": Row(
        "generated.scan",
        "cumsum",
        "inplace",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "not float8"),),
    ),
    "deg2rad": Row("generated.pointwise", "deg2rad", dtypes=(("", "not complex float8"),)),
    "deg2rad.out": Row("generated.pointwise", "deg2rad", "out", dtypes=(("", "not complex float8"),)),
    "deg2rad_": Row("generated.pointwise", "deg2rad", "inplace", dtypes=(("", "not complex float8"),)),
    "diag_embed": Row("kernels.slices", "diag_embed"),
    "diag_embed.out": Row("kernels.slices", "diag_embed", "out"),
    "diagonal_backward": Row(
        "generated.shape",
        "diagonal_backward",
        special=(("offset", (0,)),),
        guard=("place_checks.diagonal_of_length", "grad_output", "input_sizes", "offset", "dim1", "dim2"),
    ),
    "diagonal_backward.out": Row(
        "generated.shape",
        "diagonal_backward",
        "out",
        special=(("offset", (0,)),),
        guard=("place_checks.diagonal_of_length", "grad_output", "input_sizes", "offset", "dim1", "dim2"),
    ),
    "diagonal_scatter": Row(
        "kernels.slices",
        "diagonal_scatter",
        special=(("offset", (0,)),),
        guard=("place_checks.diagonal_of_size", "self", "src", "offset", "dim1", "dim2"),
    ),
    "diagonal_scatter.out": Row(
        "kernels.slices",
        "diagonal_scatter",
        "out",
        special=(("offset", (0,)),),
        guard=("place_checks.diagonal_of_size", "self", "src", "offset", "dim1", "dim2"),
    ),
    "digamma": Row("generated.special", "digamma", dtypes=(("", "not complex float8"),)),
    "digamma.out": Row("generated.special", "digamma", "out", dtypes=(("", "not complex float8"),)),
    "digamma_": Row("generated.special", "digamma", "inplace", dtypes=(("", "not complex float8"),)),
    "dist": Row(
        "generated.distance",
        "dist",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "dist.out": Row(
        "generated.distance",
        "dist",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "div.Scalar": Row("generated.pointwise", "div__Scalar", dtypes=(("", "not float8"),)),
    "div.Scalar_mode": Row("kernels.pointwise", "div", dtypes=(("", "not complex float8"),)),
    "div.Scalar_mode_out": Row("kernels.pointwise", "div", "out", dtypes=(("", "not complex float8"),)),
    "div.Scalar_out": Row("generated.pointwise", "div__Scalar", "out", dtypes=(("", "not float8"),)),
    "div.Tensor": Row("generated.pointwise", "div__Tensor", dtypes=(("", "not float8"),)),
    "div.Tensor_mode": Row("kernels.pointwise", "div", dtypes=(("", "integral floating"),)),
    "div.out": Row("generated.pointwise", "div__Tensor", "out", dtypes=(("", "not float8"),)),
    "div.out_mode": Row("kernels.pointwise", "div", "out", dtypes=(("", "integral floating"),)),
    "div_.Scalar": Row("generated.pointwise", "div__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "div_.Scalar_mode": Row("kernels.pointwise", "div", "inplace", dtypes=(("", "not complex float8"),)),
    "div_.Tensor": Row("generated.pointwise", "div__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "div_.Tensor_mode": Row("kernels.pointwise", "div", "inplace", dtypes=(("", "integral floating"),)),
    "dot": Row("generated.matmul", "dot", dtypes=(("", "not bool unsigned float8"),)),
    "dot.out": Row("generated.matmul", "dot", "out", dtypes=(("", "not bool unsigned float8"),)),
    "elu": Row("generated.activation", "elu", dtypes=(("", "floating"),)),
    "elu.out": Row("generated.activation", "elu", "out", dtypes=(("", "floating"),)),
    "elu_": Row("generated.activation", "elu", "inplace", dtypes=(("", "floating"),)),
    "elu_backward": Row(
        "generated.activation",
        "elu_backward",
        guard=("range_checks.slope_of_elu", "alpha", "is_result"),
        results="result_layouts.like_product",
    ),
    "elu_backward.grad_input": Row(
        "generated.activation",
        "elu_backward",
        "out",
        guard=("range_checks.slope_of_elu", "alpha", "is_result"),
        results="result_layouts.like_product",
    ),
    "embedding": Row(
        "generated.embedding",
        "embedding",
        special=(("padding_idx", (-1,)),),
        conditions="embedding.embedding__checks",
        dtypes=(("indices", "int32 int64"),),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "embedding.out": Row(
        "generated.embedding",
        "embedding",
        "out",
        special=(("padding_idx", (-1,)),),
        conditions="embedding.embedding__checks",
        dtypes=(("indices", "int32 int64"),),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "embedding_dense_backward": Row("kernels.embedding", "embedding_dense_backward", special=(("padding_idx", (-1,)),)),
    "embedding_dense_backward.out": Row(
        "kernels.embedding", "embedding_dense_backward", "out", special=(("padding_idx", (-1,)),)
    ),
    "embedding_renorm": Row(
        "kernels.embedding",
        "embedding_renorm_",
        special=(("norm_type", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        conditions="embedding.embedding_renorm___checks",
        dtypes=(("indices", "int32 int64"),),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "embedding_renorm.out": Row(
        "kernels.embedding",
        "embedding_renorm_",
        "out",
        special=(("norm_type", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        conditions="embedding.embedding_renorm___checks",
        dtypes=(("indices", "int32 int64"),),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "embedding_renorm_": Row(
        "kernels.embedding",
        "embedding_renorm_",
        "inplace",
        special=(("norm_type", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        conditions="embedding.embedding_renorm___checks",
        dtypes=(("indices", "int32 int64"),),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "eq.Scalar": Row("generated.pointwise", "eq__Scalar"),
    "eq.Scalar_out": Row("generated.pointwise", "eq__Scalar", "out"),
    "eq.Tensor": Row("generated.pointwise", "eq__Tensor"),
    "eq.Tensor_out": Row("generated.pointwise", "eq__Tensor", "out"),
    "eq_.Scalar": Row("generated.pointwise", "eq__Scalar", "inplace"),
    "eq_.Tensor": Row("generated.pointwise", "eq__Tensor", "inplace"),
    "equal": Row("kernels.pointwise", "equal", dynamic="returns a Python bool"),
    "erf": Row("generated.special", "erf", dtypes=(("", "not complex float8"),)),
    "erf.out": Row("generated.special", "erf", "out", dtypes=(("", "not complex float8"),)),
    "erf_": Row("generated.special", "erf", "inplace", dtypes=(("", "not complex float8"),)),
    "erfc": Row("generated.special", "erfc", dtypes=(("", "not complex float8"),)),
    "erfc.out": Row("generated.special", "erfc", "out", dtypes=(("", "not complex float8"),)),
    "erfc_": Row("generated.special", "erfc", "inplace", dtypes=(("", "not complex float8"),)),
    "erfinv": Row("generated.special", "erfinv", dtypes=(("", "not complex float8"),)),
    "erfinv.out": Row("generated.special", "erfinv", "out", dtypes=(("", "not complex float8"),)),
    "erfinv_": Row("generated.special", "erfinv", "inplace", dtypes=(("", "not complex float8"),)),
    "exp": Row("generated.pointwise", "exp", dtypes=(("", "not float8"),)),
    "exp.out": Row("generated.pointwise", "exp", "out", dtypes=(("", "not float8"),)),
    "exp2": Row("generated.pointwise", "exp2", dtypes=(("", "not float8"),)),
    "exp2.out": Row("generated.pointwise", "exp2", "out", dtypes=(("", "not float8"),)),
    "exp2_": Row("generated.pointwise", "exp2", "inplace", dtypes=(("", "not float8"),)),
    "exp_": Row("generated.pointwise", "exp", "inplace", dtypes=(("", "not float8"),)),
    "expm1": Row("generated.pointwise", "expm1", dtypes=(("", "not float8"),)),
    "expm1.out": Row("generated.pointwise", "expm1", "out", dtypes=(("", "not float8"),)),
    "expm1_": Row("generated.pointwise", "expm1", "inplace", dtypes=(("", "not float8"),)),
    "exponential": Row(
        "kernels.random",
        "exponential_",
        random=True,
        conditions="random.exponential___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "exponential_ expects lambda > 0.0"),),
    ),
    "exponential.out": Row(
        "kernels.random",
        "exponential_",
        "out",
        random=True,
        conditions="random.exponential___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "exponential_ expects lambda > 0.0"),),
    ),
    "exponential_": Row(
        "kernels.random",
        "exponential_",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.exponential___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "exponential_ expects lambda > 0.0"),),
    ),
    "eye": Row("generated.creation", "eye"),
    "eye.m": Row("generated.creation", "eye__m"),
    "eye.m_out": Row("generated.creation", "eye__m", "out"),
    "eye.out": Row("generated.creation", "eye", "out"),
    "fake_quantize_per_channel_affine_cachemask": Row(
        "generated.quantize",
        "fake_quantize_per_channel_affine_cachemask",
        conditions="quantize.fake_quantize_per_channel_affine_cachemask__checks",
        checks=(("RuntimeError", "`zero_point` must be between `quant_min` and `quant_max`."),),
    ),
    "fake_quantize_per_channel_affine_cachemask.out": Row(
        "generated.quantize",
        "fake_quantize_per_channel_affine_cachemask",
        "out",
        conditions="quantize.fake_quantize_per_channel_affine_cachemask__checks",
        checks=(("RuntimeError", "`zero_point` must be between `quant_min` and `quant_max`."),),
    ),
    "fake_quantize_per_tensor_affine_cachemask": Row("generated.quantize", "fake_quantize_per_tensor_affine_cachemask"),
    "fake_quantize_per_tensor_affine_cachemask.out": Row(
        "generated.quantize", "fake_quantize_per_tensor_affine_cachemask", "out"
    ),
    "fft_fftfreq": Row("generated.fft", "fft_fftfreq"),
    "fft_fftfreq.out": Row("generated.fft", "fft_fftfreq", "out"),
    "fft_rfftfreq": Row("generated.fft", "fft_rfftfreq"),
    "fft_rfftfreq.out": Row("generated.fft", "fft_rfftfreq", "out"),
    "fill.Scalar": Row("generated.copying", "fill__Scalar"),
    "fill.Scalar_out": Row("generated.copying", "fill__Scalar", "out"),
    "fill.Tensor": Row("generated.copying", "fill__Tensor"),
    "fill.Tensor_out": Row("generated.copying", "fill__Tensor", "out"),
    "fill_.Scalar": Row("generated.copying", "fill__Scalar", "inplace", overwrites=True, writes_expanded=True),
    "fill_.Tensor": Row("generated.copying", "fill__Tensor", "inplace", overwrites=True),
    "flip": Row("generated.shape", "flip", dtypes=(("", "not unsigned float8"),)),
    "flip.out": Row("generated.shape", "flip", "out", dtypes=(("", "not unsigned float8"),)),
    "floor": Row("generated.pointwise", "floor", dtypes=(("", "not bool complex float8"),)),
    "floor.out": Row("generated.pointwise", "floor", "out", dtypes=(("", "not bool complex float8"),)),
    "floor_": Row("generated.pointwise", "floor", "inplace", dtypes=(("", "not bool complex float8"),)),
    "floor_divide": Row("generated.pointwise", "floor_divide", dtypes=(("", "integral floating"),)),
    "floor_divide.Scalar": Row("generated.pointwise", "floor_divide__Scalar", dtypes=(("", "not complex float8"),)),
    "floor_divide.Scalar_out": Row(
        "generated.pointwise", "floor_divide__Scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "floor_divide.out": Row("generated.pointwise", "floor_divide", "out", dtypes=(("", "integral floating"),)),
    "floor_divide_.Scalar": Row(
        "generated.pointwise", "floor_divide__Scalar", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "floor_divide_.Tensor": Row("generated.pointwise", "floor_divide", "inplace", dtypes=(("", "integral floating"),)),
    "fmax": Row("generated.pointwise", "fmax", dtypes=(("", "bool integral floating"),)),
    "fmax.out": Row("generated.pointwise", "fmax", "out", dtypes=(("", "bool integral floating"),)),
    "fmin": Row("generated.pointwise", "fmin", dtypes=(("", "bool integral floating"),)),
    "fmin.out": Row("generated.pointwise", "fmin", "out", dtypes=(("", "bool integral floating"),)),
    "fmod.Scalar": Row("generated.pointwise", "fmod__Scalar", dtypes=(("", "not complex float8"),)),
    "fmod.Scalar_out": Row("generated.pointwise", "fmod__Scalar", "out", dtypes=(("", "not complex float8"),)),
    "fmod.Tensor": Row("generated.pointwise", "fmod__Tensor", dtypes=(("", "integral floating"),)),
    "fmod.Tensor_out": Row("generated.pointwise", "fmod__Tensor", "out", dtypes=(("", "integral floating"),)),
    "fmod_.Scalar": Row("generated.pointwise", "fmod__Scalar", "inplace", dtypes=(("", "not complex float8"),)),
    "fmod_.Tensor": Row("generated.pointwise", "fmod__Tensor", "inplace", dtypes=(("", "integral floating"),)),
    "frac": Row("generated.pointwise", "frac", dtypes=(("", "floating"),)),
    "frac.out": Row("generated.pointwise", "frac", "out", dtypes=(("", "floating"),)),
    "frac_": Row("generated.pointwise", "frac", "inplace", dtypes=(("", "floating"),)),
    "fractional_max_pool2d": Row("kernels.fractional", "fractional_max_pool2d", dtypes=(("", "floating"),)),
    "fractional_max_pool2d.output": Row(
        "kernels.fractional", "fractional_max_pool2d", "out", dtypes=(("", "floating"),)
    ),
    "fractional_max_pool2d_backward": Row("generated.pool", "fractional_max_pool2d_backward"),
    "fractional_max_pool2d_backward.grad_input": Row("generated.pool", "fractional_max_pool2d_backward", "out"),
    "fractional_max_pool3d": Row("kernels.fractional", "fractional_max_pool3d", dtypes=(("", "floating"),)),
    "fractional_max_pool3d.output": Row(
        "kernels.fractional", "fractional_max_pool3d", "out", dtypes=(("", "floating"),)
    ),
    "fractional_max_pool3d_backward": Row("generated.pool", "fractional_max_pool3d_backward"),
    "fractional_max_pool3d_backward.grad_input": Row("generated.pool", "fractional_max_pool3d_backward", "out"),
    "frexp.Tensor": Row("kernels.binary", "frexp", dtypes=(("", "floating"),)),
    "frexp.Tensor_out": Row("kernels.binary", "frexp", "out", dtypes=(("", "floating"),)),
    "full": Row("generated.creation", "full"),
    "full.out": Row("generated.creation", "full", "out"),
    "full_like": Row("generated.creation", "full_like"),
    "full_like.out": Row("generated.creation", "full_like", "out"),
    "gather": Row(
        "kernels.indexing",
        "gather",
        conditions="indexing.gather__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "gather.out": Row(
        "kernels.indexing",
        "gather",
        "out",
        conditions="indexing.gather__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "gcd": Row("generated.pointwise", "gcd", dtypes=(("", "integral"),)),
    "gcd.out": Row("generated.pointwise", "gcd", "out", dtypes=(("", "integral"),)),
    "gcd_": Row("generated.pointwise", "gcd", "inplace", dtypes=(("", "integral"),)),
    "ge.Scalar": Row("generated.pointwise", "ge__Scalar", dtypes=(("", "bool integral floating"),)),
    "ge.Scalar_out": Row("generated.pointwise", "ge__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "ge.Tensor": Row("generated.pointwise", "ge__Tensor", dtypes=(("", "bool integral floating"),)),
    "ge.Tensor_out": Row("generated.pointwise", "ge__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "ge_.Scalar": Row("generated.pointwise", "ge__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "ge_.Tensor": Row("generated.pointwise", "ge__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "gelu": Row("generated.activation", "gelu", dtypes=(("", "floating"),)),
    "gelu.out": Row("generated.activation", "gelu", "out", dtypes=(("", "floating"),)),
    "gelu_": Row("generated.activation", "gelu", "inplace", dtypes=(("", "floating"),)),
    "gelu_backward": Row("generated.activation", "gelu_backward"),
    "gelu_backward.grad_input": Row("generated.activation", "gelu_backward", "out"),
    "geometric": Row(
        "kernels.random",
        "geometric_",
        random=True,
        conditions="random.geometric___checks",
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "geometric_ expects p to be in (0, 1)"),),
    ),
    "geometric.out": Row(
        "kernels.random",
        "geometric_",
        "out",
        random=True,
        conditions="random.geometric___checks",
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "geometric_ expects p to be in (0, 1)"),),
    ),
    "geometric_": Row(
        "kernels.random",
        "geometric_",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.geometric___checks",
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "geometric_ expects p to be in (0, 1)"),),
    ),
    "geqrf": Row("kernels.qr", "geqrf", results="result_layouts.column_major", dtypes=(("", "floating complex"),)),
    "geqrf.a": Row(
        "kernels.qr", "geqrf", "out", results="result_layouts.column_major", dtypes=(("", "floating complex"),)
    ),
    "glu": Row("generated.activation", "glu", dtypes=(("", "floating"),)),
    "glu.out": Row("generated.activation", "glu", "out", dtypes=(("", "floating"),)),
    "glu_backward": Row("generated.activation", "glu_backward", results="result_layouts.contiguous"),
    "glu_backward.grad_input": Row("generated.activation", "glu_backward", "out", results="result_layouts.contiguous"),
    "glu_backward_jvp": Row("generated.activation", "glu_backward_jvp"),
    "glu_backward_jvp.out": Row("generated.activation", "glu_backward_jvp", "out"),
    "glu_jvp": Row("generated.activation", "glu_jvp"),
    "glu_jvp.out": Row("generated.activation", "glu_jvp", "out"),
    "grid_sampler_2d": Row("kernels.grid", "grid_sampler", dtypes=(("", "floating"),)),
    "grid_sampler_2d.out": Row("kernels.grid", "grid_sampler", "out", dtypes=(("", "floating"),)),
    "grid_sampler_2d_backward": Row("kernels.grid", "grid_sampler_backward"),
    "grid_sampler_2d_backward.out": Row("kernels.grid", "grid_sampler_backward", "out"),
    "grid_sampler_3d": Row("kernels.grid", "grid_sampler", dtypes=(("", "floating"),)),
    "grid_sampler_3d.out": Row("kernels.grid", "grid_sampler", "out", dtypes=(("", "floating"),)),
    "grid_sampler_3d_backward": Row("kernels.grid", "grid_sampler_backward"),
    "grid_sampler_3d_backward.out": Row("kernels.grid", "grid_sampler_backward", "out"),
    "gru.data": Row(
        "kernels.recurrent",
        "gru_data",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        prepare=("preparations.to_device", "batch_sizes"),
        results="result_layouts.of_all_steps",
        dtypes=(("data", "not bool unsigned float8"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "gru.input": Row(
        "kernels.recurrent",
        "gru_input",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        results="result_layouts.of_all_steps",
        dtypes=(("", "not bool unsigned float8"),),
        grad="vjp",
    ),
    "gt.Scalar": Row("generated.pointwise", "gt__Scalar", dtypes=(("", "bool integral floating"),)),
    "gt.Scalar_out": Row("generated.pointwise", "gt__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "gt.Tensor": Row("generated.pointwise", "gt__Tensor", dtypes=(("", "bool integral floating"),)),
    "gt.Tensor_out": Row("generated.pointwise", "gt__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "gt_.Scalar": Row("generated.pointwise", "gt__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "gt_.Tensor": Row("generated.pointwise", "gt__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "hardshrink": Row("generated.activation", "hardshrink", dtypes=(("", "floating"),)),
    "hardshrink.out": Row("generated.activation", "hardshrink", "out", dtypes=(("", "floating"),)),
    "hardshrink_backward": Row("generated.activation", "hardshrink_backward"),
    "hardshrink_backward.grad_input": Row("generated.activation", "hardshrink_backward", "out"),
    "hardsigmoid": Row("generated.activation", "hardsigmoid", dtypes=(("", "floating"),)),
    "hardsigmoid.out": Row("generated.activation", "hardsigmoid", "out", dtypes=(("", "floating"),)),
    "hardsigmoid_": Row("generated.activation", "hardsigmoid", "inplace", dtypes=(("", "floating"),)),
    "hardsigmoid_backward": Row("generated.activation", "hardsigmoid_backward", results="result_layouts.like_product"),
    "hardsigmoid_backward.grad_input": Row(
        "generated.activation", "hardsigmoid_backward", "out", results="result_layouts.like_product"
    ),
    "hardswish": Row("generated.activation", "hardswish", dtypes=(("", "floating"),)),
    "hardswish.out": Row("generated.activation", "hardswish", "out", dtypes=(("", "floating"),)),
    "hardswish_": Row("generated.activation", "hardswish", "inplace", dtypes=(("", "floating"),)),
    "hardswish_backward": Row("generated.activation", "hardswish_backward", results="result_layouts.like_product"),
    "hardswish_backward.out": Row(
        "generated.activation", "hardswish_backward", "out", results="result_layouts.like_product"
    ),
    "hardtanh": Row("generated.activation", "hardtanh", dtypes=(("", "integral floating"),)),
    "hardtanh.out": Row("generated.activation", "hardtanh", "out", dtypes=(("", "integral floating"),)),
    "hardtanh_": Row("generated.activation", "hardtanh", "inplace", dtypes=(("", "integral floating"),)),
    "hardtanh_backward": Row("generated.activation", "hardtanh_backward", results="result_layouts.like_product"),
    "hardtanh_backward.grad_input": Row(
        "generated.activation", "hardtanh_backward", "out", results="result_layouts.like_product"
    ),
    "hash_tensor": Row("generated.reduction", "hash_tensor", dtypes=(("", "bool integral floating"),)),
    "hash_tensor.out": Row("generated.reduction", "hash_tensor", "out", dtypes=(("", "bool integral floating"),)),
    "heaviside": Row(
        "generated.pointwise",
        "heaviside",
        dtypes=(("self", "bool integral floating"), ("values", "bool integral floating"), ("out", "not complex")),
    ),
    "heaviside.out": Row(
        "generated.pointwise",
        "heaviside",
        "out",
        dtypes=(("self", "bool integral floating"), ("values", "bool integral floating"), ("out", "not complex")),
    ),
    "heaviside_": Row(
        "generated.pointwise",
        "heaviside",
        "inplace",
        dtypes=(("self", "bool integral floating"), ("values", "bool integral floating"), ("out", "not complex")),
    ),
    "histc": Row(
        "kernels.histogram",
        "histc",
        special=(("min", (0,)), ("max", (0,))),
        conditions="histogram.histc__checks",
        guard=("range_checks.finite_range", "min", "max"),
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "torch.histc: range of the data is not finite"),),
    ),
    "histc.out": Row(
        "kernels.histogram",
        "histc",
        "out",
        special=(("min", (0,)), ("max", (0,))),
        conditions="histogram.histc__checks",
        guard=("range_checks.finite_range", "min", "max"),
        dtypes=(("", "integral floating"),),
        checks=(("RuntimeError", "torch.histc: range of the data is not finite"),),
    ),
    "histogram.bin_ct": Row(
        "generated.histogram",
        "histogram__bin_ct",
        conditions="histogram.histogram__bin_ct__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "histogram.bin_ct_out": Row(
        "generated.histogram",
        "histogram__bin_ct",
        "out",
        conditions="histogram.histogram__bin_ct__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "torch.histogramdd: the range of a dimension is not finite"),),
    ),
    "histogram.bins_tensor": Row("kernels.histogram", "histogram", dtypes=(("", "floating"),)),
    "histogram.bins_tensor_out": Row("kernels.histogram", "histogram", "out", dtypes=(("", "floating"),)),
    "huber_loss": Row("generated.loss", "huber_loss", special=(("delta", (0, 1, "sign")),), dtypes=(("", "floating"),)),
    "huber_loss.out": Row(
        "generated.loss", "huber_loss", "out", special=(("delta", (0, 1, "sign")),), dtypes=(("", "floating"),)
    ),
    "huber_loss_backward": Row("generated.loss", "huber_loss_backward", results="result_layouts.contiguous"),
    "huber_loss_backward.out": Row("generated.loss", "huber_loss_backward", "out", results="result_layouts.contiguous"),
    "hypot": Row("generated.pointwise", "hypot", dtypes=(("", "floating"),)),
    "hypot.out": Row("generated.pointwise", "hypot", "out", dtypes=(("", "floating"),)),
    "hypot_": Row("generated.pointwise", "hypot", "inplace", dtypes=(("", "floating"),)),
    "i0": Row("generated.special", "i0", dtypes=(("", "not complex float8"),)),
    "i0.out": Row("generated.special", "i0", "out", dtypes=(("", "not complex float8"),)),
    "i0_": Row("generated.special", "i0", "inplace", dtypes=(("", "not complex float8"),)),
    "igamma": Row("generated.special", "igamma", dtypes=(("", "floating"),)),
    "igamma.out": Row("generated.special", "igamma", "out", dtypes=(("", "floating"),)),
    "igamma_": Row("generated.special", "igamma", "inplace", dtypes=(("", "floating"),)),
    "igammac": Row("generated.special", "igammac", dtypes=(("", "floating"),)),
    "igammac.out": Row("generated.special", "igammac", "out", dtypes=(("", "floating"),)),
    "igammac_": Row("generated.special", "igammac", "inplace", dtypes=(("", "floating"),)),
    "im2col": Row("kernels.unfold", "im2col", dtypes=(("", "bool floating complex"),)),
    "im2col.out": Row("kernels.unfold", "im2col", "out", dtypes=(("", "bool floating complex"),)),
    "index.Tensor": Row(
        "kernels.indexing",
        "index",
        conditions="indexing.index__Tensor__checks",
        prepare=("index_masks.expand_masks", "indices"),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index.Tensor_out": Row(
        "kernels.indexing",
        "index",
        "out",
        conditions="indexing.index__Tensor__checks",
        prepare=("index_masks.expand_masks", "indices"),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_add": Row(
        "kernels.scatter",
        "index_add",
        conditions="indexing.index_add__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_add.out": Row(
        "kernels.scatter",
        "index_add",
        "out",
        conditions="indexing.index_add__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_add_": Row(
        "kernels.scatter",
        "index_add",
        "inplace",
        conditions="indexing.index_add__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_copy": Row(
        "kernels.scatter",
        "index_copy",
        conditions="indexing.index_copy__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index_copy_(): index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_copy.out": Row(
        "kernels.scatter",
        "index_copy",
        "out",
        conditions="indexing.index_copy__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index_copy_(): index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_copy_": Row(
        "kernels.scatter",
        "index_copy",
        "inplace",
        conditions="indexing.index_copy__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index_copy_(): index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Scalar": Row(
        "kernels.scatter",
        "index_fill",
        conditions="indexing.index_fill__int_Scalar__checks",
        prepare=("preparations.refuse_empty_axis", "dim", "index"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Scalar_out": Row(
        "kernels.scatter",
        "index_fill",
        "out",
        conditions="indexing.index_fill__int_Scalar__checks",
        prepare=("preparations.refuse_empty_axis", "dim", "index"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Tensor": Row(
        "kernels.scatter",
        "index_fill",
        conditions="indexing.index_fill__int_Tensor__checks",
        prepare=("preparations.refuse_empty_axis", "dim", "index"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill.int_Tensor_out": Row(
        "kernels.scatter",
        "index_fill",
        "out",
        conditions="indexing.index_fill__int_Tensor__checks",
        prepare=("preparations.refuse_empty_axis", "dim", "index"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill_.int_Scalar": Row(
        "kernels.scatter",
        "index_fill",
        "inplace",
        conditions="indexing.index_fill__int_Scalar__checks",
        prepare=("preparations.refuse_empty_axis", "dim", "index"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_fill_.int_Tensor": Row(
        "kernels.scatter",
        "index_fill",
        "inplace",
        conditions="indexing.index_fill__int_Tensor__checks",
        prepare=("preparations.refuse_empty_axis", "dim", "index"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "index_put": Row(
        "kernels.indexing",
        "index_put",
        conditions="indexing.index_put__checks",
        prepare=("index_masks.put_masks", "indices", "values"),
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_put.out": Row(
        "kernels.indexing",
        "index_put",
        "out",
        conditions="indexing.index_put__checks",
        prepare=("index_masks.put_masks", "indices", "values"),
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_put_": Row(
        "kernels.indexing",
        "index_put",
        "inplace",
        conditions="indexing.index_put__checks",
        prepare=("index_masks.put_masks", "indices", "values"),
        dtypes=(("self", "not unsigned"),),
        checks=(
            ("IndexError", "index is out of bounds for dimension with size: an index exceeds its dimension of self"),
        ),
    ),
    "index_reduce": Row(
        "kernels.scatter",
        "index_reduce",
        conditions="indexing.index_reduce__checks",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_reduce.out": Row(
        "kernels.scatter",
        "index_reduce",
        "out",
        conditions="indexing.index_reduce__checks",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_reduce_": Row(
        "kernels.scatter",
        "index_reduce",
        "inplace",
        conditions="indexing.index_reduce__checks",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_select": Row(
        "kernels.indexing",
        "index_select",
        conditions="indexing.index_select__checks",
        dtypes=(("self", "not unsigned"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "index_select.out": Row(
        "kernels.indexing",
        "index_select",
        "out",
        conditions="indexing.index_select__checks",
        dtypes=(("self", "not unsigned"), ("index", "int32 int64")),
        checks=(("IndexError", "index out of range in self"),),
    ),
    "isin.Scalar_Tensor": Row("generated.search", "isin__Scalar_Tensor", dtypes=(("", "integral floating"),)),
    "isin.Scalar_Tensor_out": Row(
        "generated.search", "isin__Scalar_Tensor", "out", dtypes=(("", "integral floating"),)
    ),
    "isin.Tensor_Scalar": Row(
        "generated.search",
        "isin__Tensor_Scalar",
        results="result_layouts.contiguous",
        dtypes=(("", "not bool complex"),),
    ),
    "isin.Tensor_Scalar_out": Row(
        "generated.search",
        "isin__Tensor_Scalar",
        "out",
        results="result_layouts.contiguous",
        dtypes=(("", "not bool complex"),),
    ),
    "isin.Tensor_Tensor": Row(
        "generated.search",
        "isin__Tensor_Tensor",
        results="result_layouts.contiguous",
        dtypes=(("", "integral floating"),),
    ),
    "isin.Tensor_Tensor_out": Row(
        "generated.search",
        "isin__Tensor_Tensor",
        "out",
        results="result_layouts.contiguous",
        dtypes=(("", "integral floating"),),
    ),
    "isinf": Row("generated.pointwise", "isinf", dtypes=(("", "not float8_e4m3fn"),)),
    "isinf.out": Row("generated.pointwise", "isinf", "out", dtypes=(("", "not float8_e4m3fn"),)),
    "isnan": Row("generated.pointwise", "isnan"),
    "isnan.out": Row("generated.pointwise", "isnan", "out"),
    "isneginf": Row("generated.pointwise", "isneginf", dtypes=(("", "not complex float8"),)),
    "isneginf.out": Row("generated.pointwise", "isneginf", "out", dtypes=(("", "not complex float8"),)),
    "isposinf": Row("generated.pointwise", "isposinf", dtypes=(("", "not complex float8"),)),
    "isposinf.out": Row("generated.pointwise", "isposinf", "out", dtypes=(("", "not complex float8"),)),
    "kaiser_window": Row("generated.creation", "kaiser_window", dtypes=(("", "floating"),)),
    "kaiser_window.beta": Row("generated.creation", "kaiser_window__beta", dtypes=(("", "floating"),)),
    "kaiser_window.beta_out": Row("generated.creation", "kaiser_window__beta", "out", dtypes=(("", "floating"),)),
    "kaiser_window.out": Row("generated.creation", "kaiser_window", "out", dtypes=(("", "floating"),)),
    "kaiser_window.periodic": Row("generated.creation", "kaiser_window__periodic", dtypes=(("", "floating"),)),
    "kaiser_window.periodic_out": Row(
        "generated.creation", "kaiser_window__periodic", "out", dtypes=(("", "floating"),)
    ),
    "kthvalue": Row(
        "kernels.sort",
        "kthvalue",
        special=(("k", ()),),
        guard=("place_checks.rank_in_axis", "self", "k", "dim"),
        dtypes=(("", "integral floating"),),
    ),
    "kthvalue.values": Row(
        "kernels.sort",
        "kthvalue",
        "out",
        special=(("k", ()),),
        guard=("place_checks.rank_in_axis", "self", "k", "dim"),
        dtypes=(("", "integral floating"),),
    ),
    "lcm": Row("generated.pointwise", "lcm", dtypes=(("", "integral"),)),
    "lcm.out": Row("generated.pointwise", "lcm", "out", dtypes=(("", "integral"),)),
    "lcm_": Row("generated.pointwise", "lcm", "inplace", dtypes=(("", "integral"),)),
    "ldexp.Tensor": Row("kernels.pointwise", "ldexp", dtypes=(("self", "not float8"), ("other", "not bool float8"))),
    "ldexp.out": Row(
        "kernels.pointwise", "ldexp", "out", dtypes=(("self", "not float8"), ("other", "not bool float8"))
    ),
    "ldexp_": Row(
        "kernels.pointwise", "ldexp", "inplace", dtypes=(("self", "not float8"), ("other", "not bool float8"))
    ),
    "le.Scalar": Row("generated.pointwise", "le__Scalar", dtypes=(("", "bool integral floating"),)),
    "le.Scalar_out": Row("generated.pointwise", "le__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "le.Tensor": Row("generated.pointwise", "le__Tensor", dtypes=(("", "bool integral floating"),)),
    "le.Tensor_out": Row("generated.pointwise", "le__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "le_.Scalar": Row("generated.pointwise", "le__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "le_.Tensor": Row("generated.pointwise", "le__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "leaky_relu": Row("generated.activation", "leaky_relu", dtypes=(("", "floating"),)),
    "leaky_relu.out": Row("generated.activation", "leaky_relu", "out", dtypes=(("", "floating"),)),
    "leaky_relu_": Row("generated.activation", "leaky_relu", "inplace", dtypes=(("", "floating"),)),
    "leaky_relu_backward": Row(
        "generated.activation",
        "leaky_relu_backward",
        guard=("range_checks.slope_of_result", "negative_slope", "self_is_result"),
    ),
    "leaky_relu_backward.grad_input": Row(
        "generated.activation",
        "leaky_relu_backward",
        "out",
        guard=("range_checks.slope_of_result", "negative_slope", "self_is_result"),
    ),
    "lerp.Scalar": Row("generated.pointwise", "lerp__Scalar", dtypes=(("", "floating complex"),)),
    "lerp.Scalar_out": Row("generated.pointwise", "lerp__Scalar", "out", dtypes=(("", "floating complex"),)),
    "lerp.Tensor": Row("generated.pointwise", "lerp__Tensor", dtypes=(("", "floating complex"),)),
    "lerp.Tensor_out": Row("generated.pointwise", "lerp__Tensor", "out", dtypes=(("", "floating complex"),)),
    "lerp_.Scalar": Row("generated.pointwise", "lerp__Scalar", "inplace", dtypes=(("", "floating complex"),)),
    "lerp_.Tensor": Row("generated.pointwise", "lerp__Tensor", "inplace", dtypes=(("", "floating complex"),)),
    "lgamma": Row("generated.special", "lgamma", dtypes=(("", "not complex float8"),)),
    "lgamma.out": Row("generated.special", "lgamma", "out", dtypes=(("", "not complex float8"),)),
    "lgamma_": Row("generated.special", "lgamma", "inplace", dtypes=(("", "not complex float8"),)),
    "linalg__powsum": Row(
        "kernels.distance",
        "linalg__powsum",
        special=(("ord", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_cholesky_ex": Row(
        "kernels.cholesky",
        "linalg_cholesky_ex",
        prepare=("preparations.raise_info", "linalg.cholesky_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_cholesky_ex.L": Row(
        "kernels.cholesky",
        "linalg_cholesky_ex",
        "out",
        prepare=("preparations.raise_info", "linalg.cholesky_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_cross": Row("generated.linalg", "linalg_cross", dtypes=(("", "not bool unsigned float8"),)),
    "linalg_cross.out": Row("generated.linalg", "linalg_cross", "out", dtypes=(("", "not bool unsigned float8"),)),
    "linalg_eig": Row(
        "kernels.spectral",
        "linalg_eig",
        conditions="linalg.linalg_eig__checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "torch.linalg.eig: input tensor should not contain infs or NaNs."),),
    ),
    "linalg_eig.out": Row(
        "kernels.spectral",
        "linalg_eig",
        "out",
        conditions="linalg.linalg_eig__checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "torch.linalg.eig: input tensor should not contain infs or NaNs."),),
    ),
    "linalg_eigvals.out": Row("generated.linalg", "linalg_eigvals__out", "out", dtypes=(("", "floating complex"),)),
    "linalg_householder_product": Row("kernels.qr", "linalg_householder_product", dtypes=(("", "floating complex"),)),
    "linalg_householder_product.out": Row(
        "kernels.qr",
        "linalg_householder_product",
        "out",
        results="result_layouts.contiguous_used_out",
        dtypes=(("", "floating complex"),),
    ),
    "linalg_inv_ex": Row(
        "kernels.lu",
        "linalg_inv_ex",
        prepare=("preparations.raise_info", "linalg.inv_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_inv_ex.inverse": Row(
        "kernels.lu",
        "linalg_inv_ex",
        "out",
        prepare=("preparations.raise_info", "linalg.inv_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_ldl_factor_ex": Row(
        "kernels.ldl",
        "linalg_ldl_factor_ex",
        prepare=("preparations.raise_info", "torch.linalg.ldl_factor_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_ldl_factor_ex.out": Row(
        "kernels.ldl",
        "linalg_ldl_factor_ex",
        "out",
        prepare=("preparations.raise_info", "torch.linalg.ldl_factor_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_ldl_solve": Row(
        "kernels.ldl", "linalg_ldl_solve", dtypes=(("LD", "floating complex"), ("pivots", "integral"))
    ),
    "linalg_ldl_solve.out": Row(
        "kernels.ldl", "linalg_ldl_solve", "out", dtypes=(("LD", "floating complex"), ("pivots", "integral"))
    ),
    "linalg_lstsq": Row(
        "kernels.qr", "linalg_lstsq", results="result_layouts.least_squares", dtypes=(("", "floating complex"),)
    ),
    "linalg_lstsq.out": Row(
        "kernels.qr", "linalg_lstsq", "out", results="result_layouts.least_squares", dtypes=(("", "floating complex"),)
    ),
    "linalg_lu": Row("generated.linalg", "linalg_lu", dtypes=(("", "floating complex"),)),
    "linalg_lu.out": Row("generated.linalg", "linalg_lu", "out", dtypes=(("", "floating complex"),)),
    "linalg_lu_factor_ex": Row(
        "kernels.lu",
        "linalg_lu_factor_ex",
        prepare=("preparations.raise_info", "torch.linalg.lu_factor_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_lu_factor_ex.out": Row(
        "kernels.lu",
        "linalg_lu_factor_ex",
        "out",
        prepare=("preparations.raise_info", "torch.linalg.lu_factor_ex"),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_lu_solve": Row("kernels.lu", "linalg_lu_solve", dtypes=(("LU", "floating complex"), ("pivots", "int32"))),
    "linalg_lu_solve.out": Row(
        "kernels.lu", "linalg_lu_solve", "out", dtypes=(("LU", "floating complex"), ("pivots", "int32"))
    ),
    "linalg_matrix_exp": Row("kernels.spectral", "linalg_matrix_exp", dtypes=(("", "floating complex"),)),
    "linalg_matrix_exp.out": Row("kernels.spectral", "linalg_matrix_exp", "out", dtypes=(("", "floating complex"),)),
    "linalg_matrix_sqrth": Row("kernels.spectral", "linalg_matrix_sqrth", dtypes=(("", "floating complex"),)),
    "linalg_matrix_sqrth.out": Row(
        "kernels.spectral", "linalg_matrix_sqrth", "out", dtypes=(("", "floating complex"),)
    ),
    "linalg_pinv.atol_rtol_tensor": Row("kernels.spectral", "linalg_pinv", dtypes=(("", "floating complex"),)),
    "linalg_pinv.atol_rtol_tensor_out": Row(
        "kernels.spectral", "linalg_pinv", "out", dtypes=(("", "floating complex"),)
    ),
    "linalg_polar": Row("kernels.spectral", "linalg_polar", dtypes=(("", "floating complex"),)),
    "linalg_polar.out": Row("kernels.spectral", "linalg_polar", "out", dtypes=(("", "floating complex"),)),
    "linalg_qr": Row("kernels.qr", "linalg_qr", dtypes=(("", "floating complex"),)),
    "linalg_qr.out": Row("kernels.qr", "linalg_qr", "out", dtypes=(("", "floating complex"),)),
    "linalg_solve_triangular": Row("kernels.triangular", "linalg_solve_triangular", dtypes=(("", "floating complex"),)),
    "linalg_solve_triangular.out": Row(
        "kernels.triangular", "linalg_solve_triangular", "out", dtypes=(("", "floating complex"),)
    ),
    "linalg_vector_norm": Row(
        "kernels.distance",
        "linalg_vector_norm",
        special=(("ord", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "linalg_vector_norm.out": Row(
        "kernels.distance",
        "linalg_vector_norm",
        "out",
        special=(("ord", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "linear": Row("kernels.matmul", "linear", grad="formula"),
    "linear.out": Row("kernels.matmul", "linear", "out", grad="formula"),
    "linear_backward": Row("kernels.matmul", "linear_backward"),
    "linear_backward.out": Row("kernels.matmul", "linear_backward", "out"),
    "linspace": Row("kernels.creation", "linspace"),
    "linspace.Scalar_Tensor": Row("kernels.creation", "linspace", dtypes=(("", "not complex"),)),
    "linspace.Scalar_Tensor_out": Row(
        "kernels.creation", "linspace", "out", results="result_layouts.kept_out", dtypes=(("", "not complex"),)
    ),
    "linspace.Tensor_Scalar": Row("kernels.creation", "linspace", dtypes=(("", "not complex"),)),
    "linspace.Tensor_Scalar_out": Row(
        "kernels.creation", "linspace", "out", results="result_layouts.kept_out", dtypes=(("", "not complex"),)
    ),
    "linspace.Tensor_Tensor": Row("kernels.creation", "linspace", dtypes=(("", "not complex"),)),
    "linspace.Tensor_Tensor_out": Row(
        "kernels.creation", "linspace", "out", results="result_layouts.kept_out", dtypes=(("", "not complex"),)
    ),
    "linspace.out": Row("kernels.creation", "linspace", "out", results="result_layouts.kept_out"),
    "log": Row("generated.pointwise", "log", dtypes=(("", "not float8"),)),
    "log.out": Row("generated.pointwise", "log", "out", dtypes=(("", "not float8"),)),
    "log10": Row("generated.pointwise", "log10", dtypes=(("", "not float8"),)),
    "log10.out": Row("generated.pointwise", "log10", "out", dtypes=(("", "not float8"),)),
    "log10_": Row("generated.pointwise", "log10", "inplace", dtypes=(("", "not float8"),)),
    "log1p": Row("generated.pointwise", "log1p", dtypes=(("", "not float8"),)),
    "log1p.out": Row("generated.pointwise", "log1p", "out", dtypes=(("", "not float8"),)),
    "log1p_": Row("generated.pointwise", "log1p", "inplace", dtypes=(("", "not float8"),)),
    "log2": Row("generated.pointwise", "log2", dtypes=(("", "not float8"),)),
    "log2.out": Row("generated.pointwise", "log2", "out", dtypes=(("", "not float8"),)),
    "log2_": Row("generated.pointwise", "log2", "inplace", dtypes=(("", "not float8"),)),
    "log_": Row("generated.pointwise", "log", "inplace", dtypes=(("", "not float8"),)),
    "log_normal": Row(
        "generated.random",
        "log_normal_",
        random=True,
        conditions="random.log_normal___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "log_normal_ expects std > 0.0"),),
    ),
    "log_normal.out": Row(
        "generated.random",
        "log_normal_",
        "out",
        random=True,
        conditions="random.log_normal___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "log_normal_ expects std > 0.0"),),
    ),
    "log_normal_": Row(
        "generated.random",
        "log_normal_",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.log_normal___checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "log_normal_ expects std > 0.0"),),
    ),
    "log_sigmoid_backward": Row("generated.activation", "log_sigmoid_backward"),
    "log_sigmoid_backward.grad_input": Row("generated.activation", "log_sigmoid_backward", "out"),
    "log_sigmoid_forward": Row(
        "generated.activation", "log_sigmoid_forward", results="result_layouts.contiguous", dtypes=(("", "floating"),)
    ),
    "log_sigmoid_forward.output": Row(
        "generated.activation",
        "log_sigmoid_forward",
        "out",
        results="result_layouts.contiguous",
        dtypes=(("", "floating"),),
    ),
    "logaddexp": Row("generated.pointwise", "logaddexp", dtypes=(("", "floating complex"),)),
    "logaddexp.out": Row("generated.pointwise", "logaddexp", "out", dtypes=(("", "floating complex"),)),
    "logaddexp2": Row("generated.pointwise", "logaddexp2", dtypes=(("", "floating"),)),
    "logaddexp2.out": Row("generated.pointwise", "logaddexp2", "out", dtypes=(("", "floating"),)),
    "logcumsumexp": Row("generated.scan", "logcumsumexp", dtypes=(("", "floating complex"),)),
    "logcumsumexp.out": Row("generated.scan", "logcumsumexp", "out", dtypes=(("", "floating complex"),)),
    "logical_and": Row("generated.pointwise", "logical_and", dtypes=(("", "not unsigned float8"),)),
    "logical_and.out": Row("generated.pointwise", "logical_and", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_and_": Row("generated.pointwise", "logical_and", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logical_not": Row("generated.pointwise", "logical_not", dtypes=(("", "not unsigned float8"),)),
    "logical_not.out": Row("generated.pointwise", "logical_not", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_not_": Row("generated.pointwise", "logical_not", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logical_or": Row("generated.pointwise", "logical_or", dtypes=(("", "not unsigned float8"),)),
    "logical_or.out": Row("generated.pointwise", "logical_or", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_or_": Row("generated.pointwise", "logical_or", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logical_xor": Row("generated.pointwise", "logical_xor", dtypes=(("", "not unsigned float8"),)),
    "logical_xor.out": Row("generated.pointwise", "logical_xor", "out", dtypes=(("", "not unsigned float8"),)),
    "logical_xor_": Row("generated.pointwise", "logical_xor", "inplace", dtypes=(("", "not unsigned float8"),)),
    "logit": Row("generated.activation", "logit", dtypes=(("", "not complex float8"),)),
    "logit.out": Row("generated.activation", "logit", "out", dtypes=(("", "not complex float8"),)),
    "logit_": Row("generated.activation", "logit", "inplace", dtypes=(("", "not complex float8"),)),
    "logit_backward": Row("generated.activation", "logit_backward", results="result_layouts.like_product"),
    "logit_backward.grad_input": Row(
        "generated.activation", "logit_backward", "out", results="result_layouts.like_product"
    ),
    "logspace": Row("kernels.creation", "logspace"),
    "logspace.Scalar_Tensor": Row("kernels.creation", "logspace", dtypes=(("", "not complex"),)),
    "logspace.Scalar_Tensor_out": Row(
        "kernels.creation", "logspace", "out", results="result_layouts.kept_out", dtypes=(("", "not complex"),)
    ),
    "logspace.Tensor_Scalar": Row("kernels.creation", "logspace", dtypes=(("", "not complex"),)),
    "logspace.Tensor_Scalar_out": Row(
        "kernels.creation", "logspace", "out", results="result_layouts.kept_out", dtypes=(("", "not complex"),)
    ),
    "logspace.Tensor_Tensor": Row("kernels.creation", "logspace", dtypes=(("", "not complex"),)),
    "logspace.Tensor_Tensor_out": Row(
        "kernels.creation", "logspace", "out", results="result_layouts.kept_out", dtypes=(("", "not complex"),)
    ),
    "logspace.out": Row("kernels.creation", "logspace", "out", results="result_layouts.kept_out"),
    "logsumexp": Row("generated.reduction", "logsumexp", dtypes=(("", "not float8"),)),
    "logsumexp.out": Row(
        "generated.reduction",
        "logsumexp",
        "out",
        prepare=("preparations.real_part_to_out", "self"),
        dtypes=(("", "not float8"),),
    ),
    "lstm.data": Row(
        "kernels.recurrent",
        "lstm_data",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        prepare=("preparations.to_device", "batch_sizes"),
        results="result_layouts.of_all_steps",
        dtypes=(("data", "not bool unsigned float8"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "lstm.input": Row(
        "kernels.recurrent",
        "lstm_input",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        results="result_layouts.of_all_steps",
        dtypes=(("", "not bool unsigned float8"),),
        grad="vjp",
    ),
    "lt.Scalar": Row("generated.pointwise", "lt__Scalar", dtypes=(("", "bool integral floating"),)),
    "lt.Scalar_out": Row("generated.pointwise", "lt__Scalar", "out", dtypes=(("", "bool integral floating"),)),
    "lt.Tensor": Row("generated.pointwise", "lt__Tensor", dtypes=(("", "bool integral floating"),)),
    "lt.Tensor_out": Row("generated.pointwise", "lt__Tensor", "out", dtypes=(("", "bool integral floating"),)),
    "lt_.Scalar": Row("generated.pointwise", "lt__Scalar", "inplace", dtypes=(("", "bool integral floating"),)),
    "lt_.Tensor": Row("generated.pointwise", "lt__Tensor", "inplace", dtypes=(("", "bool integral floating"),)),
    "lu_unpack": Row("kernels.lu", "lu_unpack", dtypes=(("LU_data", "not unsigned float8"), ("LU_pivots", "int32"))),
    "lu_unpack.out": Row(
        "kernels.lu", "lu_unpack", "out", dtypes=(("LU_data", "not unsigned float8"), ("LU_pivots", "int32"))
    ),
    "masked_fill.Scalar": Row(
        "generated.pointwise", "masked_fill__Scalar", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill.Scalar_out": Row(
        "generated.pointwise", "masked_fill__Scalar", "out", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill.Tensor": Row(
        "generated.pointwise", "masked_fill__Tensor", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill.Tensor_out": Row(
        "generated.pointwise", "masked_fill__Tensor", "out", dtypes=(("self", "not unsigned float8"), ("mask", "bool"))
    ),
    "masked_fill_.Scalar": Row(
        "generated.pointwise",
        "masked_fill__Scalar",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
    ),
    "masked_fill_.Tensor": Row(
        "generated.pointwise",
        "masked_fill__Tensor",
        "inplace",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
    ),
    "masked_scatter": Row(
        "kernels.mask",
        "masked_scatter",
        conditions="indexing.masked_scatter__checks",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
        checks=(("RuntimeError", "Number of elements of source < number of ones in mask"),),
    ),
    "masked_scatter.out": Row(
        "kernels.mask",
        "masked_scatter",
        "out",
        conditions="indexing.masked_scatter__checks",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
        checks=(("RuntimeError", "Number of elements of source < number of ones in mask"),),
    ),
    "masked_scatter_": Row(
        "kernels.mask",
        "masked_scatter",
        "inplace",
        conditions="indexing.masked_scatter__checks",
        dtypes=(("self", "not unsigned float8"), ("mask", "bool")),
        checks=(("RuntimeError", "Number of elements of source < number of ones in mask"),),
    ),
    "masked_scatter_backward": Row("kernels.mask", "masked_scatter_backward"),
    "masked_select": Row(
        "kernels.mask",
        "masked_select",
        dynamic="one result for each element where the mask holds",
        on_host="host.masked_select",
        dtypes=(("self", "not unsigned"), ("mask", "bool")),
    ),
    "masked_select.out": Row(
        "kernels.mask",
        "masked_select",
        "out",
        dynamic="one result for each element where the mask holds",
        on_host="host.masked_select",
        dtypes=(("self", "not unsigned"), ("mask", "bool")),
    ),
    "matmul": Row("kernels.matmul", "matmul", grad="formula"),
    "matmul_backward": Row("kernels.matmul", "matmul_backward"),
    "matmul_backward.out": Row("kernels.matmul", "matmul_backward", "out"),
    "max": Row("generated.reduction", "max", dtypes=(("", "bool integral floating"),)),
    "max.dim": Row("kernels.reduction", "max_dim", dtypes=(("", "bool integral floating"),)),
    "max.dim_max": Row("kernels.reduction", "max_dim", "out", dtypes=(("", "bool integral floating"),)),
    "max.unary_out": Row("generated.reduction", "max", "out", dtypes=(("", "bool integral floating"),)),
    "max_pool2d_backward": Row("generated.pool", "max_pool2d_backward"),
    "max_pool2d_backward.out": Row("generated.pool", "max_pool2d_backward", "out"),
    "max_pool2d_with_indices": Row("kernels.pool", "max_pool2d_with_indices", dtypes=(("", "integral floating"),)),
    "max_pool2d_with_indices.out": Row(
        "kernels.pool", "max_pool2d_with_indices", "out", dtypes=(("", "integral floating"),)
    ),
    "max_pool2d_with_indices_backward": Row("generated.pool", "max_pool2d_with_indices_backward"),
    "max_pool2d_with_indices_backward.grad_input": Row("generated.pool", "max_pool2d_with_indices_backward", "out"),
    "max_pool3d_with_indices": Row("kernels.pool", "max_pool3d_with_indices", dtypes=(("", "integral floating"),)),
    "max_pool3d_with_indices.out": Row(
        "kernels.pool", "max_pool3d_with_indices", "out", dtypes=(("", "integral floating"),)
    ),
    "max_pool3d_with_indices_backward": Row("generated.pool", "max_pool3d_with_indices_backward"),
    "max_pool3d_with_indices_backward.grad_input": Row("generated.pool", "max_pool3d_with_indices_backward", "out"),
    "max_unpool2d": Row(
        "kernels.unpool",
        "max_unpool2d",
        conditions="pool.max_unpool2d__checks",
        prepare=("preparations.alert_not_deterministic", "max_unpooling2d_forward_out"),
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "max_unpool2d.out": Row(
        "kernels.unpool",
        "max_unpool2d",
        "out",
        conditions="pool.max_unpool2d__checks",
        prepare=("preparations.alert_not_deterministic", "max_unpooling2d_forward_out"),
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "max_unpool3d": Row(
        "generated.pool",
        "max_unpool3d",
        conditions="pool.max_unpool3d__checks",
        prepare=("preparations.alert_not_deterministic", "max_unpooling3d_forward_out"),
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "max_unpool3d.out": Row(
        "generated.pool",
        "max_unpool3d",
        "out",
        conditions="pool.max_unpool3d__checks",
        prepare=("preparations.alert_not_deterministic", "max_unpooling3d_forward_out"),
        dtypes=(("self", "floating"), ("indices", "int64")),
        checks=(("RuntimeError", "Found an invalid max index"),),
    ),
    "maximum": Row("generated.pointwise", "maximum", dtypes=(("", "bool integral floating"),)),
    "maximum.out": Row("generated.pointwise", "maximum", "out", dtypes=(("", "bool integral floating"),)),
    "mean": Row("generated.reduction", "mean", dtypes=(("", "floating complex"),)),
    "mean.dim": Row("generated.reduction", "mean__dim", dtypes=(("", "floating complex"),)),
    "mean.dtype_out": Row(
        "generated.reduction",
        "mean",
        "out",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "floating complex"),),
    ),
    "mean.out": Row(
        "generated.reduction",
        "mean__dim",
        "out",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "floating complex"),),
    ),
    "median": Row("kernels.sort", "median", dtypes=(("", "integral floating"),)),
    "median.dim": Row("kernels.sort", "median_dim", dtypes=(("", "integral floating"),)),
    "median.dim_values": Row("kernels.sort", "median_dim", "out", dtypes=(("", "integral floating"),)),
    "median.out": Row("kernels.sort", "median", "out", dtypes=(("", "integral floating"),)),
    "min": Row("generated.reduction", "min", dtypes=(("", "bool integral floating"),)),
    "min.dim": Row("kernels.reduction", "min_dim", dtypes=(("", "bool integral floating"),)),
    "min.dim_min": Row("kernels.reduction", "min_dim", "out", dtypes=(("", "bool integral floating"),)),
    "min.unary_out": Row("generated.reduction", "min", "out", dtypes=(("", "bool integral floating"),)),
    "minimum": Row("generated.pointwise", "minimum", dtypes=(("", "bool integral floating"),)),
    "minimum.out": Row("generated.pointwise", "minimum", "out", dtypes=(("", "bool integral floating"),)),
    "mish": Row("generated.activation", "mish", dtypes=(("", "floating"),)),
    "mish.out": Row("generated.activation", "mish", "out", dtypes=(("", "floating"),)),
    "mish_": Row("generated.activation", "mish", "inplace", dtypes=(("", "floating"),)),
    "mish_backward": Row("generated.activation", "mish_backward", grad="vjp"),
    "mm": Row("generated.matmul", "mm", dtypes=(("", "not bool unsigned"),)),
    "mm.dtype": Row("generated.matmul", "mm__dtype"),
    "mm.dtype_out": Row("generated.matmul", "mm__dtype", "out"),
    "mm.out": Row("generated.matmul", "mm", "out", dtypes=(("", "not bool unsigned"),)),
    "mode": Row("kernels.sort", "mode", dtypes=(("", "bool integral floating"),)),
    "mode.values": Row("kernels.sort", "mode", "out", dtypes=(("", "bool integral floating"),)),
    "mse_loss": Row("generated.loss", "mse_loss", dtypes=(("", "floating"),)),
    "mse_loss.out": Row("generated.loss", "mse_loss", "out", dtypes=(("", "floating"),)),
    "mse_loss_backward": Row("generated.loss", "mse_loss_backward", results="result_layouts.contiguous"),
    "mse_loss_backward.grad_input": Row(
        "generated.loss", "mse_loss_backward", "out", results="result_layouts.contiguous"
    ),
    "mul.Scalar": Row("generated.pointwise", "mul__Scalar", dtypes=(("", "not float8"),)),
    "mul.Scalar_out": Row("generated.pointwise", "mul__Scalar", "out", dtypes=(("", "not float8"),)),
    "mul.Tensor": Row("generated.pointwise", "mul__Tensor", dtypes=(("", "not float8"),)),
    "mul.out": Row("generated.pointwise", "mul__Tensor", "out", dtypes=(("", "not float8"),)),
    "mul_.Scalar": Row("generated.pointwise", "mul__Scalar", "inplace", dtypes=(("", "not float8"),)),
    "mul_.Tensor": Row("generated.pointwise", "mul__Tensor", "inplace", dtypes=(("", "not float8"),)),
    "multi_margin_loss": Row(
        "generated.loss",
        "multi_margin_loss",
        static=("p",),
        conditions="loss.multi_margin_loss__checks",
        results="result_layouts.margin_of_one_sample",
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "target out of range"),),
    ),
    "multi_margin_loss.out": Row(
        "generated.loss",
        "multi_margin_loss",
        "out",
        static=("p",),
        conditions="loss.multi_margin_loss__checks",
        results="result_layouts.margin_of_one_sample",
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "target out of range"),),
    ),
    "multi_margin_loss_backward": Row("generated.loss", "multi_margin_loss_backward", static=("p",)),
    "multi_margin_loss_backward.grad_input": Row("generated.loss", "multi_margin_loss_backward", "out", static=("p",)),
    "multilabel_margin_loss_backward": Row("kernels.margin", "multilabel_margin_loss_backward"),
    "multilabel_margin_loss_backward.grad_input": Row("kernels.margin", "multilabel_margin_loss_backward", "out"),
    "multilabel_margin_loss_forward": Row(
        "kernels.margin",
        "multilabel_margin_loss_forward",
        conditions="loss.multilabel_margin_loss_forward__checks",
        results="result_layouts.of_one_sample",
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "argument #2 'target' is out of range"),),
    ),
    "multilabel_margin_loss_forward.output": Row(
        "kernels.margin",
        "multilabel_margin_loss_forward",
        "out",
        conditions="loss.multilabel_margin_loss_forward__checks",
        results="result_layouts.of_one_sample",
        dtypes=(("self", "floating"), ("target", "int64")),
        checks=(("RuntimeError", "argument #2 'target' is out of range"),),
    ),
    "multinomial": Row(
        "kernels.sampling",
        "multinomial",
        random=True,
        conditions="random.multinomial__checks",
        dtypes=(("self", "floating"), ("out", "int64")),
        checks=(
            ("RuntimeError", "probability tensor contains either `inf`, `nan` or element < 0"),
            ("RuntimeError", "invalid multinomial distribution (sum of probabilities <= 0)"),
        ),
    ),
    "multinomial.out": Row(
        "kernels.sampling",
        "multinomial",
        "out",
        random=True,
        conditions="random.multinomial__checks",
        dtypes=(("self", "floating"), ("out", "int64")),
        checks=(
            ("RuntimeError", "probability tensor contains either `inf`, `nan` or element < 0"),
            ("RuntimeError", "invalid multinomial distribution (sum of probabilities <= 0)"),
        ),
    ),
    "mv": Row("generated.matmul", "mv", dtypes=(("", "not bool unsigned float8"),)),
    "mv.out": Row("generated.matmul", "mv", "out", dtypes=(("", "not bool unsigned float8"),)),
    "mvlgamma": Row("generated.special", "mvlgamma", dtypes=(("", "not bool complex float8"),)),
    "mvlgamma.out": Row("generated.special", "mvlgamma", "out", dtypes=(("", "not bool complex float8"),)),
    "mvlgamma_": Row("generated.special", "mvlgamma", "inplace", dtypes=(("", "not bool complex float8"),)),
    "nan_to_num": Row("generated.pointwise", "nan_to_num", dtypes=(("", "not float8"),)),
    "nan_to_num.out": Row("generated.pointwise", "nan_to_num", "out", dtypes=(("", "not float8"),)),
    "nan_to_num_": Row("generated.pointwise", "nan_to_num", "inplace", dtypes=(("", "not float8"),)),
    "nanmedian": Row("kernels.sort", "nanmedian", dtypes=(("", "integral floating"),)),
    "nanmedian.dim": Row("kernels.sort", "nanmedian_dim", dtypes=(("", "integral floating"),)),
    "nanmedian.dim_values": Row("kernels.sort", "nanmedian_dim", "out", dtypes=(("", "integral floating"),)),
    "nanmedian.out": Row("kernels.sort", "nanmedian", "out", dtypes=(("", "integral floating"),)),
    "nansum": Row("generated.reduction", "nansum", dtypes=(("self", "not float8"), ("out", "not complex"))),
    "nansum.out": Row(
        "generated.reduction",
        "nansum",
        "out",
        prepare=("preparations.dtype_of_wider_out", "dtype"),
        dtypes=(("self", "not float8"), ("out", "not complex")),
    ),
    "narrow_copy": Row(
        "kernels.slices",
        "narrow_copy",
        special=(("start", (0,)),),
        guard=("place_checks.part_of_axis", "self", "dim", "start", "length"),
    ),
    "narrow_copy.out": Row(
        "kernels.slices",
        "narrow_copy",
        "out",
        special=(("start", (0,)),),
        guard=("place_checks.part_of_axis", "self", "dim", "start", "length"),
    ),
    "native_batch_norm": Row(
        "kernels.batchnorm",
        "native_batch_norm",
        writes=("running_mean", "running_var"),
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "native_batch_norm.out": Row(
        "kernels.batchnorm",
        "native_batch_norm",
        "out",
        writes=("running_mean", "running_var"),
        results="result_layouts.saved_in_training",
        dtypes=(("", "floating"),),
    ),
    "native_batch_norm_backward": Row(
        "kernels.batchnorm", "native_batch_norm_backward", results="result_layouts.input_if_requested"
    ),
    "native_batch_norm_backward.out": Row(
        "kernels.batchnorm", "native_batch_norm_backward", "out", results="result_layouts.input_if_requested"
    ),
    "native_dropout": Row("kernels.random", "native_dropout", random=True, draws_if=("p", "train")),
    "native_dropout.out": Row("kernels.random", "native_dropout", "out", random=True, draws_if=("p", "train")),
    "native_dropout_backward": Row(
        "generated.random", "native_dropout_backward", results="result_layouts.like_product"
    ),
    "native_dropout_backward.out": Row(
        "generated.random", "native_dropout_backward", "out", results="result_layouts.like_product"
    ),
    "native_group_norm": Row("kernels.norm", "native_group_norm", dtypes=(("", "floating"),)),
    "native_group_norm.out": Row("kernels.norm", "native_group_norm", "out", dtypes=(("", "floating"),)),
    "native_group_norm_backward": Row(
        "kernels.norm", "native_group_norm_backward", results="result_layouts.like_image"
    ),
    "native_group_norm_backward.out": Row(
        "kernels.norm", "native_group_norm_backward", "out", results="result_layouts.like_image"
    ),
    "native_layer_norm": Row("kernels.norm", "native_layer_norm", dtypes=(("", "floating"),)),
    "native_layer_norm.out": Row("kernels.norm", "native_layer_norm", "out", dtypes=(("", "floating"),)),
    "native_layer_norm_backward": Row(
        "kernels.norm", "native_layer_norm_backward", results="result_layouts.contiguous"
    ),
    "native_layer_norm_backward.out": Row(
        "kernels.norm", "native_layer_norm_backward", "out", results="result_layouts.contiguous"
    ),
    "ne.Scalar": Row("generated.pointwise", "ne__Scalar"),
    "ne.Scalar_out": Row("generated.pointwise", "ne__Scalar", "out"),
    "ne.Tensor": Row("generated.pointwise", "ne__Tensor"),
    "ne.Tensor_out": Row("generated.pointwise", "ne__Tensor", "out"),
    "ne_.Scalar": Row("generated.pointwise", "ne__Scalar", "inplace"),
    "ne_.Tensor": Row("generated.pointwise", "ne__Tensor", "inplace"),
    "neg": Row("generated.pointwise", "neg", dtypes=(("", "not bool unsigned float8"),)),
    "neg.out": Row("generated.pointwise", "neg", "out", dtypes=(("", "not bool unsigned float8"),)),
    "neg_": Row("generated.pointwise", "neg", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "new_full": Row("generated.creation", "new_full"),
    "new_full.out": Row("generated.creation", "new_full", "out"),
    "new_ones": Row("generated.creation", "new_ones"),
    "new_ones.out": Row("generated.creation", "new_ones", "out"),
    "new_zeros": Row("generated.creation", "new_zeros"),
    "new_zeros.out": Row("generated.creation", "new_zeros", "out"),
    "nextafter": Row("generated.pointwise", "nextafter", dtypes=(("", "floating"),)),
    "nextafter.out": Row("generated.pointwise", "nextafter", "out", dtypes=(("", "floating"),)),
    "nextafter_": Row("generated.pointwise", "nextafter", "inplace", dtypes=(("", "floating"),)),
    "nll_loss2d_backward": Row("kernels.nll", "nll_loss_backward", special=(("ignore_index", (-100,)),)),
    "nll_loss2d_backward.grad_input": Row(
        "kernels.nll", "nll_loss_backward", "out", special=(("ignore_index", (-100,)),)
    ),
    "nll_loss2d_forward": Row(
        "kernels.nll",
        "nll_loss_forward",
        special=(("ignore_index", (-100,)),),
        conditions="loss.nll_loss2d_forward__checks",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nll_loss2d_forward.output": Row(
        "kernels.nll",
        "nll_loss_forward",
        "out",
        special=(("ignore_index", (-100,)),),
        conditions="loss.nll_loss2d_forward__checks",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nll_loss_backward": Row("kernels.nll", "nll_loss_backward", special=(("ignore_index", (-100,)),)),
    "nll_loss_backward.grad_input": Row(
        "kernels.nll", "nll_loss_backward", "out", special=(("ignore_index", (-100,)),)
    ),
    "nll_loss_forward": Row(
        "kernels.nll",
        "nll_loss_forward",
        special=(("ignore_index", (-100,)),),
        conditions="loss.nll_loss_forward__checks",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nll_loss_forward.output": Row(
        "kernels.nll",
        "nll_loss_forward",
        "out",
        special=(("ignore_index", (-100,)),),
        conditions="loss.nll_loss_forward__checks",
        dtypes=(("self", "floating"), ("target", "uint8 int32 int64")),
        checks=(("IndexError", "Target is out of bounds."),),
    ),
    "nonzero": Row(
        "kernels.mask",
        "nonzero",
        dynamic="one row for each nonzero element",
        on_host="host.nonzero",
        results="result_layouts.coordinates",
        dtypes=(("", "not unsigned float8"),),
    ),
    "nonzero.out": Row(
        "kernels.mask",
        "nonzero",
        "out",
        dynamic="one row for each nonzero element",
        on_host="host.nonzero",
        results="result_layouts.coordinates",
        dtypes=(("", "not unsigned float8"),),
    ),
    "nonzero_static": Row("kernels.mask", "nonzero_static", results="result_layouts.contiguous"),
    "nonzero_static.out": Row("kernels.mask", "nonzero_static", "out", results="result_layouts.contiguous"),
    "norm.Scalar": Row(
        "generated.reduction",
        "norm__Scalar",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "norm.ScalarOpt_dim": Row(
        "generated.reduction",
        "norm__ScalarOpt_dim",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "norm.ScalarOpt_dim_dtype": Row(
        "generated.reduction",
        "norm__ScalarOpt_dim_dtype",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "norm.ScalarOpt_dtype": Row(
        "generated.reduction",
        "norm__ScalarOpt_dtype",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "norm.ScalarOpt_dtype_out": Row(
        "generated.reduction",
        "norm__ScalarOpt_dtype",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "norm.Scalar_out": Row(
        "generated.reduction",
        "norm__Scalar",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "norm.dtype_out": Row(
        "generated.reduction",
        "norm__ScalarOpt_dim_dtype",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "norm.out": Row(
        "generated.reduction",
        "norm__ScalarOpt_dim",
        "out",
        special=(("p", (0, 1, 2, float("inf"), -float("inf"), "sign")),),
        dtypes=(("", "floating complex"),),
    ),
    "normal.Tensor_Tensor": Row(
        "generated.random",
        "normal__Tensor_Tensor",
        random=True,
        conditions="random.normal__Tensor_Tensor__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.Tensor_Tensor_out": Row(
        "generated.random",
        "normal__Tensor_Tensor",
        "out",
        random=True,
        conditions="random.normal__Tensor_Tensor__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.Tensor_float": Row(
        "generated.random",
        "normal__Tensor_float",
        random=True,
        conditions="random.normal__Tensor_float__checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal.Tensor_float_out": Row(
        "generated.random",
        "normal__Tensor_float",
        "out",
        random=True,
        conditions="random.normal__Tensor_float__checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal.float_Tensor": Row(
        "generated.random",
        "normal__float_Tensor",
        random=True,
        conditions="random.normal__float_Tensor__checks",
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.float_Tensor_out": Row(
        "generated.random",
        "normal__float_Tensor",
        "out",
        random=True,
        conditions="random.normal__float_Tensor__checks",
        checks=(("RuntimeError", "normal expects all elements of std >= 0.0"),),
    ),
    "normal.float_float": Row(
        "generated.random",
        "normal__float_float",
        random=True,
        conditions="random.normal__float_float__checks",
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal.float_float_out": Row(
        "generated.random",
        "normal__float_float",
        "out",
        random=True,
        conditions="random.normal__float_float__checks",
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal.out": Row(
        "generated.random",
        "normal_functional",
        "out",
        random=True,
        conditions="random.normal_functional__checks",
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal_": Row(
        "kernels.random",
        "normal_",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.normal___checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "normal_functional": Row(
        "generated.random",
        "normal_functional",
        random=True,
        conditions="random.normal_functional__checks",
        checks=(("RuntimeError", "normal expects std >= 0.0"),),
    ),
    "ones": Row("generated.creation", "ones"),
    "ones.out": Row("generated.creation", "ones", "out"),
    "ones_like": Row("generated.creation", "ones_like"),
    "ones_like.out": Row("generated.creation", "ones_like", "out"),
    "ormqr": Row("kernels.qr", "ormqr", dtypes=(("", "floating complex"),)),
    "ormqr.out": Row("kernels.qr", "ormqr", "out", dtypes=(("", "floating complex"),)),
    "pixel_shuffle": Row("kernels.shuffle", "pixel_shuffle", dtypes=(("", "not unsigned float8"),)),
    "pixel_shuffle.out": Row("kernels.shuffle", "pixel_shuffle", "out", dtypes=(("", "not unsigned float8"),)),
    "pixel_unshuffle": Row("kernels.shuffle", "pixel_unshuffle", dtypes=(("", "not unsigned float8"),)),
    "pixel_unshuffle.out": Row("kernels.shuffle", "pixel_unshuffle", "out", dtypes=(("", "not unsigned float8"),)),
    "poisson": Row(
        "generated.random",
        "poisson",
        random=True,
        conditions="random.poisson__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "invalid Poisson rate, expected rate to be non-negative"),),
    ),
    "poisson.out": Row(
        "generated.random",
        "poisson",
        "out",
        random=True,
        conditions="random.poisson__checks",
        dtypes=(("", "floating"),),
        checks=(("RuntimeError", "invalid Poisson rate, expected rate to be non-negative"),),
    ),
    "polar": Row("generated.pointwise", "polar", dtypes=(("", "floating"),)),
    "polar.out": Row("generated.pointwise", "polar", "out", dtypes=(("", "floating"),)),
    "polygamma": Row("generated.special", "polygamma", dtypes=(("", "not complex float8"),)),
    "polygamma.out": Row("generated.special", "polygamma", "out", dtypes=(("", "not complex float8"),)),
    "pow.Scalar": Row("generated.pointwise", "pow__Scalar", dtypes=(("", "not unsigned float8"),)),
    "pow.Scalar_out": Row("generated.pointwise", "pow__Scalar", "out", dtypes=(("", "not unsigned float8"),)),
    "pow.Tensor_Scalar": Row(
        "kernels.pointwise",
        "power_scalar",
        special=(("exponent", (-4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, "sign")),),
        dtypes=(("", "not unsigned float8"),),
    ),
    "pow.Tensor_Scalar_out": Row(
        "kernels.pointwise",
        "power_scalar",
        "out",
        special=(("exponent", (-4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, "sign")),),
        dtypes=(("", "not unsigned float8"),),
    ),
    "pow.Tensor_Tensor": Row("generated.pointwise", "pow__Tensor_Tensor", dtypes=(("", "not bool unsigned float8"),)),
    "pow.Tensor_Tensor_out": Row(
        "generated.pointwise", "pow__Tensor_Tensor", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "pow_.Scalar": Row(
        "kernels.pointwise",
        "power_scalar",
        "inplace",
        special=(("exponent", (-4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, "sign")),),
        dtypes=(("", "not unsigned float8"),),
    ),
    "pow_.Tensor": Row(
        "generated.pointwise", "pow__Tensor_Tensor", "inplace", dtypes=(("", "not bool unsigned float8"),)
    ),
    "prod": Row("generated.reduction", "prod", dtypes=(("", "not float8"),)),
    "prod.dim_int": Row("generated.reduction", "prod__dim_int", dtypes=(("", "not float8"),)),
    "prod.int_out": Row(
        "generated.reduction",
        "prod__dim_int",
        "out",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "not float8"),),
    ),
    "prod.out": Row(
        "generated.reduction",
        "prod",
        "out",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "not float8"),),
    ),
    "put": Row(
        "kernels.indexing",
        "put",
        conditions="indexing.put__checks",
        prepare=("preparations.alert_not_deterministic", "put_"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "put.out": Row(
        "kernels.indexing",
        "put",
        "out",
        conditions="indexing.put__checks",
        prepare=("preparations.alert_not_deterministic", "put_"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "put_": Row(
        "kernels.indexing",
        "put",
        "inplace",
        conditions="indexing.put__checks",
        prepare=("preparations.alert_not_deterministic", "put_"),
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "rad2deg": Row("generated.pointwise", "rad2deg", dtypes=(("", "not complex float8"),)),
    "rad2deg.out": Row("generated.pointwise", "rad2deg", "out", dtypes=(("", "not complex float8"),)),
    "rad2deg_": Row("generated.pointwise", "rad2deg", "inplace", dtypes=(("", "not complex float8"),)),
    "rand": Row("kernels.random", "rand", random=True),
    "rand.generator": Row("generated.random", "rand__generator", random=True),
    "rand.out": Row("kernels.random", "rand", "out", random=True),
    "rand_like": Row(
        "generated.random",
        "rand_like",
        random=True,
        prepare=("preparations.on_named_device", "device"),
        dtypes=(("", "floating complex"),),
    ),
    "rand_like.generator": Row(
        "generated.random", "rand_like__generator", random=True, prepare=("preparations.on_named_device", "device")
    ),
    "rand_like.generator_out": Row(
        "generated.random",
        "rand_like__generator",
        "out",
        random=True,
        prepare=("preparations.on_named_device", "device"),
    ),
    "rand_like.out": Row(
        "generated.random",
        "rand_like",
        "out",
        random=True,
        prepare=("preparations.on_named_device", "device"),
        dtypes=(("", "floating complex"),),
    ),
    "randint": Row(
        "generated.random",
        "randint",
        random=True,
        special=(("high", ()),),
        guard=("range_checks.integers_below", "high", "dtype"),
    ),
    "randint.generator": Row(
        "generated.random",
        "randint__generator",
        random=True,
        special=(("high", ()),),
        guard=("range_checks.integers_below", "high", "dtype"),
    ),
    "randint.generator_out": Row(
        "generated.random",
        "randint__generator",
        "out",
        random=True,
        special=(("high", ()),),
        guard=("range_checks.integers_below", "high", "dtype"),
    ),
    "randint.low": Row(
        "kernels.random",
        "randint",
        random=True,
        special=(("low", (0,)), ("high", ())),
        guard=("range_checks.integer_range", "low", "high", "dtype"),
    ),
    "randint.low_generator": Row(
        "generated.random",
        "randint__low_generator",
        random=True,
        special=(("low", (0,)), ("high", ())),
        guard=("range_checks.integer_range", "low", "high", "dtype"),
    ),
    "randint.low_generator_out": Row(
        "generated.random",
        "randint__low_generator",
        "out",
        random=True,
        special=(("low", (0,)), ("high", ())),
        guard=("range_checks.integer_range", "low", "high", "dtype"),
    ),
    "randint.low_out": Row(
        "kernels.random",
        "randint",
        "out",
        random=True,
        special=(("low", (0,)), ("high", ())),
        guard=("range_checks.integer_range", "low", "high", "dtype"),
    ),
    "randint.out": Row(
        "generated.random",
        "randint",
        "out",
        random=True,
        special=(("high", ()),),
        guard=("range_checks.integers_below", "high", "dtype"),
    ),
    "randint_like": Row(
        "generated.random",
        "randint_like",
        random=True,
        special=(("high", ()),),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integers_below_like", "self", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randint_like.Tensor": Row(
        "kernels.random",
        "randint_like",
        random=True,
        conditions="random.randint_like__Tensor__checks",
        prepare=("preparations.on_named_device", "device"),
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.Tensor_generator": Row(
        "generated.random",
        "randint_like__Tensor_generator",
        random=True,
        conditions="random.randint_like__Tensor_generator__checks",
        prepare=("preparations.on_named_device", "device"),
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.Tensor_generator_out": Row(
        "generated.random",
        "randint_like__Tensor_generator",
        "out",
        random=True,
        conditions="random.randint_like__Tensor_generator__checks",
        prepare=("preparations.on_named_device", "device"),
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.Tensor_out": Row(
        "kernels.random",
        "randint_like",
        "out",
        random=True,
        conditions="random.randint_like__Tensor__checks",
        prepare=("preparations.on_named_device", "device"),
        checks=(("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=0 >= to"),),
    ),
    "randint_like.generator": Row(
        "generated.random",
        "randint_like__generator",
        random=True,
        special=(("high", ()),),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integers_below_like", "self", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randint_like.generator_out": Row(
        "generated.random",
        "randint_like__generator",
        "out",
        random=True,
        special=(("high", ()),),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integers_below_like", "self", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randint_like.low_dtype": Row(
        "generated.random",
        "randint_like__low_dtype",
        random=True,
        special=(("low", (0,)), ("high", ())),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integer_range_like", "self", "low", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randint_like.low_dtype_out": Row(
        "generated.random",
        "randint_like__low_dtype",
        "out",
        random=True,
        special=(("low", (0,)), ("high", ())),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integer_range_like", "self", "low", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randint_like.low_generator_dtype": Row(
        "generated.random",
        "randint_like__low_generator_dtype",
        random=True,
        special=(("low", (0,)), ("high", ())),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integer_range_like", "self", "low", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randint_like.low_generator_dtype_out": Row(
        "generated.random",
        "randint_like__low_generator_dtype",
        "out",
        random=True,
        special=(("low", (0,)), ("high", ())),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integer_range_like", "self", "low", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randint_like.out": Row(
        "generated.random",
        "randint_like",
        "out",
        random=True,
        special=(("high", ()),),
        prepare=("preparations.on_named_device", "device"),
        guard=("range_checks.integers_below_like", "self", "high", "dtype"),
        dtypes=(("", "not complex float8"),),
    ),
    "randn": Row("kernels.random", "randn", random=True),
    "randn.generator": Row("generated.random", "randn__generator", random=True),
    "randn_like": Row(
        "generated.random",
        "randn_like",
        random=True,
        prepare=("preparations.on_named_device", "device"),
        dtypes=(("", "floating complex"),),
    ),
    "randn_like.generator": Row(
        "generated.random", "randn_like__generator", random=True, prepare=("preparations.on_named_device", "device")
    ),
    "randn_like.generator_out": Row(
        "generated.random",
        "randn_like__generator",
        "out",
        random=True,
        prepare=("preparations.on_named_device", "device"),
    ),
    "randn_like.out": Row(
        "generated.random",
        "randn_like",
        "out",
        random=True,
        prepare=("preparations.on_named_device", "device"),
        dtypes=(("", "floating complex"),),
    ),
    "random": Row("generated.random", "random_", random=True, dtypes=(("", "not complex float8"),)),
    "random.from": Row(
        "kernels.random",
        "random_from",
        random=True,
        special=(("from_", (0,)), ("to", ())),
        guard=("range_checks.random_range", "self", "from_", "to"),
        dtypes=(("", "not complex float8"),),
    ),
    "random.from_out": Row(
        "kernels.random",
        "random_from",
        "out",
        random=True,
        special=(("from_", (0,)), ("to", ())),
        guard=("range_checks.random_range", "self", "from_", "to"),
        dtypes=(("", "not complex float8"),),
    ),
    "random.out": Row("generated.random", "random_", "out", random=True, dtypes=(("", "not complex float8"),)),
    "random.to": Row(
        "generated.random",
        "random___to",
        random=True,
        special=(("to", ()),),
        guard=("range_checks.random_below", "self", "to"),
        dtypes=(("", "not complex float8"),),
    ),
    "random.to_out": Row(
        "generated.random",
        "random___to",
        "out",
        random=True,
        special=(("to", ()),),
        guard=("range_checks.random_below", "self", "to"),
        dtypes=(("", "not complex float8"),),
    ),
    "random_": Row(
        "generated.random", "random_", "inplace", random=True, overwrites=True, dtypes=(("", "not complex float8"),)
    ),
    "random_.from": Row(
        "kernels.random",
        "random_from",
        "inplace",
        random=True,
        special=(("from_", (0,)), ("to", ())),
        overwrites=True,
        guard=("range_checks.random_range", "self", "from_", "to"),
        dtypes=(("", "not complex float8"),),
    ),
    "random_.to": Row(
        "generated.random",
        "random___to",
        "inplace",
        random=True,
        special=(("to", ()),),
        overwrites=True,
        guard=("range_checks.random_below", "self", "to"),
        dtypes=(("", "not complex float8"),),
    ),
    "randperm": Row("kernels.random", "randperm", random=True),
    "randperm.generator": Row("generated.random", "randperm__generator", random=True),
    "randperm.generator_out": Row("generated.random", "randperm__generator", "out", random=True),
    "randperm.out": Row("kernels.random", "randperm", "out", random=True),
    "range": Row("generated.creation", "range", static=("start", "end")),
    "range.out": Row(
        "kernels.creation", "closed_range", "out", static=("start", "end", "step"), results="result_layouts.kept_out"
    ),
    "range.out_": Row("generated.creation", "range", "out", static=("start", "end"), results="result_layouts.kept_out"),
    "range.step": Row("kernels.creation", "closed_range", static=("start", "end", "step")),
    "reciprocal": Row("generated.pointwise", "reciprocal", dtypes=(("", "not float8"),)),
    "reciprocal.out": Row("generated.pointwise", "reciprocal", "out", dtypes=(("", "not float8"),)),
    "reciprocal_": Row("generated.pointwise", "reciprocal", "inplace", dtypes=(("", "not float8"),)),
    "reflection_pad1d": Row("kernels.pad", "reflection_pad", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad1d.out": Row("kernels.pad", "reflection_pad", "out", dtypes=(("", "not bool unsigned float8"),)),
    "reflection_pad1d_backward": Row("kernels.pad", "reflection_pad_backward"),
    "reflection_pad1d_backward.grad_input": Row("kernels.pad", "reflection_pad_backward", "out"),
    "reflection_pad2d": Row(
        "kernels.pad", "reflection_pad", results="result_layouts.like_image", dtypes=(("", "not bool unsigned float8"),)
    ),
    "reflection_pad2d.out": Row(
        "kernels.pad",
        "reflection_pad",
        "out",
        results="result_layouts.like_image",
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "reflection_pad2d_backward": Row("kernels.pad", "reflection_pad_backward", results="result_layouts.like_image"),
    "reflection_pad2d_backward.grad_input": Row(
        "kernels.pad", "reflection_pad_backward", "out", results="result_layouts.like_image"
    ),
    "reflection_pad3d": Row(
        "kernels.pad", "reflection_pad", results="result_layouts.like_image", dtypes=(("", "not bool unsigned float8"),)
    ),
    "reflection_pad3d.out": Row(
        "kernels.pad",
        "reflection_pad",
        "out",
        results="result_layouts.like_image",
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "reflection_pad3d_backward": Row("kernels.pad", "reflection_pad_backward", results="result_layouts.like_image"),
    "reflection_pad3d_backward.grad_input": Row(
        "kernels.pad", "reflection_pad_backward", "out", results="result_layouts.like_image"
    ),
    "relu": Row("generated.activation", "relu", dtypes=(("", "integral floating"),)),
    "relu.out": Row("generated.activation", "relu", "out", dtypes=(("", "integral floating"),)),
    "relu_": Row("generated.activation", "relu", "inplace", dtypes=(("", "integral floating"),)),
    "remainder.Scalar": Row("generated.pointwise", "remainder__Scalar", dtypes=(("", "bool integral floating"),)),
    "remainder.Scalar_Tensor": Row(
        "generated.pointwise", "remainder__Scalar_Tensor", dtypes=(("", "not complex float8"),)
    ),
    "remainder.Scalar_Tensor_out": Row(
        "generated.pointwise", "remainder__Scalar_Tensor", "out", dtypes=(("", "not complex float8"),)
    ),
    "remainder.Scalar_out": Row(
        "generated.pointwise", "remainder__Scalar", "out", dtypes=(("", "bool integral floating"),)
    ),
    "remainder.Tensor": Row("generated.pointwise", "remainder__Tensor", dtypes=(("", "integral floating"),)),
    "remainder.Tensor_out": Row("generated.pointwise", "remainder__Tensor", "out", dtypes=(("", "integral floating"),)),
    "remainder_.Scalar": Row(
        "generated.pointwise", "remainder__Scalar", "inplace", dtypes=(("", "bool integral floating"),)
    ),
    "remainder_.Tensor": Row(
        "generated.pointwise", "remainder__Tensor", "inplace", dtypes=(("", "integral floating"),)
    ),
    "renorm": Row(
        "generated.reduction",
        "renorm",
        special=(("p", (0, 1, 2, float("inf"), "sign")), ("maxnorm", ("sign",))),
        dtypes=(("", "floating complex"),),
    ),
    "renorm.out": Row(
        "generated.reduction",
        "renorm",
        "out",
        special=(("p", (0, 1, 2, float("inf"), "sign")), ("maxnorm", ("sign",))),
        dtypes=(("", "floating complex"),),
    ),
    "renorm_": Row(
        "generated.reduction",
        "renorm",
        "inplace",
        special=(("p", (0, 1, 2, float("inf"), "sign")), ("maxnorm", ("sign",))),
        dtypes=(("", "floating complex"),),
    ),
    "repeat": Row("generated.shape", "repeat"),
    "repeat.out": Row("generated.shape", "repeat", "out"),
    "repeat_interleave.Tensor": Row(
        "kernels.shape",
        "repeat_interleave",
        dynamic="without output_size, the number of results is the sum of repeats",
        on_host="host.repeat_interleave",
        dtypes=(("", "int32 int64"),),
    ),
    "repeat_interleave.Tensor_out": Row(
        "kernels.shape",
        "repeat_interleave",
        "out",
        dynamic="without output_size, the number of results is the sum of repeats",
        on_host="host.repeat_interleave",
        dtypes=(("", "int32 int64"),),
    ),
    "replication_pad1d": Row("kernels.pad", "replication_pad", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad1d.out": Row("kernels.pad", "replication_pad", "out", dtypes=(("", "not bool unsigned float8"),)),
    "replication_pad1d_backward": Row("kernels.pad", "replication_pad_backward"),
    "replication_pad1d_backward.grad_input": Row("kernels.pad", "replication_pad_backward", "out"),
    "replication_pad2d": Row(
        "kernels.pad",
        "replication_pad",
        results="result_layouts.like_image",
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "replication_pad2d.out": Row(
        "kernels.pad",
        "replication_pad",
        "out",
        results="result_layouts.like_image",
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "replication_pad2d_backward": Row("kernels.pad", "replication_pad_backward", results="result_layouts.like_image"),
    "replication_pad2d_backward.grad_input": Row(
        "kernels.pad", "replication_pad_backward", "out", results="result_layouts.like_image"
    ),
    "replication_pad3d": Row(
        "kernels.pad",
        "replication_pad",
        results="result_layouts.like_image",
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "replication_pad3d.out": Row(
        "kernels.pad",
        "replication_pad",
        "out",
        results="result_layouts.like_image",
        dtypes=(("", "not bool unsigned float8"),),
    ),
    "replication_pad3d_backward": Row("kernels.pad", "replication_pad_backward", results="result_layouts.like_image"),
    "replication_pad3d_backward.grad_input": Row(
        "kernels.pad", "replication_pad_backward", "out", results="result_layouts.like_image"
    ),
    "rnn_relu.data": Row(
        "kernels.recurrent",
        "rnn_relu_data",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        prepare=("preparations.to_device", "batch_sizes"),
        results="result_layouts.of_all_steps",
        dtypes=(("data", "integral floating"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "rnn_relu.input": Row(
        "kernels.recurrent",
        "rnn_relu_input",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        results="result_layouts.of_all_steps",
        dtypes=(("", "integral floating"),),
        grad="vjp",
    ),
    "rnn_tanh.data": Row(
        "kernels.recurrent",
        "rnn_tanh_data",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        prepare=("preparations.to_device", "batch_sizes"),
        results="result_layouts.of_all_steps",
        dtypes=(("data", "floating complex"), ("batch_sizes", "int64")),
        grad="vjp",
    ),
    "rnn_tanh.input": Row(
        "kernels.recurrent",
        "rnn_tanh_input",
        random=True,
        static=("dropout",),
        draws_if=("dropout", "train"),
        results="result_layouts.of_all_steps",
        dtypes=(("", "floating complex"),),
        grad="vjp",
    ),
    "roll": Row("kernels.shape", "roll", special=(("shifts", ()),), results="result_layouts.like_rolled"),
    "roll.out": Row("kernels.shape", "roll", "out", special=(("shifts", ()),), results="result_layouts.like_rolled"),
    "rot90": Row("generated.shape", "rot90"),
    "rot90.out": Row("generated.shape", "rot90", "out"),
    "round": Row("generated.pointwise", "round", dtypes=(("", "not bool complex float8"),)),
    "round.decimals": Row(
        "generated.pointwise", "round__decimals", special=(("decimals", (0, "sign")),), dtypes=(("", "floating"),)
    ),
    "round.decimals_out": Row(
        "generated.pointwise",
        "round__decimals",
        "out",
        special=(("decimals", (0, "sign")),),
        dtypes=(("", "floating"),),
    ),
    "round.out": Row("generated.pointwise", "round", "out", dtypes=(("", "not bool complex float8"),)),
    "round_": Row("generated.pointwise", "round", "inplace", dtypes=(("", "not bool complex float8"),)),
    "round_.decimals": Row(
        "generated.pointwise",
        "round__decimals",
        "inplace",
        special=(("decimals", (0, "sign")),),
        dtypes=(("", "floating"),),
    ),
    "rrelu_with_noise": Row(
        "generated.activation",
        "rrelu_with_noise",
        "inplace",
        random=True,
        draws_if=("training",),
        results="result_layouts.contiguous",
        dtypes=(("", "floating"),),
    ),
    "rrelu_with_noise.out": Row(
        "generated.activation",
        "rrelu_with_noise",
        "out",
        random=True,
        draws_if=("training",),
        results="result_layouts.contiguous",
        dtypes=(("", "floating"),),
    ),
    "rrelu_with_noise_": Row(
        "generated.activation",
        "rrelu_with_noise",
        "inplace",
        random=True,
        draws_if=("training",),
        results="result_layouts.contiguous",
        dtypes=(("", "floating"),),
    ),
    "rrelu_with_noise_backward": Row(
        "kernels.activation",
        "rrelu_with_noise_backward",
        guard=("range_checks.slope_of_rrelu", "lower", "upper", "training", "self_is_result"),
    ),
    "rrelu_with_noise_backward.out": Row(
        "kernels.activation",
        "rrelu_with_noise_backward",
        "out",
        guard=("range_checks.slope_of_rrelu", "lower", "upper", "training", "self_is_result"),
    ),
    "rrelu_with_noise_functional": Row(
        "generated.activation",
        "rrelu_with_noise",
        random=True,
        draws_if=("training",),
        results="result_layouts.contiguous",
        dtypes=(("", "floating"),),
    ),
    "rsqrt": Row("generated.pointwise", "rsqrt", dtypes=(("", "not float8"),)),
    "rsqrt.out": Row("generated.pointwise", "rsqrt", "out", dtypes=(("", "not float8"),)),
    "rsqrt_": Row("generated.pointwise", "rsqrt", "inplace", dtypes=(("", "not float8"),)),
    "rsub.Scalar": Row("generated.pointwise", "rsub__Scalar", dtypes=(("", "not bool unsigned float8"),)),
    "rsub.Scalar_out": Row("generated.pointwise", "rsub__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)),
    "rsub.Tensor": Row("generated.pointwise", "rsub__Tensor", dtypes=(("", "not bool unsigned float8"),)),
    "rsub.Tensor_out": Row("generated.pointwise", "rsub__Tensor", "out", dtypes=(("", "not bool unsigned float8"),)),
    "scalar_tensor": Row("generated.creation", "scalar_tensor"),
    "scalar_tensor.out": Row("generated.creation", "scalar_tensor", "out"),
    "scaled_dot_product_attention": Row(
        "kernels.attention",
        "scaled_dot_product_attention",
        random=True,
        special=(("dropout_p", (0, "wide", "cpu")), ("scale", ("cpu",))),
        draws_if=("dropout_p",),
        guard=("range_checks.probability", "dropout_p"),
        results="result_layouts.like_query",
        dtypes=(("query", "floating"),),
        grad="vjp",
    ),
    "scatter.reduce": Row(
        "generated.indexing",
        "scatter__reduce",
        conditions="indexing.scatter__reduce__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.reduce_out": Row(
        "generated.indexing",
        "scatter__reduce",
        "out",
        conditions="indexing.scatter__reduce__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.src": Row(
        "kernels.scatter",
        "scatter",
        conditions="indexing.scatter__src__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.src_out": Row(
        "kernels.scatter",
        "scatter",
        "out",
        conditions="indexing.scatter__src__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value": Row(
        "generated.indexing",
        "scatter__value",
        conditions="indexing.scatter__value__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value_out": Row(
        "generated.indexing",
        "scatter__value",
        "out",
        conditions="indexing.scatter__value__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value_reduce": Row(
        "generated.indexing",
        "scatter__value_reduce",
        conditions="indexing.scatter__value_reduce__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter.value_reduce_out": Row(
        "generated.indexing",
        "scatter__value_reduce",
        "out",
        conditions="indexing.scatter__value_reduce__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.reduce": Row(
        "generated.indexing",
        "scatter__reduce",
        "inplace",
        conditions="indexing.scatter__reduce__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.src": Row(
        "kernels.scatter",
        "scatter",
        "inplace",
        conditions="indexing.scatter__src__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.value": Row(
        "generated.indexing",
        "scatter__value",
        "inplace",
        conditions="indexing.scatter__value__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_.value_reduce": Row(
        "generated.indexing",
        "scatter__value_reduce",
        "inplace",
        conditions="indexing.scatter__value_reduce__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_add": Row(
        "generated.indexing",
        "scatter_add",
        conditions="indexing.scatter_add__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_add.out": Row(
        "generated.indexing",
        "scatter_add",
        "out",
        conditions="indexing.scatter_add__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_add_": Row(
        "generated.indexing",
        "scatter_add",
        "inplace",
        conditions="indexing.scatter_add__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_reduce.two": Row(
        "kernels.scatter",
        "scatter_reduce",
        conditions="indexing.scatter_reduce__two__checks",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_reduce.two_out": Row(
        "kernels.scatter",
        "scatter_reduce",
        "out",
        conditions="indexing.scatter_reduce__two__checks",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "scatter_reduce_.two": Row(
        "kernels.scatter",
        "scatter_reduce",
        "inplace",
        conditions="indexing.scatter_reduce__two__checks",
        dtypes=(("self", "integral floating"), ("index", "int32 int64")),
        checks=(("RuntimeError", "index is out of bounds for dimension `dim` of self with its size"),),
    ),
    "searchsorted.Scalar": Row(
        "generated.search",
        "searchsorted__Scalar",
        conditions="search.searchsorted__Scalar__checks",
        dtypes=(("", "not complex float8"),),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "searchsorted.Scalar_out": Row(
        "generated.search",
        "searchsorted__Scalar",
        "out",
        conditions="search.searchsorted__Scalar__checks",
        dtypes=(("", "not complex float8"),),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "searchsorted.Tensor": Row(
        "kernels.search",
        "searchsorted",
        conditions="search.searchsorted__Tensor__checks",
        dtypes=(("sorted_sequence", "not complex float8"), ("self", "not complex float8"), ("sorter", "int64")),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "searchsorted.Tensor_out": Row(
        "kernels.search",
        "searchsorted",
        "out",
        conditions="search.searchsorted__Tensor__checks",
        dtypes=(("sorted_sequence", "not complex float8"), ("self", "not complex float8"), ("sorter", "int64")),
        checks=(("RuntimeError", "torch.searchsorted(): sorter index out of range"),),
    ),
    "segment_reduce": Row(
        "generated.segment",
        "segment_reduce",
        conditions="segment.segment_reduce__checks",
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
        "generated.segment",
        "segment_reduce",
        "out",
        conditions="segment.segment_reduce__checks",
        dtypes=(("data", "floating"), ("lengths", "int32 int64"), ("offsets", "int32 int64")),
        checks=(
            ("RuntimeError", "lengths contains negative value!"),
            (
                "RuntimeError",
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.",
            ),
        ),
    ),
    "select_backward": Row(
        "kernels.slices",
        "select_backward",
        special=(("index", ()),),
        guard=("place_checks.index_in_axis", "input_sizes", "dim", "index"),
    ),
    "select_backward.out": Row(
        "kernels.slices",
        "select_backward",
        "out",
        special=(("index", ()),),
        guard=("place_checks.index_in_axis", "input_sizes", "dim", "index"),
    ),
    "select_scatter": Row(
        "kernels.slices",
        "select_scatter",
        special=(("index", ()),),
        guard=("place_checks.index_in_axis_of", "self", "dim", "index"),
    ),
    "select_scatter.out": Row(
        "kernels.slices",
        "select_scatter",
        "out",
        special=(("index", ()),),
        guard=("place_checks.index_in_axis_of", "self", "dim", "index"),
    ),
    "sgn": Row("generated.pointwise", "sgn", dtypes=(("", "not unsigned float8"),)),
    "sgn.out": Row("generated.pointwise", "sgn", "out", dtypes=(("", "not unsigned float8"),)),
    "sgn_": Row("generated.pointwise", "sgn", "inplace", dtypes=(("", "not unsigned float8"),)),
    "sigmoid": Row("generated.activation", "sigmoid", dtypes=(("", "not float8"),)),
    "sigmoid.out": Row("generated.activation", "sigmoid", "out", dtypes=(("", "not float8"),)),
    "sigmoid_": Row("generated.activation", "sigmoid", "inplace", dtypes=(("", "not float8"),)),
    "sigmoid_backward": Row("generated.activation", "sigmoid_backward"),
    "sigmoid_backward.grad_input": Row("generated.activation", "sigmoid_backward", "out"),
    "sign": Row("generated.pointwise", "sign", dtypes=(("", "bool integral floating"),)),
    "sign.out": Row("generated.pointwise", "sign", "out", dtypes=(("", "bool integral floating"),)),
    "sign_": Row("generated.pointwise", "sign", "inplace", dtypes=(("", "bool integral floating"),)),
    "signbit": Row("generated.pointwise", "signbit", dtypes=(("", "not complex float8"),)),
    "signbit.out": Row("generated.pointwise", "signbit", "out", dtypes=(("", "not complex float8"),)),
    "silu": Row("generated.activation", "silu", dtypes=(("", "floating complex"),)),
    "silu.out": Row("generated.activation", "silu", "out", dtypes=(("", "floating complex"),)),
    "silu_": Row("generated.activation", "silu", "inplace", dtypes=(("", "floating complex"),)),
    "silu_backward": Row("generated.activation", "silu_backward", grad="vjp"),
    "silu_backward.grad_input": Row("generated.activation", "silu_backward", "out", grad="vjp"),
    "sin": Row("generated.pointwise", "sin", dtypes=(("", "not float8"),)),
    "sin.out": Row("generated.pointwise", "sin", "out", dtypes=(("", "not float8"),)),
    "sin_": Row("generated.pointwise", "sin", "inplace", dtypes=(("", "not float8"),)),
    "sinc": Row("generated.pointwise", "sinc", dtypes=(("", "not float8"),)),
    "sinc.out": Row("generated.pointwise", "sinc", "out", dtypes=(("", "not float8"),)),
    "sinc_": Row("generated.pointwise", "sinc", "inplace", dtypes=(("", "not float8"),)),
    "sinh": Row("generated.pointwise", "sinh", dtypes=(("", "not float8"),)),
    "sinh.out": Row("generated.pointwise", "sinh", "out", dtypes=(("", "not float8"),)),
    "sinh_": Row("generated.pointwise", "sinh", "inplace", dtypes=(("", "not float8"),)),
    "slice_backward": Row(
        "kernels.slices",
        "slice_backward",
        special=(("start", (0,)), ("end", (9223372036854775807,))),
        guard=("place_checks.slice_of_length", "grad_output", "input_sizes", "dim", "start", "end", "step"),
    ),
    "slice_backward.out": Row(
        "kernels.slices",
        "slice_backward",
        "out",
        special=(("start", (0,)), ("end", (9223372036854775807,))),
        guard=("place_checks.slice_of_length", "grad_output", "input_sizes", "dim", "start", "end", "step"),
    ),
    "slice_scatter": Row(
        "kernels.slices",
        "slice_scatter",
        special=(("start", (0,)), ("end", (9223372036854775807,))),
        guard=("place_checks.slice_of_size", "self", "src", "dim", "start", "end", "step"),
    ),
    "slice_scatter.out": Row(
        "kernels.slices",
        "slice_scatter",
        "out",
        special=(("start", (0,)), ("end", (9223372036854775807,))),
        guard=("place_checks.slice_of_size", "self", "src", "dim", "start", "end", "step"),
    ),
    "slow_conv3d_forward": Row("generated.conv", "slow_conv3d_forward", dtypes=(("", "integral floating"),)),
    "slow_conv3d_forward.output": Row(
        "generated.conv", "slow_conv3d_forward", "out", dtypes=(("", "integral floating"),)
    ),
    "slow_conv_dilated2d": Row("generated.conv", "slow_conv_dilated2d", dtypes=(("", "int64 floating"),)),
    "slow_conv_dilated2d.out": Row("generated.conv", "slow_conv_dilated2d", "out", dtypes=(("", "int64 floating"),)),
    "slow_conv_dilated3d": Row("generated.conv", "slow_conv_dilated3d", dtypes=(("", "int64 floating"),)),
    "slow_conv_dilated3d.out": Row("generated.conv", "slow_conv_dilated3d", "out", dtypes=(("", "int64 floating"),)),
    "slow_conv_transpose2d": Row("generated.conv", "slow_conv_transpose2d", dtypes=(("", "int64 floating"),)),
    "slow_conv_transpose2d.out": Row(
        "generated.conv", "slow_conv_transpose2d", "out", dtypes=(("", "int64 floating"),)
    ),
    "slow_conv_transpose3d": Row("generated.conv", "slow_conv_transpose3d", dtypes=(("", "int64 floating"),)),
    "slow_conv_transpose3d.out": Row(
        "generated.conv", "slow_conv_transpose3d", "out", dtypes=(("", "int64 floating"),)
    ),
    "smooth_l1_loss": Row(
        "generated.loss", "smooth_l1_loss", special=(("beta", (1, "sign")),), dtypes=(("", "floating"),)
    ),
    "smooth_l1_loss.out": Row(
        "generated.loss", "smooth_l1_loss", "out", special=(("beta", (1, "sign")),), dtypes=(("", "floating"),)
    ),
    "smooth_l1_loss_backward": Row("generated.loss", "smooth_l1_loss_backward", results="result_layouts.contiguous"),
    "smooth_l1_loss_backward.grad_input": Row(
        "generated.loss", "smooth_l1_loss_backward", "out", results="result_layouts.contiguous"
    ),
    "soft_margin_loss": Row("generated.loss", "soft_margin_loss", dtypes=(("", "not bool unsigned float8"),)),
    "soft_margin_loss.out": Row(
        "generated.loss", "soft_margin_loss", "out", dtypes=(("", "not bool unsigned float8"),)
    ),
    "soft_margin_loss_backward": Row("generated.loss", "soft_margin_loss_backward"),
    "soft_margin_loss_backward.grad_input": Row("generated.loss", "soft_margin_loss_backward", "out"),
    "softplus": Row("generated.activation", "softplus", dtypes=(("", "floating"),)),
    "softplus.out": Row("generated.activation", "softplus", "out", dtypes=(("", "floating"),)),
    "softplus_backward": Row("generated.activation", "softplus_backward", results="result_layouts.like_product"),
    "softplus_backward.grad_input": Row(
        "generated.activation", "softplus_backward", "out", results="result_layouts.like_product"
    ),
    "softshrink": Row("generated.activation", "softshrink", dtypes=(("", "floating"),)),
    "softshrink.out": Row("generated.activation", "softshrink", "out", dtypes=(("", "floating"),)),
    "softshrink_backward": Row("generated.activation", "softshrink_backward"),
    "softshrink_backward.grad_input": Row("generated.activation", "softshrink_backward", "out"),
    "sort": Row("generated.sort", "sort", dtypes=(("", "not complex float8"),)),
    "sort.stable": Row("generated.sort", "sort__stable", dtypes=(("", "not complex float8"),)),
    "sort.values": Row("generated.sort", "sort", "out", dtypes=(("", "not complex float8"),)),
    "sort.values_stable": Row("generated.sort", "sort__stable", "out", dtypes=(("", "not complex float8"),)),
    "special_airy_ai": Row("generated.special", "special_airy_ai", dtypes=(("", "not complex float8"),)),
    "special_airy_ai.out": Row("generated.special", "special_airy_ai", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_j0": Row("generated.special", "special_bessel_j0", dtypes=(("", "not complex float8"),)),
    "special_bessel_j0.out": Row("generated.special", "special_bessel_j0", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_j1": Row("generated.special", "special_bessel_j1", dtypes=(("", "not complex float8"),)),
    "special_bessel_j1.out": Row("generated.special", "special_bessel_j1", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_y0": Row("generated.special", "special_bessel_y0", dtypes=(("", "not complex float8"),)),
    "special_bessel_y0.out": Row("generated.special", "special_bessel_y0", "out", dtypes=(("", "not complex float8"),)),
    "special_bessel_y1": Row("generated.special", "special_bessel_y1", dtypes=(("", "not complex float8"),)),
    "special_bessel_y1.out": Row("generated.special", "special_bessel_y1", "out", dtypes=(("", "not complex float8"),)),
    "special_chebyshev_polynomial_t": Row(
        "generated.special", "special_chebyshev_polynomial_t", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.n_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_t__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.n_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_t__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.out": Row(
        "generated.special", "special_chebyshev_polynomial_t", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.x_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_t__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_t.x_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_t__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u": Row(
        "generated.special", "special_chebyshev_polynomial_u", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.n_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_u__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.n_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_u__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.out": Row(
        "generated.special", "special_chebyshev_polynomial_u", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.x_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_u__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_u.x_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_u__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v": Row(
        "generated.special", "special_chebyshev_polynomial_v", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.n_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_v__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.n_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_v__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.out": Row(
        "generated.special", "special_chebyshev_polynomial_v", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.x_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_v__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_v.x_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_v__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w": Row(
        "generated.special", "special_chebyshev_polynomial_w", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.n_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_w__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.n_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_w__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.out": Row(
        "generated.special", "special_chebyshev_polynomial_w", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.x_scalar": Row(
        "generated.special", "special_chebyshev_polynomial_w__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_chebyshev_polynomial_w.x_scalar_out": Row(
        "generated.special", "special_chebyshev_polynomial_w__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_entr": Row("generated.special", "special_entr", dtypes=(("", "not complex float8"),)),
    "special_entr.out": Row("generated.special", "special_entr", "out", dtypes=(("", "not complex float8"),)),
    "special_erfcx": Row("generated.special", "special_erfcx", dtypes=(("", "not complex float8"),)),
    "special_erfcx.out": Row("generated.special", "special_erfcx", "out", dtypes=(("", "not complex float8"),)),
    "special_hermite_polynomial_h": Row(
        "generated.special", "special_hermite_polynomial_h", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.n_scalar": Row(
        "generated.special", "special_hermite_polynomial_h__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.n_scalar_out": Row(
        "generated.special", "special_hermite_polynomial_h__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.out": Row(
        "generated.special", "special_hermite_polynomial_h", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.x_scalar": Row(
        "generated.special", "special_hermite_polynomial_h__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_h.x_scalar_out": Row(
        "generated.special", "special_hermite_polynomial_h__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he": Row(
        "generated.special", "special_hermite_polynomial_he", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.n_scalar": Row(
        "generated.special", "special_hermite_polynomial_he__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.n_scalar_out": Row(
        "generated.special", "special_hermite_polynomial_he__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.out": Row(
        "generated.special", "special_hermite_polynomial_he", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.x_scalar": Row(
        "generated.special", "special_hermite_polynomial_he__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_hermite_polynomial_he.x_scalar_out": Row(
        "generated.special", "special_hermite_polynomial_he__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_i0e": Row("generated.special", "special_i0e", dtypes=(("", "not complex float8"),)),
    "special_i0e.out": Row("generated.special", "special_i0e", "out", dtypes=(("", "not complex float8"),)),
    "special_i1": Row("generated.special", "special_i1", dtypes=(("", "not complex float8"),)),
    "special_i1.out": Row("generated.special", "special_i1", "out", dtypes=(("", "not complex float8"),)),
    "special_i1e": Row("generated.special", "special_i1e", dtypes=(("", "not complex float8"),)),
    "special_i1e.out": Row("generated.special", "special_i1e", "out", dtypes=(("", "not complex float8"),)),
    "special_laguerre_polynomial_l": Row(
        "generated.special", "special_laguerre_polynomial_l", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.n_scalar": Row(
        "generated.special", "special_laguerre_polynomial_l__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.n_scalar_out": Row(
        "generated.special", "special_laguerre_polynomial_l__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.out": Row(
        "generated.special", "special_laguerre_polynomial_l", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.x_scalar": Row(
        "generated.special", "special_laguerre_polynomial_l__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_laguerre_polynomial_l.x_scalar_out": Row(
        "generated.special", "special_laguerre_polynomial_l__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p": Row(
        "generated.special", "special_legendre_polynomial_p", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.n_scalar": Row(
        "generated.special", "special_legendre_polynomial_p__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.n_scalar_out": Row(
        "generated.special", "special_legendre_polynomial_p__n_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.out": Row(
        "generated.special", "special_legendre_polynomial_p", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.x_scalar": Row(
        "generated.special", "special_legendre_polynomial_p__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_legendre_polynomial_p.x_scalar_out": Row(
        "generated.special", "special_legendre_polynomial_p__x_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_log_ndtr": Row("generated.special", "special_log_ndtr", dtypes=(("", "not complex float8"),)),
    "special_log_ndtr.out": Row("generated.special", "special_log_ndtr", "out", dtypes=(("", "not complex float8"),)),
    "special_modified_bessel_i0": Row(
        "generated.special", "special_modified_bessel_i0", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_i0.out": Row(
        "generated.special", "special_modified_bessel_i0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_i1": Row(
        "generated.special", "special_modified_bessel_i1", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_i1.out": Row(
        "generated.special", "special_modified_bessel_i1", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_k0": Row(
        "generated.special", "special_modified_bessel_k0", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_k0.out": Row(
        "generated.special", "special_modified_bessel_k0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_k1": Row(
        "generated.special", "special_modified_bessel_k1", dtypes=(("", "not complex float8"),)
    ),
    "special_modified_bessel_k1.out": Row(
        "generated.special", "special_modified_bessel_k1", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_ndtri": Row("generated.special", "special_ndtri", dtypes=(("", "not complex float8"),)),
    "special_ndtri.out": Row("generated.special", "special_ndtri", "out", dtypes=(("", "not complex float8"),)),
    "special_scaled_modified_bessel_k0": Row(
        "generated.special", "special_scaled_modified_bessel_k0", dtypes=(("", "not complex float8"),)
    ),
    "special_scaled_modified_bessel_k0.out": Row(
        "generated.special", "special_scaled_modified_bessel_k0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_scaled_modified_bessel_k1": Row(
        "generated.special", "special_scaled_modified_bessel_k1", dtypes=(("", "not complex float8"),)
    ),
    "special_scaled_modified_bessel_k1.out": Row(
        "generated.special", "special_scaled_modified_bessel_k1", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_t", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.n_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_t__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.n_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_t__n_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_shifted_chebyshev_polynomial_t.out": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_t", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.x_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_t__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_t.x_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_t__x_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_shifted_chebyshev_polynomial_u": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_u", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.n_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_u__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.n_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_u__n_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_shifted_chebyshev_polynomial_u.out": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_u", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.x_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_u__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_u.x_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_u__x_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_shifted_chebyshev_polynomial_v": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_v", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.n_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_v__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.n_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_v__n_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_shifted_chebyshev_polynomial_v.out": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_v", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.x_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_v__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_v.x_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_v__x_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_shifted_chebyshev_polynomial_w": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_w", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.n_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_w__n_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.n_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_w__n_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_shifted_chebyshev_polynomial_w.out": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_w", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.x_scalar": Row(
        "generated.special", "special_shifted_chebyshev_polynomial_w__x_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_shifted_chebyshev_polynomial_w.x_scalar_out": Row(
        "generated.special",
        "special_shifted_chebyshev_polynomial_w__x_scalar",
        "out",
        dtypes=(("", "not complex float8"),),
    ),
    "special_spherical_bessel_j0": Row(
        "generated.special", "special_spherical_bessel_j0", dtypes=(("", "not complex float8"),)
    ),
    "special_spherical_bessel_j0.out": Row(
        "generated.special", "special_spherical_bessel_j0", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_xlog1py": Row("generated.special", "special_xlog1py", dtypes=(("", "not complex float8"),)),
    "special_xlog1py.other_scalar": Row(
        "generated.special", "special_xlog1py__other_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_xlog1py.other_scalar_out": Row(
        "generated.special", "special_xlog1py__other_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_xlog1py.out": Row("generated.special", "special_xlog1py", "out", dtypes=(("", "not complex float8"),)),
    "special_xlog1py.self_scalar": Row(
        "generated.special", "special_xlog1py__self_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_xlog1py.self_scalar_out": Row(
        "generated.special", "special_xlog1py__self_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_zeta": Row("generated.special", "special_zeta", dtypes=(("", "not complex float8"),)),
    "special_zeta.other_scalar": Row(
        "generated.special", "special_zeta__other_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_zeta.other_scalar_out": Row(
        "generated.special", "special_zeta__other_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "special_zeta.out": Row("generated.special", "special_zeta", "out", dtypes=(("", "not complex float8"),)),
    "special_zeta.self_scalar": Row(
        "generated.special", "special_zeta__self_scalar", dtypes=(("", "not complex float8"),)
    ),
    "special_zeta.self_scalar_out": Row(
        "generated.special", "special_zeta__self_scalar", "out", dtypes=(("", "not complex float8"),)
    ),
    "sqrt": Row("generated.pointwise", "sqrt", dtypes=(("", "not float8"),)),
    "sqrt.out": Row("generated.pointwise", "sqrt", "out", dtypes=(("", "not float8"),)),
    "sqrt_": Row("generated.pointwise", "sqrt", "inplace", dtypes=(("", "not float8"),)),
    "stack": Row("generated.shape", "stack"),
    "stack.out": Row("generated.shape", "stack", "out"),
    "std.correction": Row(
        "generated.reduction",
        "std__correction",
        special=(("correction", (0, 1)),),
        dtypes=(("self", "floating complex"), ("out", "not complex")),
    ),
    "std.correction_out": Row(
        "generated.reduction",
        "std__correction",
        "out",
        special=(("correction", (0, 1)),),
        prepare=("preparations.widen_to_out", "self"),
        dtypes=(("self", "floating complex"), ("out", "not complex")),
    ),
    "std_mean.correction": Row(
        "kernels.moments", "std_mean", special=(("correction", (0, 1)),), dtypes=(("", "floating complex"),)
    ),
    "std_mean.correction_out": Row(
        "kernels.moments", "std_mean", "out", special=(("correction", (0, 1)),), dtypes=(("", "floating complex"),)
    ),
    "sub.Scalar": Row("generated.pointwise", "sub__Scalar", dtypes=(("", "not bool unsigned float8"),)),
    "sub.Scalar_out": Row("generated.pointwise", "sub__Scalar", "out", dtypes=(("", "not bool unsigned float8"),)),
    "sub.Tensor": Row("generated.pointwise", "sub__Tensor", dtypes=(("", "not bool unsigned float8"),)),
    "sub.out": Row("generated.pointwise", "sub__Tensor", "out", dtypes=(("", "not bool unsigned float8"),)),
    "sub_.Scalar": Row("generated.pointwise", "sub__Scalar", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "sub_.Tensor": Row("generated.pointwise", "sub__Tensor", "inplace", dtypes=(("", "not bool unsigned float8"),)),
    "sum": Row("generated.reduction", "sum", dtypes=(("", "not float8"),)),
    "sum.IntList_out": Row(
        "generated.reduction",
        "sum__dim_IntList",
        "out",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "not float8"),),
    ),
    "sum.dim_IntList": Row("generated.reduction", "sum__dim_IntList", dtypes=(("", "not float8"),)),
    "sum.out": Row(
        "generated.reduction",
        "sum",
        "out",
        prepare=("preparations.dtype_of_out", "dtype"),
        dtypes=(("", "not float8"),),
    ),
    "take": Row(
        "generated.indexing",
        "take",
        conditions="indexing.take__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "take.out": Row(
        "generated.indexing",
        "take",
        "out",
        conditions="indexing.take__checks",
        dtypes=(("self", "not unsigned float8"), ("index", "int64")),
        checks=(("IndexError", "out of range: tried to access an index beyond the elements of the tensor"),),
    ),
    "tan": Row("generated.pointwise", "tan", dtypes=(("", "not float8"),)),
    "tan.out": Row("generated.pointwise", "tan", "out", dtypes=(("", "not float8"),)),
    "tan_": Row("generated.pointwise", "tan", "inplace", dtypes=(("", "not float8"),)),
    "tanh": Row("generated.activation", "tanh", dtypes=(("", "not float8"),)),
    "tanh.out": Row("generated.activation", "tanh", "out", dtypes=(("", "not float8"),)),
    "tanh_": Row("generated.activation", "tanh", "inplace", dtypes=(("", "not float8"),)),
    "tanh_backward": Row("generated.activation", "tanh_backward"),
    "tanh_backward.grad_input": Row("generated.activation", "tanh_backward", "out"),
    "threshold": Row("generated.activation", "threshold", dtypes=(("", "integral floating"),)),
    "threshold.out": Row("generated.activation", "threshold", "out", dtypes=(("", "integral floating"),)),
    "threshold_": Row("generated.activation", "threshold", "inplace", dtypes=(("", "integral floating"),)),
    "threshold_backward": Row("generated.activation", "threshold_backward"),
    "threshold_backward.grad_input": Row("generated.activation", "threshold_backward", "out"),
    "topk": Row("kernels.sort", "topk", dtypes=(("", "integral floating"),)),
    "topk.values": Row("kernels.sort", "topk", "out", dtypes=(("", "integral floating"),)),
    "torchvision::_deform_conv2d_backward": Row("kernels.deform", "_deform_conv2d_backward"),
    "torchvision::_ps_roi_align_backward": Row("kernels.roi", "_ps_roi_align_backward"),
    "torchvision::_roi_align_backward": Row("kernels.roi", "_roi_align_backward"),
    "torchvision::_roi_pool_backward": Row("kernels.roi", "_roi_pool_backward"),
    "torchvision::deform_conv2d": Row("kernels.deform", "deform_conv2d"),
    "torchvision::nms": Row("kernels.nms", "nms", dynamic="the number of boxes that are kept", on_host="host.nms"),
    "torchvision::ps_roi_align": Row("kernels.roi", "ps_roi_align"),
    "torchvision::roi_align": Row("kernels.roi", "roi_align"),
    "torchvision::roi_pool": Row("kernels.roi", "roi_pool"),
    "trace": Row("generated.reduction", "trace", dtypes=(("", "not unsigned float8"),)),
    "trace.out": Row("generated.reduction", "trace", "out", dtypes=(("", "not unsigned float8"),)),
    "triangular_solve": Row("kernels.triangular", "triangular_solve", dtypes=(("", "floating complex"),)),
    "triangular_solve.X": Row("kernels.triangular", "triangular_solve", "out", dtypes=(("", "floating complex"),)),
    "tril": Row("kernels.shape", "tril", special=(("diagonal", (-1, 0, 1)),), dtypes=(("", "not unsigned float8"),)),
    "tril.out": Row(
        "kernels.shape", "tril", "out", special=(("diagonal", (-1, 0, 1)),), dtypes=(("", "not unsigned float8"),)
    ),
    "tril_": Row(
        "kernels.shape", "tril", "inplace", special=(("diagonal", (-1, 0, 1)),), dtypes=(("", "not unsigned float8"),)
    ),
    "tril_indices": Row("kernels.creation", "tril_indices"),
    "tril_indices.out": Row("kernels.creation", "tril_indices", "out"),
    "triu": Row("kernels.shape", "triu", special=(("diagonal", (-1, 0, 1)),), dtypes=(("", "not unsigned float8"),)),
    "triu.out": Row(
        "kernels.shape", "triu", "out", special=(("diagonal", (-1, 0, 1)),), dtypes=(("", "not unsigned float8"),)
    ),
    "triu_": Row(
        "kernels.shape", "triu", "inplace", special=(("diagonal", (-1, 0, 1)),), dtypes=(("", "not unsigned float8"),)
    ),
    "triu_indices": Row("kernels.creation", "triu_indices"),
    "triu_indices.out": Row("kernels.creation", "triu_indices", "out"),
    "trunc": Row("generated.pointwise", "trunc", dtypes=(("", "not bool complex float8"),)),
    "trunc.out": Row("generated.pointwise", "trunc", "out", dtypes=(("", "not bool complex float8"),)),
    "trunc_": Row("generated.pointwise", "trunc", "inplace", dtypes=(("", "not bool complex float8"),)),
    "unfold_backward": Row("kernels.slices", "unfold_backward", results="result_layouts.of_input_sizes"),
    "unfold_backward.out": Row("kernels.slices", "unfold_backward", "out", results="result_layouts.of_input_sizes"),
    "uniform": Row(
        "kernels.random",
        "uniform_",
        random=True,
        conditions="random.uniform___checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "uniform_ expects to return a [from, to) range, but found from > to"),),
    ),
    "uniform.out": Row(
        "kernels.random",
        "uniform_",
        "out",
        random=True,
        conditions="random.uniform___checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "uniform_ expects to return a [from, to) range, but found from > to"),),
    ),
    "uniform_": Row(
        "kernels.random",
        "uniform_",
        "inplace",
        random=True,
        overwrites=True,
        conditions="random.uniform___checks",
        dtypes=(("", "floating complex"),),
        checks=(("RuntimeError", "uniform_ expects to return a [from, to) range, but found from > to"),),
    ),
    "unique_consecutive": Row(
        "kernels.unique",
        "unique_consecutive",
        dynamic="the number of runs",
        on_host="host.unique_consecutive",
        results="result_layouts.slices_in_order",
        dtypes=(("", "not complex float8"),),
    ),
    "unique_consecutive.out": Row(
        "kernels.unique",
        "unique_consecutive",
        "out",
        dynamic="the number of runs",
        on_host="host.unique_consecutive",
        results="result_layouts.slices_in_order",
        dtypes=(("", "not complex float8"),),
    ),
    "unique_dim": Row(
        "kernels.unique",
        "unique_dim",
        dynamic="the number of distinct slices",
        on_host="host.unique_dim",
        results="result_layouts.slices_in_order",
    ),
    "unique_dim.out": Row(
        "kernels.unique",
        "unique_dim",
        "out",
        dynamic="the number of distinct slices",
        on_host="host.unique_dim",
        results="result_layouts.slices_in_order",
    ),
    "unique_dim_consecutive": Row(
        "generated.unique",
        "unique_dim_consecutive",
        dynamic="the number of runs",
        on_host="host.unique_dim_consecutive",
        results="result_layouts.slices_in_order",
        dtypes=(("", "not complex float8"),),
    ),
    "unique_dim_consecutive.out": Row(
        "generated.unique",
        "unique_dim_consecutive",
        "out",
        dynamic="the number of runs",
        on_host="host.unique_dim_consecutive",
        results="result_layouts.slices_in_order",
        dtypes=(("", "not complex float8"),),
    ),
    "upsample_bicubic2d": Row(
        "generated.resize", "upsample_bicubic2d", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_bicubic2d.out": Row(
        "generated.resize",
        "upsample_bicubic2d",
        "out",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "upsample_bicubic2d_backward": Row(
        "generated.resize", "upsample_bicubic2d_backward", static=("scales_h", "scales_w")
    ),
    "upsample_bicubic2d_backward.grad_input": Row(
        "generated.resize", "upsample_bicubic2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "upsample_bilinear2d": Row(
        "generated.resize", "upsample_bilinear2d", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_bilinear2d.out": Row(
        "generated.resize",
        "upsample_bilinear2d",
        "out",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "upsample_bilinear2d_backward": Row(
        "generated.resize", "upsample_bilinear2d_backward", static=("scales_h", "scales_w")
    ),
    "upsample_bilinear2d_backward.grad_input": Row(
        "generated.resize", "upsample_bilinear2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "upsample_linear1d": Row("generated.resize", "upsample_linear1d", static=("scales",), dtypes=(("", "floating"),)),
    "upsample_linear1d.out": Row(
        "generated.resize", "upsample_linear1d", "out", static=("scales",), dtypes=(("", "floating"),)
    ),
    "upsample_linear1d_backward": Row("generated.resize", "upsample_linear1d_backward", static=("scales",)),
    "upsample_linear1d_backward.grad_input": Row(
        "generated.resize", "upsample_linear1d_backward", "out", static=("scales",)
    ),
    "upsample_nearest1d": Row(
        "generated.resize", "upsample_nearest1d", static=("scales",), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_nearest1d.out": Row(
        "generated.resize", "upsample_nearest1d", "out", static=("scales",), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_nearest1d_backward": Row("generated.resize", "upsample_nearest1d_backward", static=("scales",)),
    "upsample_nearest1d_backward.grad_input": Row(
        "generated.resize", "upsample_nearest1d_backward", "out", static=("scales",)
    ),
    "upsample_nearest2d": Row(
        "generated.resize", "upsample_nearest2d", static=("scales_h", "scales_w"), dtypes=(("", "uint8 floating"),)
    ),
    "upsample_nearest2d.out": Row(
        "generated.resize",
        "upsample_nearest2d",
        "out",
        static=("scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "upsample_nearest2d_backward": Row(
        "generated.resize", "upsample_nearest2d_backward", static=("scales_h", "scales_w")
    ),
    "upsample_nearest2d_backward.grad_input": Row(
        "generated.resize", "upsample_nearest2d_backward", "out", static=("scales_h", "scales_w")
    ),
    "upsample_nearest3d": Row(
        "generated.resize",
        "upsample_nearest3d",
        static=("scales_d", "scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "upsample_nearest3d.out": Row(
        "generated.resize",
        "upsample_nearest3d",
        "out",
        static=("scales_d", "scales_h", "scales_w"),
        dtypes=(("", "uint8 floating"),),
    ),
    "upsample_nearest3d_backward": Row(
        "generated.resize", "upsample_nearest3d_backward", static=("scales_d", "scales_h", "scales_w")
    ),
    "upsample_nearest3d_backward.grad_input": Row(
        "generated.resize", "upsample_nearest3d_backward", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "upsample_trilinear3d": Row(
        "generated.resize",
        "upsample_trilinear3d",
        static=("scales_d", "scales_h", "scales_w"),
        dtypes=(("", "floating"),),
    ),
    "upsample_trilinear3d.out": Row(
        "generated.resize",
        "upsample_trilinear3d",
        "out",
        static=("scales_d", "scales_h", "scales_w"),
        dtypes=(("", "floating"),),
    ),
    "upsample_trilinear3d_backward": Row(
        "generated.resize", "upsample_trilinear3d_backward", static=("scales_d", "scales_h", "scales_w")
    ),
    "upsample_trilinear3d_backward.grad_input": Row(
        "generated.resize", "upsample_trilinear3d_backward", "out", static=("scales_d", "scales_h", "scales_w")
    ),
    "var.correction": Row(
        "generated.reduction",
        "var__correction",
        special=(("correction", (0, 1)),),
        dtypes=(("self", "floating complex"), ("out", "not complex")),
    ),
    "var.correction_out": Row(
        "generated.reduction",
        "var__correction",
        "out",
        special=(("correction", (0, 1)),),
        prepare=("preparations.widen_to_out", "self"),
        dtypes=(("self", "floating complex"), ("out", "not complex")),
    ),
    "var_mean.correction": Row(
        "kernels.moments", "var_mean", special=(("correction", (0, 1)),), dtypes=(("", "floating complex"),)
    ),
    "var_mean.correction_out": Row(
        "kernels.moments", "var_mean", "out", special=(("correction", (0, 1)),), dtypes=(("", "floating complex"),)
    ),
    "vdot": Row("generated.matmul", "vdot", dtypes=(("", "not bool unsigned float8"),)),
    "vdot.out": Row("generated.matmul", "vdot", "out", dtypes=(("", "not bool unsigned float8"),)),
    "where.self": Row("generated.pointwise", "where__self", dtypes=(("condition", "bool uint8"),)),
    "where.self_out": Row("generated.pointwise", "where__self", "out", dtypes=(("condition", "bool uint8"),)),
    "xlogy.OutScalar_Other": Row(
        "generated.pointwise", "xlogy__Scalar_Other", "out", dtypes=(("", "not complex float8"),)
    ),
    "xlogy.OutScalar_Self": Row(
        "generated.pointwise", "xlogy__Scalar_Self", "out", dtypes=(("", "not complex float8"),)
    ),
    "xlogy.OutTensor": Row("generated.pointwise", "xlogy__Tensor", "out", dtypes=(("", "not complex float8"),)),
    "xlogy.Scalar_Other": Row("generated.pointwise", "xlogy__Scalar_Other", dtypes=(("", "not complex float8"),)),
    "xlogy.Scalar_Self": Row("generated.pointwise", "xlogy__Scalar_Self", dtypes=(("", "not complex float8"),)),
    "xlogy.Tensor": Row("generated.pointwise", "xlogy__Tensor", dtypes=(("", "not complex float8"),)),
    "xlogy_.Scalar_Other": Row(
        "generated.pointwise", "xlogy__Scalar_Other", "inplace", dtypes=(("", "not complex float8"),)
    ),
    "xlogy_.Tensor": Row("generated.pointwise", "xlogy__Tensor", "inplace", dtypes=(("", "not complex float8"),)),
    "zero": Row("generated.copying", "zero"),
    "zero.out": Row("generated.copying", "zero", "out"),
    "zero_": Row("generated.copying", "zero", "inplace", overwrites=True, writes_expanded=True),
    "zeros": Row("generated.creation", "zeros"),
    "zeros.out": Row("generated.creation", "zeros", "out"),
    "zeros_like": Row("generated.creation", "zeros_like"),
    "zeros_like.out": Row("generated.creation", "zeros_like", "out"),
}

# Overloads that deliberately use torch's own decomposition, with the note of the spec.
DECOMPOSED: dict[str, str] = {
    "_foreach_addcdiv.Tensor": "the scalars are a CPU vector, which torch reads",
    "_foreach_addcmul.Tensor": "the scalars are a CPU vector, which torch reads",
}

# Overloads that this device does not support, with the reason that the user sees.
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
    "_efficient_attention_backward": "torch implements it for CUDA only",
    "_efficient_attention_forward": "torch implements it for CUDA only",
    "_empty_affine_quantized": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_empty_affine_quantized.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_empty_per_channel_affine_quantized": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_empty_per_channel_affine_quantized.out": "tensors of quantized dtypes; use fake_quantize_* or torch.ao.quantization.prepare_qat",
    "_fill_mem_eff_dropout_mask_": "torch implements it for CUDA and XPU only",
    "_flash_attention_backward": "torch implements it for CUDA only",
    "_flash_attention_forward": "torch implements it for CUDA only",
    "_flash_attention_forward.quantized": "torch implements it for CUDA only",
    "_flash_attention_forward_no_dropout_inplace": "torch implements it for CUDA only",
    "_foobar": "an op of torch's own tests",
    "_foobar.out": "an op of torch's own tests",
    "_lstm_mps": "torch implements it for MPS only",
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
    "_nested_tensor_size.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_softmax_with_shape": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_storage_offsets.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_tensor_strides.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_buffer": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_buffer_copy": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_buffer_copy.out": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_jagged": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_jagged_copy": "strided nested tensors; use layout=torch.jagged",
    "_nested_view_from_jagged_copy.out": "strided nested tensors; use layout=torch.jagged",
    "_nnpack_spatial_convolution": "a call into a vendor's library",
    "_nnpack_spatial_convolution.out": "a call into a vendor's library",
    "_philox_key_fold_in": "explicit Philox keys are specific to CUDA; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_key_fold_in.Tensor": "explicit Philox keys are specific to CUDA; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_key_split": "explicit Philox keys are specific to CUDA; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_normal_": "explicit Philox keys are specific to CUDA; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_randint_": "explicit Philox keys are specific to CUDA; use a torch.Generator, or jax.random through tenax.interop",
    "_philox_uniform_": "explicit Philox keys are specific to CUDA; use a torch.Generator, or jax.random through tenax.interop",
    "_resize_output_": "torch implements it for Meta only",
    "_scaled_addmm": "torch implements it for CUDA only",
    "_scaled_addmm.out": "torch implements it for CUDA only",
    "_scaled_addmm_": "torch implements it for CUDA only",
    "_scaled_dot_product_attention_math_for_mps": "torch implements it for MPS only",
    "_scaled_dot_product_cudnn_attention": "torch implements it for CUDA only",
    "_scaled_dot_product_cudnn_attention_backward": "torch implements it for CUDA only",
    "_scaled_dot_product_efficient_attention": "torch implements it for CUDA and XPU only",
    "_scaled_dot_product_efficient_attention_backward": "torch implements it for CUDA and XPU only",
    "_scaled_dot_product_flash_attention.quantized": "torch implements it for CUDA only",
    "_scaled_grouped_mm": "grouped float8 products have no XLA form; use _grouped_mm in bfloat16",
    "_scaled_grouped_mm_v2": "grouped float8 products have no XLA form; use _grouped_mm in bfloat16",
    "_scaled_grouped_mm_v2.out": "torch implements it for CUDA only",
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
    "_triton_multi_head_attention": "torch implements it for CUDA only",
    "_triton_scaled_dot_attention": "torch implements it for CUDA only",
    "_use_cudnn_ctc_loss": "torch implements it for CUDA only",
    "_use_cudnn_ctc_loss.Tensor": "torch implements it for CUDA only",
    "_use_miopen_ctc_loss": "torch implements it for CUDA only",
    "_use_miopen_ctc_loss.Tensor": "torch implements it for CUDA only",
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
    "lstm_mps_backward": "torch implements it for MPS only",
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
    "mps_convolution_backward": "torch implements it for MPS only",
    "mps_convolution_transpose_backward": "torch implements it for MPS only",
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
    "sspaddmm.out": "no kernel for sparse layouts; convert with .to_dense()",
    "to_mkldnn": "a call into a vendor's library",
    "to_mkldnn.out": "a call into a vendor's library",
    "to_padded_tensor": "strided nested tensors; use layout=torch.jagged",
}
