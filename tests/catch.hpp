// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Catch2 2 and 3 under one name: tests include this, never <catch2/...>, and write Approx and contains without a scope:
// CHECK_THROWS_WITH(f(), contains("the shapes differ")).

#include <string>

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
using Catch::Approx;
inline auto contains(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }
#else
#include <catch2/catch.hpp> // puts Approx into the global namespace by itself
inline auto contains(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif
