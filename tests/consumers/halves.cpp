// SPDX-License-Identifier: BSD-3-Clause
// A program of headers alone in two files: one makes a graph with a loop, the other runs it and has no op that needs one. What runs
// loops comes with the file that makes them.
#ifdef MAKES
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/less.hpp>

rill::any_tensor make(const rill::graph& g) {
    const rill::graph_scope here(g);
    return rill::while_loop([](auto i) { return i < 10; }, [](auto i) { return i + 3; }, rill::constant(0));
}
#else
#include <cstdio>

#include <rill/session/session.hpp>

rill::any_tensor make(const rill::graph& g);

int main() {
    const rill::graph g;
    const int last = rill::session(g).run(make(g)).value<int>();
    std::printf("%d\n", last);
    return last == 12 ? 0 : 1;
}
#endif
