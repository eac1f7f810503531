// SPDX-License-Identifier: BSD-3-Clause
// The main function of every test program: Catch2 2 compiles it here, Catch2 3 brings it in a library.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// Messages may still arrive in the memory of an exchange that has failed: it is never freed (rank_exchanges.ipp).
extern "C" const char* __lsan_default_suppressions() { return "leak:rank_exchanges::start"; }
#endif
#endif
