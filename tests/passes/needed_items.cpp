// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/needed_items.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/reshape_like.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/random/random_uniform_like.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_needed_items {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, dyn, dyn> x{"x"};

    /// Returns the names of the items that a run of the fetches and targets does not need.
    std::vector<std::string> left_out(const std::vector<endpoint>& fetches,
                                      const std::vector<const node*>& targets = {}) {
        const std::vector<endpoint> feeds{x};
        const auto items = sort_items(prune(fetches, targets, feeds));
        std::vector<input_list> shape_only;
        for (const auto& it : items.items) shape_only.push_back(it.shape_only_inputs());
        const auto needed = detail::needed_items(items, shape_only);
        std::vector<std::string> names;
        for (std::size_t i = 0; i < needed.size(); ++i)
            if (!needed[i]) names.push_back(items.name_of(static_cast<int>(i)));
        return names;
    }
};

using names = std::vector<std::string>;

} // namespace test_needed_items

using test_needed_items_fixture = test_needed_items::fixture;

TEST_CASE_METHOD(test_needed_items_fixture, "needed_items: all that leads to a shape alone is left out") {
    using namespace test_needed_items;
    const tensor a(exp(x), "a"), b(a * a, "b"), c(exp(b), "c");
    const tensor noise = random_uniform_like(c);
    CHECK(left_out({noise}) == names{"a", "b", "c"});
    CHECK(left_out({noise, b}) == names{"c"});
    CHECK(left_out({noise}, {a.node()}) == names{"b", "c"});
    CHECK(left_out({tensor(noise + c)}).empty());
    // one of two inputs is read
    CHECK(left_out({reshape_like(a, c)}) == names{"b", "c"});
    CHECK(left_out({reshape_like(c, a)}).empty());
}

TEST_CASE_METHOD(test_needed_items_fixture, "needed_items: effects and control inputs are needed") {
    using namespace test_needed_items;
    const tensor drawn = random_uniform<float, 2, 2>();
    CHECK(left_out({random_uniform_like(drawn)}).empty()); // the next draw must not depend on who looks
    const variable<float, 2, 2> v("v", {{1.f, 2.f}, {3.f, 4.f}});
    const tensor written = v.assign(tensor(exp(x), "value"));
    CHECK(left_out({random_uniform_like(written)}).empty());
    const tensor before(exp(x), "before");
    const auto after = [&] {
        const control_dependencies wait(before);
        return random_uniform_like(x);
    }();
    CHECK(left_out({after}).empty());
}
