// SPDX-License-Identifier: BSD-3-Clause
// Files whose contents are damaged and whose checksums are right. What reads them throws an error of rill or gives values, and allocates no
// more than a multiple of their bytes.
#include <cstring>
#include <string>
#include <vector>

#include <rill/core/crc32c.hpp>
#include <rill/io/checkpoint.hpp>
#include <rill/io/npy.hpp>
#include <rill/io/safetensors.hpp>
#include <rill/io/shard.hpp>
#include <rill/io/tensor_bundle.hpp>
#include <rill/io/wire.hpp>
#include <rill/io/zlib.hpp>

#include "catch.hpp"
#include "faults/allocations.hpp"
#include "io/model_files.hpp"
#include "seeds.hpp"

using namespace rill;
using io_test::array_of;
using io_test::model_files;

namespace test_hostile_files {

std::vector<named_array> arrays() {
    return {{"layer/w", array_of<float>({2, 3}, {0, 1, 2, 3, 4, 5})},
            {"layer/b", array_of<std::int64_t>({2}, {7, 7})},
            {"layer/c", array_of<std::int64_t>({2}, {7, 7})},
            {"flags", array_of<bool>({3}, {true, false, true})}};
}
std::vector<named_array> arrays_and_text() {
    auto all = arrays();
    all.push_back({"words", array_of<std::string>({2}, {"one", "three"})});
    return all;
}

/// Changes a text in one to four places: a byte, or eight bytes to a number that readers may trip over.
void damage(std::string& text, std::size_t begin, std::size_t end, seeds::draws& draw) {
    static constexpr std::uint64_t numbers[] = {0,
                                                1,
                                                0x7f,
                                                0x80,
                                                0xffff,
                                                0x7fffffff,
                                                0xffffffff,
                                                std::uint64_t(1) << 40,
                                                std::uint64_t(1) << 62,
                                                ~std::uint64_t(0) >> 1,
                                                ~std::uint64_t(0)};
    if (begin >= end) return;
    for (std::size_t n = 1 + draw(4); n > 0; --n) {
        const std::size_t at = begin + draw(end - begin), bytes = std::size_t(1) << draw(4);
        if (draw(2) == 0 || at + bytes > end)
            text[at] = static_cast<char>(draw(256));
        else
            std::memcpy(text.data() + at, &numbers[draw(std::size(numbers))], bytes);
    }
}

/// Reads a hostile file. Returns true if it was refused.
template <class F> bool is_refused(std::size_t bytes, const F& read) {
    bool refused = false;
    faults::limit_bytes(256 * bytes + (1 << 20)); // an error's text, and a std::string for each byte of text
    try {
        read();
    } catch (const error&) {
        refused = true;
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    CHECK_FALSE(faults::end_faults()); // nothing is allocated before sizes are checked
    return refused;
}

std::uint32_t number_at(const std::string& text, std::size_t at) {
    std::uint32_t n;
    std::memcpy(&n, text.data() + at, sizeof n);
    return n;
}
void put(std::string& text, std::size_t at, std::uint32_t n) { std::memcpy(text.data() + at, &n, sizeof n); }

/// Gives a block of a LevelDB table the right checksum.
void repair_block(std::string& table, std::size_t begin, std::size_t size) {
    put(table, begin + size + 1, detail::masked_crc(detail::crc32c(std::string_view(table).substr(begin, size + 1))));
}

/// The blocks of a table that write_tensor_bundle has made: one of entries, an empty one, and the index.
struct table_blocks {
    std::size_t entries = 0, index = 0, index_size = 0;

    explicit table_blocks(const std::string& table) {
        detail::wire_reader footer(std::string_view(table).substr(table.size() - 48));
        entries = static_cast<std::size_t>(footer.varint()) - 5;
        footer.varint();
        index = static_cast<std::size_t>(footer.varint());
        index_size = static_cast<std::size_t>(footer.varint());
    }
};

/// Gives each member of an archive whose bytes are there the right checksum, in the archive's directory.
void repair_archive(std::string& bytes) {
    for (auto at = bytes.find("PK\x01\x02"); at != std::string::npos; at = bytes.find("PK\x01\x02", at + 4)) {
        if (bytes.size() - at < 46) return;
        const std::size_t size = number_at(bytes, at + 20), local = number_at(bytes, at + 42);
        if (local > bytes.size() || bytes.size() - local < 30) continue;
        const auto length = [&](std::size_t field) { return number_at(bytes, local + field) & 0xffff; };
        const std::size_t first = local + 30 + length(26) + (number_at(bytes, local + 26) >> 16);
        if (first > bytes.size() || size > bytes.size() - first) continue;
        put(bytes, at + 16, detail::crc32(std::string_view(bytes).substr(first, size)));
    }
}

} // namespace test_hostile_files

TEST_CASE("hostile files: checkpoints with damaged indexes and manifests, and right checksums", "[random]") {
    const std::string good =
        detail::checkpoint_bytes(test_hostile_files::arrays_and_text(), {.step = 3, .metadata = {{"a", "b"}}});
    const auto header = detail::shard_header::read(good);
    const auto index_at = static_cast<std::size_t>(header.index_offset), index_size = std::size_t(header.index_length);
    int refused = 0, read = 0;
    seeds::each(300, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        auto h = header;
        std::string body = good.substr(0, index_at + index_size), manifest = good.substr(index_at + index_size);
        const auto part = draw(8);
        if (part < 5) test_hostile_files::damage(body, index_at, body.size(), draw);
        if (part == 5) test_hostile_files::damage(body, detail::shard_header_size, index_at, draw);
        if (part == 6) h.index_offset += draw(3) * 64;
        const std::string_view index = std::string_view(body).substr(index_at);
        h.index_sum = detail::crc32c(index);
        const auto sum_at =
            detail::manifest_header_size + 16 + 8 + 8 + 1 + 8 + 4; // id, step, time, no name, offset, length
        test_hostile_files::put(manifest, sum_at, h.index_sum);
        if (part == 7) test_hostile_files::damage(manifest, detail::manifest_header_size, manifest.size(), draw);
        test_hostile_files::put(
            manifest, detail::manifest_header_size - 4,
            detail::crc32c(std::string_view(manifest).substr(detail::manifest_header_size),
                           detail::crc32c(std::string_view(manifest).substr(0, detail::manifest_header_size - 4))));
        body += manifest;
        const auto first = h.bytes();
        body.replace(0, first.size(), first);
        ++(test_hostile_files::is_refused(body.size(), [&] { checkpoint_reader::from_bytes(body).read_all(); })
               ? refused
               : read);
    });
    if (seeds::all()) CHECK(refused > 100); // a change of a name or of the time is no damage
}

TEST_CASE("hostile files: TensorFlow's checkpoints with damaged entries and right checksums", "[random]") {
    model_files files;
    write_tensor_bundle("m", test_hostile_files::arrays_and_text(), files);
    const std::string good = files.contents("m.index");
    const test_hostile_files::table_blocks blocks(good);
    int refused = 0;
    seeds::each(300, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        auto& bytes = files.contents("m.index");
        bytes = good;
        const bool in_index = draw(5) == 0;
        const std::size_t begin = in_index ? blocks.index : 0, size = in_index ? blocks.index_size : blocks.entries;
        test_hostile_files::damage(bytes, begin, begin + size, draw);
        test_hostile_files::repair_block(bytes, begin, size);
        refused += test_hostile_files::is_refused(bytes.size() + 4096, [&] { read_tensor_bundle("m", files); });
    });
    if (seeds::all()) CHECK(refused > 100);
}

TEST_CASE("hostile files: archives with damaged headers and right checksums", "[random]") {
    model_files files;
    write_npz("w", test_hostile_files::arrays(), files);
    const std::string good = files.contents("w");
    int refused = 0;
    seeds::each(300, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        auto& bytes = files.contents("w");
        bytes = good;
        const auto directory = bytes.find("PK\x01\x02");
        const bool in_directory = draw(2) == 0;
        test_hostile_files::damage(bytes, in_directory ? directory : 0, in_directory ? bytes.size() : directory, draw);
        test_hostile_files::repair_archive(bytes);
        refused += test_hostile_files::is_refused(bytes.size(), [&] { read_npz("w", files); });
    });
    if (seeds::all()) CHECK(refused > 100);
}

TEST_CASE("hostile files: safetensors with damaged headers", "[random]") {
    model_files files;
    write_safetensors("w", test_hostile_files::arrays(), {{"format", "pt"}}, files);
    const std::string good = files.contents("w");
    const std::size_t end = 8 + test_hostile_files::number_at(good, 0);
    int refused = 0;
    seeds::each(500, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        auto& bytes = files.contents("w");
        bytes = good;
        for (std::size_t n = 1 + draw(3); n > 0; --n) // what JSON is made of, and what it is not
            bytes[draw(8) == 0 ? draw(8) : 8 + draw(end - 8)] = "{}[],:\"\\0123456789-eE \xff"[draw(23)];
        refused += test_hostile_files::is_refused(bytes.size(), [&] { read_safetensors("w", files); });
    });
    if (seeds::all()) CHECK(refused > 100);
}

TEST_CASE("hostile files: two tensors of one place are refused by name, though all checksums are right") {
    model_files files;
    write_tensor_bundle("m", test_hostile_files::arrays(), files);
    auto& index = files.contents("m.index");
    const test_hostile_files::table_blocks blocks(index);
    const std::string before("layer/c"); // equal to layer/b, which lies before it
    const auto entry = index.find(before);
    REQUIRE(entry != std::string::npos);
    const auto offset = index.find('\x20', entry + before.size()); // the key of the field "offset"
    REQUIRE(offset < blocks.entries);
    index[offset + 1] = static_cast<char>(index[offset + 1] - 16);
    test_hostile_files::repair_block(index, 0, blocks.entries);
    CHECK_THROWS_WITH(read_tensor_bundle("m", files),
                      contains("'m'") && contains("tensor 'layer/c'") && contains("also those of tensor 'layer/b'"));

    write_npz("w", test_hostile_files::arrays(), files);
    auto& archive = files.contents("w");
    const auto first = archive.find("PK\x01\x02"), second = archive.find("PK\x01\x02", first + 4),
               third = archive.find("PK\x01\x02", second + 4);
    test_hostile_files::put(archive, third + 42, test_hostile_files::number_at(archive, second + 42));
    test_hostile_files::repair_archive(archive);
    CHECK_THROWS_WITH(read_npz("w", files),
                      contains("'w'") && contains("array 'layer/") && contains("where something else begins"));
}

TEST_CASE("hostile files: a table whose keys share one long beginning takes no more memory than its bytes allow") {
    constexpr std::size_t keys = 20000, shared = 60000;
    detail::wire_writer block;
    const auto add = [&](std::size_t common, std::string_view rest) {
        block.varint(common);
        block.varint(rest.size());
        block.varint(0);
        block.raw(rest);
    };
    add(0, "");
    add(0, std::string(shared, 'a'));
    for (std::size_t i = 0; i < keys; ++i) {
        const char digits[] = {static_cast<char>('a' + i / 676 % 26), static_cast<char>('a' + i / 26 % 26),
                               static_cast<char>('a' + i % 26)};
        add(shared, std::string_view(digits, 3));
    }
    block.fixed<std::uint32_t>(0);
    std::string table;
    const auto append = [&](const std::string& bytes) {
        const std::size_t at = table.size();
        table += bytes + std::string(5, '\0');
        test_hostile_files::repair_block(table, at, bytes.size());
        detail::wire_writer handle;
        handle.varint(at);
        handle.varint(bytes.size());
        return handle.out;
    };
    const auto entries = append(block.out);
    const auto meta = append(std::string(4, '\0'));
    detail::wire_writer index;
    index.varint(0);
    index.varint(1);
    index.varint(entries.size());
    index.raw("z" + entries);
    index.fixed<std::uint32_t>(0);
    std::string footer = meta + append(index.out);
    footer.resize(40);
    detail::wire_writer magic;
    magic.fixed(std::uint64_t(0xdb4775248b80fb57u));
    model_files files;
    files.put("m.index", table + footer + magic.out);
    CHECK(test_hostile_files::is_refused(files.contents("m.index").size(), [&] {
              CHECK_THROWS_WITH(read_tensor_bundle("m", files), contains("m.index") && contains("16 times"));
          }) == false);
}
