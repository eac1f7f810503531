// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/program.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A writer of field values as little-endian bytes. field_bytes.hpp declares the reading side.
class byte_writer {
public:
    template <class T> void number(T v) {
        static_assert(std::is_arithmetic_v<T>);
        out.append(reinterpret_cast<const char*>(&v), sizeof v);
    }
    void text(std::string_view s) {
        number(static_cast<std::uint32_t>(s.size()));
        out.append(s);
    }

    void put(bool v) { number(static_cast<std::uint8_t>(v)); }
    void put(std::int32_t v) { number(v); }
    void put(std::int64_t v) { number(v); }
    void put(std::uint64_t v) { number(v); }
    void put(double v) { number(v); }
    void put(dtype v) { number(static_cast<std::uint8_t>(v)); }
    void put(const std::string& v) { text(v); }
    void put(const dims& v) {
        number(static_cast<std::int8_t>(v.rank));
        for (int i = 0; i < v.rank; ++i) number(v[i]);
    }
    void put(const axis_list& v) {
        number(v.count);
        for (int i = 0; i < v.count; ++i) number(static_cast<std::int8_t>(v[i]));
    }
    void put(const any_array& v) {
        put(v.dtype());
        put(v.shape());
        if (v.empty()) return;
        if (v.dtype() == dtype::string) {
            for (const auto& s : v.elements<std::string>()) text(s);
        } else if (v.size() > 0) {
            out.append(static_cast<const char*>(v.data()), static_cast<std::size_t>(v.size()) * size_of(v.dtype()));
        }
    }
    void put(const reduction& r) {
        number(static_cast<std::uint8_t>(r.how));
        put(r.axes);
        put(r.keep_dims);
    }
    void put(const program& p, std::string_view adjoint_of) {
        const auto types = [&](const std::vector<dtype>& all) {
            number(static_cast<std::uint32_t>(all.size()));
            for (const auto d : all) put(d);
        };
        types(p.leaves);
        types(p.scalars);
        number(static_cast<std::uint32_t>(p.code.size()));
        for (const auto& i : p.code) {
            text(i.op->name);
            number(static_cast<std::int32_t>(i.op->version));
            put(i.type);
            numbers(i.args);
        }
        numbers(p.results);
        text(p.key);
        text(adjoint_of);
    }
    void put(const fused_spec& s) {
        put(s.body != nullptr);
        if (!s.body) return;
        put(*s.body, s.is_adjoint() ? std::string_view(s.body->adjoint_of) : std::string_view());
        number(static_cast<std::uint8_t>(s.kind));
        number(static_cast<std::uint32_t>(s.leaves.size()));
        for (const auto& l : s.leaves) {
            number(static_cast<std::int32_t>(l.input));
            put(l.view);
        }
        number(static_cast<std::uint32_t>(s.results.size()));
        for (const auto& r : s.results) {
            put(r.reduce);
            number(static_cast<std::int32_t>(r.like));
            number(r.mask);
        }
        number(static_cast<std::uint32_t>(s.scalars.size()));
        for (const auto& v : s.scalars) {
            put(v.type);
            out.append(reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size());
        }
    }

    std::string out;

private:
    void numbers(const std::vector<int>& all) {
        number(static_cast<std::uint32_t>(all.size()));
        for (const int v : all) number(static_cast<std::int32_t>(v));
    }
};

}}} // namespace rill::RILL_ABI::detail
