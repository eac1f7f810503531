// SPDX-License-Identifier: BSD-3-Clause
// A fault that ends all use of a GPU in a process: a kernel of an op of ours writes to an address that no block has. The run throws, later
// ones on the GPU do, too, the CPU goes on, and the program ends in order.
#include "common.hpp"

namespace gpu_test {

__global__ void write_nowhere(float* to) { *to = 1; }

struct faulty_op {
    static constexpr auto name = "Faulty";
    using domain_type = domains::real_floating;
    static constexpr auto no_gradient = "a test";

    constexpr shape_result shape(const dims& x) const { return {x}; }
    template <class D, class T> kernel bind(kernel_request& request) const {
        if constexpr (std::is_same_v<D, gpu>)
            return kernel([space = request.space](const kernel_args&) {
                write_nowhere<<<1, 1, 0, gpu_instance::of(*space).stream()>>>(reinterpret_cast<float*>(8));
            });
        else
            return kernel([](const kernel_args& a) { *a.out<T>(0) = *a.in<T>(0); });
    }
};

void fault() {
    const graph g;
    const graph_scope here(g);
    placeholder<float> x("x");
    const any_tensor bad = apply_node(faulty_op{}, {}, tensor(x * 1.f));
    const auto good = tensor(x + 1.f);
    const auto on_cpu = [&] {
        const device_scope there("/device:cpu:0");
        return tensor(x + 2.f);
    }();
    const session s;
    expect(s.run(good, feed(x, 1.f)) == 2, "a run before the fault");
    const auto words_of = [&](const auto& y) -> std::string {
        try {
            s.run(y, feed(x, 1.f));
        } catch (const internal& problem) {
            return problem.what();
        }
        return "";
    };
    const std::string first = words_of(bad), second = words_of(good);
    expect(first.find("gpu:0") != std::string::npos && first.find("cudaError") != std::string::npos,
           "the run says which GPU has failed, and how: " + first);
    expect(second.find("cudaError") != std::string::npos, "so does the next one: " + second);
    set_default_device("cpu");
    const session on_host(g);
    expect(on_host.run(on_cpu, feed(x, 1.f)) == 3, "the CPU goes on");
}

} // namespace gpu_test

int main() {
    using namespace gpu_test;
    begin();
    fault();
    return end();
}
