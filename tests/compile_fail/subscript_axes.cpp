// expect: x\(i\): there are more indices than axes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    x(0, 1);
#else
    x(0, 1, 2);
#endif
}
