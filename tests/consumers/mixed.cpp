// SPDX-License-Identifier: BSD-3-Clause
// A program of files built differently: compiled as main, and as three functions, for any processor, for this one, and, in a
// shared library, of headers alone. Where WITHOUT_THIS is set the second is left out, whose loops the first would run too.
#include <cmath>
#include <cstdio>
#include <vector>

#ifndef PART
std::vector<float> any_processor(), headers_alone();
#ifdef WITHOUT_THIS
std::vector<float> this_processor() { return headers_alone(); }
#else
std::vector<float> this_processor();
#endif

int main() {
    const auto first = any_processor(), second = this_processor(), third = headers_alone();
    for (std::size_t i = 0; i < first.size(); ++i)
        for (const auto* other : {&second, &third})
            if (!(std::abs(first[i] - (*other)[i]) <= 1e-6f + 1e-5f * std::abs(first[i]))) {
                std::printf("%zu: %g, %g, %g\n", i, first[i], second[i], third[i]);
                return 1;
            }
    return first.size() == 5000 ? 0 : 1;
}
#else
#include <rill/rill.hpp>

RILL_EXPORT std::vector<float> PART() {
    using namespace rill;
    std::vector<float> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 1000 - 2.4995f;
    const graph g;
    const graph_scope in(g);
    placeholder<float, dyn> x("x");
    const auto [slope] = gradients(reduce_sum(0.5f * x * (1.f + tanh(0.7978846f * (x + 0.044715f * x * x * x)))), x);
    session s;
    const auto y = s.run(slope, feed(x, values));
    return {y.begin(), y.end()};
}
#endif
