// expect: colocate_with: an expression or a constant is not a node
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    tensor c = constant({1.f, 2.f});
    colocate_with beside(c);
#else
    colocate_with beside(constant({1.f, 2.f}));
#endif
}
