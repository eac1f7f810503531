// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/handle.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE any_tensor& any_tensor::operator=(any_tensor other) noexcept {
    std::swap(end_, other.end_);
    return *this;
}

RILL_INLINE any_tensor::~any_tensor() {
    if (end_) end_.from->owner->release();
}

RILL_INLINE std::string any_tensor::name() const { return name_of(checked()); }

RILL_INLINE const endpoint& any_tensor::checked() const {
    if (!end_) throw failed_precondition("any_tensor: a null handle was used");
    return end_;
}

RILL_INLINE void any_tensor::retain() const noexcept {
    if (end_) end_.from->owner->retain();
}

RILL_INLINE const std::string& operation::name() const {
    if (!handle_) throw failed_precondition("operation: a null handle was used");
    return handle_.node()->name;
}

namespace detail {

RILL_INLINE std::string text_of(const any_tensor& t) {
    if (!t) return "tensor(null)";
    return "tensor(\"" + t.name() + "\", " + std::string(to_string(t.dtype())) + ", " + to_string(t.static_shape()) +
           ")";
}

RILL_INLINE std::string text_of(const operation& o) {
    return o ? "operation(\"" + o.name() + "\")" : std::string("operation(null)");
}

} // namespace detail

}} // namespace rill::RILL_ABI
