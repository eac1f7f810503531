// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/prune.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_prune {

inline std::vector<std::string> names(const subgraph& g) {
    std::vector<std::string> all;
    for (int i = 0; i < static_cast<int>(g.items.size()); ++i) all.push_back(g.name_of(i));
    return all;
}
inline subgraph pruned(const std::vector<endpoint>& fetches, const std::vector<endpoint>& feeds = {},
                       const std::vector<const node*>& targets = {}) {
    auto g = prune(fetches, targets, feeds);
    check(g, true);
    return g;
}
using list = std::vector<std::string>;

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"}, y{"y"};
    tensor<float> a{x * 2.f, "a"}, b{a + y, "b"}, c{a * a, "c"};
};

} // namespace test_prune

using test_prune_fixture = test_prune::fixture;

TEST_CASE_METHOD(test_prune_fixture, "prune: what the fetches need, feeds first, then in order of creation") {
    using namespace test_prune;
    const auto p = pruned({c}, {x});
    CHECK(names(p) == list{"feed of x:0", "a", "c"});
    CHECK(p.items[2].inputs == std::vector<subgraph::value>{{1, 0}}); // equal leaves are one input
    CHECK(p.fetches == detail::vector<subgraph::value>{{2, 0}});
    CHECK(names(pruned({b}, {x, y})) == list{"feed of x:0", "feed of y:0", "a", "b"});
}

TEST_CASE_METHOD(test_prune_fixture, "prune: a fed edge cuts the graph, inner edges too") {
    using namespace test_prune;
    CHECK(names(pruned({c}, {a})) == list{"feed of a:0", "c"});
    const auto both = pruned({a, c}, {a}); // fetched as it is fed
    CHECK(both.fetches[0] == subgraph::value{0, 0});
    // what is fed is still computed for another's sake: run for its effect
    CHECK(names(pruned({c}, {a, x}, {a.node()})) == list{"feed of a:0", "feed of x:0", "a", "c"});
}

TEST_CASE_METHOD(test_prune_fixture, "prune: an unfed placeholder is named, with its type and place, if it is needed") {
    using namespace test_prune;
    CHECK_THROWS_AS(pruned({b}, {x}), invalid_argument);
    CHECK_THROWS_WITH(pruned({b}, {x}),
                      contains("'y'") && contains("float32 []") && contains("prune.cpp:") && contains("not fed"));
    CHECK_NOTHROW(pruned({c}, {x}));
    CHECK_THROWS_WITH(pruned({y}), contains("'y'"));
}

TEST_CASE_METHOD(test_prune_fixture, "prune: control inputs are kept, of fed placeholders the feed") {
    using namespace test_prune;
    const operation first = group(a);
    const control_dependencies after(first, y);
    const tensor<float> d(x + 1.f, "d");
    const auto p = pruned({d}, {x, y});
    CHECK(names(p) == list{"feed of x:0", "feed of y:0", "a", "group", "d"});
    CHECK(p.items[4].after == std::vector<int>{3, 1});
    CHECK(p.items[3].after == std::vector<int>{2});
    CHECK_THROWS_WITH(pruned({d}, {x}), contains("'y'"));
}

TEST_CASE_METHOD(test_prune_fixture, "prune: targets run for their effect") {
    using namespace test_prune;
    const auto p = pruned({}, {x}, {c.node(), a.node()});
    CHECK(names(p) == list{"feed of x:0", "a", "c"});
    CHECK(p.targets == std::vector<int>{2, 1});
    CHECK(pruned({}, {x}, {x.node()}).targets == std::vector<int>{0});
}

TEST_CASE_METHOD(test_prune_fixture, "prune: a chain of 100,000 nodes, without recursion") {
    tensor<float> last = x;
    for (int i = 0; i < 100000; ++i) last = tensor<float>(last + 1.f);
    CHECK(test_prune::pruned({last}, {x}).items.size() == 100001);
}
