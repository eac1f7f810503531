// expect: concat: the .*extents
// shows: 2, 3
// shows: 2, 4
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2, 3> x("x");
    placeholder<float, 2, 4> y("y");
#ifdef RILL_POSITIVE_TWIN
    concat<1>(x, y);
#else
    concat<0>(x, y);
#endif
}
