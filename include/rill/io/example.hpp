// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/error.hpp>

// tf.train.Example: features by name, in the format of protocol buffers.

namespace rill { inline namespace RILL_ABI {

/// The value of a feature: a list of one of three kinds. An empty list has no kind.
struct example_feature {
    std::vector<std::string> texts = {};
    std::vector<float> floats = {};
    std::vector<std::int64_t> numbers = {};
};
using example_features = std::map<std::string, example_feature>;

/// Parses a serialized Example. Throws data_loss for malformed bytes, with the feature and the offset in it. If a name occurs several
/// times, the last feature counts.
example_features parse_example_bytes(std::string_view bytes);
/// Returns the bytes of an Example in TensorFlow's format. Throws invalid_argument for a feature with values of several kinds.
std::string example_bytes(const example_features& features);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/example.ipp>
#endif
