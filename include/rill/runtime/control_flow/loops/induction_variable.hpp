// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <rill/passes/subgraph.hpp>
#include <rill/runtime/control_flow/loops/loop_expressions.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The induction variable of a while loop: the only loop-carried value that its condition reads. One compiled function evaluates the
/// condition and the next value, instead of two plans.
class induction_variable {
public:
    /// Returns null if the loop has no induction variable, or no compiled function for it. Returns null also if all state may be
    /// scalars, since one kernel then runs the whole loop.
    static std::shared_ptr<const induction_variable> find(const subgraph::item& it);

    induction_variable(std::size_t part, compiled_loop loop, vector<scalar_expression_at> expressions, body rest)
        : part_(part), loop_(loop), expressions_(std::move(expressions)), rest_(std::move(rest)) {}

    std::size_t part() const { return part_; }
    /// Returns the loop's body without the induction variable's next value: it passes the value through unchanged.
    const body& rest() const { return rest_; }

    /// A run of the induction variable, one per run of the loop.
    class run {
    public:
        explicit run(const induction_variable& of) : of_(of), tables_(of.expressions_) {}

        void begin(const kernel_args& args);
        /// Advances to the next iteration; returns false after the last one. `value` is the value for the body.
        bool next();
        const void* value() const { return value_.data(); }
        /// Returns the value after the last iteration.
        const void* last() const { return next_.data(); }

    private:
        using number = std::array<std::byte, 16>;

        const induction_variable& of_;
        loop_tables tables_;
        alignas(16) number value_{};
        alignas(16) number next_{};
    };

private:
    std::size_t part_;
    compiled_loop loop_;
    vector<scalar_expression_at> expressions_; // the condition, the next value
    body rest_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/induction_variable.ipp>
#endif
