// expect: derivative: y is an edge of the graph or a constant, not an expression; use gradients\(y, x\)
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2> x("x");
#ifdef RILL_POSITIVE_TWIN
    auto y = square(x);
#else
    tensor y = square(x);
#endif
    derivative(y, x);
}
