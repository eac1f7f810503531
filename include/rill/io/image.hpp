// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if libpng, or libturbojpeg, can be loaded. The first call looks for it. Neither its header nor linking is needed.
bool has_libpng();
bool has_turbojpeg();

/// The kinds of image files.
enum class image_kind { unknown, png, jpeg };
/// Returns the kind of an image file, judged by its first bytes.
image_kind image_kind_of(std::string_view bytes);

/// Decodes an image as uint8 [height, width, channels]. `channels`: 1 (grey), 2 (grey, alpha), 3 (RGB), 4 (RGBA), or 0 for those of the
/// file; a JPEG file has 1 or 3. Throws unimplemented without the library, data_loss for damaged bytes, and invalid_argument for a file of
/// another kind.
any_array decode_image(std::string_view bytes, int channels);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/image.ipp>
#endif
