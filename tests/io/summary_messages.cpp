// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/summary_messages.hpp>

#include <limits>

#include <rill/io/wire.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;
using io_test::array_of;

namespace test_summary_messages {

/// The field of the first value of a summary.
detail::wire_reader::field field_of(const std::string& summary, int number) {
    detail::wire_reader value(detail::wire_reader(summary).next_field().bytes);
    while (!value.empty())
        if (const auto f = value.next_field(); f.number == number) return f;
    return {};
}

} // namespace test_summary_messages

TEST_CASE("summary_messages: a histogram counts every element once, empty buckets are joined") {
    const auto summary = detail::histogram_summary_bytes("w", array_of<float>({5}, {-1, 0, 0, 2, 2.5}));
    CHECK(test_summary_messages::field_of(summary, 1).bytes == "w");
    const auto bytes = test_summary_messages::field_of(summary, 5).bytes;
    detail::wire_reader histogram(bytes);
    double numbers[5];
    for (auto& n : numbers) {
        const auto f = histogram.next_field();
        std::memcpy(&n, &f.value, 8);
    }
    CHECK(numbers[0] == -1);
    CHECK(numbers[1] == 2.5);
    CHECK(numbers[2] == 5);
    CHECK(numbers[3] == 3.5);
    CHECK(numbers[4] == 11.25);
    detail::wire_reader ends(histogram.next_field().bytes), counts(histogram.next_field().bytes);
    double total = 0, last = -std::numeric_limits<double>::infinity();
    int buckets = 0;
    for (; !ends.empty(); ++buckets) {
        const auto end = ends.fixed<double>(), count = counts.fixed<double>();
        CHECK(end > last);
        last = end;
        total += count;
    }
    CHECK(counts.empty());
    CHECK(total == 5);
    CHECK(buckets < 12);
    CHECK_THROWS_WITH(detail::histogram_summary_bytes("w", array_of<float>({1}, {NAN})),
                      contains("'w': an element is NaN"));
    CHECK_THROWS_AS(detail::histogram_summary_bytes("w", any_array(dtype::string, dims{1})), invalid_argument);
    CHECK_FALSE(detail::histogram_summary_bytes("w", any_array(dtype::float32, dims{0})).empty());
}

TEST_CASE("summary_messages: images of all ranks, with tags by number") {
    const auto tags = [](const std::string& summary) {
        std::vector<std::string> all;
        for (detail::wire_reader from(summary); !from.empty();)
            all.emplace_back(detail::wire_reader(from.next_field().bytes).next_field().bytes);
        return all;
    };
    const auto batch = detail::image_summary_bytes("x", array_of<float>({3, 1, 2, 1}, {0, 1, 2, 3, -1, 1}), 2);
    CHECK(tags(batch) == std::vector<std::string>{"x/image/0", "x/image/1"});
    const auto one = detail::image_summary_bytes("x", array_of<std::uint8_t>({2, 2}, {0, 1, 2, 3}), 1);
    CHECK(tags(one) == std::vector<std::string>{"x"});
    detail::wire_reader image(test_summary_messages::field_of(one, 4).bytes);
    CHECK(image.next_field().value == 2);
    CHECK_THROWS_WITH(detail::image_summary_bytes("x", array_of<float>({1}, {1}), 1), contains("image_summary 'x'"));
    CHECK_THROWS_WITH(detail::image_summary_bytes("x", any_array(dtype::uint8, dims{1, 1, 7}), 1),
                      contains("image_summary 'x'"));
    CHECK_THROWS_AS(detail::text_summary_bytes("t", array_of<float>({1}, {1})), invalid_argument);
    CHECK_THROWS_AS(detail::scalar_summary_bytes("t", array_of<float>({2}, {1, 2})), invalid_argument);
}
