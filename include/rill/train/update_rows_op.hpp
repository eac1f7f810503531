// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/train/update_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

std::vector<tensor_type> update_rows_outputs(std::span<const tensor_type> in, int slots, int numbers);

/// "ApplyGradientDescentRows"
template <class Rule> struct rows_name_of {
    static constexpr std::string_view dense = Rule::name;
    static constexpr auto text = [] {
        std::array<char, dense.size() + 5> all{};
        char* to = all.data();
        for (const char c : dense) *to++ = c;
        for (const char c : {'R', 'o', 'w', 's', '\0'}) *to++ = c;
        return all;
    }();
};
template <class Rule> inline constexpr const char* rows_name = rows_name_of<Rule>::text.data();

} // namespace detail

/// One step of an optimizer on the rows that its gradient names, of variable and slots, and on nothing else. Gradients of one
/// row are added first, as TensorFlow does; where a rule `adds_up`, each is a step of its own, which is the same. Inputs: the
/// variable, its slots, the numbers, the slices, their ids.
template <class Rule> struct update_rows_op {
    static constexpr auto name = detail::rows_name<Rule>;
    using domain_type = domains::real_floating;
    using compiled_types = detail::rule_compiled_types<Rule>;
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true;
    static constexpr int alias = 0;
    using dense = update_op<Rule>;
    static constexpr int slots = dense::slots, slices_at = dense::gradient_at, ids_at = slices_at + 1,
                         inputs = ids_at + 1;
    Rule rule;

    static void fields(auto& op, auto& visit) { dense::fields(op, visit); }
    input_list writes() const { return dense{rule}.writes(); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        return detail::update_rows_outputs(in, slots, Rule::numbers);
    }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type>) const {
        return detail::cost_of_slices(in[slices_at]);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, 0);
        constexpr std::size_t own = dense::template scratch_of_constants<T>; // the rest is for adding up rows
        constexpr equal_ids how = requires { Rule::adds_up; } ? equal_ids::in_turn : equal_ids::added;
        request.scratch_bytes = own;
        if constexpr (how == equal_ids::added)
            request.scratch_bytes +=
                D::template update_rows_scratch<T>(request.inputs[ids_at].shape.size(), view.inner, 1);
        return detail::with_index_type(request.inputs[ids_at].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[ids_at].shape, view.extent, "id");
            return kernel([=, rule = rule](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.template in<I>(ids_at));
                const auto constants = dense::template compute_constants<D, T>(rule, a);
                D::template update_rows<detail::rule_step<Rule>>(
                    a.on.with_scratch(a.template scratch<std::byte>() + own), a.template in<I>(ids_at), ids.count,
                    view.inner, dense::template state<T>(a), std::array{a.template in<T>(slices_at)}, constants, how);
            });
        });
    }
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/update_rows_op.ipp>
#endif
