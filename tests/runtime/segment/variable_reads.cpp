// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/variable_reads.hpp>

#include <string>
#include <vector>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/state/is_initialized.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/segment/binding.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("variable_reads: a frame holds a version only while a later step reads it") {
    using start = detail::bound_graph::bound_variable::start;
    constexpr index_t n = 2000;
    const graph g;
    const graph_scope here(g);
    const variable<float, n> once("once", 0.f), twice("twice", 0.f), whole("whole", 0.f), both("both", 0.f),
        trained("trained", 0.f), added("added", 0.f), shown("shown", 0.f), set("set", 0.f), asked("asked", 0.f);
    const variable<float, 4> small("small", 0.f), small_added("small_added", 0.f);
    const tensor ids = constant({1, 3}), others = constant({2, 0});
    const tensor sum = reduce_sum(gather(once, ids)) + reduce_sum(gather(twice, ids)) +
                       reduce_sum(gather(twice, others)) + reduce_sum(whole) + reduce_sum(gather(both, ids)) +
                       reduce_sum(both) + reduce_sum(gather(trained, ids)) + reduce_sum(gather(small, ids));
    const tensor more = shown.assign_add(1.f);
    const tensor known = is_initialized(asked);
    const std::vector<endpoint> fetches{sum, more, known}, feeds;
    const std::vector<const node*> targets{trained.scatter_add(ids, constant({1.f, 1.f})).node(),
                                           added.assign_add(1.f).node(), set.assign(whole + 1.f).node(),
                                           small_added.assign_add(1.f).node()};
    detail::resource_store resources(default_allocator());
    const std::vector<tensor_type> no_types;
    const auto b =
        *detail::binder::bind(sort_items(order_variable_accesses(prune(fetches, targets, feeds))), no_types, resources);

    const auto name_of = [&](std::int32_t v) { return b.variables[v].origin->name; };
    const auto reads = [&](const std::string& name) {
        for (const auto& v : b.variables)
            if (v.origin->name == name) return v.reads;
        throw not_found(name);
    };
    for (const auto* name : {"once", "trained"}) CHECK(reads(name) == start::slices);
    for (const auto* name : {"twice", "whole", "both", "small", "asked"}) CHECK(reads(name) == start::held);
    for (const auto* name : {"added", "shown", "set", "small_added"}) CHECK(reads(name) == start::unread);
    for (const auto& v : b.variables) CHECK(v.needs_value == (v.origin->name != "set" && v.origin->name != "asked"));

    REQUIRE(b.release_list.size() == 1);
    CHECK(name_of(b.release_list[0]) == "twice");
    int readers = 0, releases = 0;
    for (const auto& s : b.steps) {
        readers += s.slices_of >= 0;
        releases += s.releases;
        if (s.slices_of >= 0 || s.releases > 0 || s.writes > 0) CHECK_FALSE(s.plain);
        if (s.releases > 0) CHECK(b.graph.items[s.item].op->name() == "Gather");
    }
    CHECK(readers == 2);
    CHECK(releases == 1);
    CHECK(b.write_list.size() == 5);
    for (const auto& w : b.write_list) {
        INFO(name_of(w.variable));
        CHECK(w.keeps == (name_of(w.variable) == "shown" || name_of(w.variable) == "small_added"));
    }
}
