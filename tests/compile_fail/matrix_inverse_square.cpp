// expect: matrix_inverse: square matrices are expected
// shows: 3
// shows: 4
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 3, 4> m("m");
#ifdef RILL_POSITIVE_TWIN
    matrix_inverse(matmul(m, matrix_transpose(m)));
#else
    matrix_inverse(m);
#endif
}
