// expect: transpose: the permutation must name every axis once
// shows: 2, 3
// shows: 0, 0
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2, 3> x("x");
#ifdef RILL_POSITIVE_TWIN
    transpose<1, 0>(x);
#else
    transpose<0, 0>(x);
#endif
}
