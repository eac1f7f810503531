// expect: variable: its type leaves an extent open, so give the dims
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    variable<float, dyn, 2> w("w", dims{3, 2}, zeros());
#else
    variable<float, dyn, 2> w("w", zeros());
#endif
}
