// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The optimizers: a line for the header of each, and one for its rule.

#include <rill/train/adam.hpp>
#include <rill/train/gradient_descent.hpp>

namespace rill { inline namespace RILL_ABI {

using optimizer_rules = op_list<adam_rule, gradient_descent_rule>;

}} // namespace rill::RILL_ABI
