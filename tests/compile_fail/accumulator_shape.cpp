// expect: apply_grad: the gradient differs from the accumulator's
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    conditional_accumulator<float, 2, 3> sum("sum");
#ifdef RILL_POSITIVE_TWIN
    sum.apply_grad(ones<float, 2, 3>(), 0);
#else
    sum.apply_grad(ones<float, 2, 4>(), 0);
#endif
}
