// expect: a \|\| b: write logical_or\(a, b\)
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<bool, 3> a("a"), b("b");
#ifdef RILL_POSITIVE_TWIN
    auto z = logical_or(a, b);
#else
    auto z = a || b;
#endif
}
