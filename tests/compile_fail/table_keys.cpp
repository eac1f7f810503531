// expect: the dtype differs from that of the table's keys
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    hash_table<std::string, int> t;
#ifdef RILL_POSITIVE_TWIN
    (void)t.lookup(constant("a"));
#else
    (void)t.lookup(constant(1));
#endif
}
