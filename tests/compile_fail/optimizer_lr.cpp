// expect: optimizer: the rate is called learning_rate
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    adam by({.learning_rate = 0.1f, .beta1 = 0.8f});
#else
    adam by({.lr = 0.1f, .beta1 = 0.8f});
#endif
}
