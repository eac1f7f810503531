// expect: a \+= b: a tensor is not changed in place; write `auto c = a \+ b`, or variable.assign_add\(b\)
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    variable<float, 3> w("w", zeros());
#ifdef RILL_POSITIVE_TWIN
    w.assign_add(1.f);
#else
    w += 1.f;
#endif
}
