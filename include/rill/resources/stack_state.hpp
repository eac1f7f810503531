// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/resource.hpp>
#include <rill/resources/element_slots.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The attributes of a stack's node.
struct stack_traits {
    tensor_type type;
    index_t capacity = -1; // -1: no limit

    /// Throws invalid_argument if the capacity is invalid, see check_capacity.
    void check() const;
};

/// A last-in, first-out stack of arrays. No call waits.
class RILL_EXPORT stack_state final : public resource {
public:
    static constexpr auto kind = "stack";

    stack_state(std::string name, const stack_traits& traits) : name_(std::move(name)), traits_(traits) {}

    static std::string described_as(const stack_traits& t);
    std::string described() const override { return described_as(traits_); }

    /// Pushes a copy of `x`. Throws resource_exhausted if the stack is full, invalid_argument if dtype or shape does not fit.
    void push(const any_array& x);
    /// Removes and returns the last array. Throws failed_precondition if the stack is empty, invalid_argument if its elements do not fit
    /// `expected`.
    any_array pop(const tensor_type& expected);
    index_t size() const;

private:
    std::string named() const { return std::string(kind) + " '" + name_ + "'"; }

    const std::string name_;
    const stack_traits traits_;
    mutable std::mutex mutex_;
    std::vector<any_array> all_;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <utility>

#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void stack_traits::check() const { check_capacity(capacity); }

RILL_COLD std::string stack_state::described_as(const stack_traits& t) {
    return std::string(kind) + " of " + to_string(t.type) +
           (t.capacity < 0 ? "" : ", capacity " + std::to_string(t.capacity));
}

RILL_INLINE void stack_state::push(const any_array& x) {
    if (x.dtype() != traits_.type.type || !rules::compatible(x.shape(), traits_.type.shape))
        throw invalid_argument(named() + ": its elements are " + to_string(traits_.type) + ", not " +
                               to_string(x.type()));
    auto own = owned_copy(x);
    const std::lock_guard lock(mutex_);
    if (traits_.capacity >= 0 && static_cast<index_t>(all_.size()) >= traits_.capacity)
        throw resource_exhausted(named() + " is full: it holds " + std::to_string(all_.size()));
    all_.push_back(std::move(own));
}

RILL_INLINE any_array stack_state::pop(const tensor_type& expected) {
    require_components(named(), {&traits_.type, 1}, {&expected, 1});
    const std::lock_guard lock(mutex_);
    if (all_.empty()) throw failed_precondition(named() + " is empty");
    auto last = std::move(all_.back());
    all_.pop_back();
    return last;
}

RILL_INLINE index_t stack_state::size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<index_t>(all_.size());
}

}}} // namespace rill::RILL_ABI::detail
#endif
