// expect: assign: the value's shape differs
// shows: 3>
// shows: 4>
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    variable<float, 2, 3> w("w", zeros());
#ifdef RILL_POSITIVE_TWIN
    auto assigned = w.assign(ones<float, 2, 3>());
#else
    auto assigned = w.assign(ones<float, 2, 4>());
#endif
}
