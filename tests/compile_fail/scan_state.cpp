// expect: the body of a scan or fold gives the next state, built as the state is, or std::tuple\(next, outputs\)
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    const auto xs = constant({1.f, 2.f});
#ifdef RILL_POSITIVE_TWIN
    scan([](auto h, auto x) { return std::tuple(h + x, std::tuple(h, x)); }, 0.f, xs);
#else
    scan([](auto h, auto x) { return std::tuple(h + x, h, x); }, 0.f, xs);
#endif
}
