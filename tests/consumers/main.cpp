// SPDX-License-Identifier: BSD-3-Clause
// What the three projects beside this file build: a program outside the library's own build.
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    session s;
    return s.run(constant(40.f) + 2.f) == 42.f ? 0 : 1;
}
