// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/state/is_initialized.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct count_step {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& next, const std::array<V, 1>& now, const std::array<V, 0>&) {
        next[0] = now[0] + V(1);
    }
};

/// A predicate for a count below the limit.
struct below_limit {
    std::int64_t limit;

    template <class T> RILL_FN bool operator()(const T& count) const {
        return static_cast<std::int64_t>(count) < limit;
    }
};

/// Returns the site of the out_of_range error "the limit 10 is reached".
error_site_ptr limit_site(std::int64_t limit);

} // namespace detail

/// Increments a variable of rank 0. The result is its value before. At the limit the op fails with out_of_range, and the variable stays.
struct count_up_to_op {
    static constexpr auto name = "CountUpTo";
    static constexpr int inputs = 1;
    using domain_type = domains::index;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true, replaces_variables = true;
    std::int64_t limit = 0;

    static void fields(auto& op, auto& visit) { visit("limit", op.limit); }
    input_list writes() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([limit = detail::below_limit{limit}, where = detail::limit_site(limit)](const kernel_args& a) {
            const T* const now = a.variable_was<T>(0);
            D::check(a.on, now, 1, limit, *where);
            D::copy(a.on, dtype_of<T>, now, a.out<T>(0), 1);
            D::template update<detail::count_step>(a.on, 1, std::array{now}, std::array{a.variable<T>(0)},
                                                   std::array<const T*, 1>{a.out<T>(0)}, no_constants<T>{});
        });
    }
};

/// Increments a variable: count_up_to(v, 10), with v any handle of a variable of int or std::int64_t. Typed variables also have
/// v.count_up_to(10).
template <std::derived_from<any_tensor> V>
auto count_up_to(const V& v, std::int64_t limit, const std::source_location& where = std::source_location::current()) {
    detail::check_is_variable(v, "count_up_to", where);
    if constexpr (typed_operand<V>)
        static_assert(is_index_type<value_type_of<V>> && extents_of<V>::rank == 0,
                      "count_up_to: the variable must be of rank 0, and of int or std::int64_t");
    return apply_node(count_up_to_op{limit}, [](const dims&) { return shape_result{dims{}}; }, where, v);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

class reached_site final : public error_site {
public:
    explicit reached_site(std::int64_t limit) : limit_(limit) {}
    RILL_COLD error describe(const refused_element&) const override {
        return out_of_range("the limit " + std::to_string(limit_) + " is reached");
    }

private:
    std::int64_t limit_;
};

RILL_COLD error_site_ptr limit_site(std::int64_t limit) { return detail::make_shared<const reached_site>(limit); }

} // namespace detail

RILL_INLINE std::vector<tensor_type> count_up_to_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[0].type, "the variable");
    if (in[0].shape.known_rank() && in[0].shape.rank != 0)
        throw invalid_argument("the variable must be of rank 0, not " + to_string(in[0].shape));
    if (in[0].type == dtype::int32 && limit > std::numeric_limits<std::int32_t>::max())
        throw invalid_argument("the limit " + std::to_string(limit) + " is not a valid int32");
    return {{in[0].type, dims{}}};
}

}} // namespace rill::RILL_ABI
#endif
