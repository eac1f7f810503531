// expect: a && b: write logical_and\(a, b\)
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor z = select(logical_and(x > 0.f, x < 1.f), x, 0.f);
#else
    tensor z = select(x > 0.f && x < 1.f, x, 0.f);
#endif
}
