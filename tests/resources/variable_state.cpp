// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/variable_state.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "counting_allocator.hpp"

using namespace rill;

namespace test_resources_variable_state {

using detail::element_block;
using detail::variable_state;
using detail::variable_write;
using version = std::shared_ptr<element_block>;

constexpr index_t many = 3000; // a large value: 12 kB

inline std::int32_t* ints(const version& v) { return static_cast<std::int32_t*>(v->data()); }

/// Writes one number everywhere, as a step that holds `mine` would.
inline void write(variable_state& v, version& mine, std::int32_t value, variable_write how = variable_write::elements) {
    variable_state::writer w(v, mine, how);
    REQUIRE(w.ready());
    std::fill_n(static_cast<std::int32_t*>(w.data()), v.type().shape.size(), value);
    w.commit();
    CHECK_FALSE(w.is_new());
}
inline void assign(variable_state& v, std::int32_t value) {
    version none;
    write(v, none, value, variable_write::initialises);
}
/// Adds a number to every element, as an op that replaces variables does. Returns true if the new value is beside the old one.
inline bool add(variable_state& v, version& mine, std::int32_t value, bool keeps = false) {
    variable_state::writer w(v, mine, variable_write::replaces, keeps);
    REQUIRE(w.ready());
    const auto* was = static_cast<const std::int32_t*>(w.was());
    auto* to = static_cast<std::int32_t*>(w.data());
    CHECK(w.is_new() == (was != to));
    for (index_t i = 0; i < v.type().shape.size(); ++i) to[i] = was[i] + value;
    w.commit();
    return was != to;
}
inline bool add(variable_state& v, std::int32_t value) {
    version none;
    return add(v, none, value);
}
inline bool holds(const version& v, std::int32_t value, index_t n = many) {
    return std::all_of(ints(v), ints(v) + n, [&](std::int32_t x) { return x == value; });
}

} // namespace test_resources_variable_state

TEST_CASE("variable_state: a variable has no value until a whole one is written") {
    using namespace test_resources_variable_state;
    variable_state v({dtype::int32, dims{4}}, default_allocator(), nullptr);
    CHECK(v.read() == nullptr);
    version mine;
    CHECK_FALSE(variable_state::writer(v, mine, variable_write::elements).ready());
    assign(v, 7);
    REQUIRE(v.read() != nullptr);
    CHECK(ints(v.read())[3] == 7);
}

TEST_CASE("variable_state: alone, a write changes the value in place") {
    using namespace test_resources_variable_state;
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

TEST_CASE("variable_state: a reader keeps the version it began with") {
    using namespace test_resources_variable_state;
    tracked_allocator memory;
    {
        variable_state v({dtype::int32, dims{4}}, memory, nullptr);
        assign(v, 1);
        version reader = v.read();
        version mine = v.read();
        {
            variable_state::writer w(v, mine, variable_write::elements);
            CHECK(w.is_new());
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

TEST_CASE("variable_state: a write that is not committed leaves no trace where somebody reads") {
    using namespace test_resources_variable_state;
    variable_state v({dtype::int32, dims{2}}, default_allocator(), nullptr);
    version mine;
    {
        variable_state::writer w(v, mine, variable_write::initialises);
        CHECK(w.is_new());
        static_cast<std::int32_t*>(w.data())[0] = 9;
    }
    CHECK(v.read() == nullptr);
    assign(v, 1);
    const version reader = v.read();
    mine.reset();
    {
        variable_state::writer w(v, mine, variable_write::elements);
        static_cast<std::int32_t*>(w.data())[0] = 9;
    }
    CHECK(v.read() == reader);
    CHECK(ints(v.read())[0] == 1);
}

TEST_CASE("variable_state: a step that began earlier writes on the newest version") {
    using namespace test_resources_variable_state;
    variable_state v({dtype::int32, dims{1}}, default_allocator(), nullptr);
    assign(v, 1);
    version early = v.read();
    assign(v, 2);
    {
        variable_state::writer w(v, early, variable_write::elements);
        ++*static_cast<std::int32_t*>(w.data());
        w.commit();
    }
    CHECK(*ints(v.read()) == 3);
}

TEST_CASE("variable_state: strings, and memory that runs out") {
    using namespace test_resources_variable_state;
    variable_state text({dtype::string, dims{2}}, default_allocator(), nullptr);
    version mine;
    {
        variable_state::writer w(text, mine, variable_write::initialises);
        static_cast<std::string*>(w.data())[1] = std::string(50, 'x');
        w.commit();
    }
    const version reader = text.read();
    {
        variable_state::writer w(text, mine, variable_write::elements);
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

TEST_CASE("variable_state: readers see whole versions while writers write, small and large ones, each in its way") {
    using namespace test_resources_variable_state;
    for (const index_t n : {index_t(500), many})
        for (const auto how : {variable_write::elements, variable_write::replaces}) {
            variable_state v({dtype::int32, dims{n}}, default_allocator(), nullptr);
            assign(v, 0);
            std::atomic<bool> done{false}, torn{false}, changed{false};
            const auto look = [&](const std::int32_t* seen) {
                const auto first = seen[0];
                for (auto* wrong : {&torn, &changed})
                    for (index_t i = 0; i < n; ++i)
                        if (seen[i] != first) *wrong = true;
            };
            std::vector<std::thread> readers, writers;
            readers.emplace_back([&] {
                while (!done) look(ints(v.read()));
            });
            readers.emplace_back([&] {
                while (!done) {
                    const variable_state::slice_reader seen(v);
                    look(static_cast<const std::int32_t*>(seen.data()));
                }
            });
            for (int t = 0; t < 2; ++t)
                writers.emplace_back([&] {
                    version mine;
                    for (int k = 0; k < 500; ++k) {
                        v.read(mine);
                        variable_state::writer w(v, mine, how, k % 2 == 0);
                        const auto* was = static_cast<const std::int32_t*>(w.was());
                        auto* to = static_cast<std::int32_t*>(w.data());
                        for (index_t i = 0; i < n; ++i) to[i] = was[i] + 1;
                        w.commit();
                    }
                });
            for (auto& t : writers) t.join();
            done = true;
            for (auto& t : readers) t.join();
            CHECK_FALSE(torn);
            CHECK_FALSE(changed);
            CHECK(holds(v.read(), 1000, n));
        }
}

TEST_CASE("variable_state: a value that is held is replaced beside it, without a copy, in a block that is used again") {
    using namespace test_resources_variable_state;
    counting_allocator memory(many * sizeof(std::int32_t));
    variable_state v({dtype::int32, dims{many}}, memory, nullptr);
    assign(v, 1);
    CHECK_FALSE(add(v, 1));
    CHECK(memory.blocks() == 1);
    version reader = v.read();
    CHECK(add(v, 1));
    CHECK(memory.blocks() == 2);
    CHECK(holds(reader, 2));
    CHECK(holds(v.read(), 3));
    const auto* const first = reader->data();
    reader = v.read();
    CHECK(add(v, 1)); // into the first block, which is free now
    CHECK(v.read()->data() == first);
    CHECK(holds(reader, 3));
    CHECK(holds(v.read(), 4));
    for (int k = 0; k < 20; ++k) { // a reader that is always there
        reader = v.read();
        CHECK(add(v, 1));
        CHECK(holds(reader, 4 + k));
    }
    CHECK(memory.blocks() == 2);
    version slow = v.read(); // of two readers, one holds an older version
    CHECK(add(v, 1));
    reader = v.read();
    CHECK(add(v, 1));
    CHECK(memory.blocks() == 3);
    CHECK(holds(slow, 24));
    CHECK(holds(reader, 25));
    CHECK(holds(v.read(), 26));
}

TEST_CASE("variable_state: without readers, writes go back into place, and spare blocks are freed") {
    using namespace test_resources_variable_state;
    counting_allocator memory(many * sizeof(std::int32_t));
    variable_state v({dtype::int32, dims{many}}, memory, nullptr);
    assign(v, 0);
    version reader = v.read();
    add(v, 1);
    reader.reset();
    CHECK(memory.in_use() == 2);
    int beside = 0;
    for (int k = 0; k < 1100; ++k) beside += add(v, 1);
    CHECK(beside > 100);
    CHECK(beside < 1100);
    CHECK_FALSE(add(v, 1));
    CHECK(memory.in_use() == 1);
    CHECK(memory.blocks() == 2);
    CHECK(holds(v.read(), 1102));

    variable_state small({dtype::int32, dims{4}}, default_allocator(), nullptr);
    assign(small, 0);
    reader = small.read();
    CHECK(add(small, 1));
    reader.reset();
    CHECK_FALSE(add(small, 1)); // too short a write to wait for
}

TEST_CASE("variable_state: a reader takes the old value while a write replaces it") {
    using namespace test_resources_variable_state;
    variable_state v({dtype::int32, dims{many}}, default_allocator(), nullptr);
    assign(v, 1);
    const version held = v.read();
    version mine;
    {
        variable_state::writer w(v, mine, variable_write::replaces);
        CHECK(w.was() == held->data());
        std::fill_n(static_cast<std::int32_t*>(w.data()), many, 2);
        CHECK(v.read() == held); // on this thread: no lock is held
        CHECK(variable_state::slice_reader(v).data() == held->data());
        CHECK(v.is_newest(held));
        w.commit();
    }
    CHECK(holds(held, 1));
    CHECK(holds(v.read(), 2));
    CHECK(mine == v.read());
    CHECK_FALSE(v.is_newest(held));
}

TEST_CASE("variable_state: a reader that waited for a write makes the next ones leave it alone") {
    using namespace test_resources_variable_state;
    variable_state v({dtype::int32, dims{many}}, default_allocator(), nullptr);
    assign(v, 0);
    bool beside = false;
    for (int k = 0; k < 100 && !beside; ++k) { // the reader may come too late
        std::thread reader;
        {
            version mine;
            variable_state::writer w(v, mine, variable_write::replaces, false);
            std::atomic<bool> starts{false};
            reader = std::thread([&] {
                starts = true;
                v.read();
            });
            while (!starts) std::this_thread::yield();
            for (int i = 0; i < 1000; ++i) std::this_thread::yield();
            w.commit();
        }
        reader.join();
        beside = add(v, 0);
    }
    CHECK(beside);
}

TEST_CASE("variable_state: writers take turns, with a reader that holds a version and without") {
    using namespace test_resources_variable_state;
    for (const bool held : {false, true}) {
        variable_state v({dtype::int32, dims{many}}, default_allocator(), nullptr);
        assign(v, 0);
        version reader;
        if (held) reader = v.read();
        std::vector<std::thread> writers;
        for (int t = 0; t < 4; ++t)
            writers.emplace_back([&] {
                for (int k = 0; k < 200; ++k) add(v, 1);
            });
        for (auto& t : writers) t.join();
        CHECK(holds(v.read(), 800));
        if (held) CHECK(holds(reader, 0));
    }
}

TEST_CASE("variable_state: a write beside the value that fails leaves the old one, and its block to the next") {
    using namespace test_resources_variable_state;
    counting_allocator memory(many * sizeof(std::int32_t));
    variable_state v({dtype::int32, dims{many}}, memory, nullptr);
    assign(v, 1);
    const version held = v.read();
    version mine = held;
    try {
        variable_state::writer w(v, mine, variable_write::replaces);
        CHECK(w.is_new());
        std::fill_n(static_cast<std::int32_t*>(w.data()), many / 2, 9);
        throw out_of_range("half way");
    } catch (const out_of_range&) {}
    CHECK(v.read() == held);
    CHECK(holds(held, 1));
    CHECK(add(v, 1));
    CHECK(holds(v.read(), 2));
    CHECK(memory.blocks() == 2);
}

TEST_CASE("variable_state: a whole value is assigned beside one that is held, which the write can still read") {
    using namespace test_resources_variable_state;
    counting_allocator memory(many * sizeof(std::int32_t));
    variable_state v({dtype::int32, dims{many}}, memory, nullptr);
    assign(v, 1);
    const version held = v.read();
    version mine;
    {
        variable_state::writer w(v, mine, variable_write::initialises, false);
        CHECK(w.was() == held->data());
        CHECK(w.data() != held->data());
        std::fill_n(static_cast<std::int32_t*>(w.data()), many, 5);
        w.commit();
    }
    CHECK(mine == nullptr);
    CHECK(holds(held, 1));
    CHECK(holds(v.read(), 5));
    CHECK(memory.blocks() == 2);
}

TEST_CASE("variable_state: a step that holds nothing after its write is no holder for the next writer") {
    using namespace test_resources_variable_state;
    counting_allocator memory(many * sizeof(std::int32_t));
    variable_state v({dtype::int32, dims{many}}, memory, nullptr);
    assign(v, 0);
    version one, two;
    v.read(one);
    CHECK_FALSE(add(v, one, 1, false));
    CHECK(one == nullptr);
    CHECK_FALSE(add(v, two, 1, true));
    CHECK(two == v.read());
    CHECK(add(v, one, 1, false)); // `two` is one
    CHECK(holds(two, 2));
    CHECK(memory.blocks() == 2);
}

TEST_CASE("variable_state: readers of slices and a write of some elements wait for each other, and nothing is copied") {
    using namespace test_resources_variable_state;
    counting_allocator memory(many * sizeof(std::int32_t));
    variable_state v({dtype::int32, dims{many}}, memory, nullptr);
    assign(v, 1);
    std::optional<variable_state::slice_reader> first(std::in_place, v), second(std::in_place, v);
    std::atomic<bool> starts{false}, written{false};
    std::thread writer([&] {
        version mine;
        starts = true;
        write(v, mine, 2);
        written = true;
    });
    while (!starts) std::this_thread::yield();
    for (int i = 0; i < 1000 && !written; ++i)
        std::this_thread::yield(); // a writer that does not wait would have ended
    CHECK_FALSE(written);
    const auto* const at = first->data();
    CHECK(static_cast<const std::int32_t*>(at)[many - 1] == 1);
    first.reset();
    CHECK(static_cast<const std::int32_t*>(second->data())[0] == 1);
    second.reset();
    writer.join();
    CHECK(v.read()->data() == at);
    CHECK(holds(v.read(), 2));
    CHECK(memory.blocks() == 1);

    const version held = v.read(); // this lasts: the write copies
    const variable_state::slice_reader third(v);
    version mine;
    write(v, mine, 3);
    CHECK(holds(held, 2));
    CHECK(static_cast<const std::int32_t*>(third.data())[0] == 2);
    CHECK(holds(mine, 3));
    CHECK(memory.blocks() == 2);
}

TEST_CASE("variable_state: in place, there is one version, which is written while others hold it") {
    using namespace test_resources_variable_state;
    constexpr index_t n = 5;
    variable_state v({dtype::int32, dims{n}}, default_allocator(), nullptr, true);
    version first;
    variable_state::writer(v, first, variable_write::initialises).commit();
    const version held = v.read();
    std::fill_n(ints(held), n, 0);
    version one, two;
    variable_state::writer a(v, one, variable_write::elements), b(v, two, variable_write::replaces); // at the same time
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

TEST_CASE(
    "variable_state: a hold gives the address of a write in place, or none where a writer would take another block") {
    using namespace test_resources_variable_state;
    variable_state v({dtype::int32, dims{many}}, default_allocator(), nullptr);
    version mine;
    const auto writes = [&](variable_write how = variable_write::elements) {
        return variable_state::hold(v).to_write(mine, how);
    };
    CHECK_FALSE(writes()); // there is no value
    CHECK_FALSE(variable_state::hold(v).to_read());
    assign(v, 1);
    const auto* const at = v.read()->data();
    CHECK(writes() == at);
    CHECK(variable_state::hold(v).to_read() == at);
    v.read(mine);
    CHECK(writes() == at); // the step's own version is no other holder
    {
        const version other = v.read();
        CHECK_FALSE(writes());
        CHECK(variable_state::hold(v).to_read() == at);
        const variable_state::slice_reader slices(v);
        CHECK_FALSE(writes());
    }
    {
        variable_state::hold held(v);
        CHECK(held.to_write(mine, variable_write::elements) == at);
        held.wrote(mine, false);
        CHECK_FALSE(mine);
        held.wrote(mine, true);
        CHECK(mine->data() == at);
    }
}

TEST_CASE("variable_state: a hold refuses a step that holds an old version, and keeps others from reading meanwhile") {
    using namespace test_resources_variable_state;
    variable_state v({dtype::int32, dims{many}}, default_allocator(), nullptr);
    assign(v, 1);
    version mine = v.read();
    {
        version other;
        variable_state::writer beside(v, other, variable_write::replaces, false);
        std::fill_n(static_cast<std::int32_t*>(beside.data()), many, 2);
        CHECK_FALSE(variable_state::hold(v).to_read()); // a writer is at work
        beside.commit();
    }
    CHECK_FALSE(variable_state::hold(v).to_write(mine, variable_write::elements));
    mine.reset();
    std::atomic<bool> starts{false}, has_read{false};
    std::thread reader;
    {
        const variable_state::hold held(v);
        CHECK(held.to_write(mine, variable_write::elements));
        CHECK_FALSE(held.to_write(mine, variable_write::replaces)); // a reader was met: the next such writes expect one
        reader = std::thread([&] {
            starts = true;
            v.read();
            has_read = true;
        });
        while (!starts) std::this_thread::yield();
        for (int i = 0; i < 1000 && !has_read; ++i) std::this_thread::yield();
        CHECK_FALSE(has_read);
    }
    reader.join();
    CHECK(has_read);
}
