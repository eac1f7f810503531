// expect: eager_variable: its type leaves an extent open, so give the dims too
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    eager_variable<float, dyn> w("w", dims{3}, zeros());
#else
    eager_variable<float, dyn> w("w", zeros());
#endif
}
