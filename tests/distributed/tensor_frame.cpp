// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/tensor_frame.hpp>

#include <cstring>

#include "catch.hpp"

using namespace rill;

namespace test_tensor_frame {

using namespace rill::detail;

template <class T> any_array made(const dims& shape, const std::vector<T>& values) {
    any_array a(dtype_of<T>, shape);
    std::copy(values.begin(), values.end(), static_cast<T*>(a.mutable_data()));
    return a;
}

bool equal(const any_array& a, const any_array& b) {
    if (a.type() != b.type()) return false;
    if (a.dtype() == dtype::string) return std::ranges::equal(a.elements<std::string>(), b.elements<std::string>());
    return a.type().bytes() == 0 || std::memcmp(a.data(), b.data(), a.type().bytes()) == 0;
}

TEST_CASE("tensor frame: values and back") {
    std::vector<any_array> values{made<float>({3}, {1, 2, 3}),
                                  made<std::int64_t>({}, {-5}),
                                  made<std::string>({2, 1}, {"", "text\n"}),
                                  any_array(dtype::boolean, {0, 4}),
                                  any_array(),
                                  any_array(dtype::float64, {1000})};
    std::memset(values.back().mutable_data(), 1, 8000);
    for (int i = 0; i < 200; ++i) values.push_back(made<std::int32_t>({1}, {i}));
    std::vector<message_part> payload;
    const auto metas = encode_tensors(values, payload);
    REQUIRE(metas.size() == values.size());
    CHECK(payload.size() == 2);                           // the small ones share a part
    CHECK(payload[1].bytes().data() == values[5].data()); // and a large one is not copied
    const auto read = decode_tensors(metas, payload);
    for (std::size_t i = 0; i < values.size(); ++i)
        CHECK((values[i].empty() ? read[i].empty() : equal(read[i], values[i])));
}

TEST_CASE("tensor frame: more large values than a message has parts") {
    std::vector<any_array> values;
    for (int i = 0; i < 100; ++i) {
        values.emplace_back(dtype::uint8, dims{5000});
        std::memset(values.back().mutable_data(), i, 5000);
    }
    std::vector<message_part> payload;
    const auto metas = encode_tensors(values, payload);
    const auto read = decode_tensors(metas, payload);
    CHECK(payload.size() == 64);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(equal(read[i], values[i]));
}

TEST_CASE("tensor frame: a value at an odd place of its part is copied to where numbers may lie") {
    const double one = 1.5;
    std::string bytes(40, '\0');
    std::memcpy(bytes.data() + 19, &one, sizeof one);
    const std::vector<message_part> payload{message_part(bytes)};
    const auto read = decode_tensor({{dtype::float64, {1}}, 0, 19, sizeof one}, payload);
    CHECK(reinterpret_cast<std::uintptr_t>(read.data()) % alignof(double) == 0);
    CHECK(*static_cast<const double*>(read.data()) == one);
    CHECK(decode_tensor({{dtype::float64, {0}}, 0, 19, 0}, payload).size() == 0);
}

TEST_CASE("tensor frame: values that do not fit their bytes are refused") {
    std::vector<message_part> payload;
    const auto good = encode_tensor(made<float>({2}, {1, 2}), payload);
    const auto refused = [&](auto change) {
        auto m = good;
        change(m);
        CHECK_THROWS_AS(decode_tensor(m, payload), data_loss);
    };
    refused([](tensor_meta& m) { m.part = 1; });
    refused([](tensor_meta& m) { m.offset = 4; });
    refused([](tensor_meta& m) { m.offset = ~std::uint64_t(0); });
    refused([](tensor_meta& m) { m.bytes = 4; });
    refused([](tensor_meta& m) { m.type.shape = {3}; });
    refused([](tensor_meta& m) { m.type.shape = {index_t(1) << 40, index_t(1) << 40}; });
    refused([](tensor_meta& m) { m.type.shape = dims::unknown(); });
    refused([](tensor_meta& m) { m.type.type = dtype::string; });
    refused([](tensor_meta& m) { m = {{dtype::boolean, {8}}, 0, 0, 8}; }); // 63 is no bool
}

} // namespace test_tensor_frame
