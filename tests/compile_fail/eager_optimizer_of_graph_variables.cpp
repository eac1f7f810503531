// expect: eager_optimizer: an optimizer and eager variables are expected
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    eager_variable<float> w("w", 0.f);
#else
    variable<float> w("w", 0.f);
#endif
    eager_optimizer train(adam(), w);
}
