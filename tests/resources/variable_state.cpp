// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/resource_store.hpp>

#include <rill/ops/state/variable.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_resources {

using detail::element_block;
using detail::variable_state;
using version = std::shared_ptr<element_block>;

inline std::int32_t* ints(const version& v) { return static_cast<std::int32_t*>(v->data()); }

/// Writes one number everywhere, as a step that holds `mine` would.
inline void write(variable_state& v, version& mine, std::int32_t value, bool whole = false) {
    variable_state::writer w(v, mine, whole);
    REQUIRE(w.ready());
    std::fill_n(static_cast<std::int32_t*>(w.data()), v.type().shape.size(), value);
    w.commit();
}
inline void assign(variable_state& v, std::int32_t value) {
    version none;
    write(v, none, value, true);
}

} // namespace test_resources

TEST_CASE("resources: a variable has no value until a whole one is written") {
    using namespace test_resources;
    variable_state v({dtype::int32, dims{4}}, default_allocator(), nullptr);
    CHECK(v.read() == nullptr);
    version mine;
    CHECK_FALSE(variable_state::writer(v, mine, false).ready());
    assign(v, 7);
    REQUIRE(v.read() != nullptr);
    CHECK(ints(v.read())[3] == 7);
}

TEST_CASE("resources: alone, a write changes the value in place") {
    using namespace test_resources;
    variable_state v({dtype::int32, dims{4}}, default_allocator(), nullptr);
    assign(v, 1);
    version mine = v.read();
    const auto* data = mine->data();
    write(v, mine, 2); // the step's own hold does not count
    CHECK(v.read()->data() == data);
    CHECK(mine == v.read());
    mine.reset();
    assign(v, 3);
    CHECK(v.read()->data() == data);
}

TEST_CASE("resources: a reader keeps the version it began with") {
    using namespace test_resources;
    tracked_allocator memory;
    {
        variable_state v({dtype::int32, dims{4}}, memory, nullptr);
        assign(v, 1);
        version reader = v.read();
        version mine = v.read();
        {
            variable_state::writer w(v, mine, false);
            CHECK(static_cast<std::int32_t*>(w.data())[0] == 1); // begins as a copy
            static_cast<std::int32_t*>(w.data())[0] = 5;
            CHECK(ints(reader)[0] == 1);
            w.commit();
        }
        CHECK(ints(reader)[0] == 1);
        CHECK(ints(v.read())[0] == 5);
        CHECK(ints(v.read())[3] == 1);
        CHECK(mine == v.read());
        CHECK(memory.bytes_in_use() == 2 * 16);
        reader.reset();
        CHECK(memory.bytes_in_use() == 16);
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("resources: a write that is not committed leaves no trace where somebody reads") {
    using namespace test_resources;
    variable_state v({dtype::int32, dims{2}}, default_allocator(), nullptr);
    version mine;
    {
        variable_state::writer w(v, mine, true);
        static_cast<std::int32_t*>(w.data())[0] = 9;
    }
    CHECK(v.read() == nullptr);
    assign(v, 1);
    const version reader = v.read();
    mine.reset();
    {
        variable_state::writer w(v, mine, false);
        static_cast<std::int32_t*>(w.data())[0] = 9;
    }
    CHECK(v.read() == reader);
    CHECK(ints(v.read())[0] == 1);
}

TEST_CASE("resources: a step that began earlier writes on the newest version") {
    using namespace test_resources;
    variable_state v({dtype::int32, dims{1}}, default_allocator(), nullptr);
    assign(v, 1);
    version early = v.read();
    assign(v, 2);
    {
        variable_state::writer w(v, early, false);
        ++*static_cast<std::int32_t*>(w.data());
        w.commit();
    }
    CHECK(*ints(v.read()) == 3);
}

TEST_CASE("resources: strings, and memory that runs out") {
    using namespace test_resources;
    variable_state text({dtype::string, dims{2}}, default_allocator(), nullptr);
    version mine;
    {
        variable_state::writer w(text, mine, true);
        static_cast<std::string*>(w.data())[1] = std::string(50, 'x');
        w.commit();
    }
    const version reader = text.read();
    {
        variable_state::writer w(text, mine, false);
        static_cast<std::string*>(w.data())[1] += "y";
        w.commit();
    }
    CHECK(static_cast<std::string*>(reader->data())[1].size() == 50);
    CHECK(static_cast<std::string*>(text.read()->data())[1].size() == 51);

    tracked_allocator small(100);
    variable_state v({dtype::int32, dims{20}}, small, nullptr);
    assign(v, 1);
    const version held = v.read();
    version other;
    CHECK_THROWS_AS(write(v, other, 2), resource_exhausted);
    CHECK(v.read() == held);
    CHECK(ints(held)[0] == 1);
}

TEST_CASE("resources: readers see whole versions while writers write") {
    using namespace test_resources;
    constexpr int n = 500;
    variable_state v({dtype::int32, dims{n}}, default_allocator(), nullptr);
    assign(v, 0);
    std::atomic<bool> done{false}, torn{false};
    std::vector<std::thread> readers, writers;
    for (int t = 0; t < 2; ++t)
        readers.emplace_back([&] {
            while (!done) {
                const version seen = v.read();
                for (int i = 1; i < n; ++i)
                    if (ints(seen)[i] != ints(seen)[0]) torn = true;
            }
        });
    for (int t = 0; t < 2; ++t)
        writers.emplace_back([&] {
            for (int k = 0; k < 1000; ++k) {
                version mine = v.read();
                variable_state::writer w(v, mine, false);
                auto* to = static_cast<std::int32_t*>(w.data());
                for (int i = 0; i < n; ++i) ++to[i];
                w.commit();
            }
        });
    for (auto& t : writers) t.join();
    done = true;
    for (auto& t : readers) t.join();
    CHECK_FALSE(torn);
    CHECK(ints(v.read())[n - 1] == 2000);
}

TEST_CASE("resources: in place, there is one version, which is written while others hold it") {
    using namespace test_resources;
    constexpr index_t n = 5;
    variable_state v({dtype::int32, dims{n}}, default_allocator(), nullptr, true);
    version first;
    variable_state::writer(v, first, true).commit();
    const version held = v.read();
    std::fill_n(ints(held), n, 0);
    version one, two;
    variable_state::writer a(v, one, false), b(v, two, false); // at the same time
    static_cast<std::int32_t*>(a.data())[0] += 3;
    static_cast<std::int32_t*>(b.data())[1] += 4;
    a.commit();
    b.commit();
    CHECK(one == held);
    CHECK(v.read() == held);
    CHECK(ints(held)[0] == 3);
    CHECK(ints(held)[1] == 4);
    CHECK(v.is_newest(held));
}
