// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/tensor_bundle.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;
using io_test::array_of;

TEST_CASE("tensor_bundle: arrays come back, sorted by name, over several blocks of the index") {
    io_test::model_files files;
    std::vector<named_array> given{{"w", array_of<float>({2, 2}, {1, 2, 3, 4})},
                                   {"b/Adam", array_of<double>({}, {0.5})},
                                   {"words", array_of<std::string>({2}, {"one", std::string(300, 'x')})},
                                   {"none", any_array(dtype::int32, dims{0, 3})}};
    write_tensor_bundle("m", given, files);
    const auto all = read_tensor_bundle("m", files);
    REQUIRE(all.size() == 4);
    CHECK(all[0].name == "b/Adam");
    CHECK(all[0].value.value<double>() == 0.5);
    CHECK(all[1].value.shape() == dims{0, 3});
    CHECK(all[2].value.elements<float>()[3] == 4);
    CHECK(all[3].value.elements<std::string>()[1].size() == 300);
    CHECK(io_test::damages_read(
              files, "m.data-00000-of-00001", [&] { read_tensor_bundle("m", files); }, 5) == 0);
    io_test::damages_read(files, "m.index", [&] { read_tensor_bundle("m", files); });
    for (int i = 0; i < 3000; ++i)
        given.push_back({"layer_" + std::string(80, 'n') + std::to_string(i), array_of<std::int32_t>({1}, {i})});
    write_tensor_bundle("m", given, files);
    CHECK(read_tensor_bundle("m", files).size() == 3004);
    CHECK_THROWS_AS(write_tensor_bundle("x", {given[0], given[0]}, files), invalid_argument);
    CHECK_THROWS_AS(read_tensor_bundle("x", files), not_found);
}

TEST_CASE("tensor_bundle: damage is reported with file and tensor") {
    io_test::model_files files;
    write_tensor_bundle("m", {{"w", array_of<float>({2}, {1, 2})}}, files);
    files.contents("m.data-00000-of-00001")[0] ^= 1;
    CHECK_THROWS_WITH(read_tensor_bundle("m", files), contains("'m'") && contains("tensor 'w'") &&
                                                          contains("checksum") &&
                                                          contains("bytes 0 to 8 of 'm.data-00000-of-00001'"));
    files.contents("m.data-00000-of-00001").resize(3);
    CHECK_THROWS_WITH(read_tensor_bundle("m", files), contains("behind the end"));
    files.contents("m.index")[10] ^= 1;
    CHECK_THROWS_WITH(read_tensor_bundle("m", files), contains("m.index") && contains("checksum"));
    CHECK(detail::dtype_of_tensorflow(1) == dtype::float32);
    CHECK(detail::dtype_of_tensorflow(20) == dtype::invalid);
    CHECK(detail::tensorflow_type(dtype::bfloat16) == 14);
}
