// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/zlib.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <rill/core/error.hpp>
#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// zlib's z_stream, in the layout of its stable ABI.
struct zlib_state {
    const unsigned char* next_in = nullptr;
    unsigned available_in = 0;
    unsigned long total_in = 0;
    unsigned char* next_out = nullptr;
    unsigned available_out = 0;
    unsigned long total_out = 0;
    const char* message = nullptr;
    void* state = nullptr;
    void* (*allocate)(void*, unsigned, unsigned) = nullptr;
    void (*release)(void*, void*) = nullptr;
    void* opaque = nullptr;
    int data_type = 0;
    unsigned long adler = 0, reserved = 0;
};

struct zlib_functions {
    int (*inflate_init)(zlib_state*, int bits, const char* version, int size) = nullptr;
    int (*inflate)(zlib_state*, int flush) = nullptr;
    int (*inflate_reset)(zlib_state*) = nullptr;
    int (*inflate_end)(zlib_state*) = nullptr;
    int (*compress)(unsigned char*, unsigned long*, const unsigned char*, unsigned long, int level) = nullptr;
    unsigned long (*bound)(unsigned long) = nullptr;

    bool complete() const { return inflate_init && inflate && inflate_reset && inflate_end && compress && bound; }

    static zlib_functions find() {
        zlib_functions f;
        for (const char* file : {"libz.so.1", "libz.1.dylib"})
            if (void* library = load_library(file); library && !f.complete()) {
                f.inflate_init = reinterpret_cast<decltype(f.inflate_init)>(library_function(library, "inflateInit2_"));
                f.inflate = reinterpret_cast<decltype(f.inflate)>(library_function(library, "inflate"));
                f.inflate_reset =
                    reinterpret_cast<decltype(f.inflate_reset)>(library_function(library, "inflateReset"));
                f.inflate_end = reinterpret_cast<decltype(f.inflate_end)>(library_function(library, "inflateEnd"));
                f.compress = reinterpret_cast<decltype(f.compress)>(library_function(library, "compress2"));
                f.bound = reinterpret_cast<decltype(f.bound)>(library_function(library, "compressBound"));
            }
        return f;
    }
    static const zlib_functions& of_process() {
        static const zlib_functions all = find();
        return all;
    }
};

RILL_COLD bool has_zlib() { return zlib_functions::of_process().complete(); }

RILL_COLD std::string inflated(std::string_view stream, std::uint64_t size) {
    if (!has_zlib()) throw unimplemented("it is compressed, and zlib was not found");
    const auto& zlib = zlib_functions::of_process();
    constexpr std::uint64_t most_ratio = 1040; // deflate can't compress more, so that a higher ratio is rejected
    if (stream.size() > 0xffffffffu || size > 0xffffffffu || size > (stream.size() + 16) * most_ratio)
        throw data_loss(std::to_string(stream.size()) + " compressed bytes can't hold " + std::to_string(size));
    std::string out(static_cast<std::size_t>(size) + 1, '\0'); // one more, to detect a longer stream
    zlib_state state;
    state.next_in = reinterpret_cast<const unsigned char*>(stream.data());
    state.available_in = static_cast<unsigned>(stream.size());
    state.next_out = reinterpret_cast<unsigned char*>(out.data());
    state.available_out = static_cast<unsigned>(out.size() > 0xffffffffu ? 0xffffffffu : out.size());
    if (zlib.inflate_init(&state, -15, "1", static_cast<int>(sizeof state)) != 0) throw internal("zlib can't begin");
    constexpr int finish = 4, stream_end = 1;
    const int status = zlib.inflate(&state, finish);
    zlib.inflate_end(&state);
    if (status != stream_end || state.total_out != size || state.available_in != 0)
        throw data_loss("its compressed bytes are damaged");
    out.pop_back();
    return out;
}

RILL_COLD std::string zlib_stream(std::string_view bytes) {
    if (has_zlib() && bytes.size() < 0x7fffffff) {
        const auto& zlib = zlib_functions::of_process();
        std::string out(zlib.bound(static_cast<unsigned long>(bytes.size())), '\0');
        unsigned long length = static_cast<unsigned long>(out.size());
        constexpr int fast = 1;
        if (zlib.compress(reinterpret_cast<unsigned char*>(out.data()), &length,
                          reinterpret_cast<const unsigned char*>(bytes.data()),
                          static_cast<unsigned long>(bytes.size()), fast) == 0) {
            out.resize(length);
            return out;
        }
    }
    std::string out("\x78\x01", 2);
    std::string_view rest = bytes;
    do {
        const auto block = rest.substr(0, 65535);
        rest.remove_prefix(block.size());
        const auto n = static_cast<unsigned>(block.size());
        for (const unsigned byte : {rest.empty() ? 1u : 0u, n & 255, n >> 8, ~n & 255, ~n >> 8 & 255})
            out.push_back(static_cast<char>(byte));
        out.append(block);
    } while (!rest.empty());
    std::uint32_t a = 1, b = 0; // Adler-32
    for (const char c : bytes) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    for (const std::uint32_t byte : {b >> 8, b, a >> 8, a}) out.push_back(static_cast<char>(byte & 255));
    return out;
}

RILL_COLD std::string gzip_stream(std::string_view bytes) {
    const std::string zlib = zlib_stream(bytes); // a header of 2 bytes, the deflate stream, a checksum of 4 bytes
    std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    out.append(zlib, 2, zlib.size() - 6);
    for (const auto number : {crc32(bytes), static_cast<std::uint32_t>(bytes.size())})
        for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(number >> shift & 255));
    return out;
}

struct gzip_reader::state {
    std::function<void(std::string&)> fill;
    std::string block = {};
    zlib_state zlib = {};
    bool in_member = false, is_over = false;
};

RILL_COLD gzip_reader::gzip_reader(std::function<void(std::string&)> fill, bool is_gzip)
    : state_(std::make_unique<state>(state{std::move(fill)})) {
    if (!has_zlib()) throw unimplemented("it is compressed, and zlib was not found");
    constexpr int zlib_window = 15, gzip_window = zlib_window + 16;
    if (zlib_functions::of_process().inflate_init(&state_->zlib, is_gzip ? gzip_window : zlib_window, "1",
                                                  static_cast<int>(sizeof(zlib_state))) != 0)
        throw internal("zlib can't begin");
}

RILL_COLD gzip_reader::~gzip_reader() { zlib_functions::of_process().inflate_end(&state_->zlib); }

RILL_INLINE std::size_t gzip_reader::read(char* to, std::size_t bytes) {
    auto& s = *state_;
    const auto& zlib = zlib_functions::of_process();
    const auto wanted = static_cast<unsigned>(std::min<std::size_t>(bytes, 1u << 30));
    s.zlib.next_out = reinterpret_cast<unsigned char*>(to);
    s.zlib.available_out = wanted;
    while (!s.is_over && s.zlib.available_out == wanted && wanted > 0) {
        if (s.zlib.available_in == 0) {
            s.block.clear();
            s.fill(s.block);
            if (s.block.empty()) {
                if (s.in_member) throw data_loss("its compressed bytes are cut off");
                s.is_over = true;
                break;
            }
            s.zlib.next_in = reinterpret_cast<const unsigned char*>(s.block.data());
            s.zlib.available_in = static_cast<unsigned>(s.block.size());
        }
        s.in_member = true;
        constexpr int ok = 0, stream_end = 1, buffer_error = -5;
        const int status = zlib.inflate(&s.zlib, 0);
        if (status != ok && status != stream_end && status != buffer_error)
            throw data_loss("its compressed bytes are damaged");
        if (status == stream_end) { // another member may follow
            s.in_member = false;
            zlib.inflate_reset(&s.zlib);
        }
    }
    return wanted - s.zlib.available_out;
}

RILL_COLD std::string decompressed(std::string_view stream, bool is_gzip, std::uint64_t most) {
    constexpr std::size_t longest_block = 1 << 30; // zlib counts in 32 bits
    gzip_reader from(
        [&](std::string& block) {
            block = stream.substr(0, longest_block);
            stream.remove_prefix(block.size());
        },
        is_gzip);
    std::string all;
    std::size_t used = 0; // `all` grows in steps: the stream may arrive byte by byte
    for (std::size_t room = 1 << 14;; room = std::min<std::size_t>(room * 2, 1 << 24)) {
        all.resize(used + room);
        while (used < all.size()) {
            const auto n = from.read(all.data() + used, all.size() - used);
            if (n == 0) {
                all.resize(used);
                return all;
            }
            used += n;
            if (used > most) throw data_loss("it has more than " + std::to_string(most) + " bytes");
        }
    }
}

RILL_COLD std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
    static constexpr auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            made[byte] = byte;
            for (int bit = 0; bit < 8; ++bit) made[byte] = made[byte] >> 1 ^ (made[byte] & 1 ? 0xedb88320u : 0);
        }
        return made;
    }();
    std::uint32_t v = ~before;
    for (const char c : bytes) v = v >> 8 ^ table[(v ^ static_cast<unsigned char>(c)) & 255];
    return ~v;
}

}}} // namespace rill::RILL_ABI::detail
