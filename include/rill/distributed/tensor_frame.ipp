// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/tensor_frame.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <rill/distributed/wire_header.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the lengths of all texts, 4 bytes each, and then the texts.
inline std::string bytes_of_texts(const any_array& a) {
    std::string bytes;
    for (const auto& s : a.elements<std::string>()) {
        if (s.size() > 0xffffffffu) throw resource_exhausted("a text of 4 GiB or more can't be sent");
        const auto size = static_cast<std::uint32_t>(s.size());
        bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    for (const auto& s : a.elements<std::string>()) bytes += s;
    return bytes;
}

/// Returns the elements of a value as bytes; numeric elements are not copied.
inline message_part part_of(const any_array& a) {
    if (a.dtype() == dtype::string) return message_part(bytes_of_texts(a));
    const auto kept = std::make_shared<const any_array>(a.is_borrowed() || a.space() ? owned_copy(a) : a);
    return {kept->data(), kept->type().bytes(), kept};
}

RILL_COLD std::vector<tensor_meta> encode_tensors(std::span<const any_array> values,
                                                  std::vector<message_part>& payload) {
    constexpr std::size_t small = 4096, alignment = 64;
    std::vector<tensor_meta> metas;
    std::string shared;
    const std::size_t limit = wire_header::most_parts - 2 - payload.size(); // for the shared part and long arguments
    std::vector<message_part> own;
    for (const auto& v : values) {
        if (v.empty()) { // a target of a run by name has no value
            metas.push_back({});
            continue;
        }
        if (!v.type().countable())
            throw unimplemented("a value " + to_string(v.type()) + " can't be sent to another task");
        auto bytes = part_of(v);
        auto& m = metas.emplace_back(tensor_meta{v.type(), 0, 0, bytes.size()});
        if (bytes.size() <= small || own.size() == limit) {
            shared.resize((shared.size() + alignment - 1) / alignment * alignment);
            m.offset = shared.size();
            shared += bytes.bytes();
        } else {
            own.push_back(std::move(bytes));
            m.part = static_cast<std::uint32_t>(own.size()); // the shared part comes first
        }
    }
    const auto first = static_cast<std::uint32_t>(payload.size());
    for (auto& m : metas) m.part += first;
    payload.emplace_back(std::move(shared));
    for (auto& p : own) payload.push_back(std::move(p));
    return metas;
}

RILL_COLD tensor_meta encode_tensor(const any_array& value, std::vector<message_part>& payload) {
    return encode_tensors({&value, 1}, payload)[0];
}

inline any_array texts_of(const tensor_meta& meta, std::string_view bytes) {
    const auto count = static_cast<std::size_t>(meta.type.shape.size());
    if (count > bytes.size() / 4) throw data_loss("a value is shorter than its type " + to_string(meta.type));
    auto rest = bytes.substr(4 * count);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data() + 4 * i, 4);
        sum += size;
    }
    if (sum != rest.size()) throw data_loss("the texts of a value have another length than they say");
    any_array a(dtype::string, meta.type.shape);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data() + 4 * i, 4);
        static_cast<std::string*>(a.mutable_data())[i] = rest.substr(0, size);
        rest.remove_prefix(size);
    }
    return a;
}

RILL_COLD any_array decode_tensor(const tensor_meta& meta, std::span<const message_part> payload) {
    const auto& type = meta.type;
    if (type.type == dtype::invalid) return {};
    if (static_cast<std::size_t>(type.type) >= dtype_count) throw data_loss("a value of no known dtype");
    if (meta.part >= payload.size()) throw data_loss("a value lies in a part that the message does not have");
    const auto& part = payload[meta.part];
    if (meta.offset > part.size() || meta.bytes > part.size() - meta.offset)
        throw data_loss("a value lies outside its part of the message");
    if (!type.countable()) throw data_loss("a value of type " + to_string(type));
    const auto bytes = part.bytes().substr(static_cast<std::size_t>(meta.offset), static_cast<std::size_t>(meta.bytes));
    if (type.type == dtype::string) return texts_of(meta, bytes);
    if (bytes.size() != type.bytes())
        throw data_loss("a value of " + to_string(type) + " has " + std::to_string(bytes.size()) + " bytes");
    if (type.type == dtype::boolean)
        for (const char b : bytes)
            if (static_cast<unsigned char>(b) > 1) throw data_loss("a bool is neither 0 nor 1");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(double) == 0)
        return {type.type, type.shape, bytes.data(), part.owner()};
    any_array copied(type.type, type.shape); // a misaligned offset, which rill's senders do not choose
    if (!bytes.empty()) std::memcpy(copied.mutable_data(), bytes.data(), bytes.size());
    return copied;
}

RILL_COLD std::vector<any_array> decode_tensors(std::span<const tensor_meta> metas,
                                                std::span<const message_part> payload) {
    std::vector<any_array> values;
    for (const auto& m : metas) values.push_back(decode_tensor(m, payload));
    return values;
}

RILL_COLD wire_answer answer_with(std::span<const any_array> values, const step_trace* trace,
                                  std::chrono::nanoseconds lasted) {
    wire_answer a;
    if (trace) a.payload.emplace_back(bytes_of_meta(trace_meta{trace->entries}));
    a.meta = bytes_of_meta(values_meta{lasted.count(), encode_tensors(values, a.payload)});
    return a;
}

}}} // namespace rill::RILL_ABI::detail
