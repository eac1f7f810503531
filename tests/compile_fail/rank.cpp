// expect: matmul: both operands must be matrices
// shows: 64
// shows: 10
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    placeholder<float, dyn, 64> image("image");
#else
    placeholder<float, 64> image("image");
#endif
    matmul(image, variable<float, 64, 10>("w", glorot_uniform()));
}
