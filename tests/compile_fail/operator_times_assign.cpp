// expect: a \*= b: .*write `auto c = a \* b`
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    auto y = x * x;
#else
    x *= x;
#endif
}
