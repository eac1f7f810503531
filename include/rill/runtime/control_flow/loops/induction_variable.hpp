// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/scalar_loop.hpp>
#include <rill/passes/subgraph.hpp>
#include <rill/runtime/control_flow/loops/lower_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The induction variable of a while loop: the only loop-carried value that its condition reads. Compiled code evaluates the condition and
/// the next value, instead of two plans.
class induction_variable {
public:
    /// Returns null if the loop has no induction variable, or no compiled code for it. Returns null also if all state may be scalars, since
    /// one kernel then runs the whole loop.
    static std::shared_ptr<const induction_variable> find(const subgraph::item& it);

    induction_variable(std::size_t part, loop_code code, vector<invariant_scalar> invariants, body rest)
        : part_(part), code_(std::move(code)), invariants_(std::move(invariants)), rest_(std::move(rest)) {}

    std::size_t part() const { return part_; }
    /// Returns the loop's body without the induction variable's next value: it passes the value through unchanged.
    const body& rest() const { return rest_; }

    /// A run of the induction variable, one per run of the loop.
    class run {
    public:
        explicit run(const induction_variable& of) : of_(of), operands_(of.code_.operands.size()) {}

        void begin(const kernel_args& args);
        /// Advances to the next iteration; returns false after the last one. `value` is the value for the body.
        bool next();
        const void* value() const { return value_.data(); }
        /// Returns the value after the last iteration.
        const void* last() const { return next_.data(); }

    private:
        using number = std::array<std::byte, 16>;

        const induction_variable& of_;
        std::vector<const void*> operands_;
        alignas(16) number value_{};
        alignas(16) number next_{};
    };

private:
    std::size_t part_;
    loop_code code_;
    vector<invariant_scalar> invariants_;
    body rest_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/induction_variable.ipp>
#endif
