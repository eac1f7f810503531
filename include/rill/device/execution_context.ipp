// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/execution_context.hpp>

#include <rill/device/numbers.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_EXPORT RILL_COLD std::mutex& error_record_mutex() {
    static std::mutex& mutex = *new std::mutex; // leaked: kernels may run while statics are destroyed
    return mutex;
}

class zero_division_site final : public error_site {
public:
    error describe(const refused_element&) const override { return invalid_argument("integer division by zero"); }
};

RILL_COLD const error_site& zero_division() {
    static const error_site& site = *new zero_division_site; // leaked: error records keep its address
    return site;
}

RILL_INLINE void refuse_zero_division(const execution_context& on) {
    if (!(sticky_errors() & integer_division_by_zero)) return;
    sticky_errors() &= ~integer_division_by_zero;
    on.refuse(zero_division(), {});
}

} // namespace detail

RILL_COLD void execution_context::refuse(const error_site& where, const refused_element& found) const {
    if (!errors) {
        const error problem = where.describe(found);
        throw_error(problem.code(), problem.what());
    }
    const std::lock_guard lock(detail::error_record_mutex());
    if (step < errors->step) *errors = {step, &where, found};
}

RILL_COLD bool execution_context::has_failed() const {
    if (!errors) return false;
    const std::lock_guard lock(detail::error_record_mutex());
    return errors->step <= step;
}

}} // namespace rill::RILL_ABI
