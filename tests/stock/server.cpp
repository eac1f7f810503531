// SPDX-License-Identifier: BSD-3-Clause
// A server for graphs of other programs. It names no op, and compiles none for itself; client.cpp starts it.
#include <rill/all_kernels.hpp>
#include <rill/distributed.hpp>

int main() {
    const auto me = rill::from_environment();
    rill::server node(me.cluster, me.job, me.task);
    node.join(); // until the client ends the process
}
