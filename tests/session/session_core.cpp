// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/session_core.hpp>

#include "catch.hpp"
#include "session/core_fixture.hpp"

using namespace rill;

TEST_CASE_METHOD(test_session_core_fixture, "session core: edges by name") {
    CHECK(core.edge("layer/output:0") == y.end());
    CHECK(core.edge("layer/output") == y.end());
    CHECK_THROWS_AS(core.edge("layer/output:1"), not_found);
    CHECK_THROWS_WITH(core.edge("layer/output:1"), contains("1 outputs"));
    CHECK_THROWS_AS(core.edge("group"), not_found); // an operation has no value
    for (const auto* text : {"input:", "input:x", "input:-1", "input:99999999999999999999"}) {
        INFO(text);
        CHECK_THROWS_AS(core.edge(text), invalid_argument);
    }
}

TEST_CASE_METHOD(test_session_core_fixture, "session core: an unknown name brings the nearest ones") {
    CHECK_THROWS_AS(core.edge("layer/outptu"), not_found);
    CHECK_THROWS_WITH(core.edge("layer/outptu"),
                      contains("no node 'layer/outptu'") && contains("did you mean 'layer/output'"));
    CHECK_THROWS_WITH(core.edge("inputs:0"), contains("'input'"));
    CHECK_THROWS_WITH(core.edge("something_else_altogether"), !contains("did you mean"));
}

TEST_CASE_METHOD(test_session_core_fixture, "session core: a target needs the header that knows servers") {
    for (const auto* target : {"tcp://127.0.0.1:1", "local://a"}) {
        CHECK_THROWS_AS(detail::make_session_core(g, {.target = target}), unimplemented);
        CHECK_THROWS_WITH(detail::reset_containers(target, {}, std::chrono::seconds(1)),
                          contains("rill/distributed.hpp") && contains(target));
    }
}
