// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/op/op.hpp>

#include <bit>
#include <cstddef>
#include <type_traits>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE op_ptr shared(const op* made) {
    return op_ptr(made, [](const op* gone) { gone->row_.destroy(gone); });
}

/// Throws invalid_argument unless the first input can be the handle of a resource.
RILL_COLD void check_handle(std::span<const tensor_type> inputs) {
    const bool fits = !inputs.empty() && inputs[0].type == dtype::int64 &&
                      (!inputs[0].shape.known_rank() || inputs[0].shape.rank == 0);
    if (!fits)
        throw invalid_argument("the handle of a resource is expected first, an int64 of rank 0" +
                               (inputs.empty() ? std::string() : ", not " + to_string(inputs[0])));
}

RILL_COLD void check_count(input_bounds b, std::size_t given) {
    const auto count = static_cast<int>(given);
    if (count >= b.least && count <= b.most) return;
    throw invalid_argument("takes " + std::string(b.most > b.least ? "at least " : "") + std::to_string(b.least) +
                           (b.least == 1 ? " input, not " : " inputs, not ") + std::to_string(given));
}

class field_hash final : public uniform_visitor<field_hash> {
public:
    explicit field_hash(std::uint64_t seed) : value(seed) {}

    template <class T> void visit(const char*, const T& v) {
        if constexpr (std::is_same_v<T, std::string>) {
            add(hash_bytes(v));
        } else if constexpr (std::is_same_v<T, double>) {
            add(std::bit_cast<std::uint64_t>(v));
        } else if constexpr (std::is_base_of_v<dims, T>) {
            add(static_cast<std::uint64_t>(v.rank));
            for (const auto e : v.extent) add(static_cast<std::uint64_t>(e));
        } else if constexpr (std::is_same_v<T, axis_list>) {
            for (int i = 0; i < v.count; ++i) add(static_cast<std::uint64_t>(v[i]));
        } else if constexpr (std::is_same_v<T, any_array> || std::is_same_v<T, fused_spec>) {
            add(hash_of(v));
        } else {
            add(static_cast<std::uint64_t>(v));
        }
    }

    std::uint64_t value;

private:
    void add(std::uint64_t v) { value = hash_combine(value, v); }
};

/// A visitor that records where the fields of an op are.
class field_places final : public uniform_visitor<field_places> {
public:
    struct place {
        const void* at;
        std::int32_t number; // the value of an int32: it may be a temporary, such as the length of a list
    };
    template <class T> void visit(const char*, T& v) {
        if constexpr (std::is_same_v<T, std::int32_t>)
            all.push_back({nullptr, v});
        else
            all.push_back({&v, 0});
    }
    small_vector<place, 8> all;
};

/// A visitor that compares fields with those of another op of the same struct.
class field_comparison final : public uniform_visitor<field_comparison> {
public:
    explicit field_comparison(const field_places& other) : other_(other) {}

    template <class T> void visit(const char*, const T& v) {
        if (!equal) return;
        const auto& place = other_.all[next_++];
        const T& w = *static_cast<const T*>(std::is_same_v<T, std::int32_t> ? &place.number : place.at);
        if constexpr (std::is_same_v<T, any_array>)
            equal = same_array(v, w);
        else if constexpr (std::is_same_v<T, double>) // by bits: NaN equals itself, 0 and -0 differ
            equal = std::bit_cast<std::uint64_t>(v) == std::bit_cast<std::uint64_t>(w);
        else
            equal = v == w;
    }
    bool equal = true;

private:
    const field_places& other_;
    std::size_t next_ = 0;
};

} // namespace detail

RILL_COLD std::string op::label() const {
    if (row_.made_label) return row_.made_label(self_);
    return row_.label ? row_.label : detail::snake_case(row_.name);
}

RILL_COLD std::vector<tensor_type> op::outputs(const known_inputs& in) const {
    detail::check_count(row_.inputs, in.types.size());
    if (row_.takes_handle) detail::check_handle(in.types);
    if (row_.outputs) return row_.outputs(self_, in);
    const auto& first = in.types[0];
    if (row_.shape_of_two && first.type != in.types[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(first) + " and " + to_string(in.types[1]));
    const auto made = row_.shape_of_two ? row_.shape_of_two(self_, first.shape, in.types[1].shape)
                                        : row_.shape_of_one(self_, first.shape);
    if (!made.ok()) throw invalid_argument(made.reason());
    return {{first.type, made.shape}};
}

RILL_INLINE std::vector<endpoint> op::gradient(const gradient_request& request) const {
    return row_.gradient ? row_.gradient(self_, request) : std::vector<endpoint>{};
}

RILL_INLINE dtype op::kernel_type(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
    if (row_.kernel_type) return row_.kernel_type(self_, in, out);
    if (row_.untyped || (in.empty() && out.empty())) return dtype::invalid;
    return in.empty() ? out[0].type : in[0].type;
}

RILL_INLINE input_list op::writes() const {
    if (row_.writes) return row_.writes(self_);
    return row_.regions ? regions()->writes() : input_list{};
}

RILL_COLD op_cost op::cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
    if (row_.cost) return row_.cost(self_, in, out);
    double bytes = detail::total_bytes(in) + detail::total_bytes(out);
    for (const int i : shape_only_inputs(in.size()))
        if (i < static_cast<int>(in.size())) bytes -= static_cast<double>(in[static_cast<std::size_t>(i)].bytes());
    return {0, bytes};
}

RILL_INLINE any_array op::known(std::span<const tensor_type> in) const {
    return row_.known ? row_.known(self_, in) : any_array{};
}

RILL_INLINE std::uint64_t op::hash() const {
    detail::field_hash h(detail::hash_bytes(kernel_name()));
    fields(h);
    return h.value;
}

RILL_INLINE bool op::equals(const op& other) const {
    if (other.struct_name() != struct_name()) return false;
    detail::field_places places;
    other.fields(places);
    detail::field_comparison comparison(places);
    fields(comparison);
    return comparison.equal;
}

}} // namespace rill::RILL_ABI
