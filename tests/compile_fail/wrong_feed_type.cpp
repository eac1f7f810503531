// expect: feed: the
// shows: float
// shows: int
#include <rill/rill.hpp>
#include <vector>

int main() {
    using namespace rill;
    placeholder<float, dyn> x("x");
#ifdef RILL_POSITIVE_TWIN
    const std::vector<float> values{1, 2};
#else
    const std::vector<int> values{1, 2};
#endif
    session s;
    s.run(square(x), feed(x, values));
}
