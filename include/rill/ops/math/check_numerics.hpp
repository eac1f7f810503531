// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <string>

#include <rill/core/shared.hpp>
#include <rill/expr/node_op.hpp>
#include <rill/ops/array/identity.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the site of the error "a NaN at [1, 0]: after the division".
error_site_ptr not_finite_site(const dims& shape, const std::string& message);

} // namespace detail

/// x, if all its elements are finite. A NaN or an infinity is invalid_argument, which names the node and the position. Gradient: g, which
/// is checked too.
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
        const tensor_type& x = request.inputs[0];
        return kernel([type = x.type, n = x.shape.size(),
                       where = detail::not_finite_site(x.shape, message)](const kernel_args& a) {
            D::check(a.on, a.in<T>(0), n, finite_number{}, *where);
            if (a.in<T>(0) != a.out<T>(0)) D::copy(a.on, type, a.in<T>(0), a.out<T>(0), n);
        });
    }
};

/// Fails the run if x holds NaN or an infinity: check_numerics(x, "after the division").
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

class number_site final : public error_site {
public:
    number_site(const dims& shape, const std::string& message) : shape_(shape), message_(message) {}
    RILL_COLD error describe(const refused_element& found) const override {
        return invalid_argument((std::isnan(found.real()) ? "a NaN at " : "an infinity at ") +
                                to_string(rules::position_of(found.at, shape_)) +
                                (message_.empty() ? "" : ": " + message_));
    }

private:
    dims shape_;
    std::string message_;
};

RILL_COLD error_site_ptr not_finite_site(const dims& shape, const std::string& message) {
    return detail::make_shared<const number_site>(shape, message);
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
