// expect: insert: one value for each key
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    hash_table<int, int> t;
#ifdef RILL_POSITIVE_TWIN
    t.insert(constant({1, 2}), constant({3, 4}));
#else
    t.insert(constant({1, 2}), constant({3, 4, 5}));
#endif
}
