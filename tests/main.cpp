// SPDX-License-Identifier: BSD-3-Clause
// The main function of every test program: Catch2 2 compiles it here, Catch2 3 brings it in a library.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
