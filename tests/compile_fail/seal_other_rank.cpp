// expect: tensor: the ranks differ
// shows: 1, 3
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor<float, dyn> y(x * 2.f);
#else
    tensor<float, 1, 3> y(x * 2.f);
#endif
}
