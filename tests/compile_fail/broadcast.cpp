// expect: add: the shapes do not broadcast
// shows: extents<-1, 3>
// shows: extents<4>
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    placeholder<float, 3> y("y");
#else
    placeholder<float, 4> y("y");
#endif
    tensor z = x + y;
}
