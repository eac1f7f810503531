// expect: std::exp\(x\): of a tensor, write exp\(x\)
// at most: 2000 bytes
#include <cmath>
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor y = exp(x * 2.f);
#else
    tensor y = std::exp(x * 2.f);
#endif
}
