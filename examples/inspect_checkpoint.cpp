// SPDX-License-Identifier: BSD-3-Clause
// The contents of a checkpoint: names, dtypes, shapes and bytes. inspect_checkpoint PATH shows a checkpoint (a directory or a single file),
// the newest one of a directory, a .safetensors or .npz file, or a TensorFlow checkpoint by its prefix. Without a path it makes one, and
// shows it.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <rill/io/npy.hpp>
#include <rill/io/safetensors.hpp>
#include <rill/io/tensor_bundle.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

void show(const std::string& name, const tensor_type& type, std::uint64_t bytes) {
    std::printf("  %-40s %-24s %12llu bytes\n", name.c_str(), to_string(type).c_str(),
                static_cast<unsigned long long>(bytes));
}

std::size_t show_arrays(const std::vector<named_array>& all) {
    for (const auto& a : all) show(a.name, a.value.type(), a.value.type().bytes());
    return all.size();
}

std::size_t inspect(const std::string& given) {
    if (given.ends_with(".safetensors")) return show_arrays(read_safetensors(given));
    if (given.ends_with(".npz")) return show_arrays(read_npz(given));
    if (file_system::real().exists(given + ".index")) return show_arrays(read_tensor_bundle(given));
    std::string path = given;
    try {
        if (const auto newest = latest_checkpoint(given); !newest.empty()) path = newest;
    } catch (const error&) { // a single file
    }
    const checkpoint_reader from(path);
    std::printf("%s: step %lld, id %s\n", path.c_str(), static_cast<long long>(from.info().step),
                from.info().id.c_str());
    for (const auto& [name, value] : from.info().metadata) std::printf("  %s: %s\n", name.c_str(), value.c_str());
    for (const auto& [name, type] : from.tensors()) show(name, type, from.bytes(name));
    from.read_all(); // checks all sums
    return from.tensors().size();
}

} // namespace

int main(int argc, char** argv) try {
    if (argc > 1) {
        inspect(argv[1]);
        return 0;
    }
    const variable<float, 64, 128> kernel("dense/kernel", glorot_uniform());
    const variable<float, 128> bias("dense/bias", zeros());
    const auto step = get_or_create_global_step();
    const auto train =
        adam(1e-3f).minimize(reduce_mean(square(matmul(dropout(ones<float, 8, 64>(), 0.5f), kernel) + bias)), step);
    const session s;
    s.run(global_variables_initializer());
    for (int i = 0; i < 3; ++i) s.run(train);
    saver keep;
    const auto path = keep.save(s, "inspect_checkpoint_run/model", step);
    save_safetensors(s, "inspect_checkpoint_run/weights.safetensors");
    // kernel, bias, global step, two slots for each, the powers of beta or a count of steps, and the counters of random ops
    expect(inspect("inspect_checkpoint_run") >= 7, "all of the training's state is saved");
    expect(inspect("inspect_checkpoint_run/weights.safetensors") >= 7, "weights without counters");
    expect(latest_checkpoint("inspect_checkpoint_run") == path, "the newest checkpoint is the one just saved");
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
