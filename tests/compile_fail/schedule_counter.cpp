// expect: exponential_decay: global_step must be an integer tensor of rank 0
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    variable<int> step("step", 0, {.trainable = false});
#else
    variable<float> step("step", 0.f, {.trainable = false});
#endif
    adam(exponential_decay(0.1f, step, 1000, 0.96));
}
