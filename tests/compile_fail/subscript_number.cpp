// expect: x\(i\): whole numbers, slice_range, all and new_axis are expected
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    x(1, 2);
#else
    x(1, 2.f);
#endif
}
