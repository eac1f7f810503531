// expect: variable: give it a first value
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
#ifdef RILL_POSITIVE_TWIN
    variable<float, 3> v("v", zeros());
#else
    variable<float, 3> v("v");
#endif
}
