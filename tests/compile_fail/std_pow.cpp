// expect: std::pow\(x, y\): of a tensor, write pow\(x, y\)
// at most: 2000 bytes
#include <cmath>
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor y = pow(x, 2.f);
#else
    tensor y = std::pow(x, 2.f);
#endif
}
