// expect: control_dependencies: an expression or a constant is not a node .*seal it first: tensor t =
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    variable<float> v("v", 0.f);
#ifdef RILL_POSITIVE_TWIN
    tensor updated = v.assign_add(1.f) * 2.f;
    control_dependencies after(updated);
#else
    auto updated = v.assign_add(1.f) * 2.f;
    control_dependencies after(updated);
#endif
}
