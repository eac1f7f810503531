// expect: matmul: the inner extents
// shows: 64
// shows: 63
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 64> image("image");
#ifdef RILL_POSITIVE_TWIN
    matmul(image, variable<float, 64, 5>("w", glorot_uniform()));
#else
    matmul(image, variable<float, 63, 5>("w", glorot_uniform()));
#endif
}
