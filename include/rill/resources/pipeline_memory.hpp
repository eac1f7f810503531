// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An element of a dataset: one array per component.
using element_arrays = std::vector<any_array>;

/// The bytes of the elements that the stages of an iteration hold, and their limit.
class pipeline_memory {
public:
    pipeline_memory(std::size_t limit, std::shared_ptr<pipeline_memory> outer)
        : limit_(limit), outer_(std::move(outer)) {}
    pipeline_memory(const pipeline_memory&) = delete;

    /// Adds bytes of a stage. Throws resource_exhausted, with the stage's name, if they exceed the limit.
    void add(std::size_t bytes, const std::string& stage);
    void remove(std::size_t bytes) noexcept;

private:
    const std::size_t limit_;
    const std::shared_ptr<pipeline_memory> outer_; // memory of the enclosing pipeline
    std::atomic<std::size_t> held_{0};
};

/// The bytes that one stage holds. Its destructor releases them. Without a limit nothing is counted.
class held_bytes {
public:
    held_bytes(std::shared_ptr<pipeline_memory> memory, std::string stage)
        : memory_(std::move(memory)), stage_(std::move(stage)) {}
    held_bytes(const held_bytes&) = delete;
    ~held_bytes() {
        if (memory_) memory_->remove(bytes_);
    }

    void add(const element_arrays& element) {
        if (memory_) add_bytes(bytes_of(element));
    }
    void add(const std::vector<element_arrays>& all) {
        for (const auto& e : all) add(e);
    }
    void remove(const element_arrays& element) {
        if (memory_) remove_bytes(bytes_of(element));
    }
    /// Throws resource_exhausted if `bytes` more bytes do not fit.
    void require(std::size_t bytes);
    void clear() {
        if (memory_) remove_bytes(bytes_);
    }

private:
    static std::size_t bytes_of(const element_arrays& element);
    void add_bytes(std::size_t bytes);
    void remove_bytes(std::size_t bytes);

    const std::shared_ptr<pipeline_memory> memory_;
    const std::string stage_;
    std::size_t bytes_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void pipeline_memory::add(std::size_t bytes, const std::string& stage) {
    const auto held = held_.fetch_add(bytes) + bytes;
    try {
        if (held > limit_)
            throw resource_exhausted("dataset: " + stage + " needs " + std::to_string(bytes) +
                                     " bytes more; the memory_limit of the pipeline is " + std::to_string(limit_) +
                                     " bytes, of which its elements hold " + std::to_string(held - bytes));
        if (outer_) outer_->add(bytes, stage);
    } catch (...) {
        held_ -= bytes;
        throw;
    }
}

RILL_COLD void pipeline_memory::remove(std::size_t bytes) noexcept {
    held_ -= bytes;
    if (outer_) outer_->remove(bytes);
}

RILL_COLD std::size_t held_bytes::bytes_of(const element_arrays& element) {
    std::size_t all = 0;
    for (const auto& a : element) {
        all += static_cast<std::size_t>(a.size()) * size_of(a.dtype());
        if (a.dtype() != dtype::string) continue;
        for (const auto& text : a.elements<std::string>()) all += text.size();
    }
    return all;
}

RILL_COLD void held_bytes::add_bytes(std::size_t bytes) {
    memory_->add(bytes, stage_);
    bytes_ += bytes;
}

RILL_COLD void held_bytes::remove_bytes(std::size_t bytes) {
    memory_->remove(bytes);
    bytes_ -= bytes;
}

RILL_COLD void held_bytes::require(std::size_t bytes) {
    if (!memory_) return;
    memory_->add(bytes, stage_);
    memory_->remove(bytes);
}

}}} // namespace rill::RILL_ABI::detail
#endif
