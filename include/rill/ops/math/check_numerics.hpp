// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>
#include <rill/ops/array/identity.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// "a NaN at [1, 0]: after the division"
[[noreturn]] void throw_not_finite(bool nan, index_t at, const dims& shape, const std::string& message);

} // namespace detail

/// x, if all its elements are finite; a NaN or an infinity is invalid_argument, which names the node and the place. Gradient: g, which is
/// checked too.
struct check_numerics_op {
    static constexpr auto name = "CheckNumerics";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    std::string message;

    static void fields(auto& op, auto& visit) { visit("message", op.message); }
    constexpr shape_result shape(const dims& x) const { return {x}; }
    using brings = op_list<check_numerics_op>;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    bool in_place() const { return true; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel(
            [type = request.inputs[0].type, shape = request.inputs[0].shape, text = message](const kernel_args& a) {
                const index_t n = shape.size();
                if (const auto wrong = D::first_not_finite(a.in<T>(0), n); wrong.at >= 0)
                    detail::throw_not_finite(wrong.value != 0, wrong.at, shape, text);
                if (a.in<T>(0) != a.out<T>(0)) D::copy(type, a.in<T>(0), a.out<T>(0), n);
            });
    }
};

/// check_numerics(x, "after the division"): stops the run where x holds NaN or an infinity.
template <graph_operand X>
auto check_numerics(const X& x, const std::string& message = {},
                    const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<check_numerics_op, value_type_of<X>>, "check_numerics: the elements must be floating");
    return apply_node(check_numerics_op{message}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> check_numerics_op::gradient(const gradient_request& r) const {
    const std::string of = "the gradient";
    return {r.add<check_numerics_op>(check_numerics_op{message.empty() ? of : of + ", " + message}, {r.gradient()})};
}

namespace detail {

RILL_INLINE void throw_not_finite(bool nan, index_t at, const dims& shape, const std::string& message) {
    throw invalid_argument((nan ? "a NaN at " : "an infinity at ") + to_string(rules::position_of(at, shape)) +
                           (message.empty() ? "" : ": " + message));
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
