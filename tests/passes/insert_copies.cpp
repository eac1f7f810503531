// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/insert_copies.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>
#include <rill/ops/sync/mutex.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_passes_insert_copies {

/// Adds two; reads the second on the host if it is told to.
struct plain_op {
    static constexpr auto name = "TestTransferPlain";
    static constexpr auto no_gradient = "a test's";
    bool host = false;
    static void fields(auto& op, auto& visit) { visit("host", op.host); }
    input_list host_inputs() const { return host ? input_list{1} : input_list{}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
};
/// Reads its first input, and the shape of the second.
struct shaped_op {
    static constexpr auto name = "TestTransferShaped";
    static constexpr auto no_gradient = "a test's";
    static input_list shape_only_inputs() { return {1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
};
/// Its shape rule reads the value of the second.
struct sized_op {
    static constexpr auto name = "TestTransferSized";
    static constexpr auto no_gradient = "a test's";
    input_list shape_inputs() const { return {1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
};
struct state_op {
    static constexpr auto name = "TestTransferState";
    static constexpr auto no_gradient = "a test's";
    static constexpr auto role = op_role::variable;
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::float32, {}}}; }
};
struct write_op {
    static constexpr auto name = "TestTransferWrite";
    static constexpr auto no_gradient = "a test's";
    static constexpr int alias = 0;
    input_list writes() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
};
struct literal_op {
    static constexpr auto name = "TestTransferConstant";
    static constexpr auto no_gradient = "a test's";
    static constexpr auto role = op_role::constant;
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::float32, {}}}; }
};

const memory_space far_memory{"far"}, farther_memory{"farther"};
const device_type transfer_type{"test_passes_insert_copies"};
const device far{&transfer_type, 0, &far_memory}, farther{&transfer_type, 1, &farther_memory},
    beside{&transfer_type, 2}, processor{&cpu_device(), 0};

inline std::string name_of(const device& d) { return d.space ? d.space->name : "host"; }

/// A subgraph that is put together by hand; items get a node for their name.
struct builder {
    std::deque<node> nodes;
    subgraph g;

    template <class Op> int add(const char* name, Op op, const device* where, std::initializer_list<int> inputs = {}) {
        nodes.emplace_back().name = name;
        subgraph::item it;
        it.origin = &nodes.back();
        it.op = make_op(op);
        it.device = where;
        for (const int i : inputs) it.inputs.push_back({i, 0});
        g.items.push_back(std::move(it));
        return static_cast<int>(g.items.size()) - 1;
    }
    int feed(const char* name, const device* where = nullptr) {
        nodes.emplace_back().name = name;
        subgraph::item it;
        it.feed = static_cast<int>(g.feeds.size());
        it.device = where;
        g.feeds.push_back({&nodes.back(), 0});
        g.items.push_back(std::move(it));
        return static_cast<int>(g.items.size()) - 1;
    }
    void fetch(int item) { g.fetches.push_back({item, 0}); }

    subgraph moved(const device* fetches = nullptr) const {
        auto out = insert_copies(g, fetches);
        check(out, true);
        return out;
    }
};

/// "name(inputs)@device", with "copy" for copies.
inline std::string text(const subgraph& g, int i) {
    const auto& it = g.items[static_cast<std::size_t>(i)];
    std::string all = it.is_copy() ? "copy"
                      : it.origin  ? it.origin->name
                                   : g.feeds[static_cast<std::size_t>(it.feed)].from->name;
    if (!it.inputs.empty()) {
        all += "(";
        for (std::size_t k = 0; k < it.inputs.size(); ++k) all += (k ? "," : "") + text(g, it.inputs[k].item);
        all += ")";
    }
    return all + (it.device ? "@" + name_of(*it.device) : "");
}
inline std::string fetched(const subgraph& g, std::size_t i = 0) { return text(g, g.fetches[i].item); }
inline std::size_t copies(const subgraph& g) {
    return static_cast<std::size_t>(
        std::count_if(g.items.begin(), g.items.end(), [](const auto& it) { return it.is_copy(); }));
}

} // namespace test_passes_insert_copies

TEST_CASE("insert_copies: where all share the host's memory nothing is copied") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x"), a = b.add("a", plain_op{}, &beside, {x, x}),
              c = b.add("c", plain_op{}, &processor, {a, x});
    b.fetch(b.add("d", plain_op{}, nullptr, {c, a}));
    const auto g = b.moved();
    CHECK(g.items.size() == 4);
    CHECK(copies(g) == 0);
}

TEST_CASE("insert_copies: what is fed, a constant, or made elsewhere comes to its reader, and back to who fetches") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x"), k = b.add("k", literal_op{}, &far);
    const int a = b.add("a", plain_op{}, &far, {x, k});
    b.fetch(a);
    const auto g = b.moved();
    CHECK(fetched(g) ==
          "copy(a(copy(x)@far,copy(k@far)@far)@far)"); // a constant's value is the host's, wherever it is used
    CHECK(g.items.size() == 6);
}

TEST_CASE("insert_copies: one copy serves all readers of a device, and another that of another device") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x");
    const int a = b.add("a", plain_op{}, &far, {x, x}), c = b.add("c", plain_op{}, &far, {x, a});
    const int d = b.add("d", plain_op{}, &farther, {a, c}), e = b.add("e", plain_op{}, &farther, {a, d});
    b.fetch(e);
    b.fetch(e);
    b.fetch(a);
    const auto g = b.moved();
    // x to far; a and c to farther; e and a to the host
    CHECK(copies(g) == 5);
    CHECK(g.fetches[0] == g.fetches[1]);
    CHECK(fetched(g, 2) == "copy(a(copy(x)@far,copy(x)@far)@far)");
    CHECK(text(g, g.items[static_cast<std::size_t>(g.fetches[0].item)].inputs[0].item).substr(0, 7) == "e(copy(");
}

TEST_CASE("insert_copies: what is read for its shape alone stays where it is") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x"), a = b.add("a", plain_op{}, &far, {x, x});
    b.fetch(b.add("s", shaped_op{}, nullptr, {x, a}));
    b.fetch(b.add("t", shaped_op{}, &farther, {a, x}));
    const auto g = b.moved();
    CHECK(fetched(g) == "s(x,a(copy(x)@far,copy(x)@far)@far)");
    CHECK(fetched(g, 1) == "copy(t(copy(a(copy(x)@far,copy(x)@far)@far)@farther,x)@farther)");
    CHECK(copies(g) == 3);
}

TEST_CASE(
    "insert_copies: feeds come first where the device captures its kernels, so that their copies do not divide them") {
    using namespace test_passes_insert_copies;
    const auto order = [](const device& where) {
        builder b;
        const int x = b.feed("x"), a = b.add("a", plain_op{}, &where, {x, x}), y = b.feed("y");
        b.fetch(b.add("b", plain_op{}, &where, {a, y}));
        const auto g = b.moved();
        std::string all;
        for (int i = 0; i < static_cast<int>(g.items.size()); ++i) all += (i ? " " : "") + text(g, i);
        return all;
    };
    memory_space captures{"captures"};
    captures.capture = [](const memory_space&, const std::function<void()>&) { return std::function<void()>(); };
    const device there{&transfer_type, 0, &captures};
    CHECK(order(far) == "x copy(x)@far a(copy(x)@far,copy(x)@far)@far y copy(y)@far "
                        "b(a(copy(x)@far,copy(x)@far)@far,copy(y)@far)@far "
                        "copy(b(a(copy(x)@far,copy(x)@far)@far,copy(y)@far)@far)");
    CHECK(order(there).starts_with("x copy(x)@captures y copy(y)@captures a(copy(x)@captures"));
}

TEST_CASE("insert_copies: what an op reads on the host is there") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x"), n = b.feed("n");
    const int a = b.add("a", plain_op{}, &far, {x, x});
    const int c = b.add("c", plain_op{true}, &far, {a, n}); // as it was fed
    const int d = b.add("d", plain_op{true}, &far, {c, a}); // back from the device
    b.fetch(d);
    const auto g = b.moved();
    CHECK(fetched(g) == "copy(d(c(a(copy(x)@far,copy(x)@far)@far,n)@far,copy(a(copy(x)@far,copy(x)@far)@far))@far)");
}

TEST_CASE("insert_copies: a feed crosses before anything runs, whoever is the first to read it") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x"), y = b.feed("y"), n = b.feed("n");
    const int a = b.add("a", plain_op{true}, &far, {x, n});
    b.fetch(b.add("b", plain_op{}, &far, {a, y}));
    const auto g = b.moved();
    REQUIRE(g.items.size() == 8);
    std::vector<std::string> order;
    for (int i = 0; i < 8; ++i) order.push_back(text(g, i).substr(0, 7));
    CHECK(order == std::vector<std::string>{"x", "copy(x)", "y", "copy(y)", "n", "a(copy(", "b(a(cop", "copy(b("});
}

TEST_CASE(
    "insert_copies: readers between two writes of a variable share a copy, made when it is the first one's turn") {
    using namespace test_passes_insert_copies;
    builder b;
    const int v = b.add("v", state_op{}, &far), before = b.add("before", plain_op{}, nullptr, {v, v}),
              as_well = b.add("as_well", plain_op{}, nullptr, {v, v});
    const int write = b.add("write", write_op{}, &far, {v});
    b.g.items[static_cast<std::size_t>(write)].after = {before, as_well};
    const int after = b.add("after", plain_op{}, nullptr, {v, v});
    b.g.items[static_cast<std::size_t>(after)].after = {write};
    const int written = b.add("written", plain_op{}, nullptr, {write, write});
    for (const int i : {before, after, written, as_well}) b.fetch(i);
    b.g.targets = {write};
    const auto g = b.moved();
    const auto at = [&](std::size_t fetch) -> const subgraph::item& {
        return g.items[static_cast<std::size_t>(g.fetches[fetch].item)];
    };
    const auto copy_of = [&](const subgraph::item& reader, std::size_t k) -> const subgraph::item& {
        return g.items[static_cast<std::size_t>(reader.inputs[k].item)];
    };
    REQUIRE(g.targets.size() == 1);
    const int now = g.targets[0];
    CHECK(g.items[static_cast<std::size_t>(now)].origin->name == "write");
    // the copy for the later reader waits for the write, as the reader does; that for the earlier one comes before it
    CHECK(copy_of(at(1), 0).is_copy());
    CHECK(copy_of(at(1), 0).after == small_vector<int, 4>{now});
    CHECK(copy_of(at(0), 0).after.empty());
    CHECK(at(0).inputs[0].item < now);
    CHECK(at(1).inputs[0].item > now);
    CHECK_FALSE(at(0).inputs[0] == at(1).inputs[0]);
    CHECK(at(3).inputs[0] == at(0).inputs[0]);
    CHECK(at(2).inputs[0] == at(1).inputs[0]); // what the write gives is the variable, too
    CHECK(copy_of(g.items[static_cast<std::size_t>(now)], 0).origin->name == "v"); // the write has it as it is
}

TEST_CASE("insert_copies: targets and waits follow their items") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x"), a = b.add("a", plain_op{}, &far, {x, x}), c = b.add("c", plain_op{}, &far, {a, a});
    b.g.items[static_cast<std::size_t>(c)].after = {a};
    b.g.targets = {c, a};
    const auto g = b.moved();
    REQUIRE(g.targets.size() == 2);
    CHECK(g.items[static_cast<std::size_t>(g.targets[0])].origin->name == "c");
    CHECK(g.items[static_cast<std::size_t>(g.targets[1])].origin->name == "a");
    CHECK(g.items[static_cast<std::size_t>(g.targets[0])].after == small_vector<int, 4>{g.targets[1]});
    CHECK(g.fetches.empty());
}

TEST_CASE("insert_copies: instances with one memory share a copy, feeds and fetches lie where a body's node says") {
    using namespace test_passes_insert_copies;
    const device twin{&transfer_type, 3, &far_memory};
    builder b;
    const int x = b.feed("x", &far), y = b.feed("y");
    const int a = b.add("a", plain_op{}, &far, {x, y}), c = b.add("c", plain_op{}, &twin, {a, y});
    const int d = b.add("d", plain_op{}, &farther, {c, x});
    b.fetch(d);
    b.fetch(y);
    const auto g = b.moved(&far);
    CHECK(fetched(g) ==
          "copy(d(copy(c(a(x@far,copy(y)@far)@far,copy(y)@far)@far)@farther,copy(x@far)@farther)@farther)@far");
    CHECK(fetched(g, 1) == "copy(y)@far");
    CHECK(copies(g) == 4);                 // y to far; c and x to farther; d back
    CHECK(copies(b.moved(&farther)) == 4); // d stays, y goes to farther too
}

TEST_CASE("insert_copies: what a shape rule reads, and what chooses a branch, are on the host") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x"), n = b.feed("n");
    b.fetch(b.add("a", sized_op{}, &far, {x, n}));
    CHECK(fetched(b.moved()) == "copy(a(copy(x)@far,n)@far)");
    subgraph::item branch;
    branch.device = &far;
    branch.op = make_op(case_op{});
    CHECK(branch.input_device(0) == nullptr);
    CHECK(branch.input_device(1) == &far);
}

namespace test_passes_insert_copies {

using matrix = tensor<float, 300, 300>;

/// Chains of products on two devices with memories of their own; nodes name them "/far:0" and "/far:1".
struct chains {
    graph g;
    graph_scope here{g};
    placeholder<float, 300, 300> x{"x"};

    template <class F> static auto on(const std::string& device, const F& make) {
        const device_scope there(device);
        return make();
    }
    static matrix chain(const std::string& device, matrix m, int products, const std::string& last) {
        const device_scope there(device);
        for (int i = 1; i < products; ++i) m = matmul(m, m);
        return matrix(matmul(m, m), last);
    }
    subgraph placed(const std::vector<endpoint>& fetches) const {
        const std::vector<endpoint> feeds{x};
        auto made = sort_items(order_variable_accesses(prune(fetches, {}, feeds)));
        for (auto& it : made.items)
            if (it.origin && !it.origin->device.empty())
                it.device = it.origin->device.ends_with("far:1") ? &farther : &far;
        return insert_copies(std::move(made));
    }
    static subgraph hoisted(const subgraph& g, double room = std::numeric_limits<double>::infinity()) {
        auto made = hoist_copies(g, cost_model(), [room](const memory_space*) { return room; });
        check(made, true);
        return made;
    }
    /// Returns "name@memory" of each item, copies by the name of what they copy.
    static std::vector<std::string> names(const subgraph& g) {
        std::vector<std::string> all;
        for (const auto& it : g.items) {
            const auto* n = it.is_copy() ? g.items[it.inputs[0].item].origin : it.origin;
            all.push_back((n ? n->name : "feed") + "@" + (it.memory() ? it.memory()->name : "host"));
        }
        return all;
    }
    static std::ptrdiff_t place_of(const subgraph& g, const std::string& name) {
        const auto all = names(g);
        const auto at = std::find(all.begin(), all.end(), name);
        INFO(name);
        CHECK(at != all.end());
        return at - all.begin();
    }
};

} // namespace test_passes_insert_copies

TEST_CASE("hoist_copies: a device waits for no work of another one that it does not need") {
    using namespace test_passes_insert_copies;
    const chains c;
    const auto w = chains::on(
        "/far:0", [] { return variable<float, 300, 300>("w", xt::xtensor<float, 2>(xt::ones<float>({300, 300}))); });
    const matrix a = chains::chain("/far:0", matrix(c.x * 1.f), 12, "a");
    const matrix between = chains::on("/far:0", [&] { return matrix(c.x * 2.f, "between"); });
    const matrix b =
        chains::chain("/far:1", chains::on("/far:1", [&] { return matrix(matmul(between, w), "first"); }), 2, "b");
    const auto before = c.placed({a, b});
    CHECK(chains::place_of(before, "a@far") < chains::place_of(before, "between@far"));
    const auto after = chains::hoisted(before);
    for (const auto* name : {"between@farther", "w@farther"})
        CHECK(chains::place_of(after, name) < chains::place_of(after, "matmul@far"));
    CHECK(chains::place_of(after, "between@far") < chains::place_of(after, "between@farther"));
    CHECK(chains::place_of(after, "a@far") < chains::place_of(after, "first@farther")); // the rest keeps its order
    auto was = chains::names(before), now = chains::names(after);
    CHECK(was != now);
    std::sort(was.begin(), was.end());
    std::sort(now.begin(), now.end());
    CHECK(was == now);
}

TEST_CASE("hoist_copies: a copy stays behind much work of its own, little work of others, and where room is short") {
    using namespace test_passes_insert_copies;
    const auto moves = [](const subgraph& g, double room = std::numeric_limits<double>::infinity()) {
        return chains::names(chains::hoisted(g, room)) != chains::names(g);
    };
    const chains c;
    const auto to_b = [&](const matrix& between) {
        return chains::on("/far:1", [&] { return matrix(matmul(between, between)); });
    };
    const auto twice = [&](const auto& x) { return chains::on("/far:0", [&] { return matrix(x * 2.f); }); };
    const auto after_chain = [&](int products) {
        return c.placed({chains::chain("/far:0", matrix(c.x * 1.f), products, "a"), to_b(twice(c.x))});
    };
    CHECK(moves(after_chain(12)));
    CHECK(!moves(c.placed({twice(c.x), to_b(twice(c.x))})));
    constexpr double bytes = 300 * 300 * sizeof(float);
    CHECK(!moves(after_chain(12), 15 * bytes));
    CHECK(moves(after_chain(12), 17 * bytes));
    const matrix a = chains::chain("/far:0", matrix(c.x * 1.f), 12, "a");
    CHECK(!moves(c.placed({a, to_b(a)}))); // which it needs
    CHECK(!moves(c.placed({a, to_b(chains::chain("/far:0", twice(c.x), 5, "long"))})));
    const auto v = chains::on(
        "/far:0", [] { return variable<float, 300, 300>("v", xt::xtensor<float, 2>(xt::ones<float>({300, 300}))); });
    CHECK(moves(c.placed({a, to_b(v)})));
    const matrix written = chains::on("/far:0", [&] { return matrix(v.assign(twice(c.x))); });
    CHECK(!moves(c.placed({a, to_b(written)})));
    const auto late = [&] {
        const control_dependencies first(a);
        return to_b(v);
    }();
    CHECK(!moves(c.placed({late})));
    const mutex lock("lock");
    const matrix locked = lock.critical([&] { return matrix(c.x * 3.f); });
    CHECK(!moves(c.placed({locked, a, to_b(v)}))); // variables are read at their turn
}

TEST_CASE("insert_swaps: a value leaves its device after an item, and later readers read what comes back") {
    using namespace test_passes_insert_copies;
    builder b;
    const int x = b.feed("x", &far), a = b.add("a", plain_op{}, &far, {x, x}), c = b.add("c", plain_op{}, &far, {a, a}),
              d = b.add("d", plain_op{}, &far, {c, c}), e = b.add("e", plain_op{}, &far, {d, a});
    b.g.items[static_cast<std::size_t>(d)].after.push_back(c);
    b.fetch(b.add("f", plain_op{}, &far, {e, a}));
    b.g.targets.push_back(e);
    const std::vector<swapped_value> swaps{{{a, 0}, d, e, {{e, 1}, {e + 1, 1}}}};
    const auto g = insert_swaps(b.g, swaps);
    check(g, true);
    CHECK(copies(g) == 2);
    CHECK(fetched(g) ==
          "f(e(d(c(a(x@far,x@far)@far,a(x@far,x@far)@far)@far,c(a(x@far,x@far)@far,a(x@far,x@far)@far)@far)@far,"
          "copy(copy(a(x@far,x@far)@far))@far)@far,copy(copy(a(x@far,x@far)@far))@far)@far");
    CHECK(g.items[3].is_copy()); // behind c
    CHECK(g.items[4].after[0] == c);
    CHECK(g.items[5].is_copy()); // in front of e
    CHECK(g.targets[0] == 6);
    CHECK(insert_swaps(b.g, {}).items.size() == b.g.items.size());
}
