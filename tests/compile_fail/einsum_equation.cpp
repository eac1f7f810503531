// expect: einsum: the equation does not parse
// shows: 2
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, 2, 3> a("a");
    placeholder<float, 3, 4> b("b");
#ifdef RILL_POSITIVE_TWIN
    einsum<"ij,jk->ik">(a, b);
#else
    einsum<"ij,jk->iq">(a, b);
#endif
}
