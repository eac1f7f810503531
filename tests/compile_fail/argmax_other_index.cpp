// expect: equal: the dtypes differ
// shows: int
// shows: long
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 3> x("x");
    placeholder<std::int64_t, dyn> label("label");
#ifdef RILL_POSITIVE_TWIN
    tensor right = equal(argmax<1, std::int64_t>(x), label);
#else
    tensor right = equal(argmax<1>(x), label);
#endif
}
