// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a record of a TFRecord file: the payload's length and its checksum, the payload and its checksum.
std::string tf_record(std::string_view payload);

/// Returns the payloads of a TFRecord file's bytes. Throws data_loss, with the offset, for wrong checksums and a record that is cut off.
std::vector<std::string_view> tf_records(std::string_view bytes);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/tf_record.ipp>
#endif
