// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/npy.hpp>

#include <complex>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;
using io_test::array_of;

namespace test_npy {

std::string file_of(const std::string& dictionary, const std::string& data) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(dictionary.size() & 255);
    bytes += static_cast<char>(dictionary.size() >> 8);
    return bytes + dictionary + data;
}

} // namespace test_npy

TEST_CASE("npy: arrays come back, the header is NumPy's") {
    io_test::model_files files;
    write_npy("a", array_of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), files);
    const std::string& bytes = files.contents("a");
    CHECK(bytes.size() == 128 + 24);
    CHECK(bytes.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
    CHECK(bytes[127] == '\n');
    const auto back = read_npy("a", files);
    CHECK(back.shape() == dims{2, 3});
    CHECK(back.elements<float>()[5] == 6);
    for (const auto& a : {array_of<std::int8_t>({}, {3}), array_of<bool>({2}, {true, false}),
                          array_of<std::complex<double>>({1}, {{1, 2}})}) {
        write_npy("b", a, files);
        CHECK(read_npy("b", files).type() == a.type());
    }
    CHECK_THROWS_AS(write_npy("c", any_array(dtype::bfloat16, dims{1}), files), invalid_argument);
    io_test::damages_read(files, "a", [&] { read_npy("a", files); });
}

TEST_CASE("npy: Fortran order, big-endian numbers and other spellings of the header") {
    io_test::model_files files;
    files.put(
        "f", test_npy::file_of("{\"shape\":(2L,3L),'fortran_order':True,'descr':'|u1'}\n", "\x01\x04\x02\x05\x03\x06"));
    const auto f = read_npy("f", files);
    CHECK(std::vector<int>(f.elements<std::uint8_t>().begin(), f.elements<std::uint8_t>().end()) ==
          std::vector<int>{1, 2, 3, 4, 5, 6});
    const std::string spaces(70'000, ' '), described = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
    files.put("long", test_npy::file_of(described + spaces.substr(0, 5000), "\x07"));
    CHECK(read_npy("long", files).elements<std::uint8_t>()[0] == 7);
    std::string second("\x93NUMPY\x02\x00", 8); // the second version has longer headers
    for (int i = 0; i < 4; ++i) second += static_cast<char>((described.size() + spaces.size()) >> (8 * i) & 255);
    files.put("longer", second + described + spaces + "\x08");
    CHECK(read_npy("longer", files).elements<std::uint8_t>()[0] == 8);
    files.put("longer", second + described);
    CHECK_THROWS_WITH(read_npy("longer", files), contains("at byte 12: a length of 70055 where 55 bytes are left"));
    files.put("b", test_npy::file_of("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }",
                                     std::string("\x01\x02\x00\x05", 4)));
    CHECK(read_npy("b", files).elements<std::int16_t>()[0] == 258);
    files.put("c", test_npy::file_of("{'descr': '>c8', 'fortran_order': False, 'shape': (), }",
                                     std::string("\x3f\x80\0\0\x40\0\0\0", 8)));
    CHECK(read_npy("c", files).value<std::complex<float>>() == std::complex<float>(1, 2));
}

TEST_CASE("npy: hostile files are refused, pickles always") {
    const auto refused = [](const std::string& dictionary, const std::string& data, const std::string& why) {
        CHECK_THROWS_WITH(detail::npy_array(test_npy::file_of(dictionary, data)), contains(why));
    };
    refused("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "\x80\x04.", "pickled");
    refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd", "records");
    refused("{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}", "abcd", "'<U4'");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "abcd", "the shape [2]");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcdx", "5 bytes of float32 [1]");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcdx", "from byte 65 on");
    refused("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "abcd", "at byte 44: True or False");
    refused("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", std::string("\0\2", 2), "the bool at byte 66");
    refused("{'descr': '|b1', 'fortran_order': True, 'shape': (2, 2)}", std::string("\0\2\3\0", 4),
            "the bool at byte 67");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 16)}", "abcd",
            "more than the bytes");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "abcd", "an extent");
    refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "abcd", "'descr'");
    refused("{'descr': '<f4', 'shape': ()}", "abcd", "a member is missing");
    refused("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\x02", "bool");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "abcd", "more than 8 axes");
}

TEST_CASE("npz: arrays come back, damage is found, names that climb are only names") {
    io_test::model_files files;
    write_npz("w", {{"../a", array_of<float>({2}, {1, 2})}, {"b/c", array_of<std::int64_t>({}, {7})}}, files);
    const auto all = read_npz("w", files);
    REQUIRE(all.size() == 2);
    CHECK(all[0].name == "../a");
    CHECK(all[1].value.value<std::int64_t>() == 7);
    CHECK_FALSE(files.exists("a"));
    io_test::damages_read(files, "w", [&] { read_npz("w", files); });
    CHECK_THROWS_WITH(write_npz("x", {{"a", any_array(dtype::string, dims{1})}}, files), contains("array 'a'"));
    files.put("x", "no archive");
    CHECK_THROWS_AS(read_npz("x", files), data_loss);
}
