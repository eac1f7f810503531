// expect: bias_add: a bias \[n\] goes with a tensor
// shows: 10
// shows: 12
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 10> x("x");
#ifdef RILL_POSITIVE_TWIN
    placeholder<float, 10> b("b");
#else
    placeholder<float, 12> b("b");
#endif
    tensor y = bias_add(x, b);
}
