// expect: feed: .*expression
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float> x("x");
#ifdef RILL_POSITIVE_TWIN
    tensor y = 2.f * x;
#else
    auto y = 2.f * x; // lazy: there is no edge yet that could be fed
#endif
    session s;
    s.run(y + 1.f, feed(y, 3.f));
}
