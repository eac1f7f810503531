// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/table_state.hpp>

#include <map>
#include <random>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_table_state {

any_array number(const std::int64_t& x) { return any_array(dtype::int64, dims{}, &x, nullptr); }

TEST_CASE("table_state: any mix of changes leaves what a map would hold") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 draw(seed);
        detail::table_state t("t", {dtype::int64, dtype::int64});
        std::map<std::int64_t, std::int64_t> model;
        for (int k = 0; k < 300; ++k) {
            const std::int64_t key = draw() % 40, value = draw() % 1000, none = -1;
            if (draw() % 3) {
                t.insert(number(key), number(value));
                model[key] = value;
            } else {
                t.remove(number(key));
                model.erase(key);
            }
            const any_array otherwise = number(none);
            const auto at = model.find(key);
            REQUIRE(t.find(number(key), &otherwise).value<std::int64_t>() == (at == model.end() ? -1 : at->second));
            REQUIRE(t.size() == static_cast<index_t>(model.size()));
        }
        const auto [keys, values] = t.entries();
        for (std::size_t i = 0; i < model.size(); ++i)
            REQUIRE(model.at(keys.elements<std::int64_t>()[i]) == values.elements<std::int64_t>()[i]);
    }
}

TEST_CASE("table_state: dtypes are checked, what it is can be read") {
    detail::table_state t("t", {dtype::int64, dtype::string});
    const std::int64_t one = 1;
    CHECK_THROWS_WITH(t.insert(number(one), number(one)), contains("hash_table 't'") && contains("values are string"));
    CHECK(t.described() == "hash_table of int64 to string");
    CHECK_THROWS_AS((detail::table_traits{dtype::float32, dtype::int32}).check(), invalid_argument);
    CHECK_THROWS_AS((detail::table_traits{dtype::int32, dtype::string, true}).check(), invalid_argument);
    detail::table_state waits("w", {dtype::int64, dtype::string, true});
    CHECK_THROWS_AS(waits.size(), failed_precondition);
    CHECK_THROWS_AS(waits.remove(number(one)), failed_precondition);
}

} // namespace test_ops_table_table_state
