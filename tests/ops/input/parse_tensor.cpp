// SPDX-License-Identifier: BSD-3-Clause
// Also decode_compressed.
#include <rill/ops/input/parse_tensor.hpp>

#include <complex>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/input/decode_compressed.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/stored.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_ops_input_parse_tensor {

template <class T> void comes_back(const std::vector<T>& values) {
    any_array a(dtype_of<T>, dims{static_cast<index_t>(values.size() / 2), 2});
    for (std::size_t i = 0; i < values.size(); ++i) static_cast<T*>(a.mutable_data())[i] = values[i];
    const auto back = parse_tensor_bytes(tensor_bytes(a));
    REQUIRE(back.type() == a.type());
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(back.elements<T>()[i] == values[i]);
}

TEST_CASE("parse_tensor: bytes as TensorFlow writes them, and back") {
    // tf.io.serialize_tensor(tf.constant([[1, 2]], tf.int16))
    const std::string bytes("\x08\x05\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02\"\x04\x01\x00\x02\x00", 18);
    const graph_scope here{graph()};
    placeholder<std::string> in("in");
    const auto x = parse_tensor<std::int16_t, dyn, 2>(in);
    const auto again = serialize_tensor(x);
    const session s;
    const auto [values, out] = s.run(std::tuple(x, again), feed(in, bytes));
    CHECK((values.shape(0) == 1 && values(0, 0) == 1 && values(0, 1) == 2));
    CHECK(out == bytes);
    comes_back<float>({1, 2, -3, 4});
    comes_back<std::complex<double>>({{1, 2}, {3, -4}});
    comes_back<std::string>({"a", "", std::string("\0b", 2), "c"});
    comes_back<bool>({true, false});
    comes_back<std::uint64_t>({});
    CHECK_THROWS_WITH(s.run(parse_tensor<float, dyn, 2>(in), feed(in, bytes)),
                      contains("a tensor of int16 [1, 2], expected is float32 [?, 2]") && contains("parse_tensor"));
    CHECK_THROWS_AS(s.run(parse_tensor<std::int16_t, 3, 2>(in), feed(in, bytes)), invalid_argument);
}

TEST_CASE("parse_tensor: damage is data_loss, and takes no memory that the bytes do not fill", "[random]") {
    const auto refused = [](const std::string& bytes, const std::string& why) {
        CHECK_THROWS_AS(parse_tensor_bytes(bytes), data_loss);
        CHECK_THROWS_WITH(parse_tensor_bytes(bytes), contains(why));
    };
    refused("", "the tensor has no type that can be read");
    refused("\x08\x63", "the tensor has no type that can be read");
    refused(std::string("\x08\x01\x12\x04\x12\x02\x08\x02\"\x04\0\0\0\0", 14),
            "it has 4 bytes of elements, its shape 8");
    refused("\x08\x03\x12\x04\x12\x02\x08\x01\x38\x01\x38\x02", "it has more elements than its shape");
    refused("\x08\x07\x12\x04\x12\x02\x08\x02\x42\x01"
            "a",
            "it has 1 texts, its shape 2");
    refused(std::string("\x08\x01\x12\x02\x18\x01", 6), "the rank of the tensor is unknown");
    refused("\x08\x01\x12\x0d\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "an extent of the tensor is unknown");
    refused("\x08\x01\x12\x08\x12\x06\x08\x80\x80\x80\x80\x10", "bytes");
    std::vector<std::string> whole;
    any_array numbers(dtype::float32, dims{3, 2}), texts(dtype::string, dims{4});
    std::fill_n(static_cast<float*>(numbers.mutable_data()), 6, 1.5f);
    static_cast<std::string*>(texts.mutable_data())[1] = "some text";
    for (const auto* a : {&numbers, &texts}) whole.push_back(tensor_bytes(*a));
    seeds::each(300, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        auto bytes = whole[draw(2)];
        for (std::size_t i = 0, n = 1 + draw(4); i < n; ++i) bytes[draw(bytes.size())] = static_cast<char>(draw(256));
        if (draw(3) == 0) bytes.resize(draw(bytes.size()));
        try {
            const auto made = parse_tensor_bytes(bytes);
            CHECK(static_cast<std::uint64_t>(made.type().bytes()) <= std::uint64_t(1) << 31);
        } catch (const data_loss&) {}
    });
}

TEST_CASE("decode_compressed: streams of zlib and gzip, damaged ones, and other names") {
    const graph_scope here{graph()};
    placeholder<std::string, dyn> in("in");
    const auto plain = decode_compressed(in), gzip = decode_compressed(in, "GZIP"),
               zlib = decode_compressed(in, "ZLIB");
    CHECK_THROWS_WITH(decode_compressed(in, "zip"), contains("accepted are \"\", \"GZIP\" and \"ZLIB\""));
    const session s;
    CHECK(s.run(plain, feed(in, std::vector<std::string>{"a", ""}))(0) == "a");
    if (!detail::has_zlib()) {
        CHECK_THROWS_AS(s.run(gzip, feed(in, std::vector<std::string>{"a"})), unimplemented);
        WARN("skipped: zlib was not found, and no stream is decompressed");
        return;
    }
    // Python: zlib.compress(b"rill rill rill rill")
    const std::string theirs("\x78\x9c\x2b\xca\xcc\xc9\x51\x28\x42\x21\x00\x47\xe9\x07\x2d", 15);
    const std::string long_text(300'000, 'x');
    const auto got = s.run(zlib, feed(in, std::vector<std::string>{theirs, detail::zlib_stream(long_text)}));
    CHECK(got(0) == "rill rill rill rill");
    CHECK(got(1) == long_text);
    const auto packed = detail::gzip_stream(long_text);
    const auto two = s.run(gzip, feed(in, std::vector<std::string>{packed, packed + packed}));
    CHECK((two(0) == long_text && two(1).size() == 2 * long_text.size()));
    CHECK(detail::decompressed(packed, true, 300'000) == long_text);
    CHECK_THROWS_AS(detail::decompressed(packed, true, 299'999), data_loss);
    for (std::size_t cut = 1; cut < theirs.size(); ++cut)
        CHECK_THROWS_AS(s.run(zlib, feed(in, std::vector<std::string>{theirs.substr(0, cut)})), data_loss);
    CHECK_THROWS_AS(s.run(gzip, feed(in, std::vector<std::string>{theirs})), data_loss);
}

} // namespace test_ops_input_parse_tensor
