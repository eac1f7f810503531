// SPDX-License-Identifier: BSD-3-Clause
// Linked beside other tests, this makes them run on the far device: the op harness, training, whole programs.
#include "addresses.hpp"

namespace test_far { namespace {

[[maybe_unused]] const bool by_default_everywhere = (rill::set_default_device(device().name), true);

}} // namespace test_far
