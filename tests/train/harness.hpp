// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the tests of optimizers share: training by given gradients, compared with vectors.hpp after each step.

#include <cstddef>
#include <vector>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>
#include <rill/train/optimizer.hpp>

#include "catch.hpp"
#include "train/vectors.hpp"

namespace train_test {

using namespace rill;

constexpr std::size_t rows = 4, columns = 3, elements = rows * columns;

/// Elements [from, from + count) as numbers of type T.
template <class T> std::vector<T> part(const std::vector<double>& all, std::size_t from, std::size_t count) {
    std::vector<T> out;
    for (std::size_t i = from; i < from + count; ++i) out.push_back(static_cast<T>(all.at(i)));
    return out;
}

/// How far values are from those of a step, at most.
template <class X> double distance(const X& got, const std::vector<double>& wanted, std::size_t step) {
    double most = 0;
    std::size_t i = step * elements;
    for (const auto v : got) most = std::max(most, std::abs(static_cast<double>(v) - wanted.at(i++)));
    return got.size() == elements ? most : 1;
}

/// The variable after each step by vectors::gradients is as wanted; the loss typed, or of unknown type.
template <class T, class Optimizer> void follow(const Optimizer& optimizer, const std::vector<double>& wanted) {
    for (const bool typed : {true, false}) {
        const graph g;
        const graph_scope here(g);
        const variable<T, 4, 3> w("w", part<T>(vectors::first, 0, elements));
        const placeholder<T, 4, 3> slope("slope");
        const auto loss = reduce_sum(w * slope);
        const operation train = typed ? optimizer.minimize(loss) : optimizer.minimize(any_tensor(loss));
        const session s(g);
        s.run(global_variables_initializer());
        for (std::size_t t = 0; t * elements < wanted.size(); ++t) {
            s.run(train, feed(slope, part<T>(vectors::gradients, t * elements, elements)));
            INFO("step " << t << (typed ? ", typed" : ", untyped"));
            CHECK(distance(s.run(w), wanted, t) < (sizeof(T) == 8 ? 1e-12 : 2e-5));
        }
    }
}

/// The same for a table, trained by the rows that ids name; `op` is what must have run.
template <class Optimizer>
void follow_rows(const Optimizer& optimizer, const std::vector<double>& wanted, const std::string& op) {
    const graph g;
    const graph_scope here(g);
    const variable<double, 4, 3> table("table", part<double>(vectors::first, 0, elements));
    const placeholder<int, dyn> ids("ids");
    const placeholder<double, dyn, 3> slope("slope");
    const operation train = optimizer.minimize(reduce_sum(gather(table, ids) * slope));
    const session s(g);
    s.run(global_variables_initializer());
    std::size_t from = 0;
    for (std::size_t t = 0; t < vectors::ids.size(); ++t) {
        const std::size_t count = vectors::ids[t].size() * columns;
        const auto trace =
            s.run_traced(train, feed(ids, vectors::ids[t]), feed(slope, part<double>(vectors::slices, from, count)));
        from += count;
        bool ran = false;
        for (const auto& e : trace.entries) ran |= e.op == op;
        INFO("step " << t);
        CHECK(ran);
        CHECK(distance(s.run(table), wanted, t) < 1e-12);
    }
}

/// Both types, and by rows; the rule's name is the op's.
template <class Optimizer>
void check(const Optimizer& optimizer, const std::vector<double>& wanted, const std::vector<double>& wanted_rows,
           const std::string& op) {
    REQUIRE(wanted.size() == vectors::gradients.size());
    REQUIRE(wanted_rows.size() == wanted.size());
    follow<double>(optimizer, wanted);
    follow<float>(optimizer, wanted);
    follow_rows(optimizer, wanted_rows, op);
}

/// Made by name, its fields read back; a rule with other fields is another op.
template <class Rule> void check_fields(const Rule& rule) {
    const op_ptr made = make_op(update_op<Rule>{rule});
    CHECK(make_op(Rule::name, 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op(Rule::name)->equals(*made));
}

} // namespace train_test
