// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/program.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// How a program reads a leaf or a scalar: a number among the arguments, the only element of an array, a dense array, or an array with
/// strides.
enum class leaf_form : std::uint8_t { number, single, dense, strided };

enum class source_language : std::uint8_t { cpp, cuda };

/// The source text of a program: one line for each instruction, which calls the value function of the op's own header. Extents, strides,
/// addresses and numbers are arguments, so programs that differ in these alone have one text.
class program_source {
public:
    /// Returns the text for leaves of these forms over a space of this rank. Returns nothing if an op is not one of the library's, whose
    /// headers the compiler of the text finds, or if the program is too long.
    static std::optional<program_source> of(const program& p, std::span<const leaf_form> leaves, int rank);

    /// Returns a whole file. In C++ it defines `extern "C" void rill_program(const program_element*, index_t n)`, in CUDA a kernel of this
    /// name with the arguments of `run_elements` (device/cuda/element_kernel.hpp).
    std::string text(source_language language) const;

    /// True if all leaves are dense. A thread then reads several elements at once.
    bool is_dense() const noexcept { return dense_; }
    /// The number of words of the arguments (program_element.hpp).
    int words() const noexcept { return words_; }
    /// The first words of the leaves, scalars and results.
    const std::vector<int>& places() const noexcept { return places_; }
    /// The forms of the leaves and scalars.
    const std::vector<leaf_form>& forms() const noexcept { return forms_; }
    std::size_t leaves() const noexcept { return leaves_; }
    int rank() const noexcept { return rank_; }
    /// The bytes of the number that leaf or scalar k is.
    std::size_t bytes(std::size_t k) const noexcept { return bytes_[k]; }

    /// The headers that the text may include, but whose place <rill/device/thrust/program_front.hpp> takes.
    static std::span<const std::string_view> hidden_headers() noexcept;

private:
    program_source() = default;
    bool add_include(const elementwise_info& op);
    void add_element(const program& p);
    std::string read(const program& p, int value) const;

    std::vector<std::string> includes_;
    std::string element_;
    std::vector<leaf_form> forms_;
    std::vector<int> places_;
    std::vector<std::size_t> bytes_;
    std::size_t leaves_ = 0;
    int rank_ = 0, words_ = 0;
    bool dense_ = true;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/thrust/program_source.ipp>
#endif
