// SPDX-License-Identifier: BSD-3-Clause
// The program of the other consumers, and that the package's options are those that it was made with.
#include "../main.cpp"

static_assert(RILL_COMPILED == EXPECT_COMPILED);
static_assert(RILL_WITH_JIT == EXPECT_JIT);
static_assert(RILL_WITH_ONEDNN == EXPECT_ONEDNN);
static_assert(RILL_WITH_XSIMD == EXPECT_XSIMD);
