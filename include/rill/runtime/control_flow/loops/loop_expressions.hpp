// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rill/core/program.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/scalar_loop.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Where an expression of a loop's body finds a value.
struct loop_leaf {
    int state = -1, input = -1;      // a part of the state, or an input of the node
    const void* invariant = nullptr; // else a constant
};

/// A result of a body that is one expression of numbers.
struct scalar_expression_at {
    std::vector<loop_leaf> leaves;
    vector<scalar_value> scalars;
    std::string kernel; // its key
};

/// Nothing if there is another kind of node.
std::optional<scalar_expression_at> scalar_expression_of(const body& b, const endpoint& e);

/// The function of a loop's condition and of what comes next in each part; nothing if the program has none.
std::optional<scalar_loop> find_scalar_loop(const vector<scalar_expression_at>& expressions);

/// What such a function takes its operands from.
class loop_tables {
public:
    explicit loop_tables(const vector<scalar_expression_at>& all);
    loop_tables(loop_tables&&) = default; // a copy's expressions would point into the original's leaves
    /// `args`: of the loop's node.
    void fill(const vector<scalar_expression_at>& all, const kernel_args& args);
    const scalar_loop_args::expression* all() const { return expressions_.data(); }

private:
    std::vector<std::vector<const void*>> leaves_;
    std::vector<scalar_loop_args::expression> expressions_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/loop_expressions.ipp>
#endif
