// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The attributes of an accumulator's node.
struct accumulator_traits {
    tensor_type type;
    std::string reduction = "MEAN"; // or "SUM"

    /// Throws invalid_argument if the reduction is neither MEAN nor SUM.
    void check() const;
};

/// A sum of gradients that drops stale ones. A take waits for enough gradients and removes their mean or sum.
class RILL_EXPORT accumulator_state final : public waited_resource {
public:
    static constexpr auto kind = "conditional_accumulator";

    accumulator_state(std::string name, accumulator_traits traits)
        : waited_resource(std::move(name)), traits_(std::move(traits)) {}

    static std::string described_as(const accumulator_traits& t) {
        return std::string(kind) + " of " + to_string(t.type) + ", " + t.reduction;
    }
    std::string described() const override { return described_as(traits_); }

    /// A function that adds the n elements of `gradient` to `sum`.
    using adder = void (*)(const void* gradient, void* sum, index_t n);
    /// Adds a gradient, or drops it if `local_step` is below the accumulator's step. Never waits.
    void apply(const any_array& gradient, std::int64_t local_step, adder add);
    /// A function that divides the n elements of `sum` by `by`.
    using divider = void (*)(void* sum, std::int64_t by, index_t n);
    /// Takes the mean or sum once at least n gradients are there. Returns true if done at once; otherwise it completes `wait` later.
    bool take(const tensor_type& expected, index_t n, divider divide, async_context& wait, any_array* out);
    /// Sets the step. A step below the current one is accepted with a warning.
    void set_global_step(std::int64_t step);

    struct counts {
        std::int64_t accumulated = 0, dropped = 0;
    };
    counts count() const;

private:
    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;

    const accumulator_traits traits_;
    any_array sum_;
    counts counts_;
    std::int64_t step_ = 0;
    divider divide_ = nullptr;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <utility>

#include <rill/core/log.hpp>
#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void accumulator_traits::check() const {
    if (reduction != "MEAN" && reduction != "SUM")
        throw invalid_argument("the reduction is '" + reduction + "'; it must be MEAN or SUM");
}

RILL_INLINE void accumulator_state::apply(const any_array& gradient, std::int64_t local_step, adder add) {
    if (gradient.dtype() != traits_.type.type || !rules::compatible(gradient.shape(), traits_.type.shape))
        throw invalid_argument(named() + ": gradients are " + to_string(traits_.type) + ", not " +
                               to_string(gradient.type()));
    change([&] {
        if (local_step < step_) {
            ++counts_.dropped;
            return;
        }
        if (counts_.accumulated > 0 && gradient.shape() != sum_.shape())
            throw invalid_argument(named() + ": a gradient of the shape " + to_string(gradient.shape()) +
                                   " can't be added to others of the shape " + to_string(sum_.shape()));
        if (counts_.accumulated == 0)
            sum_ = owned_copy(gradient);
        else
            add(gradient.data(), sum_.mutable_data(), sum_.size());
        ++counts_.accumulated;
    });
}

RILL_INLINE bool accumulator_state::take(const tensor_type& expected, index_t n, divider divide, async_context& wait,
                                         any_array* out) {
    if (expected.type != traits_.type.type || !rules::compatible(expected.shape, traits_.type.shape))
        throw invalid_argument(named() + ": gradients are " + to_string(traits_.type) + ", not " + to_string(expected));
    if (n < 1) throw invalid_argument(named() + ": " + std::to_string(n) + " gradients are asked for, not 1 or more");
    {
        const std::lock_guard lock(mutex_);
        divide_ = divide; // the same in every call: an accumulator has one element type
    }
    return start({.count = n}, wait, out);
}

RILL_INLINE bool accumulator_state::serve(attempt& a) {
    if (counts_.accumulated < a.count) return false;
    if (traits_.reduction == "MEAN") divide_(sum_.mutable_data(), counts_.accumulated, sum_.size());
    a.outputs.push_back(std::exchange(sum_, {}));
    counts_.accumulated = 0;
    ++step_;
    return true;
}

RILL_INLINE void accumulator_state::set_global_step(std::int64_t step) {
    std::int64_t before = 0;
    {
        const std::lock_guard lock(mutex_);
        before = std::exchange(step_, step);
    }
    if (step < before)
        log_message(log_level::warning,
                    named() + ": its step goes back from " + std::to_string(before) + " to " + std::to_string(step));
}

RILL_INLINE accumulator_state::counts accumulator_state::count() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}}} // namespace rill::RILL_ABI::detail
#endif
