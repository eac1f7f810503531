// SPDX-License-Identifier: BSD-3-Clause
// A program outside the library's own build with a server: the package has to bring ZeroMQ.
#include <rill/distributed.hpp>
#include <rill/rill.hpp>

int main() {
    using namespace rill;
    auto node = create_local_server();
    const session s({.target = node.target()});
    return node.target().starts_with("tcp://") && s.run(constant(40.f) + 2.f) == 42.f ? 0 : 1;
}
