// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The common base of writes of variables. Inputs: the variable, then the operands of the value. A program computes the value and writes it
/// in one pass to the memory of the new value. Without a program, the value is input 1 unchanged. The variable may be a later input too:
/// each element is read before it is written. The output is the variable after the write.
struct fused_write {
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true, replaces_variables = true;
    static constexpr int alias = 0;
    fused_spec spec;

    static void fields(auto& op, auto& visit) { visit("spec", op.spec); }
    input_list writes() const { return {0}; }
    bool in_place() const { return true; }
    input_list shape_only_inputs(int count) const { return unread_inputs(spec, 1, count); }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return fused_cost(spec, in, out);
    }
    static constexpr int least_inputs = 1; // a program may need no other input
    std::vector<tensor_type> checked_outputs(std::span<const tensor_type> in) const;
    /// Returns the output types of ops whose value is always computed by a program. Throws if there is none.
    std::vector<tensor_type> joined_outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        if (spec.body) return D::fused(spec, request);
        const dtype type = request.inputs[0].type;
        const index_t n = request.inputs[0].shape.size();
        return kernel([=](const kernel_args& a) {
            if (a.in<void>(1) != a.variable<void>(0)) D::copy(a.on, type, a.in<void>(1), a.variable<void>(0), n);
        });
    }
};

/// The program of a write's value: an expression, or the variable and a value joined by an op. If `joins`, the expression's first leaf is
/// the variable at the time of the write. Else its uses are the value at the start of the step.
struct write_program {
    fused_spec spec;
    endpoint_list inputs; // the variable first
};
write_program value_of_write(const endpoint& variable, const traced_structure& value, const sealing& s, bool joins);
write_program joined_write(const elementwise_info& op, const endpoint& variable, const endpoint& value);

} // namespace detail

/// A write of a variable's value. The output is the variable after the write.
struct assign_op : detail::fused_write {
    static constexpr auto name = "Assign";
    static constexpr bool initialises = true;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE std::vector<tensor_type> fused_write::checked_outputs(std::span<const tensor_type> in) const {
    if (!spec.body && in.size() != 2) throw invalid_argument("a variable and a value are expected");
    const tensor_type value = spec.body ? fused_outputs(spec, in).at(0) : in[1];
    if (in[0].type != value.type || !rules::compatible(in[0].shape, value.shape))
        throw invalid_argument("the variable is " + to_string(in[0]) + ", the value " + to_string(value));
    return {in[0]};
}

RILL_INLINE std::vector<tensor_type> fused_write::joined_outputs(std::span<const tensor_type> in) const {
    if (!spec.body) throw invalid_argument("made without the program that joins the variable and the value");
    return checked_outputs(in);
}

RILL_INLINE write_program value_of_write(const endpoint& variable, const traced_structure& value, const sealing& s,
                                         bool joins) {
    write_program made{spec_without_leaves(value, s), {variable}};
    for (std::size_t k = 0; k < s.leaves.size(); ++k)
        made.spec.leaves.push_back({joins && k == 0 ? 0 : input_number(made.inputs, s.leaves[k], 1), {}});
    return made;
}

RILL_INLINE write_program joined_write(const elementwise_info& op, const endpoint& variable, const endpoint& value) {
    write_program made;
    const dtype type = type_of(variable).type;
    tracer t({type, type}, {});
    made.spec.body = t.finish_op(t.emit(op, type, {t.leaf(0), t.leaf(1)}));
    made.spec.results.resize(1);
    made.spec.leaves.push_back({0, {}});
    made.spec.leaves.push_back({1, {}});
    made.inputs = {variable, value};
    return made;
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> assign_op::outputs(std::span<const tensor_type> in) const {
    // the variable may have no value yet; its value at the start of the step is a later input
    for (const auto& l : spec.leaves)
        if (l.input == 0) throw invalid_argument("the value uses the place that it is written to");
    return checked_outputs(in);
}

}} // namespace rill::RILL_ABI
#endif
