// expect: max_pool: the window is larger than the image
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<float, dyn, 4, 4, 3> image("image");
#ifdef RILL_POSITIVE_TWIN
    max_pool<window{.size = {4, 4}}>(image);
#else
    max_pool<window{.size = {5, 4}}>(image);
#endif
}
