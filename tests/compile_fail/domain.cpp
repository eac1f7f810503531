// expect: op_does_not_take_tensors_of<.*tanh_op, int>
// shows: convert operands with cast<T>()
// at most: 2000 bytes
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
