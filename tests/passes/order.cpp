// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/order.hpp>

#include <random>

#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/sync/mutex.hpp>
#include <rill/passes/prune.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_order {

struct fixture {
    graph g;
    graph_scope here{g};
    variable<float> w{"w", 10.f}, v{"v", 100.f};
    session s{g};

    fixture() { s.run(global_variables_initializer()); }

    /// The nodes (and copies) in order of execution.
    std::vector<std::string> ordered(const std::vector<endpoint>& fetches,
                                     const std::vector<const node*>& targets = {}) const {
        auto sub = order_variable_accesses(prune(fetches, targets, {}));
        check(sub, false);
        sub = sort_items(std::move(sub));
        check(sub, true);
        std::vector<std::string> names;
        for (int i = 0; i < static_cast<int>(sub.items.size()); ++i)
            if (sub.role(i) == op_role::ordinary) names.push_back(sub.name_of(i));
        return names;
    }
    static int copies(const std::vector<std::string>& names) {
        return static_cast<int>(std::count(names.begin(), names.end(), "copy"));
    }
};

} // namespace test_order

using test_order_fixture = test_order::fixture;

TEST_CASE_METHOD(test_order_fixture, "order: a read comes before the write, though made after it, without a copy") {
    const auto update = w.assign_add(1.f);
    const tensor read(w * 2.f, "read");
    CHECK(ordered({read}, {update.node()}) == std::vector<std::string>{"read", "assign_add"});
    const auto [r] = s.run(std::tuple(read, operation(update.node())));
    CHECK(r == 20.f);
    CHECK(s.run(w) == 11.f);
}

TEST_CASE_METHOD(test_order_fixture, "order: an assign's own output is the value after it") {
    const auto update = w.assign_add(1.f);
    const tensor after(update * 2.f, "after");
    CHECK(s.run(after) == 22.f);
    CHECK(s.run(update) == 12.f);
    const tensor held = identity(update); // and under another name
    const auto more = update + w.assign(0.f);
    CHECK(s.run(std::tuple(held, more)) == std::tuple(13.f, 13.f));
}

TEST_CASE_METHOD(test_order_fixture, "order: a use that needs both values gets a copy of the old one") {
    const auto update = w.assign_add(1.f);
    const tensor both(w * 1000.f + update, "both");
    CHECK(test_order::fixture::copies(ordered({both})) == 1);
    CHECK(s.run(both) == 10011.f);
    const auto itself = w.assign(w); // the value to write is a use like any other
    CHECK(s.run(itself) == 11.f);
}

TEST_CASE_METHOD(test_order_fixture, "order: a control dependency puts a use after the write") {
    const auto update = w.assign_add(1.f);
    const operation done = group(update, v.assign(w * 2.f));
    const auto read_after = [&](const auto& dependency) {
        const control_dependencies after(dependency);
        return tensor<float>(w + 0.f);
    };
    const auto directly = read_after(update), through_a_group = read_after(done);
    CHECK(s.run(directly) == 11.f);
    CHECK(s.run(through_a_group) == 12.f);
    CHECK(s.run(v) == 22.f); // v got what w was before
    const tensor before(w + 0.f);
    CHECK(s.run(std::tuple(before, through_a_group, w)) == std::tuple(12.f, 13.f, 12.f));
}

TEST_CASE_METHOD(test_order_fixture, "order: fetching a variable together with its update gives the old value") {
    const auto update = w.assign_add(1.f);
    CHECK(s.run(std::tuple(w, update)) == std::tuple(10.f, 11.f));
    CHECK(test_order::fixture::copies(ordered({w, update})) == 1);
    CHECK(s.run(w) == 11.f);
}

TEST_CASE_METHOD(test_order_fixture,
                 "order: two writes happen in order of creation, and each output is its own version") {
    const auto first = w.assign_add(1.f), second = w.assign(w * 3.f), third = w.assign_add(5.f);
    const tensor seen(first + 0.f);
    const auto [a, b, c, d] = s.run(std::tuple(third, second, first, seen));
    CHECK(a == 35.f);
    CHECK(b == 30.f); // the write's value is a use: of the start
    CHECK(c == 11.f);
    CHECK(d == 11.f);
    CHECK(s.run(w) == 35.f);
}

TEST_CASE_METHOD(test_order_fixture, "order: a swap") {
    const operation swap = group(w.assign(v), v.assign(w));
    s.run(swap);
    CHECK(s.run(std::tuple(w, v)) == std::tuple(100.f, 10.f));
    s.run(swap);
    CHECK(s.run(std::tuple(w, v)) == std::tuple(10.f, 100.f));
}

TEST_CASE_METHOD(test_order_fixture, "order: writes of two variables and a read across them close no cycle") {
    const auto w1 = w.assign(1.f);
    const auto v1 = v.assign(w1 * 2.f);
    const auto v2 = v.assign_add(1.f);
    const tensor read(w * v2, "read"); // w as it was, after all writes of v, which wait for the write of w
    CHECK(s.run(std::tuple(read, v1)) == std::tuple(30.f, 2.f));
    CHECK(s.run(std::tuple(w, v)) == std::tuple(1.f, 3.f));
}

TEST_CASE_METHOD(test_order_fixture,
                 "order: only dependencies of the user's put a use after a write, not the order chosen for others") {
    const auto w1 = w.assign(1.f);
    const auto v1 = v.assign(5.f);
    const tensor reads_w(w + v1,
                         "reads_w"); // runs before w1 and after v1; so w1 runs after v1, but nobody asked for that
    const control_dependencies after(w1);
    const tensor reads_v(v + 0.f, "reads_v");
    CHECK(s.run(std::tuple(reads_w, reads_v)) == std::tuple(15.f, 100.f));
}

TEST_CASE_METHOD(test_order_fixture, "order: without writes nothing changes, a cycle is an internal error") {
    const tensor read(w * 2.f, "read");
    CHECK(ordered({read, w}) == std::vector<std::string>{"read"});
    subgraph cycle;
    cycle.items.resize(2);
    cycle.items[0].after = {1};
    cycle.items[1].after = {0};
    CHECK_THROWS_AS(sort_items(cycle), internal);
}

TEST_CASE_METHOD(test_order_fixture, "order: long chains of writes, of uses between them and of copies") {
    tensor<float> wl = w.assign(w + 1.f), vl = v.assign_add(1.f);
    std::vector<any_tensor> sums;
    for (int i = 1; i < 2000; ++i) {
        {
            const control_dependencies after(wl);
            wl = w.assign(w + 1.f);
        }
        const control_dependencies after(vl);
        const tensor<float> more = v.assign_add(1.f);
        sums.push_back(tensor<float>(vl + more)); // needs both values
        vl = more;
    }
    for (int i = 0; i < 100; ++i) sums.push_back(tensor<float>(w * 1.f)); // made last, reads what was there first
    const auto [wv, vv, w0, v0, all] = s.run(std::tuple(wl, vl, w, v, sums));
    CHECK(std::tuple(wv, vv, w0, v0) == std::tuple(2010.f, 2100.f, 10.f, 100.f));
    CHECK(all[5].value<float>() == 106.f + 107.f);
    CHECK(all.back().value<float>() == 10.f);
    CHECK(test_order::fixture::copies(ordered({sums[0].end(), sums[1].end()})) == 2);
}

TEST_CASE("order: random programs mean what the rule says", "[random]") {
    // a model of the rule: a use is the variable after the writes that its own control inputs wait for, else at the start
    struct step {
        enum { use, assign, increase, mix, hold, number } kind = use;
        int variable = 0;
        std::vector<int> inputs; // earlier steps
        std::vector<int> after;  // earlier steps, by control dependency
        tensor<float> made;
    };
    int wrong = 0;
    seeds::each(150, [&](std::uint64_t seed) {
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        const graph g;
        const graph_scope here(g);
        const std::vector<variable<float>> variables{{"w", 1.f}, {"v", 2.f}};
        const int n = 4 + pick(10);
        std::vector<step> steps(static_cast<std::size_t>(n));
        const auto at = [&](int i) -> step& { return steps[static_cast<std::size_t>(i)]; };
        for (int i = 0; i < n; ++i) {
            step& p = at(i);
            p.kind = i == 0 ? step::use : static_cast<decltype(p.kind)>(pick(6));
            p.variable = pick(2);
            const int inputs = p.kind == step::use || p.kind == step::number ? 0 : p.kind == step::mix ? 2 : 1;
            for (int k = 0; k < inputs; ++k) p.inputs.push_back(pick(i));
            std::optional<control_dependencies> first, second;
            const auto wait_for = [&](std::optional<control_dependencies>& scope) {
                if (i == 0 || pick(3) > 0) return;
                p.after.push_back(pick(i));
                scope.emplace(at(p.after.back()).made);
            };
            wait_for(first);
            wait_for(second);
            const auto& w = variables[static_cast<std::size_t>(p.variable)];
            const auto input = [&](int k) { return at(p.inputs[static_cast<std::size_t>(k)]).made; };
            switch (p.kind) {
            case step::use: p.made = tensor<float>(w + static_cast<float>(pick(3))); break;
            case step::assign:
                p.made = w.assign(pick(2) ? tensor<float>(input(0)) : tensor<float>(input(0) + w));
                break;
            case step::increase: p.made = w.assign_add(input(0)); break;
            case step::mix: p.made = tensor<float>(input(0) * 0.5f + input(1) + w); break;
            case step::hold: p.made = identity(input(0)); break;
            case step::number: p.made = tensor<float>(constant(static_cast<float>(pick(3)))); break;
            }
            second.reset();
            first.reset();
        }
        std::vector<int> fetched;
        for (int i = 0; i < n; ++i)
            if (pick(2)) fetched.push_back(i);
        if (fetched.empty()) return;

        // the model walks the graph itself
        std::vector<float> start{1.f, 2.f};
        session s(g);
        s.run(global_variables_initializer());
        for (int run = 0; run < 2; ++run) {
            std::vector<const node*> needed, open;
            const auto need = [&](const node* m) {
                if (std::find(needed.begin(), needed.end(), m) == needed.end()) needed.push_back(m), open.push_back(m);
            };
            for (const int f : fetched) need(at(f).made.node());
            while (!open.empty()) {
                const node* m = open.back();
                open.pop_back();
                for (const auto& e : m->inputs) need(e.from);
                for (const auto* c : m->control_inputs) need(c);
            }
            std::sort(needed.begin(), needed.end(), [](auto* a, auto* b) { return a->id < b->id; });
            const auto index_of = [&](const node* m) {
                return m == variables[0].node() ? 0 : m == variables[1].node() ? 1 : -1;
            };
            std::vector<std::vector<const node*>> writes(2);
            for (const auto* m : needed)
                if (!m->op->writes().empty())
                    writes[static_cast<std::size_t>(index_of(m->inputs[0].from))].push_back(m);
            const auto depends = [](const node* later, const node* earlier) {
                std::vector<const node*> seen{later};
                for (std::size_t i = 0; i < seen.size(); ++i) {
                    if (seen[i] == earlier) return true;
                    std::vector<const node*> before = seen[i]->control_inputs;
                    for (const auto& e : seen[i]->inputs) before.push_back(e.from);
                    for (const auto* b : before)
                        if (std::find(seen.begin(), seen.end(), b) == seen.end()) seen.push_back(b);
                }
                return false;
            };
            std::map<const node*, float> known;
            std::function<float(const node*)> value;
            const auto version = [&](int variable, std::size_t after) -> float {
                return after == 0 ? start[static_cast<std::size_t>(variable)]
                                  : value(writes[static_cast<std::size_t>(variable)][after - 1]);
            };
            const auto use = [&](const node* by, const endpoint& e) -> float {
                const int variable = index_of(e.from);
                if (variable < 0) return value(e.from);
                const auto& list = writes[static_cast<std::size_t>(variable)];
                std::size_t after = 0;
                for (std::size_t k = 0; k < list.size(); ++k)
                    for (const auto* c : by->control_inputs)
                        if (depends(c, list[k])) after = k + 1;
                return version(variable, after);
            };
            value = [&](const node* m) -> float {
                if (const auto found = known.find(m); found != known.end()) return found->second;
                float result = 0;
                if (m->op->role() == op_role::constant) {
                    result = m->op->constant()->value<float>();
                } else if (!m->op->writes().empty()) {
                    const int variable = index_of(m->inputs[0].from);
                    const auto& list = writes[static_cast<std::size_t>(variable)];
                    const auto k = static_cast<std::size_t>(std::find(list.begin(), list.end(), m) - list.begin());
                    result = use(m, m->inputs[1]) + (m->op->name() == "AssignAdd" ? version(variable, k) : 0.f);
                } else if (m->op->name() == "Identity") {
                    result = use(m, m->inputs[0]);
                } else { // a fused node: by its program
                    const auto& spec = static_cast<const fused_op*>(m->op->attributes())->spec;
                    std::vector<float> values;
                    for (const auto& l : spec.leaves)
                        values.push_back(use(m, m->inputs[static_cast<std::size_t>(l.input)]));
                    for (const auto& c : spec.scalars) values.push_back(c.as<float>());
                    for (const auto& i : spec.body->code) {
                        const float a = values[static_cast<std::size_t>(i.args[0])],
                                    b = values[static_cast<std::size_t>(i.args[1])];
                        values.push_back(i.op->name == "Add" ? a + b : a * b);
                    }
                    result = values[static_cast<std::size_t>(spec.body->results[0])];
                }
                return known[m] = result;
            };
            std::vector<any_tensor> what;
            for (const int f : fetched) what.push_back(at(f).made);
            const auto got = s.run(what);
            for (std::size_t k = 0; k < fetched.size(); ++k)
                wrong += got[k].value<float>() != value(at(fetched[k]).made.node());
            auto end = start;
            for (std::size_t i = 0; i < 2; ++i) end[i] = version(static_cast<int>(i), writes[i].size());
            start = end;
            const auto [w, v] = s.run(std::tuple(variables[0], variables[1]));
            wrong += w != start[0] || v != start[1];
        }
        CHECK(wrong == 0);
    });
}

TEST_CASE_METHOD(test_order_fixture, "order: takes and releases of one lock go in order of creation, whatever is run") {
    const mutex a("a"), b("b");
    const operation a1 = a.acquire(), b1 = b.acquire(), a2 = a.release(), a3 = a.acquire(), b2 = b.release();
    const std::vector<const node*> all{a3.node(), b2.node(), a1.node(), a2.node(), b1.node()};
    const auto sub = serialize_lock_ops(prune({}, all, {}));
    check(sub, true);
    const auto waits_for = [&](const operation& later, const operation& before) {
        for (const auto& it : sub.items)
            if (it.origin == later.node())
                for (const int k : it.after)
                    if (sub.items[k].origin == before.node()) return true;
        return false;
    };
    CHECK(waits_for(a2, a1));
    CHECK(waits_for(a3, a2));
    CHECK(waits_for(b2, b1));
    CHECK_FALSE(waits_for(b1, a1));
    CHECK_FALSE(waits_for(a1, a3));
}

TEST_CASE_METHOD(test_order_fixture, "order: nodes of one container and name are one lock") {
    const container_scope owned("c");
    const mutex by_node("m"), by_name("n", {.shared_name = "m"}), other("o");
    const operation first = by_node.acquire(), apart = other.acquire(), next = by_name.release();
    const auto sub =
        serialize_lock_ops(prune({}, std::vector<const node*>{next.node(), apart.node(), first.node()}, {}));
    check(sub, true);
    for (const auto& it : sub.items) {
        if (it.origin == next.node()) {
            REQUIRE(it.after.size() == 1);
            CHECK(sub.items[it.after[0]].origin == first.node());
        }
        if (it.origin == apart.node()) CHECK(it.after.empty());
    }
}
