// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/idx.hpp>

#include <cstdio>
#include <fstream>
#include <string>

#include <rill/io/zlib.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_io_idx {

std::string bytes(std::initializer_list<int> all) {
    std::string s;
    for (const int b : all) s.push_back(static_cast<char>(b));
    return s;
}

TEST_CASE("idx: elements of each type, big-endian") {
    const auto a = parse_idx(bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255}), "a");
    CHECK(a.type() == tensor_type{dtype::uint8, {2, 3}});
    CHECK(a.elements<std::uint8_t>()[5] == 255);
    CHECK(parse_idx(bytes({0, 0, 0x0B, 1, 0, 0, 0, 1, 0xff, 0xfe}), "b").elements<std::int16_t>()[0] == -2);
    CHECK(parse_idx(bytes({0, 0, 0x0C, 1, 0, 0, 0, 1, 0, 0, 1, 2}), "c").elements<std::int32_t>()[0] == 258);
    CHECK(parse_idx(bytes({0, 0, 0x0D, 1, 0, 0, 0, 1, 0x3f, 0xc0, 0, 0}), "d").elements<float>()[0] == 1.5f);
    CHECK(parse_idx(bytes({0, 0, 9, 0, 0xff}), "e").elements<std::int8_t>()[0] == -1);
    CHECK(parse_idx(bytes({0, 0, 8, 1, 0, 0, 0, 0}), "f").size() == 0);
}

TEST_CASE("idx: what is not an IDX file is data_loss with the reason") {
    const auto refused = [](const std::string& all, const char* why) {
        CHECK_THROWS_WITH(parse_idx(all, "file"), contains("idx: file: ") && contains(why));
        CHECK_THROWS_AS(parse_idx(all, "file"), data_loss);
    };
    refused("", "does not begin as an IDX file");
    refused(bytes({0, 0, 8}), "does not begin as an IDX file");
    refused(bytes({0, 1, 8, 1, 0, 0, 0, 0}), "does not begin as an IDX file");
    refused(bytes({0x1f, 0x8b, 8, 0}), "compressed");
    refused(bytes({0, 0, 7, 0, 0}), "the element type 7 is unknown");
    refused(bytes({0, 0, 8, 9}), "more than 8 dimensions");
    refused(bytes({0, 0, 8, 2, 0, 0, 0, 1}), "ends within the extents");
    refused(bytes({0, 0, 8, 1, 0, 0, 0, 2, 1}), "holds 1 bytes of elements, and its extents are [2]");
    refused(bytes({0, 0, 8, 1, 0, 0, 0, 1, 1, 1}), "holds 2 bytes");
    refused(bytes({0, 0, 0x0E, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}), "its extents are");
}

TEST_CASE("idx: written and read") {
    any_array a(dtype::float64, {2, 1, 2});
    for (int i = 0; i < 4; ++i) static_cast<double*>(a.mutable_data())[i] = i * 0.5 - 1;
    const std::string path = "rill_test_idx";
    write_idx(path, a);
    const auto back = read_idx<float, 3>(path, 2);
    std::remove(path.c_str());
    CHECK(back(0, 0, 0) == -2.f);
    CHECK(back(1, 0, 1) == 1.f);
    write_idx(path, a);
    CHECK_THROWS_WITH((read_idx<float, 2>(path)), contains("holds an array of the shape [2, 1, 2], not of rank 2"));
    std::remove(path.c_str());
    CHECK_THROWS_AS(read_idx(path), not_found);
    if (detail::has_zlib()) {
        std::ofstream(path, std::ios::binary) << detail::gzip_stream(to_idx(a));
        CHECK(read_idx<float, 3>(path, 2)(1, 0, 1) == 1.f);
        std::remove(path.c_str());
    }
    CHECK_THROWS_WITH(to_idx(any_array(dtype::boolean, {1})), contains("is not one of uint8"));
    CHECK_THROWS_AS(write_idx("no/such/folder/file", a), unavailable);
}

} // namespace test_io_idx
