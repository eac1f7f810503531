// SPDX-License-Identifier: BSD-3-Clause
// Two threads that write one number without order. Under the thread sanitizer this has to fail: else no race in a test would be found.
#include <thread>

#include <rill/core/small_vector.hpp>

int main() {
    rill::small_vector<int, 4> all{0};
    const auto add = [&] {
        for (int i = 0; i < 1000; ++i) all[0] = all[0] + 1;
    };
    std::thread other(add);
    add();
    other.join();
    return 0;
}
