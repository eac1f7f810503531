// expect: callable: one value for each input is expected, in the order
// at most: 2000 bytes
#include <rill/rill.hpp>
#include <vector>

int main() {
    using namespace rill;
    placeholder<float, dyn> x("x");
    placeholder<int, dyn> label("label");
    session s;
    const auto step = s.make_callable(reduce_sum(x) + reduce_sum(cast<float>(label)), x, label);
    const std::vector<float> xs{1, 2};
    const std::vector<int> labels{0, 1};
#ifdef RILL_POSITIVE_TWIN
    auto [sum] = step(xs, labels);
#else
    auto [sum] = step(xs, labels, 1.f);
#endif
}
