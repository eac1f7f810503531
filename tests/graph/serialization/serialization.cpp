// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/serialization/serialization.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <rill/all_kernels.hpp>
#include <rill/core/crc32c.hpp>
#include <rill/graph/serialization/saved_graph.hpp>

#include "catch.hpp"
#include "random_graph.hpp"

using namespace rill;

namespace test_serialization {

/// A file that goes when the test does.
struct temporary {
    std::string path;
    explicit temporary(const std::string& name) : path("test_serialization." + name) { std::remove(path.c_str()); }
    ~temporary() { std::remove(path.c_str()); }
};

inline std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// 4-10-10-3, with its training step.
inline graph classifier() {
    const graph g;
    const graph_scope here(g);
    g.set_seed(7);
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    const auto h1 = relu(dense<4, 10>("h1", x)), h2 = relu(dense<10, 10>("h2", h1));
    const tensor logits(dense<10, 3>("out", h2), "logits");
    const tensor loss(reduce_mean(sparse_softmax_cross_entropy(logits, label)), "loss");
    const auto step = adam({.learning_rate = 0.01}).minimize(loss);
    group(std::vector{step}, "train");
    return g;
}

inline std::vector<feed_value> flowers() {
    std::vector<float> x;
    std::vector<int> label;
    for (int i = 0; i < 8; ++i) {
        for (int k = 0; k < 4; ++k) x.push_back(static_cast<float>((i * 7 + k * 5) % 11) / 11.f);
        label.push_back(i % 3);
    }
    any_array rows(dtype::float32, dims{8, 4});
    std::copy(x.begin(), x.end(), static_cast<float*>(rows.mutable_data()));
    return {feed("x:0", rows), feed("label:0", std::move(label))};
}

/// The losses of some steps, by names.
inline std::vector<float> train(const graph& g, const std::string& prefix = {}) {
    const graph_scope here(g);
    const session s(g);
    s.run(global_variables_initializer());
    std::vector<float> losses;
    auto feeds = flowers();
    for (auto& f : feeds) f.edge_name = prefix + f.edge_name;
    for (int i = 0; i < 5; ++i) {
        losses.push_back(s.run(fetch(prefix + "loss"), feeds).value<float>());
        s.run(fetch(prefix + "train"), feeds);
    }
    return losses;
}

/// Another body under a header that is right for it.
inline std::string with_header(std::string bytes) {
    const auto body = std::string_view(bytes).substr(24);
    const std::uint32_t checksum = detail::crc32c(body);
    const std::uint64_t length = body.size();
    std::memcpy(bytes.data() + 12, &checksum, 4);
    std::memcpy(bytes.data() + 16, &length, 8);
    return bytes;
}

/// Reads bytes: true if they are a graph. Errors of ours are fine.
inline bool reads(std::string_view bytes) {
    try {
        const graph g = graph_from_bytes(bytes);
        for (const auto* n : g.nodes()) (void)n->op->hash();
        return true;
    } catch (const error&) {
        return false;
    }
}

} // namespace test_serialization

TEST_CASE("serialization: a training graph by file, and all that is done with it by name") {
    using namespace test_serialization;
    const temporary file("classifier");
    const graph g = classifier();
    export_graph(g, file.path);
    const graph h = import_graph(file.path);
    CHECK_FALSE(h == g);
    CHECK(h.size() == g.size());
    const auto wanted = train(g);
    CHECK(wanted[4] < wanted[0]);
    CHECK(train(h) == wanted);
    CHECK(graph_to_bytes(import_graph(file.path)) == contents(file.path));
    // and below a prefix: there, seeds of initializers are others
    const graph k;
    const graph_scope here(k);
    placeholder<float> x("x");
    CHECK(import_graph(file.path, "part") == k);
    const auto other = train(k, "part/");
    CHECK(other[4] < other[0]);
    CHECK(import_graph(file.path, "part") == k);
    CHECK(train(k, "part_1/")[4] < other[0] + 1);
}

TEST_CASE("serialization: a part by what it is to compute: a tensor, an operation, an expression, a name") {
    using namespace test_serialization;
    const temporary file("part");
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor y(x * 2.f, "y"), z(y + 1.f, "z");
    variable<float> w("w", 3.f);
    const auto train = w.assign_add(reduce_sum(z));
    const auto expression = x * w;
    const any_tensor any = z;
    const auto size = [&](const export_options& o) {
        export_graph(g, file.path, o);
        return import_graph(file.path).size();
    };
    CHECK(size({.fetches = {y}}) == 2);
    CHECK(size({.fetches = {any}}) == 3);
    CHECK(size({.fetches = {"y:0"}}) == 2);
    CHECK(size({.fetches = {"y", "z"}}) == 3);
    CHECK(size({.fetches = {std::string("z")}}) == 3);
    CHECK(size({.fetches = {y, operation(train.node())}}) == size({.fetches = {train}}));
    CHECK(size({.fetches = {expression}}) == 5);
    CHECK(size({}) == g.size());
    const tensor<float, dyn> nobody = tensor<float, dyn>();
    CHECK_THROWS_AS(exported_fetch(nobody), failed_precondition);
    CHECK_THROWS_AS(size({.fetches = {"trainn"}}), not_found);
    CHECK_THROWS_WITH(size({.fetches = {train.node()->name + "s:0"}}),
                      contains("did you mean '" + train.node()->name + "'"));
    const graph other;
    CHECK_THROWS_AS(export_graph(other, file.path, {.fetches = {y}}), invalid_argument);
    export_graph(g, file.path, {.fetches = {y}});
    const graph h = import_graph(file.path);
    CHECK(session(h).run(fetch("y:0"), feed("x:0", std::vector<float>{1, 2})).elements<float>()[1] == 4.f);
    export_graph(g, file.path, {.fetches = {train}});
    const graph t = import_graph(file.path);
    const graph_scope there(t);
    const session s(t);
    s.run(global_variables_initializer());
    s.run(fetch(train.node()->name), feed("x", std::vector<float>{1, 2}));
    CHECK(s.run(fetch("w")).value<float>() == 11.f);
}

TEST_CASE("serialization: streams and memory") {
    using namespace test_serialization;
    const graph g = classifier();
    std::stringstream stream(std::ios::in | std::ios::out | std::ios::binary);
    export_graph(g, stream);
    const auto bytes = graph_to_bytes(g);
    CHECK(stream.str() == bytes);
    CHECK(import_graph(stream).size() == g.size());
    CHECK(graph_from_bytes(bytes).size() == g.size());
    const graph h;
    const graph_scope here(h);
    CHECK(graph_from_bytes(bytes, "a") == h);
    stream.clear(), stream.seekg(0);
    CHECK(import_graph(stream, "b") == h);
    CHECK(h.size() == 2 * g.size());
    std::ofstream nowhere;
    CHECK_THROWS_AS(export_graph(g, nowhere), data_loss);
}

TEST_CASE("serialization: random graphs give the same values") {
    using namespace test_serialization;
    random_graph::random r(5);
    int values = 0, others = 0;
    for (int round = 0; round < 200; ++round) {
        const graph g;
        const graph_scope here(g);
        const auto m = random_graph::build(r);
        const auto bytes = graph_to_bytes(g);
        const graph h = graph_from_bytes(bytes);
        REQUIRE((graph_to_bytes(h) == bytes));
        std::vector<named_fetch> names;
        for (const auto& v : m.values) names.push_back(fetch(v.name()));
        std::vector<feed_value> feeds;
        for (std::size_t i = 0; i < m.feeds.size(); ++i)
            feeds.push_back(feed("x" + std::to_string(i) + ":0", m.feeds[i]));
        const auto a = session(g).run(names, feeds), b = session(h).run(names, feeds);
        for (std::size_t i = 0; i < a.size(); ++i, ++values) others += !detail::same_array(a[i], b[i]);
    }
    CHECK(values > 2000);
    CHECK(others == 0);
}

TEST_CASE("serialization: seeds of ops and graphs draw the same numbers again") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(3);
    const auto a = random_uniform<float, 4>(random_uniform_options{}), b = random_uniform<float, 4>({.seed = 5});
    const session s(g), t(graph_from_bytes(graph_to_bytes(g)));
    for (int i = 0; i < 2; ++i)
        for (const auto& name : {a.name(), b.name()}) CHECK(detail::same_array(s.run(fetch(name)), t.run(fetch(name))));
    const graph h;
    const graph_scope there(h);
    graph_from_bytes(graph_to_bytes(g), "p");
    CHECK(detail::same_array(session(g).run(fetch(b.name())), session(h).run(fetch("p/" + b.name()))));
}

/// Branches, loops, scans, functions, nested, with gradients and writes: what is fetched is named.
inline void control_flow() {
    placeholder<double, 3> x("x");
    placeholder<bool> p("p");
    const variable<double> v("v", 1.);
    const auto twice = function([](auto a) { return a + a; });
    const tensor y(cond(
                       p,
                       [&] {
                           return fold(
                               [&](auto h, auto in) {
                                   const auto [k, z] = while_loop(
                                       [](auto i, auto) { return i < 3; },
                                       [&](auto i, auto a) { return std::tuple(i + 1, sin(a * in) + twice(h)); }, 0,
                                       in);
                                   v.assign_add(z);
                                   return tanh(z) + random_uniform<double>({.seed = 3});
                               },
                               0.5, x);
                       },
                       [&] { return reduce_sum(x); }),
                   "y");
    const tensor quiet(fold(
                           [&](auto h, auto in) {
                               const auto [k, z] = while_loop(
                                   [](auto i, auto) { return i < 3; },
                                   [&](auto i, auto a) { return std::tuple(i + 1, sin(a * in) + h); }, 0, in);
                               return z * h;
                           },
                           0.5, x),
                       "quiet");
    const auto [d] = gradients(quiet, x);
    const tensor named(d, "d");
}

TEST_CASE("serialization: branches, loops, scans and functions travel, and their gradients") {
    const graph g;
    {
        const graph_scope here(g);
        control_flow();
    }
    const graph h = graph_from_bytes(graph_to_bytes(g)), under;
    {
        const graph_scope here(under);
        graph_from_bytes(graph_to_bytes(h, {.fetches = {"y", "d"}}), "p");
    }
    const auto values = [](const graph& of, const std::string& prefix) {
        const graph_scope here(of);
        const session s(of);
        s.run(global_variables_initializer());
        std::vector<double> all;
        for (const bool b : {true, true, false})
            for (const char* name : {"y", "quiet", "d", "v"}) {
                if (!prefix.empty() && std::string(name) == "quiet") continue;
                const auto a = s.run(fetch(prefix + name), feed(prefix + "x:0", std::vector<double>{0.1, 0.2, 0.3}),
                                     feed(prefix + "p:0", b));
                if (prefix.empty() && std::string(name) == "quiet") continue;
                for (const double e : a.elements<double>()) all.push_back(e);
            }
        return all;
    };
    const auto wanted = values(g, "");
    CHECK(wanted.size() == 15);
    CHECK(values(h, "") == wanted);
    CHECK(values(under, "p/").size() == wanted.size()); // whose names, and with them draws, are others
    CHECK(graph_to_bytes(h) == graph_to_bytes(g));
}

TEST_CASE("serialization: values of variables travel, and no initializer has to run") {
    using namespace test_serialization;
    const temporary file("values");
    const graph g = classifier();
    const session s(g);
    {
        const graph_scope here(g);
        s.run(global_variables_initializer());
    }
    for (int i = 0; i < 3; ++i) s.run(fetch("train"), flowers());
    export_graph(with_values(s), file.path);
    const auto next = [](const session& of, const std::string& prefix) {
        auto feeds = flowers();
        for (auto& f : feeds) f.edge_name = prefix + f.edge_name;
        of.run(fetch(prefix + "train"), feeds); // with Adam's slots and powers
        return of.run(fetch(prefix + "loss"), feeds).value<float>();
    };
    const graph h = import_graph(file.path);
    const session t(h), again(h);
    CHECK(t.run(fetch("loss"), flowers()).value<float>() == s.run(fetch("loss"), flowers()).value<float>());
    const float wanted = next(s, "");
    CHECK(next(t, "") == wanted);
    CHECK(next(again, "") == wanted);                // a session's writes are its own
    CHECK(graph_to_bytes(h) == contents(file.path)); // a graph keeps the values that it was read with
    const graph k;
    const graph_scope here(k);
    import_graph(file.path, "part");
    const session u(k);
    CHECK(next(u, "part/") == wanted);
    u.run(global_variables_initializer()); // an initializer that runs gives its own
    CHECK(u.run(fetch("part/loss"),
                [&] {
                    auto feeds = flowers();
                    for (auto& f : feeds) f.edge_name = "part/" + f.edge_name;
                    return feeds;
                }())
              .value<float>() != wanted);
    // parts, and variables without a value
    const graph part = graph_from_bytes(graph_to_bytes(with_values(s), {.fetches = {"logits"}}));
    CHECK(session(part).run(fetch("logits"), {flowers()[0]}).shape() == dims{8, 3});
    const session fresh(g);
    CHECK(graph_to_bytes(with_values(fresh)) == graph_to_bytes(g));
}

TEST_CASE("serialization: values that don't belong are refused") {
    const graph g;
    const graph_scope here(g);
    variable<float, 2> v("v", {1.f, 2.f});
    placeholder<float, 2> x("x");
    const auto bytes = [&](const node* n, any_array value) {
        return graph_to_bytes(valued_graph{g, {{n, std::move(value)}}});
    };
    const std::vector<std::pair<const node*, any_array>> values{{v.node(), any_array(dtype::float32, dims{2})}};
    auto saved = detail::save_graph(g, {.values = values});
    REQUIRE(saved.values.size() == 1);
    saved.values[0].variable = 99;
    CHECK_THROWS_WITH(detail::load_graph(saved), contains("a value names node 99"));
    saved.values[0].variable = x.node()->id;
    CHECK_THROWS_WITH(detail::load_graph(saved), contains("'x' has a value, and is not a variable"));
    CHECK_THROWS_WITH(graph_from_bytes(bytes(v.node(), any_array(dtype::float32, dims{3}))),
                      contains("'v' is float32 [2], its value float32 [3]"));
    std::string good = bytes(v.node(), any_array(dtype::float32, dims{2}));
    for (std::size_t cut = 1; cut < 60; ++cut) {
        std::string less = good.substr(0, good.size() - cut);
        CHECK_FALSE(test_serialization::reads(test_serialization::with_header(less)));
    }
    for (std::size_t at = good.size() - 40; at < good.size(); ++at) {
        std::string other = good;
        other[at] = static_cast<char>(other[at] ^ 0x81);
        test_serialization::reads(test_serialization::with_header(other));
    }
}

TEST_CASE("serialization: the file of version 1 is read for ever") {
    using namespace test_serialization;
    const char* const folder = std::getenv("RILL_TEST_DATA"); // else from the root of the tree
    const auto losses =
        train(import_graph(std::string(folder ? folder : "tests/data") + "/graphs/adam_4_10_10_3.rill"));
    const std::vector<float> wanted{1.10360348f, 1.08162093f, 1.06829166f, 1.05592346f, 1.04561377f};
    REQUIRE(losses.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(losses[i] == Approx(wanted[i]).epsilon(1e-5));
}

TEST_CASE("serialization: the file of version 2, with branches and loops, is read for ever") {
    const char* const folder = std::getenv("RILL_TEST_DATA"); // else from the root of the tree
    const graph g = import_graph(std::string(folder ? folder : "tests/data") + "/graphs/flow.rill");
    const session s(g);
    s.run(fetch("v/initialize"));
    const auto y = [&](bool p) {
        return s.run(fetch("y"), feed("x:0", std::vector{0.1, 0.2, 0.3}), feed("p:0", p)).value<double>();
    };
    double h = 0.5, v = 1;
    for (const double in : {0.1, 0.2, 0.3}) {
        double z = in;
        for (int k = 0; k < 3; ++k) z = std::sin(z * in) + 2 * h;
        v += z;
        h = std::tanh(z);
    }
    CHECK(y(true) == Approx(h));
    CHECK(y(false) == Approx(0.6));
    CHECK(s.run(fetch("v")).value<double>() == Approx(v));
}

TEST_CASE("serialization: the file of version 3, with loops and branches of primitives, is read for ever") {
    const char* const folder = std::getenv("RILL_TEST_DATA"); // else from the root of the tree
    const graph g = import_graph(std::string(folder ? folder : "tests/data") + "/graphs/primitives.rill");
    for (const bool raised : {true, false}) {
        const session s(g, {.raise_primitives = raised});
        CHECK(s.run(fetch("y"), feed("x:0", 3.f), feed("n:0", 2)).value<float>() == 13.f);
        CHECK(s.run(fetch("y"), feed("x:0", -3.f), feed("n:0", 1)).value<float>() == -7.f);
        CHECK(s.run(fetch("all"), feed("x:0", 3.f), feed("n:0", 2)).elements<float>()[2] == 13.f);
    }
}

TEST_CASE("serialization: the file of version 4, with values of variables, is read for ever") {
    // y = x w + b after two steps of momentum: export_graph(with_values(s), "values.rill")
    const char* const folder = std::getenv("RILL_TEST_DATA"); // else from the root of the tree
    const graph g = import_graph(std::string(folder ? folder : "tests/data") + "/graphs/values.rill");
    const session s(g);
    const auto near = [&](const char* name, const std::vector<float>& wanted) {
        INFO(name);
        const any_array got = s.run(fetch(name), feed("x:0", xt::xtensor<float, 2>{{1.f, 2.f}, {3.f, 4.f}}));
        REQUIRE(static_cast<std::size_t>(got.size()) == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
            CHECK(got.elements<float>()[i] == Approx(wanted[i]).epsilon(1e-5));
    };
    near("w", {0.9921875f, -0.703125f}); // no initializer has run
    near("b", {0.2890625f});
    near("identity", {-0.125f, 0.453125f});
    s.run(fetch("momentum/train"), feed("x:0", xt::xtensor<float, 2>{{1.f, 0.f}, {0.f, 1.f}}));
    near("identity", {0.35498047f, 1.2387695f}); // a third step, with the slots of the second
}

TEST_CASE("serialization: cut off anywhere, or longer than it should be, it is refused") {
    using namespace test_serialization;
    const auto bytes = graph_to_bytes(classifier());
    REQUIRE(reads(bytes));
    int read = 0;
    for (std::size_t n = 0; n < bytes.size(); ++n) read += reads(std::string(bytes, 0, n));
    CHECK(read == 0);
    // the body cut off under a header that is right for it
    for (std::size_t n = 24; n < bytes.size(); ++n) read += reads(with_header(bytes.substr(0, n)));
    CHECK(read == 0);
    CHECK_FALSE(reads(bytes + '\0'));
    CHECK_FALSE(reads(with_header(bytes + '\0')));
    CHECK_THROWS_AS(graph_from_bytes(with_header(bytes + '\0')), data_loss);
    CHECK_THROWS_WITH(graph_from_bytes(with_header(bytes + '\0')), contains("1 bytes are left over"));
    CHECK_THROWS_WITH(graph_from_bytes(""), contains("it is empty"));
    CHECK_THROWS_WITH(graph_from_bytes(bytes.substr(0, 20)), contains("ends within its header"));
    CHECK_THROWS_WITH(graph_from_bytes("# a text file\n"), contains("does not begin as a graph of rill does"));
}

TEST_CASE("serialization: ranks above 8, negative extents, unknown dtypes and sizes that are not there are refused") {
    using namespace test_serialization;
    const graph g;
    {
        const graph_scope here(g);
        placeholder<float, dyn, 3> x("x");
    }
    const auto bytes = graph_to_bytes(g);
    const std::string type = std::string("\x01\x02") + std::string(8, '\xff') + '\x03'; // float32, of rank 2: ?, 3
    const auto at = bytes.rfind(type);
    REQUIRE(at != std::string::npos);
    const auto with = [&](std::size_t place, const std::string& what) {
        auto other = bytes;
        other.replace(place, what.size(), what);
        return with_header(other);
    };
    REQUIRE(reads(with(at, "\x01")));
    CHECK_THROWS_WITH(graph_from_bytes(with(at, "\x7f")), contains("no dtype has the number 127"));
    CHECK_THROWS_WITH(graph_from_bytes(with(at + 1, "\x09")), contains("a rank of 9"));
    CHECK_THROWS_WITH(graph_from_bytes(with(at + 1, "\xfe")), contains("a rank of -2"));
    CHECK_THROWS_WITH(graph_from_bytes(with(at + 2, "\xfe")), contains("a negative extent"));
    CHECK_THROWS_AS(graph_from_bytes(with(at + 2, "\xfe")), data_loss);
    CHECK_THROWS_WITH(graph_from_bytes(with(at - 8, "\xff\xff\xff\x7f")), contains("a size of 2147483647 where"));
    // the name's length, and that of the list of nodes
    const auto name = bytes.find("x", 24 + 8 + 10 + 8 + 8);
    REQUIRE(name != std::string::npos);
    CHECK_THROWS_AS(graph_from_bytes(with(name - 8, std::string(8, '\xff'))), data_loss);
    CHECK_THROWS_AS(graph_from_bytes(with(name - 16, std::string("\x00\x00\x00\x40", 4))), data_loss);
    // two names that are one, a name that is none
    CHECK_THROWS_WITH(graph_from_bytes(with(name, "-")), contains("node 0: '-' is not a valid name"));
}

TEST_CASE("serialization: any bit of a file changed is noticed") {
    using namespace test_serialization;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor y(tanh(x), "y");
    const auto bytes = graph_to_bytes(g);
    int read = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        auto other = bytes;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
        read += reads(other);
    }
    CHECK(read == 0);
    auto newer = bytes;
    newer[8] = 5;
    CHECK_THROWS_WITH(graph_from_bytes(newer), contains("version 5, this program reads 1 to 4"));
    auto wrong = bytes;
    wrong[wrong.size() - 1] = static_cast<char>(wrong[wrong.size() - 1] ^ 1);
    CHECK_THROWS_AS(graph_from_bytes(wrong), data_loss);
    CHECK_THROWS_WITH(graph_from_bytes(wrong), contains("checksum"));
}

TEST_CASE("serialization: changed at random under a right checksum, it is a graph or an error of ours") {
    using namespace test_serialization;
    const graph small;
    {
        const graph_scope here(small);
        placeholder<float, dyn, 3> x("x");
        const tensor y(tanh(x * 2.f) + x, "y");
        const auto loss = reduce_mean(square(y));
        const auto [d] = gradients(loss, x);
        variable<float, 3> w("w", {1, 2, 3});
        w.assign_sub(reduce_max<0>(d));
        const any_tensor text = sealed(constant("some text"));
    }
    std::mt19937 random(20261122);
    int graphs = 0, rounds = 0;
    for (const auto& bytes : {graph_to_bytes(small), graph_to_bytes(classifier())})
        for (int i = 0; i < 6000; ++i, ++rounds) {
            std::string other = bytes;
            for (auto n = 1 + random() % 3; n > 0; --n) {
                const auto at = 24 + random() % (other.size() - 24);
                switch (random() % 5) {
                case 0: other[at] = static_cast<char>(other[at] ^ 1 << random() % 8); break;
                case 1: other[at] = static_cast<char>(random()); break;
                case 2: other.erase(at, 1 + random() % 8); break;
                case 3: other.insert(at, 1 + random() % 8, static_cast<char>(random() % 2 ? 0 : 0xff)); break;
                default: {
                    const std::uint32_t v = random() % 4 == 0 ? 0x7fffffffu : static_cast<std::uint32_t>(random());
                    std::memcpy(other.data() + std::min(at, other.size() - 4), &v, 4);
                }
                }
            }
            graphs += reads(with_header(other));
        }
    CHECK(rounds == 12000);
    CHECK(graphs > 100);
    CHECK(graphs < 8000);
}

TEST_CASE("serialization: nothing is added to the current graph if it fails") {
    using namespace test_serialization;
    auto bytes = graph_to_bytes(classifier());
    const auto at = bytes.rfind("NoOp"); // of one of the last nodes
    REQUIRE(at != std::string::npos);
    bytes[at] = 'M';
    const graph h;
    const graph_scope here(h);
    placeholder<float> x("x");
    CHECK_THROWS_AS(graph_from_bytes(with_header(bytes), "part"), unimplemented);
    CHECK_THROWS_WITH(graph_from_bytes(with_header(bytes), "part"), contains("lacks the op 'MoOp'"));
    CHECK_THROWS_AS(graph_from_bytes(graph_to_bytes(classifier()), ""), already_exists);
    CHECK(h.size() == 1);
    CHECK(h.state().collections().empty());
    CHECK(name_scope("part").prefix() == "part/");
}

TEST_CASE("serialization: files that are not there, and a write that fails leaves the old one") {
    using namespace test_serialization;
    const temporary file("old");
    CHECK_THROWS_AS(import_graph(file.path), not_found);
    CHECK_THROWS_WITH(import_graph(file.path), contains("'" + file.path + "'"));
    CHECK_THROWS_AS(export_graph(classifier(), "no/such/folder/g.rill"), not_found);
    CHECK_THROWS_WITH(export_graph(classifier(), "no/such/folder/g.rill"), contains("no/such/folder/g.rill"));
    std::ofstream(file.path) << "no graph";
    CHECK_THROWS_AS(import_graph(file.path), data_loss);
    CHECK_THROWS_WITH(import_graph(file.path), contains("import_graph: '" + file.path + "': it does not begin"));
    CHECK_THROWS_AS(export_graph(classifier(), file.path, {.fetches = {"nothing"}}), not_found);
    CHECK(contents(file.path) == "no graph");
    export_graph(classifier(), file.path);
    CHECK(import_graph(file.path).size() > 10);
}

TEST_CASE("serialization: large graphs and large constants") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    tensor<float, dyn> y = x;
    for (int i = 0; i < 3000; ++i) y = tensor(y + 1.f);
    const any_tensor big =
        constant(any_array(dtype::float64, dims{1000, 100}, std::vector<double>(100000, 0.5).data(), nullptr));
    const auto bytes = graph_to_bytes(g);
    const graph h = graph_from_bytes(bytes);
    CHECK(h.size() == g.size());
    CHECK(h.nodes()[2000]->op == h.nodes()[2001]->op); // equal ops are one
    CHECK(session(h).run(fetch(y.name()), feed("x", std::vector<float>{0.f})).elements<float>()[0] == 3000.f);
    CHECK(session(h).run(fetch(big.name())).elements<double>()[99999] == 0.5);
}

TEST_CASE("serialization: loops of primitives travel in bytes, and show in JSON") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto v = merge(enter(x, "l"));
    const auto way = switch_(v.value, loop_cond(v.value < 100.f));
    const tensor y(leave(way.if_false), "y");
    close_loop({{v, next_iteration(way.if_true * 2.f)}});
    const graph h = graph_from_bytes(graph_to_bytes(current_graph()));
    CHECK(session(h).run(fetch("y"), feed("x:0", 3.f)).value<float>() == 192.f);
    CHECK(session(h, {.raise_primitives = false}).run(fetch("y"), feed("x:0", 3.f)).value<float>() == 192.f);
}
