// expect: add: the dtypes differ
// shows: int
// shows: float
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<int, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor z = x + 1;
#else
    tensor z = x + 0.5f;
#endif
}
