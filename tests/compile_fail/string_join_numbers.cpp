// expect: string_join: the element type is not string; convert with as_string
// at most: 2000 bytes
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    placeholder<std::string, 3> name("name");
    placeholder<int, 3> number("number");
#ifdef RILL_POSITIVE_TWIN
    string_join(name, as_string(number));
#else
    string_join(name, number);
#endif
}
