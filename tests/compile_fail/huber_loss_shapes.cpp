// expect: huber_loss: the shapes differ
// shows: 3, 1
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 3> labels("labels");
#ifdef RILL_POSITIVE_TWIN
    placeholder<float, 3> x("x");
#else
    placeholder<float, 3, 1> x("x");
#endif
    tensor loss = huber_loss(labels, x);
}
