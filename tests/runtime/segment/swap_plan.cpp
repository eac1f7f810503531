// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/swap_plan.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/segment/segment.hpp>

#include "catch.hpp"
#include "host_like_memory.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_swap_plan {

std::size_t room = 0;
const memory_space memory = [] {
    auto small = test_segments::host_like_memory("small");
    small.largest_block = [](const memory_space&) { return room; };
    return small;
}();
const device there{&cpu_device(), 0, &memory};

constexpr index_t n = 1000;
constexpr std::size_t each = 4032; // bytes of a value, aligned

/// Returns a graph's items, all of them on the device.
subgraph items_for(const endpoint& fetch, const endpoint& feed) {
    subgraph whole = sort_items(prune(std::vector<endpoint>{fetch}, {}, std::vector<endpoint>{feed}));
    for (auto& it : whole.items)
        if (it.feed < 0) it.device = &there;
    return insert_copies(std::move(whole));
}

/// A step on a device with a memory of its own, whose first values are needed last, as those of a training step are.
struct long_step {
    explicit long_step(int layers) {
        const placeholder<float, n> x("x");
        std::vector<tensor<float, n>> h{tensor(exp(x))};
        for (int i = 1; i < layers; ++i) h.push_back(tensor(h.back() * reduce_sum(h.back())));
        tensor<float, n> back = h.back();
        for (int i = layers - 1; i >= 0; --i) back = tensor(back * reduce_sum(back) + h[static_cast<std::size_t>(i)]);
        items = items_for(back, x);
    }
    detail::bound_graph bind(const subgraph& of) {
        const std::vector<tensor_type> types{{dtype::float32, dims{n}}};
        return *detail::binder::bind(of, types, resources);
    }

    graph g;
    graph_scope here{g};
    detail::resource_store resources{default_allocator()};
    subgraph items;
};

std::size_t arena(const detail::bound_graph& b) {
    for (const auto& a : b.arenas)
        if (a.space == &memory) return a.bytes;
    return 0;
}
std::size_t copies(const subgraph& g) {
    return static_cast<std::size_t>(std::ranges::count_if(g.items, [](const auto& it) { return it.is_copy(); }));
}

TEST_CASE("swap_plan: values that are long unused leave, as many as have to") {
    long_step s(8);
    const auto b = s.bind(s.items);
    REQUIRE(arena(b) > 8 * each);
    CHECK(detail::find_swaps(b, memory, arena(b)).empty());
    const auto one = detail::find_swaps(b, memory, arena(b) - each);
    REQUIRE(one.size() == 1);
    CHECK(b.graph.items[static_cast<std::size_t>(one[0].value.item)].op->name() ==
          s.items.items[2].op->name()); // the first value has the longest gap
    CHECK(one[0].readers.size() == 1);
    CHECK(one[0].leaves < one[0].returns);
    CHECK(one[0].readers[0].first >= one[0].returns);
    const auto half = detail::find_swaps(b, memory, arena(b) / 2);
    CHECK(half.size() > one.size());
    CHECK(detail::find_swaps(b, memory, 2 * each).empty()); // a sum and a product need three
}

TEST_CASE("swap_plan: a step is made to fit into what is free, or stays as it was") {
    long_step s(12);
    const auto bind = [&](const subgraph& g) { return s.bind(g); };
    const auto before = copies(s.items), whole = arena(s.bind(s.items));
    room = 2 * whole;
    CHECK(copies(detail::fit_memory(s.bind(s.items), bind).graph) == before);
    room = whole / 2;
    const auto fits = detail::fit_memory(s.bind(s.items), bind);
    check(fits.graph, true);
    CHECK(arena(fits) <= room);
    CHECK(copies(fits.graph) > before);
    room = each;
    const auto same = detail::fit_memory(s.bind(s.items), bind);
    CHECK(arena(same) == whole);
    CHECK(copies(same.graph) == before);
}

TEST_CASE("swap_plan: random steps have the same results, however little room there is", "[random]") {
    int swapped = 0;
    seeds::each(60, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        const graph g;
        const graph_scope here(g);
        const placeholder<int, n> x("x");
        std::vector<tensor<int, n>> all{tensor<int, n>(x)};
        const auto any = [&] { return all[draw(4) ? draw(all.size()) : all.size() - 1]; };
        for (int i = 0; i < 14; ++i) {
            const auto a = any(), b = any();
            switch (draw(5)) {
            case 0: all.push_back(tensor<int, n>(a + b)); break;
            case 1: all.push_back(tensor<int, n>(a - b)); break;
            case 2: all.push_back(tensor<int, n>(maximum(a, b) - 1)); break;
            case 3: all.push_back(tensor<int, n>(a - reduce_max(b))); break;
            default: all.push_back(reshape<n>(tensor<int, n / 10, 10>(reshape<n / 10, 10>(a)) + 1)); break;
            }
        }
        tensor<int, n> last = all.back();
        for (int i = 0; i < 9; ++i) last = tensor<int, n>(last - reduce_max(last) + all[draw(all.size())]);
        const auto items = items_for(last, x);
        const std::vector<tensor_type> types{{dtype::int32, dims{n}}};
        detail::resource_store resources(default_allocator());
        std::vector<int> from(n);
        for (auto& f : from) f = static_cast<int>(draw(7)) - 3;
        std::size_t bytes = 0;
        const auto run = [&](bool swaps) {
            const auto s = detail::segment::bind(items, types, resources, default_allocator(), {}, {.swaps = swaps});
            bytes = arena(s->bound());
            swapped += copies(s->bound().graph) > copies(items) ? 1 : 0;
            auto f = s->acquire();
            s->feed(*f, 0, from.data());
            s->run(*f, {});
            const auto* got = static_cast<const int*>(s->fetch_data(*f, 0));
            const std::vector<int> values(got, got + n);
            s->release(std::move(f));
            return values;
        };
        const auto wanted = run(false);
        const auto whole = bytes;
        for (const std::size_t part : {9, 7, 5}) {
            room = whole * part / 10;
            CHECK(run(true) == wanted);
            CHECK((bytes <= room || bytes == whole));
        }
    });
    if (seeds::all()) CHECK(swapped > 20);
}

} // namespace test_swap_plan
