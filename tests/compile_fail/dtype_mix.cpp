// expect: add: the dtypes differ
// shows: float
// shows: int
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 3> x("x");
    placeholder<int, 3> y("y");
#ifdef RILL_POSITIVE_TWIN
    tensor z = x + cast<float>(y);
#else
    tensor z = x + y;
#endif
}
