// expect: a != b: write not_equal\(a, b\)
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    any_tensor a = placeholder<int, 3>("a"), b = a;
#ifdef RILL_POSITIVE_TWIN
    const bool differs = a.end() != b.end();
#else
    const bool differs = a != b;
#endif
}
