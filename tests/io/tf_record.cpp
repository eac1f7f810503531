// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/tf_record.hpp>

#include <rill/io/summary_messages.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;

namespace test_tf_record {

std::string hex(const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
        constexpr const char* digits = "0123456789abcdef";
        text += digits[static_cast<unsigned char>(c) >> 4];
        text += digits[c & 15];
    }
    return text;
}

} // namespace test_tf_record

TEST_CASE("tf_record: bytes as published, and damage is found") {
    const auto version = detail::event_bytes(1.0, 0, detail::event_file_version, "brain.Event:2");
    CHECK(test_tf_record::hex(detail::tf_record(version)) ==
          "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a");
    const auto loss = detail::event_bytes(2.0, 7, detail::event_summary, detail::scalar_summary_bytes("loss", 0.5));
    CHECK(test_tf_record::hex(detail::tf_record(loss)) ==
          "1a00000000000000129bd82d09000000000000004010072a0d0a0b0a046c6f7373150000003fc33fc24a");
    const std::string two = detail::tf_record("one") + detail::tf_record("");
    CHECK(detail::tf_records(two) == std::vector<std::string_view>{"one", ""});
    io_test::model_files files;
    files.put("f", two);
    CHECK(io_test::damages_read(files, "f", [&] { detail::tf_records(files.contents("f")); }) <=
          2); // cut between the records
}

TEST_CASE("tf_record: a writer's files are read, and its errors name the path") {
    io_test::model_files files;
    std::string long_one(std::size_t(1) << 19, 'x');
    {
        tf_record_writer out("f", files);
        out.write("one");
        out.write("");
        out.flush();
        CHECK(detail::tf_records(files.contents("f")) == std::vector<std::string_view>{"one", ""});
        out.write(long_one);
        CHECK(out.count() == 3);
        out.close();
        out.close();
        CHECK_THROWS_WITH(out.write("late"), contains("write 'f': the writer is closed"));
    }
    CHECK(detail::tf_records(files.contents("f")) == std::vector<std::string_view>{"one", "", long_one});
    {
        tf_record_writer out("g", files);
        out.write("left");
        const auto moved = std::move(out); // whose destructor writes
    }
    CHECK(detail::tf_records(files.contents("g")) == std::vector<std::string_view>{"left"});
    CHECK_THROWS_WITH(tf_record_writer("/nowhere/at/all"), contains("/nowhere/at/all"));
}
