// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/shared.hpp>
#include <rill/ops/random/random_op.hpp>

namespace rill { inline namespace RILL_ABI {

struct multinomial_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

namespace detail {

/// Returns the site of the error for a row of logits without a class to draw.
error_site_ptr row_site();

} // namespace detail

/// Classes drawn from the rows of [batch, classes]. The number of draws is a field, or the second input. Errors: a row whose logits are all
/// -inf, or include a NaN.
struct multinomial_op {
    static constexpr auto name = "Multinomial";
    static constexpr int least_inputs = 1;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr auto no_gradient = "a class does not change smoothly";
    static constexpr bool stateful = true;
    index_t draws = 0;
    std::uint64_t seed = 0;

    static void fields(auto& op, auto& visit) {
        visit("draws", op.draws);
        visit("seed", op.seed);
    }
    static input_list shape_inputs() { return {1}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &logits = request.inputs[0].shape, &drawn = request.outputs[0].shape;
        request.scratch_bytes = D::multinomial_scratch(logits[1]);
        detail::count_runs(request);
        return kernel([rows = logits[0], classes = logits[1], draws = drawn[1],
                       where = detail::row_site()](const kernel_args& a) {
            D::multinomial(a.on, a.in<T>(0), rows, classes, draws, a.on.random, a.out<std::int64_t>(0), *where);
        });
    }
};

/// True if E is [batch, classes] with at least one class.
template <class E> inline constexpr bool are_rows_of_logits = E::rank == 2 && rules::extent_along(static_dims<E>, 1) != 0;

namespace detail {

template <class X> void check_logits(const X& logits, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(are_rows_of_logits<extents_of<X>>, "multinomial: logits of [batch, classes] are expected");
        static_assert(is_real_floating<value_type_of<X>>, "multinomial: the logits must be floating");
    }
    require_rank("multinomial", logits, 2, where);
}

} // namespace detail

/// Returns 5 classes in int64 for each row of [batch, classes], drawn anew in each run: multinomial<5>(logits). The probability of class k
/// is proportional to e^logit[k]. A class of logit -inf is never drawn. Several infinite logits are equally likely. Shape: [batch, 5]. No
/// gradient flows. Errors: a row whose logits are all -inf, or include a NaN.
template <index_t Draws, graph_operand X>
auto multinomial(const X& logits, const multinomial_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    static_assert(Draws >= 0, "multinomial: the number of draws is negative");
    detail::check_logits(logits, where);
    constexpr auto rule = [](const dims& x) { return shape_result{{rules::extent_along(x, 0), Draws}}; };
    return apply_node<std::int64_t>(multinomial_op{Draws, options.seed}, rule, where, logits);
}
/// Overload for a number of draws known only at run time.
template <graph_operand X>
auto multinomial(const X& logits, index_t draws, const multinomial_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    detail::check_logits(logits, where);
    constexpr auto rule = [](const dims& x) { return shape_result{{rules::extent_along(x, 0), dyn}}; };
    return apply_node<std::int64_t>(multinomial_op{draws, options.seed}, rule, where, logits);
}
/// Overload for a number of draws given by a tensor of rank 0: multinomial(logits, size(x)).
template <graph_operand X, typed_operand N>
auto multinomial(const X& logits, const N& draws, const multinomial_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    static_assert(extents_of<N>::rank == 0 && is_index_type<value_type_of<N>>,
                  "multinomial: the number of draws must be of rank 0, and of int or std::int64_t");
    detail::check_logits(logits, where);
    detail::enable_dynamic_shapes();
    constexpr auto rule = [](const dims& x, const dims&) { return shape_result{{rules::extent_along(x, 0), dyn}}; };
    return apply_node<std::int64_t>(multinomial_op{0, options.seed}, rule, where, logits, draws);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> multinomial_op::outputs(const known_inputs& in) const {
    const dims& logits = in.types[0].shape;
    if (in.types.size() > 2) throw invalid_argument("logits and a number of draws are expected");
    if (logits.known_rank() && logits.rank != 2) throw invalid_argument("logits of [batch, classes] are expected");
    index_t count = draws;
    if (in.types.size() == 2) {
        detail::check_index_type(in.types[1].type, "the number of draws");
        if (in.types[1].shape.known_rank() && in.types[1].shape.rank != 0)
            throw invalid_argument("the number of draws must be one number");
        const any_array* value = in.value(1);
        if (!value) return {{dtype::int64, {rules::extent_along(logits, 0), dyn}}};
        count = detail::with_index_type(
            value->dtype(), [&]<class I>(std::type_identity<I>) { return static_cast<index_t>(value->value<I>()); });
    }
    if (count < 0) throw invalid_argument("the number of draws is negative");
    const index_t rows = rules::extent_along(logits, 0);
    if (rules::extent_along(logits, 1) == 0 && rows != 0 && count != 0) throw invalid_argument("there are no classes");
    return {{dtype::int64, {rows, count}}};
}

namespace detail {

class undrawable_row_site final : public error_site {
public:
    RILL_COLD error describe(const refused_element& row) const override {
        return invalid_argument(
            "row " + std::to_string(row.at) + " of the logits " +
            (std::isnan(row.real()) ? "holds a NaN" : "gives no class a probability: all of it is -inf"));
    }
};

RILL_COLD error_site_ptr row_site() { return detail::make_shared<const undrawable_row_site>(); }

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
