// expect: a feed that borrows its value was kept
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn> x("x");
    const std::vector<float> values{1, 2};
#ifdef RILL_POSITIVE_TWIN
    const feed_value kept = feed(x, values);
#else
    const auto kept = feed(x, values); // may outlive the values
#endif
    session s;
    s.run(tensor(x + 1.f), kept);
}
