// expect: push: the operand differs from the stack's elements
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    tensor_stack<float, 2> st;
#ifdef RILL_POSITIVE_TWIN
    st.push(constant({1.f, 2.f}));
#else
    st.push(constant({1, 2}));
#endif
}
