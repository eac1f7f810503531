// expect: enqueue: an operand differs from the queue's component
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2> x("x");
#ifdef RILL_POSITIVE_TWIN
    const fifo_queue<tensor<float, 2>, tensor<int>> q;
#else
    const fifo_queue<tensor<float, 3>, tensor<int>> q;
#endif
    q.enqueue(x, 1);
}
