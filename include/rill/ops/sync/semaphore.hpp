// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/constant.hpp>
#include <rill/ops/sync/critical_section.hpp>
#include <rill/ops/sync/semaphore_acquire.hpp>
#include <rill/ops/sync/semaphore_release.hpp>
#include <rill/ops/sync/semaphore_value.hpp>

namespace rill { inline namespace RILL_ABI {

/// A counting semaphore.
struct semaphore_op : detail::resource_maker {
    static constexpr auto name = "Semaphore";
    index_t count = 1;

    static void fields(auto& op, auto& visit) {
        visit("count", op.count);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        if (count < 1) throw invalid_argument("the count is " + std::to_string(count) + "; it must be 1 or more");
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::semaphore_state>(r, place, count));
    }
};

struct semaphore_options {
    index_t count = 1;            // initial number of permits
    std::string shared_name = {}; // sessions of this process share the semaphore of that name
};

/// A counting semaphore in the graph: semaphore s("name", {.count = 3}). A waiting op holds no thread. Permits that a step acquired belong
/// to it until it releases them or ends. If the step fails they return. If it succeeds they stay taken, and any step may release them.
class semaphore {
public:
    template <class... Unused> // a template, so that only programs that call it contain its kernels
    explicit semaphore(const std::string& name = {}, const semaphore_options& o = {},
                       const std::source_location& where = std::source_location::current())
        : handle_(detail::add_resource(with_count(o.count), o.shared_name, name, where)) {}

    /// Acquires n permits, all together. n is a number or an int tensor. Waits until they are available.
    template <class N = int>
    operation acquire(const N& n = 1, const std::source_location& where = std::source_location::current()) const {
        return use(semaphore_acquire_op{}, n, where);
    }
    /// Releases n permits.
    template <class N = int>
    operation release(const N& n = 1, const std::source_location& where = std::source_location::current()) const {
        return use(semaphore_release_op{}, n, where);
    }
    /// Returns the result of `body`. All its nodes run between an acquire and a release of n permits, as in mutex::critical.
    template <class F, class N = int>
        requires std::is_invocable_v<const F&>
    auto critical(const F& body, const N& n = 1,
                  const std::source_location& where = std::source_location::current()) const {
        require_kernel<semaphore_acquire_op, void>();
        require_kernel<semaphore_release_op, void>();
        const any_tensor count = detail::resource_operand<std::int64_t>(n, handle_.graph(), "semaphore");
        return detail::critical_section(
            {make_op(semaphore_acquire_op{}), make_op(semaphore_release_op{}), {handle_.end(), count.end()}}, body,
            where);
    }
    /// Returns the number of permits left.
    template <class... Unused>
    tensor<std::int64_t> value(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(semaphore_value_op{}, where, handle_)};
    }
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

private:
    static semaphore_op with_count(index_t count) {
        semaphore_op op;
        op.count = count;
        return op;
    }
    template <class Op, class N> operation use(const Op& op, const N& n, const std::source_location& where) const {
        const any_tensor count = detail::resource_operand<std::int64_t>(n, handle_.graph(), "semaphore");
        return operation(apply_node(op, where, handle_, count).node());
    }

    any_tensor handle_;
};

}} // namespace rill::RILL_ABI
