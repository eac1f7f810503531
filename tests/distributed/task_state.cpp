// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/task_state.hpp>

#include <rill/distributed/wire_meta.hpp>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

namespace test_task_state {

any_array numbers(const std::vector<std::int64_t>& values) {
    return owned_copy(dtype::int64, dims{static_cast<index_t>(values.size())}, values.data());
}

TEST_CASE("task_state: resources cross as they are, with tasks and names") {
    const std::string text = "a text";
    const std::vector<task_resource> all{
        {"/job:ps/replica:0/task:1", {"", "dropout", "RandomCounter", false, {{"", numbers({7})}}}},
        {"/job:worker/replica:0/task:0",
         {"box", "q", "Queue", false, {{"0", numbers({1, 2, 3})}, {"1", owned_copy(dtype::string, dims{}, &text)}}}}};
    std::vector<message_part> payload;
    const auto meta = encode_resources(all, payload);
    const auto read = decode_resources(meta, payload);
    REQUIRE(read.size() == 2);
    CHECK(read[0].task == "/job:ps/replica:0/task:1");
    CHECK(read[0].what.name == "dropout");
    CHECK(read[0].what.parts[0].value.elements<std::int64_t>()[0] == 7);
    CHECK(read[1].what.container == "box");
    CHECK(read[1].what.kind == "Queue");
    REQUIRE(read[1].what.parts.size() == 2);
    CHECK(read[1].what.parts[0].name == "0");
    CHECK(read[1].what.parts[0].value.elements<std::int64_t>()[2] == 3);
    CHECK(read[1].what.parts[1].value.value<std::string>() == text);
    CHECK(decode_resources(encode_resources({}, payload), {}).empty());
}

TEST_CASE("task_state: messages of strangers that lack arrays, or have too many") {
    std::vector<message_part> payload;
    const std::vector<task_resource> one{{"", {"", "n", "k", false, {{"a", numbers({1})}}}}};
    auto m = meta_of<resources_meta>(encode_resources(one, payload));
    m.all[0].parts.push_back("b");
    CHECK_THROWS_AS(decode_resources(bytes_of_meta(m), payload), data_loss);
    m.all.clear();
    CHECK_THROWS_AS(decode_resources(bytes_of_meta(m), payload), data_loss);
    CHECK_THROWS_AS(decode_resources("no message", payload), data_loss);
    CHECK_THROWS_AS(decode_resources(encode_resources(one, payload), {}), data_loss); // without its payload
}

TEST_CASE("task_state: a task tells all but its variables") {
    container_set all(default_allocator());
    all.restore({"box", "q", "Queue", false, {{"0", numbers({1})}}}); // waits for its resource
    all.restore({"", "w", "variable", false, {{"", numbers({1})}}});
    const auto told = resources_of_task("/job:ps/replica:0/task:0", all);
    REQUIRE(told.size() == 1);
    CHECK(told[0].task == "/job:ps/replica:0/task:0");
    CHECK(told[0].what.name == "q");
    CHECK(told[0].what.container == "box");
}

} // namespace test_task_state
