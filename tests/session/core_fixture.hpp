// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/session/local_session_core.hpp>

// A graph of one sum, and the core of a session on it.

namespace test_session_core {

struct fixture {
    rill::graph g;
    rill::graph_scope here{g};
    rill::placeholder<float> x{"input"};
    rill::tensor<float> y{x + 1.f, "layer/output"};
    rill::operation done = rill::group(y);
    rill::detail::local_session_core core{g, {}};
};

} // namespace test_session_core

using test_session_core_fixture = test_session_core::fixture;
