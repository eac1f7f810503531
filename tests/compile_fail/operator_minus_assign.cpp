// expect: a -= b: .*assign_sub
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    variable<float, 3> w("w", zeros());
#ifdef RILL_POSITIVE_TWIN
    w.assign_sub(0.5f * w);
#else
    w -= 0.5f * w;
#endif
}
