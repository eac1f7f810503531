// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which inputs a kernel reads, beside what its op states (op::shape_only_inputs). Compiled once for all tests, in harness.cpp.

#include <string>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/graph/op/op.hpp>

namespace op_test {

/// Runs the op's kernel over inputs that lie in memory without access, and notes which of them it touches. Returns what contradicts the
/// op's statement, or an empty string. It is empty also where nothing can be said: the op has no such kernel, refuses the inputs,
/// handles text or empty arrays, or the system is not Linux.
std::string misread(const rill::op& o, const std::vector<rill::any_array>& inputs);

} // namespace op_test
