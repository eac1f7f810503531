// expect: eager_optimizer: a gradient for each variable is expected
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    eager_variable<float> w("w", 0.f), b("b", 0.f);
    eager_optimizer train(adam(), w, b);
#ifdef RILL_POSITIVE_TWIN
    train.apply(1.f, 2.f);
#else
    train.apply(1.f);
#endif
}
