// expect: a % b: write mod\(a, b\), which has the sign of b
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<int, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor odd = equal(mod(x, 2), 1);
#else
    tensor odd = equal(x % 2, 1);
#endif
}
