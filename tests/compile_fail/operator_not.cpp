// expect: !a: write logical_not\(a\)
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<bool, 3> mask("mask");
#ifdef RILL_POSITIVE_TWIN
    tensor z = logical_not(mask);
#else
    tensor z = !mask;
#endif
}
