// expect: enqueue: one operand for each component
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2> x("x");
    const fifo_queue<tensor<float, 2>, tensor<int>> q;
#ifdef RILL_POSITIVE_TWIN
    q.enqueue(x, 1);
#else
    q.enqueue(x);
#endif
}
