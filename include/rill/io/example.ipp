// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/example.hpp>

#include <bit>

#include <rill/core/number_text.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Reads the elements of a list from its field 1, `value`. Numbers may be packed into one field.
inline void read_feature_list(std::string_view list, int kind, example_feature& to) {
    for (wire_reader from(list); !from.empty();) {
        const auto f = from.next_field();
        if (f.number != 1) continue;
        if (kind == 1 && f.wire_type == 2) {
            to.texts.emplace_back(f.bytes);
        } else if (kind == 2 && f.wire_type == 5) {
            to.floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(f.value)));
        } else if (kind == 2 && f.wire_type == 2) {
            for (wire_reader packed(f.bytes); !packed.empty();) to.floats.push_back(packed.fixed<float>());
        } else if (kind == 3 && f.wire_type == 0) {
            to.numbers.push_back(static_cast<std::int64_t>(f.value));
        } else if (kind == 3 && f.wire_type == 2) {
            for (wire_reader packed(f.bytes); !packed.empty();)
                to.numbers.push_back(static_cast<std::int64_t>(packed.varint()));
        } else {
            from.refuse("a feature has values of another kind");
        }
    }
}

inline example_feature read_feature(std::string_view bytes) {
    example_feature made;
    for (wire_reader from(bytes); !from.empty();) {
        const auto f = from.next_field();
        if (f.number < 1 || f.number > 3) continue;
        if (f.wire_type != 2) from.refuse("a feature is not a list");
        made = {}; // of a oneof, the last member counts
        read_feature_list(f.bytes, f.number, made);
    }
    return made;
}

} // namespace detail

RILL_INLINE example_features parse_example_bytes(std::string_view bytes) {
    using detail::wire_reader;
    example_features all;
    for (wire_reader example(bytes); !example.empty();) {
        const auto features = example.next_field();
        if (features.number != 1) continue;
        if (features.wire_type != 2) example.refuse("it is not an Example");
        for (wire_reader map(features.bytes); !map.empty();) {
            const auto entry = map.next_field();
            if (entry.number != 1) continue;
            if (entry.wire_type != 2) map.refuse("it is not an Example");
            std::string_view name, value;
            for (wire_reader pair(entry.bytes); !pair.empty();) {
                const auto f = pair.next_field();
                if ((f.number == 1 || f.number == 2) && f.wire_type != 2) pair.refuse("a feature has no name or value");
                if (f.number == 1) name = f.bytes;
                if (f.number == 2) value = f.bytes;
            }
            all[std::string(name)] =
                detail::with_prefix("feature " + detail::quoted(name), [&] { return detail::read_feature(value); });
        }
    }
    return all;
}

RILL_COLD std::string example_bytes(const example_features& features) {
    detail::wire_writer map;
    for (const auto& [name, feature] : features) {
        if (!feature.texts.empty() + !feature.floats.empty() + !feature.numbers.empty() > 1)
            throw invalid_argument("feature " + detail::quoted(name) +
                                   ": it has values of several kinds; accepted is one of texts, floats and numbers");
        detail::wire_writer list, value, entry;
        int kind = feature.texts.empty() ? 0 : 1;
        for (const auto& t : feature.texts) list.field(1, std::string_view(t));
        if (!feature.floats.empty()) {
            kind = 2;
            detail::wire_writer packed;
            for (const float x : feature.floats) packed.fixed(x);
            list.field(1, std::string_view(packed.out));
        } else if (!feature.numbers.empty()) {
            kind = 3;
            detail::wire_writer packed;
            for (const auto x : feature.numbers) packed.varint(static_cast<std::uint64_t>(x));
            list.field(1, std::string_view(packed.out));
        }
        if (kind > 0)
            value.field(kind,
                        std::string_view(list.out)); // TensorFlow treats a feature without a kind as missing
        entry.field(1, std::string_view(name));
        entry.field(2, std::string_view(value.out));
        map.field(1, std::string_view(entry.out));
    }
    detail::wire_writer example;
    example.field(1, std::string_view(map.out));
    return std::move(example.out);
}

}} // namespace rill::RILL_ABI
