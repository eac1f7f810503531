// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The optimizers: a line for the header of each, and one for its rule.

#include <rill/train/adadelta.hpp>
#include <rill/train/adagrad.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/adamw.hpp>
#include <rill/train/ftrl.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/momentum.hpp>
#include <rill/train/moving_average.hpp>
#include <rill/train/rmsprop.hpp>

namespace rill { inline namespace RILL_ABI {

// clang-format off: a line each
using optimizer_rules = op_list<
    adadelta_rule,
    adagrad_rule,
    adam_rule,
    adamw_rule,
    centered_rmsprop_rule,
    ftrl_rule,
    gradient_descent_rule,
    lazy_adam_rule,
    lazy_adamw_rule,
    momentum_rule,
    moving_average_rule,
    rmsprop_rule>;
// clang-format on

}} // namespace rill::RILL_ABI
