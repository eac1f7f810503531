// expect: reduce_sum: an axis is out of range
// shows: 2
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 4> x("x");
#ifdef RILL_POSITIVE_TWIN
    reduce_sum<1>(x);
#else
    reduce_sum<2>(x);
#endif
}
