// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cereal/cereal.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>

#include <rill/core/dims.hpp>
#include <rill/core/error.hpp>

// Binary archives for cereal that may read untrusted bytes. cereal's own archives trust the sizes they read: nine bytes can ask for a
// gigabyte. The archives here check each size against the bytes left before they allocate. Numbers are little-endian, as on the
// machine; sizes take 8 bytes.

namespace rill { inline namespace RILL_ABI { namespace detail {

class bounded_output : public cereal::OutputArchive<bounded_output, cereal::AllowEmptyClassElision> {
public:
    bounded_output() : OutputArchive(this) {}

    void saveBinary(const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }

    std::string bytes;
};

/// An archive that reads from memory. Throws data_loss if too few bytes are left, or if all lists together exceed the element budget.
class bounded_input : public cereal::InputArchive<bounded_input, cereal::AllowEmptyClassElision> {
public:
    explicit bounded_input(std::string_view bytes, std::uint64_t elements = std::uint64_t(1) << 32)
        : InputArchive(this), rest_(bytes), elements_(elements) {}

    std::size_t left() const { return rest_.size(); }

    void loadBinary(void* data, std::size_t size) {
        if (size > rest_.size()) refuse(size);
        if (size > 0) std::memcpy(data, rest_.data(), size);
        rest_.remove_prefix(size);
    }

    /// Throws data_loss unless `size` elements of `least` bytes or more can follow.
    void check_size(std::uint64_t size, std::size_t least) const {
        if (size > rest_.size() / least) refuse(size);
    }
    /// Reads the size of a list and deducts it from the element budget.
    std::uint64_t list_size(std::size_t least) {
        std::uint64_t size = 0;
        loadBinary(&size, sizeof size);
        check_size(size, least);
        if (size > elements_) throw data_loss("more elements than may be read");
        elements_ -= size;
        return size;
    }

private:
    [[noreturn]] void refuse(std::uint64_t size) const {
        throw data_loss("a size of " + std::to_string(size) + " where " + std::to_string(rest_.size()) +
                        " bytes are left");
    }

    std::string_view rest_;
    std::uint64_t elements_;
};

// Functions that cereal requires of an archive, under its own names.

template <class T>
    requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(bounded_output& to, const T& value) {
    to.saveBinary(&value, sizeof value);
}
template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
void CEREAL_LOAD_FUNCTION_NAME(bounded_input& from, T& value) {
    from.loadBinary(&value, sizeof value);
}
template <class T> void CEREAL_SERIALIZE_FUNCTION_NAME(bounded_output& to, cereal::NameValuePair<T>& v) { to(v.value); }
template <class T> void CEREAL_SERIALIZE_FUNCTION_NAME(bounded_input& from, cereal::NameValuePair<T>& v) {
    from(v.value);
}
template <class T> void CEREAL_SERIALIZE_FUNCTION_NAME(bounded_output& to, cereal::SizeTag<T>& s) {
    const auto size = static_cast<std::uint64_t>(s.size);
    to.saveBinary(&size, sizeof size);
}
/// Reads the size of a text; an element takes at least one byte.
template <class T> void CEREAL_SERIALIZE_FUNCTION_NAME(bounded_input& from, cereal::SizeTag<T>& s) {
    std::uint64_t size = 0;
    from.loadBinary(&size, sizeof size);
    from.check_size(size, 1);
    s.size = static_cast<std::remove_reference_t<T>>(size);
}
template <class T> void CEREAL_SAVE_FUNCTION_NAME(bounded_output& to, const cereal::BinaryData<T>& data) {
    to.saveBinary(data.data, static_cast<std::size_t>(data.size));
}
template <class T> void CEREAL_LOAD_FUNCTION_NAME(bounded_input& from, cereal::BinaryData<T>& data) {
    from.loadBinary(data.data, static_cast<std::size_t>(data.size));
}

/// A list whose elements take `Least` bytes or more. Reading allocates as the elements come.
template <std::size_t Least, class T> struct bounded_list {
    std::vector<T>& all;
};
template <std::size_t Least, class T> bounded_list<Least, T> list_of(const std::vector<T>& all) {
    return {const_cast<std::vector<T>&>(all)};
}
template <std::size_t Least, class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(bounded_output& to, bounded_list<Least, T>& list) {
    const std::uint64_t size = list.all.size();
    to.saveBinary(&size, sizeof size);
    for (auto& each : list.all) to(each);
}
template <std::size_t Least, class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(bounded_input& from, bounded_list<Least, T>& list) {
    list.all.clear();
    for (auto left = from.list_size(Least); left > 0; --left) from(list.all.emplace_back());
}

inline void CEREAL_SAVE_FUNCTION_NAME(bounded_output& to, const tensor_type& t) {
    to(static_cast<std::uint8_t>(t.type), static_cast<std::int8_t>(t.shape.rank));
    for (int i = 0; i < t.shape.rank; ++i) to(t.shape[i]);
}
inline void CEREAL_LOAD_FUNCTION_NAME(bounded_input& from, tensor_type& t) {
    std::uint8_t type = 0;
    std::int8_t rank = 0;
    from(type, rank);
    if (type >= dtype_count) throw data_loss("no dtype has the number " + std::to_string(type));
    if (rank < -1 || rank > max_rank) throw data_loss("a rank of " + std::to_string(rank));
    t = {static_cast<dtype>(type), {}};
    t.shape.rank = rank;
    for (int i = 0; i < rank; ++i) {
        from(t.shape[i]);
        if (t.shape[i] < dyn) throw data_loss("a negative extent");
    }
}

}}} // namespace rill::RILL_ABI::detail

CEREAL_SETUP_ARCHIVE_TRAITS(rill::detail::bounded_input, rill::detail::bounded_output)
