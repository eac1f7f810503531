// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include <rill/core/small_vector.hpp>
#include <rill/device/thrust/launch.hpp>
#include <rill/device/thrust/program_source.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

using program_argument_words = small_vector<std::uint64_t, 32>;

/// Returns the arguments of a program's kernel as the text reads them. B is the back end, which knows the device's addresses.
template <class B>
program_argument_words program_arguments(const program_source& source, const elementwise_launch& args) {
    program_argument_words words;
    words.resize(static_cast<std::size_t>(source.words()));
    const auto address = [](const void* at) {
        return std::bit_cast<std::uint64_t>(B::at(static_cast<const std::byte*>(at)));
    };
    const auto& places = source.places();
    const std::size_t leaves = source.leaves(), scalars = source.forms().size() - leaves;
    bool walks = false;
    for (std::size_t k = 0; k < leaves; ++k) {
        const launch_operand& leaf = args.leaf[k];
        auto* const at = words.data() + places[k];
        switch (source.forms()[k]) {
        case leaf_form::number: std::memcpy(at, leaf.value.data(), source.bytes(k)); break;
        case leaf_form::single:
        case leaf_form::dense: *at = address(leaf.at); break;
        case leaf_form::strided:
            walks = true;
            *at = address(leaf.at);
            for (int d = 0; d < source.rank(); ++d)
                at[1 + d] = static_cast<std::uint64_t>(leaf.stride[static_cast<std::size_t>(d)]);
            break;
        }
    }
    for (std::size_t k = 0; k < scalars; ++k)
        std::memcpy(words.data() + places[leaves + k], args.scalar[k].bytes.data(), source.bytes(leaves + k));
    for (std::size_t r = leaves + scalars; r < places.size(); ++r)
        words[static_cast<std::size_t>(places[r])] = address(args.result[r - leaves - scalars]);
    if (walks)
        for (int d = 0; d < source.rank(); ++d)
            words[static_cast<std::size_t>(d)] =
                static_cast<std::uint64_t>(args.space.extent[static_cast<std::size_t>(d)]);
    return words;
}

}}} // namespace rill::RILL_ABI::detail
