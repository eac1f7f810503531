// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <rill/passes/subgraph.hpp>
#include <rill/runtime/control_flow/loops/loop_expressions.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The one part of a loop's state that its condition asks for, where condition and next value are expressions of that part: one
/// function says whether to go on and counts, instead of two plans.
class induction_variable {
public:
    /// Null if there is none, the program has no such function, or all may turn out to be numbers: those loops are one kernel.
    static std::shared_ptr<const induction_variable> find(const subgraph::item& it);

    induction_variable(std::size_t part, scalar_loop loop, vector<scalar_expression_at> expressions, body rest)
        : part_(part), loop_(loop), expressions_(std::move(expressions)), rest_(std::move(rest)) {}

    std::size_t part() const { return part_; }
    /// The loop's body without what is next of this part: it stays as it is.
    const body& rest() const { return rest_; }

    /// Counting, in a run of the loop.
    class run {
    public:
        explicit run(const induction_variable& of) : of_(of), tables_(of.expressions_) {}

        void begin(const kernel_args& args);
        /// Whether there is another iteration, which gets `value`.
        bool next();
        const void* value() const { return value_.data(); }
        /// What comes after the last iteration's.
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
    scalar_loop loop_;
    vector<scalar_expression_at> expressions_; // the condition, the next value
    body rest_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/induction_variable.ipp>
#endif
