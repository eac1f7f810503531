// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/hash_table.hpp>

#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_hash_table {

TEST_CASE("hash_table: text to numbers") {
    const graph_scope here{graph()};
    const hash_table<std::string, std::int64_t> t;
    placeholder<std::string, dyn> keys("keys");
    placeholder<std::int64_t, dyn> values("values");
    const operation insert = t.insert(keys, values);
    const tensor<std::int64_t, dyn> found = t.find(keys, -1), looked_up = t.lookup(keys);
    const session s;
    CHECK(s.run(t.size()) == 0);
    s.run(insert, feed(keys, {"a", "b", "a"}), feed(values, {1, 2, 3})); // the last of one key counts
    CHECK(s.run(t.size()) == 2);
    CHECK((s.run(found, feed(keys, {"b", "x", "a"})) == xt::xtensor<std::int64_t, 1>{2, -1, 3}));
    CHECK((s.run(looked_up, feed(keys, {"b", "b"})) == xt::xtensor<std::int64_t, 1>{2, 2}));
    CHECK_THROWS_AS(s.run(looked_up, feed(keys, {"b", "x"})), not_found);
    CHECK_THROWS_WITH(s.run(looked_up, feed(keys, {"b", "x"})), contains("has no key \"x\"") && contains("hash_table"));
    s.run(t.remove(keys), feed(keys, {"a", "never"}));
    CHECK(s.run(t.size()) == 1);
    CHECK((s.run(found, feed(keys, {"a", "b"})) == xt::xtensor<std::int64_t, 1>{-1, 2}));
    CHECK(t.name() == "hash_table");
}

TEST_CASE("hash_table: numbers to text and to numbers, in any shape") {
    const graph_scope here{graph()};
    const hash_table<int, std::string> text({.name = "text"});
    const hash_table<std::int64_t, double> numbers({.name = "numbers"});
    const session s;
    s.run(text.insert(constant({1, 2}), constant({"one", "two"})));
    s.run(text.insert(3, constant("three")));
    const tensor<std::string, 2, 2> all = text.find(constant({{1, 2}, {3, 4}}), constant("?"));
    const auto got = s.run(all);
    CHECK((got(0, 0) == "one" && got(1, 0) == "three" && got(1, 1) == "?"));
    s.run(numbers.insert(7, 1.5));
    CHECK(s.run(numbers.lookup(7)) == 1.5);
    CHECK_THROWS_WITH(s.run(numbers.lookup(8)), contains("has no key 8"));
    const hash_table<int, bool> flags;
    s.run(flags.insert(constant({1, 2}), constant({true, false})));
    CHECK((s.run(flags.find(constant({2, 1, 0}), true)) == xt::xtensor<bool, 1>{false, true, true}));
}

TEST_CASE("hash_table: all of its entries") {
    const graph_scope here{graph()};
    const hash_table<int, float> t;
    const auto [keys, values] = t.entries();
    const session s;
    CHECK(s.run(keys).size() == 0);
    for (int k = 0; k < 40; ++k) s.run(t.insert(k, static_cast<float>(k) * 0.5f));
    s.run(t.remove(0));
    const auto [k, v] = s.run(std::tuple(keys, values));
    REQUIRE((k.size() == 39 && v.size() == 39));
    for (std::size_t i = 0; i < k.size(); ++i) CHECK(v(i) == static_cast<float>(k(i)) * 0.5f);
    const hash_table<std::string, int> words;
    s.run(words.insert(constant({"a", "b"}), constant({1, 2})));
    const auto [w, n] = words.entries();
    CHECK(s.run(w)(1) == "b");
    CHECK(s.run(n)(1) == 2);
}

TEST_CASE("hash_table: threads of two sessions share one") {
    const graph_scope here{graph()};
    const hash_table<int, int> t({.shared_name = "hash_table_test_threads"});
    placeholder<int> key("key");
    const operation insert = t.insert(key, key * 2);
    const tensor<int> found = t.lookup(key);
    const session one, other;
    std::vector<std::thread> all;
    for (int n = 0; n < 4; ++n)
        all.emplace_back([&, n] {
            for (int k = n * 100; k < n * 100 + 50; ++k) {
                (n % 2 ? one : other).run(insert, feed(key, k));
                if ((n % 2 ? other : one).run(found, feed(key, k)) != k * 2) throw std::logic_error("lost");
            }
        });
    for (auto& n : all) n.join();
    CHECK(one.run(t.size()) == 200);
    session::reset();
}

TEST_CASE("hash_table: what can't be is refused") {
    const graph_scope here{graph()};
    const hash_table<std::string, int> t;
    placeholder<std::string, dyn> keys("keys");
    placeholder<int, dyn> values("values");
    const session s;
    CHECK_THROWS_WITH(s.run(t.insert(keys, values), feed(keys, {"a"}), feed(values, {1, 2})),
                      contains("[1]") && contains("[2]"));
    CHECK_THROWS_AS(t.lookup(any_tensor(constant(1))), invalid_argument);
    CHECK_THROWS_AS(t.find(keys, any_tensor(constant(1.f))), invalid_argument);
    CHECK_THROWS_AS(t.find(keys, constant({1, 2})), invalid_argument);
    const hash_table<std::string, int> a({.shared_name = "hash_table_test_types"});
    const hash_table<std::string, float> b({.shared_name = "hash_table_test_types"});
    CHECK(s.run(a.size()) == 0);
    CHECK_THROWS_WITH(s.run(b.size()), contains("string to int32") && contains("string to float32"));
    hash_table_op op;
    op.traits = {dtype::float32, dtype::int32, false};
    CHECK_THROWS_AS(detail::add_resource(op, "", "", std::source_location::current()), invalid_argument);
    session::reset();
}

} // namespace test_ops_table_hash_table
