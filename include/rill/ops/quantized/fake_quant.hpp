// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/div_no_nan.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/round.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/nn/clip.hpp>
#include <rill/ops/quantized/quantize.hpp>

// Real numbers rounded to the values of quantised ones. A model trained with them loses little precision when it is quantised.

namespace rill { inline namespace RILL_ABI {

struct fake_quant_options {
    int num_bits = 8;          // 2 to 16
    bool narrow_range = false; // leaves out the lowest integer
};

/// Returns the widths of ranges after a check that each is finite and not negative. Inputs: the widths, and the tensor that the ranges are
/// for, whose values are not read.
struct fake_quant_width_op {
    static constexpr auto name = "FakeQuantWidth", label = "fake_quant_with_min_max_vars";
    static constexpr int inputs = 2;
    static constexpr auto no_gradient = "the ends of the ranges get theirs beside it";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
    static input_list shape_only_inputs() { return {1}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([type = request.inputs[0].type, n = request.inputs[0].shape.size(),
                       where = detail::range_site("the range", request.inputs[1])](const kernel_args& a) {
            D::check(a.on, a.in<T>(0), n, detail::range_width{}, *where);
            D::copy(a.on, type, a.in<T>(0), a.out<T>(0), n);
        });
    }
};

namespace detail {

void check_fake_quant(const fake_quant_options& options, const std::source_location& where);

/// Rounds x to the nearest number of a quantised range. The range is shifted so that 0 is one of its numbers. If both ends are 0, the
/// result is 0. `checked` maps the width of the range to a checked one. Gradients: for x, g inside the range; for an end, g outside it.
template <class X, class L, class H, class Checked>
auto fake_quant(const X& x, const L& low, const H& high, const fake_quant_options& options, const Checked& checked,
                const std::source_location& where) {
    check_fake_quant(options, where);
    const auto least = static_cast<float>(options.narrow_range), most = static_cast<float>((1 << options.num_bits) - 1);
    const auto from = stop_gradient(low, where), to = stop_gradient(high, where);
    const auto scale = sealed(checked(to - from) / (most - least));
    const auto zero = sealed(round(clip(least - div_no_nan(from, scale), least, most)));
    // the range is shifted, and the ends get their gradients unchanged
    const auto first = low + stop_gradient((least - zero) * scale - from, where);
    const auto last = high + stop_gradient((most - zero) * scale - to, where);
    const auto inside = sealed(clip(x, sealed(first), sealed(last)));
    const auto at = stop_gradient(inside, where);
    const auto start = stop_gradient(sealed(first), where);
    return sealed(inside + stop_gradient(floor(div_no_nan(at - start, scale) + 0.5f) * scale + start - at, where));
}

} // namespace detail

/// Returns floats rounded to 256 numbers of a range: fake_quant_with_min_max_args(x, -6, 6). Gradient: g inside the range, 0 outside.
template <graph_operand X>
auto fake_quant_with_min_max_args(const X& x, double low = -6, double high = 6, const fake_quant_options& options = {},
                                  const std::source_location& where = std::source_location::current()) {
    if (!(low < high) || !(high - low < 1e38))
        throw invalid_argument("fake_quant_with_min_max_args: the range [" + std::to_string(low) + ", " +
                               std::to_string(high) + "] is empty, or an end of it is not a finite number" +
                               detail::at_place(where));
    return detail::fake_quant(
        x, constant(static_cast<float>(low), where), constant(static_cast<float>(high), where), options,
        [](const auto& width) { return width; }, where);
}

/// Returns floats rounded to the numbers of a trained range. The gradients of its ends are sums of g outside it. Ends of shape [d] for x
/// [.., d] give each channel its own range. A run fails if a range is empty, or an end is not a finite number.
template <graph_operand X, graph_operand L, graph_operand H>
auto fake_quant_with_min_max_vars(const X& x, const L& low, const H& high, const fake_quant_options& options = {},
                                  const std::source_location& where = std::source_location::current()) {
    const auto value = sealed(x); // read twice
    const auto checked = [&](const auto& width) {
        return apply_node(fake_quant_width_op{}, detail::shape_of_first, where, sealed(width),
                          stop_gradient(value, where));
    };
    return detail::fake_quant(value, sealed(low), sealed(high), options, checked, where);
}
template <graph_operand X, graph_operand L, graph_operand H>
auto fake_quant_with_min_max_vars_per_channel(const X& x, const L& low, const H& high,
                                              const fake_quant_options& options = {},
                                              const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<L> && typed_operand<H>)
        static_assert(extents_of<L>::rank == 1 && extents_of<H>::rank == 1,
                      "fake_quant_with_min_max_vars_per_channel: the ends must be vectors");
    return fake_quant_with_min_max_vars(x, low, high, options, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void check_fake_quant(const fake_quant_options& options, const std::source_location& where) {
    if (options.num_bits < 2 || options.num_bits > 16)
        throw invalid_argument("fake_quant: num_bits is " + std::to_string(options.num_bits) +
                               "; accepted are 2 to 16" + at_place(where));
}

}}} // namespace rill::RILL_ABI::detail
#endif
