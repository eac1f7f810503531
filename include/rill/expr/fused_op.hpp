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

/// Returns the inputs, from `first` up to `count`, whose elements a fused node does not read. It may take their shapes for results.
input_list unread_inputs(const fused_spec& spec, int first, int count);

/// Returns the cost of a fused node in one pass over its space.
op_cost fused_cost(const fused_spec& spec, std::span<const tensor_type> in, std::span<const tensor_type> out);

} // namespace detail

/// A fused node: a sealed expression, a reduction of one, or the gradient of either.
struct fused_op {
    static constexpr auto name = "Fused";
    using domain_type = domains::untyped;
    fused_spec spec;

    /// Returns the key of the program, "Mul(Add($0,$1),Tanh($2))", or the op's name for a one-op expression.
    std::string_view signature() const;
    std::string label() const;
    static void fields(auto& op, auto& visit) { visit("spec", op.spec); }
    const fused_spec* fused() const { return &spec; }

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const { return detail::fused_gradient(spec, r); }
    input_list shape_only_inputs(int count) const { return detail::unread_inputs(spec, 0, count); }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::fused_cost(spec, in, out);
    }
    /// Returns true if the result may overwrite an operand. One of several results could overwrite an operand that another still reads.
    bool in_place() const {
        return spec.results.size() == 1 && spec.results[0].reduce.how == combine::map && spec.results[0].like < 0;
    }
    template <class D, class T> kernel bind(kernel_request& request) const { return D::fused(spec, request); }
};

namespace detail {

/// Registers the kernels of fused nodes in this program.
void require_fused();

/// Registers the factories of fused nodes for device D, at level 0: bound kernels choose functions of the best instruction set themselves.
template <class D> void register_fused_on() {
    register_factory(D::type, fused_op::name, dtype::invalid, 0, [](const void* op, kernel_request& r) {
        return static_cast<const fused_op*>(op)->template bind<D, void>(r);
    });
    register_factory(D::type, fusion_group::name, dtype::invalid, 0, [](const void* group, kernel_request& r) {
        return D::fused(*static_cast<const fusion_group*>(group), r);
    });
    if constexpr (requires(const scalar_loop& loop, kernel_request& r) { D::fused(loop, r); })
        register_factory(D::type, scalar_loop::name, dtype::invalid, 0, [](const void* loop, kernel_request& r) {
            return D::fused(*static_cast<const scalar_loop*>(loop), r);
        });
}

/// A function that makes a fused op, or an op of the same form: reductions have gradients of their own.
using make_fused = op_ptr (*)(fused_spec);
op_ptr make_fused_op(fused_spec spec);

/// A cache of the last fused op that was made in one place: successive nodes that compute the same share it.
class last_fused_op {
public:
    op_ptr of(fused_spec spec) const;

private:
    mutable std::mutex mutex_;
    mutable op_ptr op_;
};

/// Adds a fused node from a program that was traced at run time: one map over its leaves.
endpoint add_program(const graph& g, program_ptr body, vector<scalar_value> scalars, endpoint_list inputs,
                     const std::string& name = {}, const std::source_location& where = {});

/// Returns the index of an endpoint among a node's inputs from `first` on. Appends a missing one; equal endpoints thus become one input.
int input_number(endpoint_list& inputs, const endpoint& e, std::size_t first = 0);

/// Returns the types and shapes of a fused node's results. Throws invalid_argument if the inputs do not fit the spec.
std::vector<tensor_type> fused_outputs(const fused_spec& spec, std::span<const tensor_type> in);

/// Returns an array filled with one number. Throws invalid_argument if the shape is incomplete.
any_array filled_array(dtype type, const dims& shape, double value);

/// Returns a number in the representation of a dtype. Throws invalid_argument if the dtype has no numbers.
scalar_value scalar_of(dtype type, double value);

/// Returns x, broadcast to the shape of y if static shapes cannot show that both shapes are equal.
endpoint shaped_like(endpoint x, endpoint y);

/// Returns a tensor of one value, shaped like x: a constant if the shape is known and has at most 64 elements.
endpoint filled_like(endpoint x, double value);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/fused_gradient.hpp>
#include <rill/expr/fused_op.ipp>
#endif
