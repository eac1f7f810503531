// expect: a /= b: .*write `auto c = a / b`
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    any_tensor x = any_placeholder("x", dtype::float32);
#ifdef RILL_POSITIVE_TWIN
    auto y = x / 2.f;
#else
    x /= 2.f;
#endif
}
