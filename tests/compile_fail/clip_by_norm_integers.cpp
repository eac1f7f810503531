// expect: clip_by_norm: the element type is not floating
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    placeholder<float, dyn> x("x");
    clip_by_norm(x, 1.f);
#else
    placeholder<int, dyn> x("x");
    clip_by_norm(x, 1);
#endif
}
