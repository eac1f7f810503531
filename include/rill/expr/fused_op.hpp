// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/devices.hpp>
#include <rill/expr/constant.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

std::vector<endpoint> fused_gradient(const fused_spec& spec, const gradient_request& r);

} // namespace detail

/// A fused node: a sealed expression, a reduction of one, or the gradient of either.
struct fused_op {
    static constexpr auto name = "Fused";
    using domain_type = domains::untyped;
    fused_spec spec;

    /// "Mul(Add($0,$1),Tanh($2))"; of a one-op expression, the op's own name.
    std::string_view signature() const;
    std::string label() const;
    static void fields(auto& op, auto& visit) { visit("spec", op.spec); }
    const fused_spec* fused() const { return &spec; }

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const { return detail::fused_gradient(spec, r); }
    /// Not where there are several results: what one is written over, another may still read.
    bool in_place() const {
        return spec.results.size() == 1 && spec.results[0].reduce.how == combine::map && spec.results[0].like < 0;
    }
    template <class D, class T> kernel bind(kernel_request& request) const { return D::fused(spec, request); }
};

namespace detail {

/// The kernel of fused nodes becomes part of the program.
void require_fused();

/// A fused op, or one that has its form: reductions with gradients of their own.
using make_fused = op_ptr (*)(fused_spec);
op_ptr make_fused_op(fused_spec spec);

/// The fused op made last in some place: nodes that compute the same, one after the other, share one.
class last_fused_op {
public:
    op_ptr of(fused_spec spec) const;

private:
    mutable std::mutex mutex_;
    mutable op_ptr op_;
};

/// A fused node made at run time from a traced program: one map over its leaves.
endpoint add_program(const graph& g, program_ptr body, vector<scalar_value> scalars, endpoint_list inputs,
                     const std::string& name = {}, const std::source_location& where = {});

/// The number of an endpoint among a node's inputs from `first` on, to which it is added if it is not there: what occurs twice
/// is one input.
int input_number(endpoint_list& inputs, const endpoint& e, std::size_t first = 0);

/// Types and shapes of a fused node's results.
std::vector<tensor_type> fused_outputs(const fused_spec& spec, std::span<const tensor_type> in);

/// An array of one number, of a complete shape.
any_array filled_array(dtype type, const dims& shape, double value);

/// The bits of a number in a dtype.
scalar_value scalar_of(dtype type, double value);

/// x, broadcast to the shape of y where only a run knows that they have one shape.
endpoint shaped_like(endpoint x, endpoint y);

/// A tensor of one value, shaped like x: a constant where the shape is known.
endpoint filled_like(endpoint x, double value);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/fused_gradient.hpp>
#include <rill/expr/fused_op.ipp>
#endif
