// expect: convolution: the channels of image and filter differ
// shows: 3
// shows: 4
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 28, 28, 3> image("image");
#ifdef RILL_POSITIVE_TWIN
    conv2d(image, variable<float, 5, 5, 3, 8>("f", glorot_uniform()));
#else
    conv2d(image, variable<float, 5, 5, 4, 8>("f", glorot_uniform()));
#endif
}
