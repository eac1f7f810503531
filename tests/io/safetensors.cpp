// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/safetensors.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;
using io_test::array_of;

namespace test_safetensors {

/// A file with this header, and zeros as data.
std::string file_of(const std::string& header, std::size_t data) {
    std::string bytes(8, '\0');
    const std::uint64_t n = header.size();
    std::memcpy(bytes.data(), &n, 8);
    return bytes + header + std::string(data, '\0');
}

} // namespace test_safetensors

TEST_CASE("safetensors: arrays come back, the largest elements first") {
    io_test::model_files files;
    write_safetensors("w",
                      {{"b \"\n", array_of<std::int8_t>({3}, {1, -2, 3})},
                       {"a", array_of<float>({2, 2}, {1, 2, 3, 4})},
                       {"s", array_of<double>({}, {0.5})},
                       {"none", any_array(dtype::int32, dims{0, 4})},
                       {"t", array_of<bool>({2}, {true, false})}},
                      {{"format", "pt"}}, files);
    const auto all = read_safetensors("w", files);
    REQUIRE(all.size() == 5);
    CHECK(all[0].name == "s");
    CHECK(all[0].value.value<double>() == 0.5);
    CHECK(all[1].value.elements<float>()[3] == 4);
    CHECK(all[1].value.shape() == dims{2, 2});
    CHECK(all[3].name == "b \"\n");
    CHECK(all[3].value.elements<std::int8_t>()[1] == -2);
    CHECK_THROWS_AS(
        write_safetensors("x", {{"a", array_of<float>({1}, {1})}, {"a", array_of<float>({1}, {1})}}, {}, files),
        invalid_argument);
    CHECK_THROWS_AS(write_safetensors("x", {{"a", any_array(dtype::string, dims{1})}}, {}, files), invalid_argument);
    CHECK_THROWS_AS(read_safetensors("x", files), not_found);
    io_test::damages_read(files, "w", [&] { read_safetensors("w", files); }, 3);
}

TEST_CASE("safetensors: hostile files are refused by name, before memory is allocated") {
    io_test::model_files files;
    const auto refused = [&](const std::string& header, std::size_t data, const std::string& why) {
        files.put("h", test_safetensors::file_of(header, data));
        CHECK_THROWS_WITH(read_safetensors("h", files), contains("'h'") && contains(why));
    };
    const std::string a = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)";
    refused(a + "[0,8]}}", 7, "tensor 'a'");
    refused(a + "[0,8]}}", 9, "1 bytes follow the last tensor");
    refused(a + "[1,9]}}", 9, "expected from 0 on");
    refused(a + "[0,4]}}", 4, "tensor 'a'");
    refused(a + "[8,0]}}", 8, "tensor 'a'");
    refused(a + R"([0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})", 16, "the name 'a' occurs twice");
    refused(a + R"([0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12, "tensor 'b'");
    refused(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "tensor 'a'");
    refused(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})", 0, "a whole number");
    refused(R"({"a":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[0,1]}})", 1, "F8_E5M2");
    refused(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]})", 1, "'}' is expected");
    refused(R"({"a":[[[[[)", 0, "'{' is expected");
    refused(R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4, "more than 8 axes");
    refused("{} x", 0, "text follows");
    files.put("h", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8));
    CHECK_THROWS_AS(read_safetensors("h", files), data_loss);
    files.put("h", "abc");
    CHECK_THROWS_AS(read_safetensors("h", files), data_loss);
}
