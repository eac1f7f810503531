// expect: into: a std::vector<bool> holds bits; take an xtensor of bool
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    session s;
    const tensor found = logical_not(constant({true, false}));
#ifdef RILL_POSITIVE_TWIN
    xt::xtensor<bool, 1> values;
#else
    std::vector<bool> values;
#endif
    s.run(into(found, values));
}
