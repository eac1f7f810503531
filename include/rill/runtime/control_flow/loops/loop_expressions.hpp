// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rill/core/program.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/compiled_loop.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The source of a value that an expression of a loop reads.
struct loop_leaf {
    int state = -1, input = -1;      // index of a state part, or of a node input
    const void* invariant = nullptr; // otherwise a constant
};

/// A result of a body that is one expression over scalars.
struct scalar_expression_at {
    std::vector<loop_leaf> leaves;
    vector<scalar_value> scalars;
    std::string kernel; // the key of its kernel
};

/// Returns the expression of a value, which must be a leaf or one fused node without reductions. Otherwise returns
/// nothing.
std::optional<scalar_expression_at> scalar_expression_of(const body& b, const endpoint& e);

/// Returns the compiled loop function for a condition and next values; nothing if the program has none.
std::optional<compiled_loop> find_compiled_loop(const vector<scalar_expression_at>& expressions);

/// The operands of a compiled loop function.
class loop_tables {
public:
    explicit loop_tables(const vector<scalar_expression_at>& all);
    loop_tables(loop_tables&&) = default; // a copy's expressions would point into the original's leaves
    /// Sets the leaves from the arguments of the loop's node.
    void fill(const vector<scalar_expression_at>& all, const kernel_args& args);
    const compiled_loop_args::expression* all() const { return expressions_.data(); }

private:
    std::vector<std::vector<const void*>> leaves_;
    std::vector<compiled_loop_args::expression> expressions_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/loops/loop_expressions.ipp>
#endif
