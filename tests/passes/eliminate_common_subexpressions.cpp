// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/eliminate_common_subexpressions.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_passes_eliminate_common_subexpressions {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"}, y{"y"};

    subgraph shared(const std::vector<endpoint>& fetches, std::vector<endpoint> feeds = {}) {
        feeds.push_back(x);
        feeds.push_back(y);
        placement where({{"cpu", 2}}, cpu_device(), false);
        auto s = eliminate_common_subexpressions(place(prune(fetches, {}, feeds), where));
        check(s, true);
        return s;
    }
};

} // namespace test_passes_eliminate_common_subexpressions

using test_passes_eliminate_common_subexpressions_fixture = test_passes_eliminate_common_subexpressions::fixture;

TEST_CASE_METHOD(test_passes_eliminate_common_subexpressions_fixture,
                 "eliminate_common_subexpressions: chains that do the same become one, whatever their names") {
    const tensor a(x * y, "a"), b(x * y, "b");
    const tensor c(a + 1.f, "c"), d(b + 1.f, "d");
    const auto s = shared({c, d});
    CHECK(s.items.size() == 4); // two feeds, one product, one sum
    CHECK(s.fetches[0] == s.fetches[1]);
    CHECK(s.name_of(2) == "a"); // the first is kept
}

TEST_CASE_METHOD(test_passes_eliminate_common_subexpressions_fixture,
                 "eliminate_common_subexpressions: other operands, other scalars, other operations stay apart") {
    const tensor a(x * y), b(y * x), c(x * 2.f), d(x * 3.f), e(x + y);
    CHECK(shared({a, b, c, d, e}).items.size() == 2 + 5);
    const tensor zero(x + 0.f), minus_zero(x + -0.f); // scalars compare by bits
    CHECK(shared({zero, minus_zero}).items.size() == 2 + 2);
}

TEST_CASE_METHOD(test_passes_eliminate_common_subexpressions_fixture,
                 "eliminate_common_subexpressions: a fed edge is not its twin's value") {
    const tensor a(x * y, "a"), b(x * y, "b");
    const tensor c(a + 1.f), d(b + 1.f);
    const auto s = shared({c, d}, {a});
    CHECK(s.items.size() == 3 + 3);
    CHECK_FALSE(s.fetches[0] == s.fetches[1]);
}

TEST_CASE_METHOD(test_passes_eliminate_common_subexpressions_fixture,
                 "eliminate_common_subexpressions: other control inputs and other devices stay apart, however the "
                 "device was requested") {
    const tensor a(x * y);
    const auto twin = [&] { return tensor<float>(x * y); };
    std::vector<endpoint> all{a};
    {
        const control_dependencies after(a);
        all.push_back(twin());
        all.push_back(twin()); // merges with the one before
    }
    {
        const device_scope on("/cpu:0"); // where it would be anyway
        all.push_back(twin());
    }
    {
        const colocate_with beside(x); // there, too
        all.push_back(twin());
    }
    const device_scope on("/cpu:1");
    all.push_back(twin());
    const auto s = shared(all);
    CHECK(s.items.size() == 2 + 3);
    CHECK(s.fetches[1] == s.fetches[2]);
    CHECK(s.fetches[3] == s.fetches[0]);
    CHECK(s.fetches[4] == s.fetches[0]);
    CHECK_FALSE(s.fetches[5] == s.fetches[0]);
}

TEST_CASE_METHOD(
    test_passes_eliminate_common_subexpressions_fixture,
    "eliminate_common_subexpressions: what has state, or changes it, never merges, dependencies follow the survivors") {
    const variable<float> w("w", 0.f);
    const tensor a(x * y, "a"), b(x * y, "b");
    const auto first = w.assign_add(a);
    const auto second = w.assign_add(a);
    const control_dependencies after(b, second);
    const tensor c(x + y, "c");
    const auto s = shared({first, second, c});
    CHECK(s.items.size() == 2 + 1 + 1 + 2 + 1);
    const auto& last = s.items[static_cast<std::size_t>(s.fetches[2].item)];
    REQUIRE(last.after.size() == 2);
    CHECK(s.name_of(last.after[0]) == "a");
    CHECK(last.after[1] == s.fetches[1].item);
}
