// SPDX-License-Identifier: BSD-3-Clause
// A shared library with hidden visibility, and a program: the graph, scopes and registries are those of the process, not of either.
#include <cstdio>
#include <string>

#include <rill/rill.hpp>

using namespace rill;

#ifdef LIBRARY
struct cubed {
    static constexpr auto name = "ConsumerCubed";
    template <class V> RILL_FN static auto value(const V& x) { return x * x * x; }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * V(3) * x * x; }
};
RILL_EXPORT void build() {
    placeholder<float> x("x");
    const tensor y(apply<cubed>(x), "y");
}
RILL_EXPORT void refuse() { throw not_found("nothing here"); }
#else
void build();
void refuse();

int fail(const char* what) {
    std::printf("%s\n", what);
    return 1;
}

int main() {
    const tensor first(constant(1.f), "first");
    {
        const name_scope scope("outer");
        const control_dependencies after(first);
        build();
    }
    const auto nodes = current_graph().nodes();
    const node* y = nodes.back();
    if (y->name != "outer/y") return fail("the library's nodes are not in this graph, or not in this scope");
    if (y->control_inputs.size() != 1) return fail("the library's nodes do not wait for what they should");
    if (!find_op("ConsumerCubed")) return fail("the library's op is not known");
    session s;
    if (s.run(fetch("outer/y:0"), feed("outer/x:0", 2.f)).value<float>() != 8) return fail("outer/y is not 8");
    try {
        refuse();
        return fail("no error came out of the library");
    } catch (const not_found&) {
        return 0;
    }
}
#endif
