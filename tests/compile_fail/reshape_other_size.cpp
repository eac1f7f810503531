// expect: reshape: the sizes differ
// shows: 6
// shows: 5
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2, 6> x("x");
#ifdef RILL_POSITIVE_TWIN
    reshape<3, 4>(x);
#else
    reshape<3, 5>(x);
#endif
}
