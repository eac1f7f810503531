// expect: does not take tensors of this element type
// shows: tanh_op
// shows: int
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    placeholder<float, 3> x("x");
#else
    placeholder<int, 3> x("x");
#endif
    tensor z = tanh(x);
}
