// SPDX-License-Identifier: BSD-3-Clause
// Files from strangers: valid ones with some bytes changed, left out or put in. A reader gives arrays, or an error of rill's. `make fuzz` runs
// these tests under the address sanitizer for as long as it is told.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/io/checkpoint.hpp>
#include <rill/io/example.hpp>
#include <rill/io/idx.hpp>
#include <rill/io/image.hpp>
#include <rill/io/npy.hpp>
#include <rill/io/safetensors.hpp>
#include <rill/io/tensor_bundle.hpp>

#include "catch.hpp"
#include "damaged.hpp"
#include "io/stored.hpp"
#include "io/temporary.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_io_hostile_files {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<named_array> arrays() {
    any_array weights(dtype::float32, dims{3, 4}), ids(dtype::int64, dims{5}), scale(dtype::bfloat16, dims{});
    for (int i = 0; i < 12; ++i) static_cast<float*>(weights.mutable_data())[i] = static_cast<float>(i) * 0.5f;
    for (int i = 0; i < 5; ++i) static_cast<std::int64_t*>(ids.mutable_data())[i] = 1000 - i;
    *static_cast<bfloat16*>(scale.mutable_data()) = bfloat16(2.f);
    return {{"layer/weights", weights}, {"ids", ids}, {"scale", scale}};
}
std::vector<named_array> common_arrays() {
    auto all = arrays();
    all.pop_back(); // NumPy knows no bfloat16
    return all;
}

/// Reads damaged files of one form, many times. The reader gets a seed's bytes.
template <class Read> void attack(std::uint64_t usual, const std::vector<std::string>& valid, const Read& read) {
    int refused = 0, seen = 0;
    seeds::each(usual, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        const auto bytes = damaged_bytes::damaged(draw, valid[draw(valid.size())]);
        ++seen;
        try {
            read(bytes);
        } catch (const error& problem) {
            ++refused;
            CHECK(std::string(problem.what()).size() < 5000);
        }
    });
    if (seeds::all()) CHECK((refused > seen / 4 && refused < seen)); // it neither takes nor refuses everything
}

TEST_CASE("hostile files: safetensors", "[random]") {
    const io_test::temporary_directory folder;
    const auto path = folder / "a.safetensors";
    write_safetensors(path, arrays(), {{"format", "pt"}});
    attack(300, {bytes_of(path)}, [&](const std::string& bytes) {
        write(path, bytes);
        read_safetensors(path);
    });
}

TEST_CASE("hostile files: npy and npz", "[random]") {
    const io_test::temporary_directory folder;
    const auto npy = folder / "a.npy", npz = folder / "a.npz";
    write_npy(npy, arrays()[0].value);
    attack(300, {bytes_of(npy)}, [&](const std::string& bytes) {
        write(npy, bytes);
        read_npy(npy);
    });
    write_npz(npz, common_arrays());
    attack(300, {bytes_of(npz)}, [&](const std::string& bytes) {
        write(npz, bytes);
        read_npz(npz);
    });
}

TEST_CASE("hostile files: bundles of TensorFlow", "[random]") {
    const io_test::temporary_directory folder;
    const auto prefix = folder / "model";
    write_tensor_bundle(prefix, common_arrays());
    const auto index = bytes_of(prefix + ".index"), data = bytes_of(prefix + ".data-00000-of-00001");
    REQUIRE_FALSE(data.empty());
    attack(300, {index}, [&](const std::string& bytes) {
        write(prefix + ".index", bytes);
        read_tensor_bundle(prefix);
    });
    write(prefix + ".index", index);
    seeds::each(50, [&](std::uint64_t seed) { // the data have checksums: each change is found
        seeds::draws draw(seed);
        auto bytes = data;
        bytes[draw(bytes.size())] ^= static_cast<char>(1 << draw(8));
        write(prefix + ".data-00000-of-00001", bytes);
        CHECK_THROWS_AS(read_tensor_bundle(prefix), error);
    });
}

TEST_CASE("hostile files: checkpoints", "[random]") {
    const auto valid = detail::checkpoint_bytes(arrays(), {});
    seeds::each(500, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        const auto bytes = damaged_bytes::damaged(draw, valid);
        if (bytes == valid) return;
        const auto read = [&] { return checkpoint_reader::from_bytes(bytes).read_all(); };
        CHECK_THROWS_AS(read(), error); // every byte is under a checksum, or must be zero
    });
}

TEST_CASE("hostile files: IDX", "[random]") {
    any_array images(dtype::uint8, dims{2, 3, 3});
    const auto valid = to_idx(images);
    attack(300, {valid}, [&](const std::string& bytes) { parse_idx(bytes, "damaged"); });
}

TEST_CASE("hostile files: Examples", "[random]") {
    example_features features;
    features["name"].texts = {"one", "two"};
    features["x"].floats = {1, 2, 3};
    features["id"].numbers = {-1, 1 << 20};
    attack(500, {example_bytes(features)}, [&](const std::string& bytes) { parse_example_bytes(bytes); });
}

TEST_CASE("hostile files: images", "[random]") {
    std::vector<std::string> valid;
    if (detail::has_libpng()) valid.push_back(io_test::stored_bytes("color.png"));
    if (detail::has_turbojpeg())
        for (const auto* name : {"color.jpg", "grey.jpg"}) valid.push_back(io_test::stored_bytes(name));
    if (valid.empty()) {
        WARN("skipped: neither libpng nor libturbojpeg was found, and no image is decoded");
        return;
    }
    attack(300, valid,
           [](const std::string& bytes) { detail::decode_image(bytes, static_cast<int>(bytes.size() % 2) * 3); });
}

} // namespace test_io_hostile_files
