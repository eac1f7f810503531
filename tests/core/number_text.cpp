// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/number_text.hpp>

#include <cstdint>
#include <limits>

#include "catch.hpp"

using namespace rill;

namespace test_core_number_text {

using detail::number_form;
using detail::number_text;
using detail::parsed_number;
using detail::quoted;
using detail::without_blanks;

TEST_CASE("number_text: numbers from text") {
    CHECK(parsed_number<int>("-12") == -12);
    CHECK(parsed_number<int>("+12") == 12);
    CHECK(parsed_number<std::int64_t>("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
    CHECK(parsed_number<float>("1e-3") == 1e-3f);
    CHECK(parsed_number<double>("inf") == std::numeric_limits<double>::infinity());
    CHECK(parsed_number<float>("1e-60") == 0.f);
    for (const char* none : {"", " 1", "1 ", "+-1", "1x", "1.5", "2147483648"}) CHECK_FALSE(parsed_number<int>(none));
    for (const char* none : {"", "e", "1e99", "0x10", "1,5"}) CHECK_FALSE(parsed_number<float>(none));
}

TEST_CASE("number_text: text of numbers") {
    CHECK(number_text(1.5, number_form::fixed, 6) == "1.500000");
    CHECK(number_text(-1.5, number_form::scientific, 2) == "-1.50e+00");
    CHECK(number_text(1e-10, number_form::general, 6) == "1e-10");
    CHECK(number_text(0.25, number_form::general, 6) == "0.25");
    CHECK(number_text(-std::numeric_limits<double>::max(), number_form::fixed, 1000).size() == 1 + 309 + 1 + 1000);
}

TEST_CASE("number_text: blanks and quotes") {
    CHECK(without_blanks(" \t a b\r\n") == "a b");
    CHECK(without_blanks(" \n").empty());
    CHECK(detail::quoted("a") == "'a'");
    CHECK(detail::quoted(std::string(100, 'a')) == "'" + std::string(60, 'a') + "...' (100 bytes)");
}

} // namespace test_core_number_text
