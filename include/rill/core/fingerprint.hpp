// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The computation of FarmHash's 64-bit fingerprint, which TensorFlow's hash buckets use. The value is the same on every
/// platform and in every version.
class fingerprint {
public:
    static constexpr std::uint64_t of(std::string_view bytes) { return fingerprint(bytes).value(); }

private:
    struct pair {
        std::uint64_t first = 0, second = 0;
    };
    static constexpr std::uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

    constexpr explicit fingerprint(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}

    constexpr std::uint64_t value() const {
        if (size_ <= 16) return short_value();
        if (size_ <= 32) return value_to_32();
        return size_ <= 64 ? value_to_64() : long_value();
    }

    constexpr std::uint64_t byte(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
    /// Reads `width` bytes at a position in little-endian order.
    constexpr std::uint64_t read(std::size_t at, int width = 8) const {
        std::uint64_t v = 0;
        for (int i = width; i-- > 0;) v = v << 8 | byte(at + static_cast<std::size_t>(i));
        return v;
    }
    static constexpr std::uint64_t turn(std::uint64_t v, int bits) { return std::rotr(v, bits); }
    static constexpr std::uint64_t fold(std::uint64_t v) { return v ^ (v >> 47); }
    static constexpr std::uint64_t join(std::uint64_t u, std::uint64_t v, std::uint64_t by) {
        return fold((v ^ fold((u ^ v) * by)) * by) * by;
    }

    constexpr std::uint64_t short_value() const {
        const std::uint64_t by = k2 + size_ * 2;
        if (size_ >= 8) {
            const auto a = read(0) + k2, b = read(size_ - 8);
            return join(turn(b, 37) * by + a, (turn(a, 25) + b) * by, by);
        }
        if (size_ >= 4) return join(size_ + (read(0, 4) << 3), read(size_ - 4, 4), by);
        if (size_ == 0) return k2;
        const auto y = byte(0) + (byte(size_ / 2) << 8), z = size_ + (byte(size_ - 1) << 2);
        return fold((y * k2) ^ (z * k0)) * k2;
    }
    constexpr std::uint64_t value_to_32() const {
        const std::uint64_t by = k2 + size_ * 2;
        const auto a = read(0) * k1, b = read(8), c = read(size_ - 8) * by, d = read(size_ - 16) * k2;
        return join(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + k2, 18) + c, by);
    }
    constexpr std::uint64_t value_to_64() const {
        const std::uint64_t by = k2 + size_ * 2;
        const auto a = read(0) * k2, b = read(8), c = read(size_ - 8) * by, d = read(size_ - 16) * k2;
        const auto y = turn(a + b, 43) + turn(c, 30) + d, z = join(y, a + turn(b + k2, 18) + c, by);
        const auto e = read(16) * by, f = read(24), g = (y + read(size_ - 32)) * by, h = (z + read(size_ - 24)) * by;
        return join(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, by);
    }
    /// Mixes the 32 bytes at a position into two numbers.
    constexpr pair mixed(std::size_t at, std::uint64_t a, std::uint64_t b) const {
        a += read(at);
        b = turn(b + a + read(at + 24), 21);
        const auto c = a;
        a += read(at + 8) + read(at + 16);
        return {a + read(at + 24), b + turn(a, 44) + c};
    }
    constexpr std::uint64_t long_value() const {
        constexpr std::uint64_t seed = 81;
        std::uint64_t x = seed * k2 + read(0), y = seed * k1 + 113, z = fold(y * k2 + 113) * k2;
        pair v, w;
        const std::size_t tail = (size_ - 1) % 64;
        for (std::size_t at = 0; at + 64 < size_; at += 64) {
            x = turn(x + y + v.first + read(at + 8), 37) * k1 ^ w.second;
            y = turn(y + v.second + read(at + 48), 42) * k1 + v.first + read(at + 40);
            z = turn(z + w.first, 33) * k1;
            v = mixed(at, v.second * k1, x + w.first);
            w = mixed(at + 32, z + w.second, y + read(at + 16));
            std::swap(z, x);
        }
        const std::uint64_t by = k1 + ((z & 0xff) << 1);
        const std::size_t at = size_ - 64;
        w.first += tail;
        v.first += w.first;
        w.first += v.first;
        x = turn(x + y + v.first + read(at + 8), 37) * by ^ w.second * 9;
        y = turn(y + v.second + read(at + 48), 42) * by + v.first * 9 + read(at + 40);
        z = turn(z + w.first, 33) * by;
        v = mixed(at, v.second * by, x + w.first);
        w = mixed(at + 32, z + w.second, y + read(at + 16));
        std::swap(z, x);
        return join(join(v.first, w.first, by) + fold(y) * k0 + z, join(v.second, w.second, by) + x, by);
    }

    std::string_view bytes_;
    std::uint64_t size_;
};

}}} // namespace rill::RILL_ABI::detail
