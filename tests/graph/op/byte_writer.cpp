// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/byte_writer.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_byte_writer {

/// As "01 02 ff".
template <class T> std::string bytes(const T& value) {
    detail::byte_writer to;
    to.put(value);
    std::string text;
    for (const char c : to.out) {
        constexpr const char* digits = "0123456789abcdef";
        const auto b = static_cast<unsigned char>(c);
        text += text.empty() ? "" : " ";
        text += digits[b >> 4];
        text += digits[b & 15];
    }
    return text;
}

} // namespace test_byte_writer

TEST_CASE("byte_writer: the bytes that files are made of never change") {
    using test_byte_writer::bytes;
    CHECK(bytes(true) == "01");
    CHECK(bytes(std::int32_t(-2)) == "fe ff ff ff");
    CHECK(bytes(std::int64_t(258)) == "02 01 00 00 00 00 00 00");
    CHECK(bytes(std::uint64_t(1) << 63) == "00 00 00 00 00 00 00 80");
    CHECK(bytes(1.0) == "00 00 00 00 00 00 f0 3f");
    CHECK(bytes(dtype::boolean) == "0b");
    CHECK(bytes(std::string("ab")) == "02 00 00 00 61 62");
    CHECK(bytes(dims{dyn, 3}) == "02 ff ff ff ff ff ff ff ff 03 00 00 00 00 00 00 00");
    CHECK(bytes(dims::unknown()) == "ff");
    CHECK(bytes(axis_list{0, -1}) == "02 00 ff");
    any_array a(dtype::int16, dims{2});
    static_cast<std::int16_t*>(a.mutable_data())[0] = 1;
    static_cast<std::int16_t*>(a.mutable_data())[1] = -1;
    CHECK(bytes(a) == "04 01 02 00 00 00 00 00 00 00 01 00 ff ff");
    CHECK(bytes(any_array()) == "00 00");
    CHECK(bytes(reduction{combine::mean, {1}, true}) == "02 01 01 01");
    CHECK(bytes(fused_spec()) == "00");
}
