// expect: a == b: write equal\(a, b\)
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor right = cast<float>(equal(x, 1.f));
#else
    tensor right = cast<float>(x == 1.f);
#endif
}
