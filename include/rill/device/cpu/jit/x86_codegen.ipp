// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// size: one class, whose parts all work on the same registers

#include <rill/device/cpu/jit/x86_codegen.hpp>

#if RILL_WITH_JIT
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <utility>
#include <variant>

#include <rill/core/algorithm.hpp>
#include <rill/device/compiled_loop.hpp>
#include <rill/device/cpu/simd/register_math.hpp>

// A program may contain another version of xbyak. In rill::kernels, xbyak therefore has a namespace of its own.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#if RILL_COMPILED && !defined(XBYAK_XBYAK_H_)
#define Xbyak rill_xbyak
#include <xbyak/xbyak.h>
#undef Xbyak
namespace rill { inline namespace RILL_ABI { namespace detail {
namespace xbyak = ::rill_xbyak;
}}} // namespace rill::RILL_ABI::detail
#else
#include <xbyak/xbyak.h>
namespace rill { inline namespace RILL_ABI { namespace detail {
namespace xbyak = ::Xbyak;
}}} // namespace rill::RILL_ABI::detail
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Memory for xbyak to write code to. It is never executable: make_executable copies the code.
struct code_memory : xbyak::Allocator {
    bool useProtect() const override { return false; }
};

// On entry rdi points to the block_args (System V ABI); it keeps its value. rax counts bytes, up to rsi. Pointers to the first operands
// stay in registers; others are loaded to r11 when needed. rbx (callee-saved) is the byte offset within the partial sums on the stack. k1
// holds comparisons; k2 is the mask of the remaining lanes. On 8 lanes that mask is in memory.

class x86_loop_maker : code_memory, xbyak::CodeGenerator {
    using Address = xbyak::Address;
    using Xmm = xbyak::Xmm;
    using Ymm = xbyak::Ymm; // also of 64 or 16 bytes: see vec
    using Zmm = xbyak::Zmm;

    /// The last operand of a vector instruction: a register or memory.
    struct operand {
        std::variant<Ymm, Address> of;
        bool in_memory() const { return of.index() == 1; }
        operator const xbyak::Operand&() const {
            return std::visit([](const auto& x) -> const xbyak::Operand& { return x; }, of);
        }
    };

public:
    x86_loop_maker(const jit_ir& code, int kept)
        : CodeGenerator(4096, xbyak::AutoGrow, this), code_(code), bytes_(code.element_bytes()) {
        choose_kept(kept);
        const auto calls = [](const auto& i) { return i.op == vector_op::exact; };
        if (detail::any_of(code.code(), calls)) exact_slot_ = std::exchange(slots_, slots_ + 2);
    }

    std::vector<std::uint8_t> make();
    /// Returns the number of values that were spilled to the stack for lack of registers.
    int spills() const { return spills_; }
    int stack_bytes() const { return slot_bytes(slots_); }

private:
    static constexpr int never = std::numeric_limits<int>::max();
    // lists in the compiled_loop_args of a loop over numbers, by their offset in bytes
    static constexpr int operands = offsetof(compiled_loop_args, operand), states = offsetof(compiled_loop_args, state),
                         slices = offsetof(compiled_loop_args, slice), stacked = offsetof(compiled_loop_args, stacked);

    struct place {
        int reg = -1;
        int slot = -1; // on the stack
        bool kept = false;
        std::vector<int> uses; // in reverse order
    };

    const ir_instruction& at(int v) const { return code_.code()[static_cast<std::size_t>(v)]; }
    place& of(int v) { return place_[static_cast<std::size_t>(v)]; }
    bool is_broadcast(int v) const { return at(v).op == vector_op::scalar || at(v).op == vector_op::splat; }
    bool is_state(int v) const { return at(v).op == vector_op::state; }
    bool wide() const { return code_.wide(); }
    int registers() const { return wide() ? 32 : 16; }
    int register_bytes() const { return wide() ? 64 : 32; }
    int slot_bytes(int slot) const { return slot * register_bytes(); }
    bool eight() const { return bytes_ == 8; }
    int bytes_shift() const { return eight() ? 3 : 2; }

    // registers and memory, as operands of instructions
    Ymm whole(int reg) const { return wide() ? Ymm(reg, xbyak::Operand::ZMM, 512) : Ymm(reg); }
    /// Returns the register as instructions use it: the lowest 16 bytes in a loop over numbers.
    Ymm vec(int reg) const { return code_.loop ? Ymm(reg, xbyak::Operand::XMM, 128) : whole(reg); }
    Xmm half(int reg) const { return wide() && !code_.loop ? Ymm(reg) : Xmm(reg); }
    Address memory(const xbyak::RegExp& base, int offset) const { return ptr[base + static_cast<std::size_t>(offset)]; }
    Address slot(int number) const { return memory(rsp, slot_bytes(number)); }
    Address constant(int row) { return ptr[rip + constants_ + slot_bytes(row)]; }
    Address element(const xbyak::Reg64& base) const { return ptr[base + rax]; }
    operand in(int reg) const { return {vec(reg)}; }
    operand memory_of(int v) { return {at(v).op == vector_op::constant ? constant(at(v).number) : slot(of(v).slot)}; }
    operand row_anywhere(int v) { return of(v).reg >= 0 ? operand{whole(of(v).reg)} : memory_of(v); }
    operand anywhere(int v) { return of(v).reg >= 0 ? in(of(v).reg) : memory_of(v); }

    // instructions whose form depends on the elements
    void move(int to, const operand& from) {
        if (from.in_memory())
            eight() ? vmovupd(vec(to), from) : vmovups(vec(to), from);
        else
            eight() ? vmovapd(vec(to), from) : vmovaps(vec(to), from);
    }
    /// Loads a constant. In a loop over numbers too it may have different elements.
    void move_row(int to, int row) { vmovups(whole(to), constant(row)); }
    void move(const Address& to, int from) { eight() ? vmovupd(to, vec(from)) : vmovups(to, vec(from)); }
    void move_one(int to, const Address& from) { eight() ? vmovsd(Xmm(to), from) : vmovss(Xmm(to), from); }
    void move_one(const Address& to, int from) { eight() ? vmovsd(to, Xmm(from)) : vmovss(to, Xmm(from)); }
    void add_into(std::size_t result, int to, int a, const operand& b);
    void multiply_add(vector_op op, int form, int to, int a, const operand& b);

    void choose_kept(int kept);
    void prologue();
    void begin_sums();
    void end_sums();
    void find_rest();
    void body();
    void load_leaf(int v, int now);
    void store(int reg, int result, int now);
    void add_to_sums(int v, int result, int now);
    bool is_summed(std::size_t result) const { return !code_.summed.empty() && code_.summed[result]; }
    bool sums() const { return detail::contains(code_.summed, 1); }
    void store_results(int now);
    void compute(int v, int now);

    int next_use(int v, int now);
    int take(int now, std::initializer_list<int> pinned);
    int in_register(int v, int now, std::initializer_list<int> pinned);
    void release(int v, int now);
    void define(int v, int reg) { of(v).reg = reg, holds_[static_cast<std::size_t>(reg)] = v; }
    bool dies(int v, int now) { return !of(v).kept && next_use(v, now) == never; }
    /// Returns true if instruction v, at `now`, may overwrite its operand a.
    bool may_overwrite(int a, int v, int now) {
        const int state = replaced_by(v, now);
        return state >= 0 ? state == a : dies(a, now);
    }
    int result_register(int v, int now, std::initializer_list<int> alive);
    template <class Emit> void plain(int v, int now, bool commutes, Emit emit);
    template <class Emit> void unary(int v, int now, Emit emit);
    void shift(int v, int now);
    void product(int v, int now);
    void choose(int v, int now);
    void compare(int v, int now);
    void compare_into_mask(bool of_ints, int a, const operand& b, int how);
    void compare_choose(int v, int now);
    void lookup(int v, int now);
    void exact(int v, int now);
    void exact_call();
    void widen(int v, int now);
    void narrow(int v, int now);
    void cast(int v, int now);
    void keep_constants();
    void once();
    void loop();

    // loops over numbers
    void number_loop();
    xbyak::Reg64 address_of_list(int list, int number);
    Address element_of_list(int list, int number, int bytes);
    void load_number(int to, int bytes, const Address& from);
    void store_number(int reg, int bytes, const Address& to);
    void splat_rbx(int to, int bytes);
    void leave_unless(int condition, int now);
    void store_stacked(int now);
    void go_on();
    bool is_test(int v) const; // a comparison that only decides whether the loop goes on
    int replaced_by(int v, int now);
    xbyak::Reg64 pointer(bool result, int number);

    const jit_ir& code_;
    int bytes_; // of the elements of the instruction
    std::vector<place> place_;
    std::array<int, 32> holds_{};
    std::vector<int> kept_;
    std::vector<int> sum_slot_; // per result: the slot of its first partial sum
    const std::array<xbyak::Reg64, 5> pointers_{rcx, rdx, r8, r9, r10};
    xbyak::Label constants_, exact_call_, end_of_loop_;
    int slots_ = 0, spills_ = 0, leaves_ = 0, last_leaf_ = -1;
    bool masked_ = false; // emitting the pass over the remaining lanes
    int mask_slot_ = -1;
    int exact_slot_ = -1; // two slots: arguments and results of exact calls
    std::vector<char> stored_;
    std::vector<int> state_; // per state value of a loop: the instruction that reads it, or -1
    std::vector<int> home_;  // per state value: its slot, also while it has a register
};

RILL_COLD void x86_loop_maker::choose_kept(int kept) {
    const auto& all = code_.code();
    place_.resize(all.size());
    holds_.fill(-1);
    std::vector<int> count(all.size()), order;
    for (int v = static_cast<int>(all.size()); v-- > 0;) {
        if (at(v).op == vector_op::leaf || (at(v).op == vector_op::splat && !code_.loop))
            leaves_ = std::max(leaves_, at(v).number + 1);
        if (at(v).op == vector_op::leaf) last_leaf_ = std::max(last_leaf_, v);
        for (int k = operands_of(at(v).op); k-- > 0;) {
            const int a = at(v).args[static_cast<std::size_t>(k)];
            if (of(a).uses.empty() || of(a).uses.back() != v) of(a).uses.push_back(v);
            ++count[static_cast<std::size_t>(a)];
        }
        if (is_broadcast(v) || is_state(v)) of(v).slot = slots_++;
        if (is_broadcast(v) || is_state(v) || at(v).op == vector_op::constant) order.push_back(v);
    }
    for (const int r : code_.results) // results are used after all instructions
        of(r).uses.insert(of(r).uses.begin(), static_cast<int>(all.size()));
    detail::sort(order, [&](int a, int b) {
        if (is_state(a) != is_state(b)) return is_state(a); // memory would delay the next iteration
        const int more = count[static_cast<std::size_t>(a)] - count[static_cast<std::size_t>(b)];
        return more != 0 ? more > 0 : a < b;
    });
    order.resize(std::min(order.size(), static_cast<std::size_t>(kept)));
    kept_ = std::move(order);
    int reg = registers();
    for (const int v : kept_) {
        define(v, --reg);
        of(v).kept = true;
    }
}

RILL_COLD int x86_loop_maker::next_use(int v, int now) {
    auto& uses = of(v).uses;
    while (!uses.empty() && uses.back() <= now) uses.pop_back();
    return uses.empty() ? never : uses.back();
}

/// Returns a free register. If there is none, spills the value whose next use is the farthest.
RILL_COLD int x86_loop_maker::take(int now, std::initializer_list<int> pinned) {
    int best = -1, farthest = -1;
    for (int r = 0; r < registers(); ++r) {
        const int v = holds_[static_cast<std::size_t>(r)];
        if (v < 0) return r;
        if (of(v).kept || detail::contains(pinned, v)) continue;
        if (const int next = next_use(v, now); next > farthest) farthest = next, best = r;
    }
    const int v = holds_[static_cast<std::size_t>(best)];
    if (at(v).op != vector_op::constant && of(v).slot < 0 && farthest != never) {
        of(v).slot = slots_++;
        ++spills_;
        move(slot(of(v).slot), best);
    }
    of(v).reg = -1;
    holds_[static_cast<std::size_t>(best)] = -1;
    return best;
}

RILL_COLD int x86_loop_maker::in_register(int v, int now, std::initializer_list<int> pinned) {
    if (of(v).reg < 0) {
        const int reg = take(now - 1, pinned); // now - 1: operands of this instruction must stay
        at(v).op == vector_op::constant ? move_row(reg, at(v).number) : move(reg, memory_of(v));
        define(v, reg);
    }
    return of(v).reg;
}

/// Frees the register of a value that has no use after `now`.
RILL_COLD void x86_loop_maker::release(int v, int now) {
    if (of(v).reg < 0 || !dies(v, now)) return;
    holds_[static_cast<std::size_t>(of(v).reg)] = -1;
    of(v).reg = -1;
}

RILL_COLD int x86_loop_maker::result_register(int v, int now, std::initializer_list<int> alive) {
    const int state = replaced_by(v, now);
    const int reg = state >= 0 ? of(state).reg : take(now, alive);
    if (state >= 0) of(v).kept = true;
    define(v, reg);
    return reg;
}

template <class Emit> RILL_COLD void x86_loop_maker::plain(int v, int now, bool commutes, Emit emit) {
    int a = at(v).args[0], b = at(v).args[1];
    if (commutes && of(a).reg < 0 && of(b).reg >= 0) std::swap(a, b);
    const Ymm first = vec(in_register(a, now, {a, b}));
    const operand second = anywhere(b);
    release(a, now), release(b, now);
    const Ymm to = vec(result_register(v, now, {}));
    emit(to, first, static_cast<const xbyak::Operand&>(second));
}

template <class Emit> RILL_COLD void x86_loop_maker::unary(int v, int now, Emit emit) {
    const int a = at(v).args[0];
    const operand from = anywhere(a);
    release(a, now);
    const Ymm to = vec(result_register(v, now, {}));
    emit(to, static_cast<const xbyak::Operand&>(from));
}

RILL_COLD void x86_loop_maker::shift(int v, int now) {
    const int a = at(v).args[0];
    const Ymm from = vec(in_register(a, now, {a}));
    release(a, now);
    const Ymm to = vec(result_register(v, now, {}));
    const auto bits = static_cast<std::uint8_t>(at(v).number);
    if (at(v).op == vector_op::int_left) return eight() ? vpsllq(to, from, bits) : vpslld(to, from, bits);
    return eight() ? vpsrlq(to, from, bits) : vpsrld(to, from, bits);
}

/// Emits a product and a sum of the registers `to` and `a` and the operand `b`. Form 132 multiplies `to` and `b`, form 213 `a` and `to`,
/// form 231 `a` and `b`.
RILL_COLD void x86_loop_maker::multiply_add(vector_op op, int form, int to, int a, const operand& b) {
    const Ymm x = vec(to), y = vec(a);
    switch (op) {
    case vector_op::multiply_add:
        if (form == 132) return eight() ? vfmadd132pd(x, y, b) : vfmadd132ps(x, y, b);
        if (form == 213) return eight() ? vfmadd213pd(x, y, b) : vfmadd213ps(x, y, b);
        return eight() ? vfmadd231pd(x, y, b) : vfmadd231ps(x, y, b);
    case vector_op::multiply_sub:
        if (form == 132) return eight() ? vfmsub132pd(x, y, b) : vfmsub132ps(x, y, b);
        if (form == 213) return eight() ? vfmsub213pd(x, y, b) : vfmsub213ps(x, y, b);
        return eight() ? vfmsub231pd(x, y, b) : vfmsub231ps(x, y, b);
    default: // sub_product
        if (form == 132) return eight() ? vfnmadd132pd(x, y, b) : vfnmadd132ps(x, y, b);
        if (form == 213) return eight() ? vfnmadd213pd(x, y, b) : vfnmadd213ps(x, y, b);
        return eight() ? vfnmadd231pd(x, y, b) : vfnmadd231ps(x, y, b);
    }
}

/// Emits a * b + c and its variants.
RILL_COLD void x86_loop_maker::product(int v, int now) {
    auto [a, b, c, none] = at(v).args;
    const vector_op op = at(v).op;
    if (of(a).reg < 0 && a != c) std::swap(a, b); // an operand in memory must be b
    const int ra = in_register(a, now, {a, b, c});
    if (of(b).reg < 0 && of(c).reg < 0 && b != c) in_register(b, now, {a, b, c});
    const auto into = [&](int dying) { // the instruction's first operand is also its result
        const int reg = of(dying).reg;
        if (replaced_by(v, now) == dying) of(v).kept = true;
        release(a, now), release(b, now), release(c, now);
        define(v, reg);
        return reg;
    };
    if (of(c).reg < 0 && of(b).reg >= 0) {
        const operand last = memory_of(c);
        const int rb = of(b).reg;
        if (may_overwrite(a, v, now)) return multiply_add(op, 213, into(a), rb, last);
        if (may_overwrite(b, v, now)) return multiply_add(op, 213, into(b), ra, last);
        const int reg = result_register(v, now, {a, b, c});
        move(reg, last);
        return multiply_add(op, 231, reg, of(a).reg, in(of(b).reg));
    }
    const int rc = in_register(c, now, {a, b, c});
    const operand last = anywhere(b);
    if (may_overwrite(c, v, now)) return multiply_add(op, 231, into(c), ra, last);
    if (may_overwrite(a, v, now)) return multiply_add(op, 132, into(a), rc, last);
    if (!last.in_memory() && may_overwrite(b, v, now)) return multiply_add(op, 213, into(b), ra, in(rc));
    // operands are still read below: `reg` is not one of their registers
    const int reg = result_register(v, now, {a, b, c});
    release(a, now), release(b, now), release(c, now);
    move(reg, in(rc));
    multiply_add(op, 231, reg, ra, last);
}

RILL_COLD void x86_loop_maker::choose(int v, int now) {
    const auto [m, a, b, none] = at(v).args;
    if (wide()) { // vpternlog selects bit by bit and overwrites the condition
        constexpr std::uint8_t select = 0xca;
        const int rm = in_register(m, now, {m, a, b}), ra = in_register(a, now, {m, a, b});
        const operand last = anywhere(b);
        if (dies(m, now) && m != a && m != b) {
            holds_[static_cast<std::size_t>(rm)] = -1, of(m).reg = -1;
            define(v, rm);
            vpternlogd(vec(rm), vec(ra), last, select);
        } else {
            const int reg = take(now - 1, {m, a, b});
            move(reg, in(rm));
            vpternlogd(vec(reg), vec(ra), last, select);
            define(v, reg);
        }
        release(m, now), release(a, now), release(b, now);
        return;
    }
    const int rm = in_register(m, now, {m, a, b}), rb = in_register(b, now, {m, a, b});
    const operand last = anywhere(a);
    release(m, now), release(a, now), release(b, now);
    vblendvps(vec(result_register(v, now, {})), vec(rb), last, vec(rm));
}

/// Emits a comparison of wide registers into k1.
RILL_COLD void x86_loop_maker::compare_into_mask(bool of_ints, int a, const operand& b, int how) {
    const Ymm first = vec(a);
    const auto predicate = static_cast<std::uint8_t>(how);
    if (of_ints) return eight() ? vpcmpq(k1, first, b, predicate) : vpcmpd(k1, first, b, predicate);
    return eight() ? vcmppd(k1, first, b, predicate) : vcmpps(k1, first, b, predicate);
}

RILL_COLD void x86_loop_maker::compare(int v, int now) {
    const auto& i = at(v);
    const bool of_ints = i.op == vector_op::int_compare;
    if (!wide()) {
        const bool equal = of_ints && i.number == int_equal;
        return plain(v, now, equal, [&](const Ymm& to, const Ymm& x, const xbyak::Operand& y) {
            const auto predicate = static_cast<std::uint8_t>(i.number);
            if (!of_ints) return eight() ? vcmppd(to, x, y, predicate) : vcmpps(to, x, y, predicate);
            if (equal) return eight() ? vpcmpeqq(to, x, y) : vpcmpeqd(to, x, y);
            return eight() ? vpcmpgtq(to, x, y) : vpcmpgtd(to, x, y);
        });
    }
    const int a = i.args[0], b = i.args[1], first = in_register(a, now, {a, b});
    compare_into_mask(of_ints, first, anywhere(b), i.number);
    release(a, now), release(b, now);
    if (is_test(v)) return;
    const Ymm to = vec(result_register(v, now, {}));
    eight() ? vpmovm2q(to, k1) : vpmovm2d(to, k1); // all bits of the lanes in k1
}

RILL_COLD void x86_loop_maker::compare_choose(int v, int now) {
    const auto [x, y, a, b] = at(v).args;
    const int rx = in_register(x, now, {x, y, b}), rb = in_register(b, now, {x, y, b});
    const int how = at(v).number;
    compare_into_mask(how >= of_integers, rx, anywhere(y), how & 0xff);
    const operand last = anywhere(a);
    release(x, now), release(y, now), release(a, now), release(b, now);
    const Ymm to = vec(result_register(v, now, {})) | k1;
    eight() ? vblendmpd(to, vec(rb), last) : vblendmps(to, vec(rb), last);
}

RILL_COLD void x86_loop_maker::lookup(int v, int now) {
    const auto [entry, low, high, none] = at(v).args;
    const int from = in_register(entry, now, {entry, low, high});
    if (!wide()) {
        const operand row = row_anywhere(low);
        release(entry, now);
        return vpermps(whole(result_register(v, now, {low})), whole(from), row);
    }
    const operand second = row_anywhere(high);
    const int reg = take(now - 1, {entry, low, high});
    of(low).reg >= 0 ? vmovaps(whole(reg), whole(of(low).reg)) : move_row(reg, at(low).number);
    vpermt2ps(whole(reg), whole(from), second);
    define(v, reg);
    release(entry, now);
}

/// Replaces y[k] by the exact function of x[k] where |x[k]| is beyond its `most`.
template <class T> void exact_lanes(const T* x, T* y, int lanes, int function) {
    const auto& f = exact_functions<T>[static_cast<std::size_t>(function)];
    for (int k = 0; k < lanes; ++k)
        if (std::abs(x[k]) > f.most) y[k] = f.run(x[k]);
}
inline constexpr int exact_of_doubles = 0x100; // in the function's number
inline void exact_numbers(const void* x, void* y, int lanes, int function) noexcept {
    if (function >= exact_of_doubles)
        exact_lanes(static_cast<const double*>(x), static_cast<double*>(y), lanes, function - exact_of_doubles);
    else
        exact_lanes(static_cast<const float*>(x), static_cast<float*>(y), lanes, function);
}

RILL_COLD void x86_loop_maker::exact(int v, int now) {
    const auto [y, size, x, most] = at(v).args;
    const int rs = in_register(size, now, {y, size, x, most}), rx = in_register(x, now, {y, size, x, most}),
              ry = in_register(y, now, {y, size, x, most});
    constexpr std::uint8_t greater = 30;
    if (wide()) {
        compare_into_mask(false, rs, anywhere(most), greater);
        kortestw(k1, k1);
    } else {
        const Ymm mask = vec(take(now - 1, {y, size, x, most}));
        eight() ? vcmppd(mask, vec(rs), anywhere(most), greater) : vcmpps(mask, vec(rs), anywhere(most), greater);
        eight() ? vmovmskpd(r11d, mask) : vmovmskps(r11d, mask);
        test(r11d, r11d);
    }
    xbyak::Label none;
    jz(none, T_NEAR);
    move(slot(exact_slot_), rx);
    move(slot(exact_slot_ + 1), ry);
    mov(r11d, static_cast<std::uint32_t>(at(v).number + (eight() ? exact_of_doubles : 0)));
    call(exact_call_);
    if (code_.loop)
        load_number(ry, bytes_, slot(exact_slot_ + 1));
    else
        move(ry, {slot(exact_slot_ + 1)});
    L(none);
    const bool last = dies(y, now);
    release(size, now), release(x, now), release(most, now), release(y, now);
    if (last) return define(v, ry);
    move(result_register(v, now, {y}), in(ry));
}

/// Emits the routine that exact calls go to. It preserves all registers but r11.
RILL_COLD void x86_loop_maker::exact_call() {
    if (exact_slot_ < 0) return;
    L(exact_call_);
    const std::array<xbyak::Reg64, 8> saved{rax, rcx, rdx, rsi, rdi, r8, r9, r10};
    for (const auto& r : saved) push(r);
    if (wide()) kmovw(eax, k2), push(rax);
    // pushed: bytes on the stack, with the return address; `frame` makes rsp a multiple of 64 again
    const int pushed = 8 * static_cast<int>(saved.size() + (wide() ? 2 : 1));
    const int frame = slot_bytes(registers()) + 128 - pushed;
    sub(rsp, static_cast<std::uint32_t>(frame));
    for (int r = 0; r < registers(); ++r) vmovups(slot(r), whole(r));
    lea(rdi, memory(rsp, frame + pushed + slot_bytes(exact_slot_)));
    lea(rsi, memory(rsp, frame + pushed + slot_bytes(exact_slot_ + 1)));
    mov(edx, static_cast<std::uint32_t>(code_.loop ? 1 : code_.lanes()));
    mov(ecx, r11d);
    mov(rax, reinterpret_cast<std::uintptr_t>(&exact_numbers));
    vzeroupper();
    call(rax);
    for (int r = 0; r < registers(); ++r) vmovups(whole(r), slot(r));
    add(rsp, static_cast<std::uint32_t>(frame));
    if (wide()) pop(rax), kmovw(k2, eax);
    for (std::size_t k = saved.size(); k-- > 0;) pop(saved[k]);
    ret();
}

RILL_COLD void x86_loop_maker::widen(int v, int now) {
    const int a = at(v).args[0], from = in_register(a, now, {a});
    release(a, now);
    const int reg = result_register(v, now, {});
    const bool upper = at(v).number == 1 && !code_.loop; // in a loop over numbers both halves are equal
    if (upper) wide() ? vextractf64x4(half(reg), Zmm(from), 1) : vextractf128(half(reg), vec(from), 1);
    vcvtps2pd(vec(reg), half(upper ? reg : from));
}

RILL_COLD void x86_loop_maker::narrow(int v, int now) {
    const int a = at(v).args[0], b = at(v).args[1];
    const int lower = in_register(a, now, {a, b}), upper = in_register(b, now, {a, b});
    const int reg = take(now - 1, {a, b});
    define(v, reg);
    vcvtpd2ps(half(reg), vec(lower));
    if (code_.loop) {
        release(a, now), release(b, now);
        return vbroadcastss(vec(reg), Xmm(reg));
    }
    const int other = take(now - 1, {a, b, v});
    vcvtpd2ps(half(other), vec(upper));
    if (wide())
        vinsertf64x4(Zmm(reg), Zmm(reg), half(other), 1);
    else
        vinsertf128(vec(reg), vec(reg), half(other), 1);
    release(a, now), release(b, now);
}

RILL_COLD void x86_loop_maker::compute(int v, int now) {
    const auto& i = at(v);
    const bool d = eight();
    const auto binary = [&](bool commutes, auto emit) { plain(v, now, commutes, emit); };
    const auto imm = static_cast<std::uint8_t>(i.number);
    switch (i.op) {
    case vector_op::constant:
    case vector_op::splat:
    case vector_op::state:
    case vector_op::scalar: return;
    case vector_op::leaf: return load_leaf(v, now);
    case vector_op::add: return binary(true, [&](auto&... o) { d ? vaddpd(o...) : vaddps(o...); });
    case vector_op::mul: return binary(true, [&](auto&... o) { d ? vmulpd(o...) : vmulps(o...); });
    case vector_op::sub: return binary(false, [&](auto&... o) { d ? vsubpd(o...) : vsubps(o...); });
    case vector_op::smaller: return binary(false, [&](auto&... o) { d ? vminpd(o...) : vminps(o...); });
    case vector_op::div: return binary(false, [&](auto&... o) { d ? vdivpd(o...) : vdivps(o...); });
    case vector_op::larger: return binary(false, [&](auto&... o) { d ? vmaxpd(o...) : vmaxps(o...); });
    case vector_op::bit_and: return binary(true, [&](auto&... o) { d ? vandpd(o...) : vandps(o...); });
    case vector_op::bit_or: return binary(true, [&](auto&... o) { d ? vorpd(o...) : vorps(o...); });
    case vector_op::bit_xor: return binary(true, [&](auto&... o) { d ? vxorpd(o...) : vxorps(o...); });
    case vector_op::int_add: return binary(true, [&](auto&... o) { d ? vpaddq(o...) : vpaddd(o...); });
    case vector_op::int_sub: return binary(false, [&](auto&... o) { d ? vpsubq(o...) : vpsubd(o...); });
    case vector_op::int_mul: return binary(true, [&](auto&... o) { d ? vpmullq(o...) : vpmulld(o...); });
    case vector_op::int_mul_halves: return binary(true, [&](auto&... o) { vpmuludq(o...); });
    case vector_op::int_smaller: return binary(true, [&](auto&... o) { d ? vpminsq(o...) : vpminsd(o...); });
    case vector_op::int_larger: return binary(true, [&](auto&... o) { d ? vpmaxsq(o...) : vpmaxsd(o...); });
    case vector_op::scale: return binary(false, [&](auto&... o) { d ? vscalefpd(o...) : vscalefps(o...); });
    case vector_op::to_float: return unary(v, now, [&](auto&... o) { d ? vcvtqq2pd(o...) : vcvtdq2ps(o...); });
    case vector_op::to_int: return unary(v, now, [&](auto&... o) { d ? vcvttpd2qq(o...) : vcvttps2dq(o...); });
    case vector_op::sqrt: return unary(v, now, [&](auto&... o) { d ? vsqrtpd(o...) : vsqrtps(o...); });
    case vector_op::round:
        return unary(v, now, [&](auto&... o) {
            if (wide()) return d ? vrndscalepd(o..., imm) : vrndscaleps(o..., imm);
            return d ? vroundpd(o..., imm) : vroundps(o..., imm);
        });
    case vector_op::int_left:
    case vector_op::int_right: return shift(v, now);
    case vector_op::multiply_add:
    case vector_op::multiply_sub:
    case vector_op::sub_product: return product(v, now);
    case vector_op::choose: return choose(v, now);
    case vector_op::compare_choose: return compare_choose(v, now);
    case vector_op::lookup: return lookup(v, now);
    case vector_op::exact: return exact(v, now);
    case vector_op::widen: return widen(v, now);
    case vector_op::narrow: return narrow(v, now);
    case vector_op::cast: return cast(v, now);
    case vector_op::compare:
    case vector_op::int_compare: return compare(v, now);
    }
}

RILL_COLD xbyak::Reg64 x86_loop_maker::pointer(bool result, int number) {
    const auto n = static_cast<std::size_t>(result ? leaves_ + number : number);
    if (n < pointers_.size()) return pointers_[n];
    mov(r11, memory(rdi, result ? 16 : 0));
    mov(r11, memory(r11, 8 * number));
    return r11;
}

RILL_COLD void x86_loop_maker::prologue() {
    for (std::size_t k = 0; k < pointers_.size(); ++k) {
        const bool result = k >= static_cast<std::size_t>(leaves_);
        const int number = static_cast<int>(k) - (result ? leaves_ : 0);
        if (result && static_cast<std::size_t>(number) >= code_.results.size()) break;
        mov(pointers_[k], memory(rdi, result ? 16 : 0));
        mov(pointers_[k], memory(pointers_[k], 8 * number));
    }
    for (int v = 0; v < static_cast<int>(place_.size()); ++v) {
        if (!is_broadcast(v)) continue;
        mov(r11, memory(rdi, at(v).op == vector_op::splat ? 0 : 8));
        mov(r11, memory(r11, 8 * at(v).number));
        const int reg = of(v).kept ? of(v).reg : 0; // register 0 is free: kept values get registers from the top
        eight() ? vbroadcastsd(vec(reg), ptr[r11]) : vbroadcastss(vec(reg), ptr[r11]);
        if (!of(v).kept) move(slot(of(v).slot), reg);
    }
    keep_constants();
    begin_sums();
}

RILL_COLD void x86_loop_maker::keep_constants() {
    for (const int v : kept_)
        if (at(v).op == vector_op::constant) move_row(of(v).reg, at(v).number);
}

RILL_COLD void x86_loop_maker::begin_sums() {
    if (!sums()) return;
    vpxor(Xmm(0), Xmm(0), Xmm(0)); // the whole register becomes 0
    sum_slot_.resize(code_.results.size());
    for (std::size_t r = 0; r < code_.results.size(); ++r) {
        if (!is_summed(r)) continue;
        sum_slot_[r] = slots_;
        for (int part = 0; part < partial_sums; ++part) move(slot(slots_++), 0);
    }
}

/// Emits an addition of numbers of a result: floats or integers.
RILL_COLD void x86_loop_maker::add_into(std::size_t result, int to, int a, const operand& b) {
    const Ymm x = vec(to), y = vec(a);
    if (!code_.integers.empty() && code_.integers[result]) return eight() ? vpaddq(x, y, b) : vpaddd(x, y, b);
    return eight() ? vaddpd(x, y, b) : vaddps(x, y, b);
}

/// Adds the four partial sums in pairs, then halves of the register, in the order of combine_fold.
RILL_COLD void x86_loop_maker::end_sums() {
    if (!sums()) return;
    const Ymm all = vec(0), part = vec(1);
    xor_(eax, eax);
    for (std::size_t r = 0; r < code_.results.size(); ++r) {
        if (!is_summed(r)) continue;
        const auto sum = [&](int k) { return operand{slot(sum_slot_[r] + k)}; };
        const auto add_part = [&] { add_into(r, 0, 0, in(1)); };
        move(0, sum(0)), add_into(r, 0, 0, sum(1));
        move(1, sum(2)), add_into(r, 1, 1, sum(3));
        add_part();
        if (wide()) vshuff32x4(part, all, all, 0x4e), add_part();
        wide() ? vshuff32x4(part, all, all, 0xb1) : vperm2f128(part, all, all, 1);
        add_part();
        vpermilps(part, all, 0x4e), add_part();
        if (!eight()) vpermilps(part, all, 0xb1), add_part();
        move_one(element(pointer(true, static_cast<int>(r))), 0);
    }
}

/// Computes the mask of the remaining lanes, whose bytes are in r11.
RILL_COLD void x86_loop_maker::find_rest() {
    shr(r11, bytes_shift()); // elements
    if (wide()) {
        mov(esi, ~std::uint32_t{0});
        bzhi(esi, esi, r11d);
        kmovw(k2, esi);
        return;
    }
    mask_slot_ = slots_++;
    vmovd(xmm0, r11d);
    vpbroadcastd(ymm0, xmm0);
    vpcmpgtd(ymm0, ymm0, constant(static_cast<int>(code_.rows().size()))); // elements > lane number, per lane
    move(slot(mask_slot_), 0);
}

RILL_COLD void x86_loop_maker::load_leaf(int v, int now) {
    if (code_.loop) {
        const int bytes = code_.bytes_of(at(v)), to = result_register(v, now, {});
        return load_number(to, bytes, element_of_list(slices, at(v).number, bytes));
    }
    const Address from = element(pointer(false, at(v).number));
    const int reg = result_register(v, now, {});
    const Ymm to = vec(reg);
    if (code_.one_element) return move_one(reg, from);
    if (!masked_) return move(reg, {from});
    if (wide()) return eight() ? vmovupd(to | k2 | T_z, from) : vmovups(to | k2 | T_z, from);
    move(reg, {slot(mask_slot_)});
    eight() ? vmaskmovpd(to, to, from) : vmaskmovps(to, to, from);
}

RILL_COLD void x86_loop_maker::store(int reg, int result, int now) {
    int mask = 0;
    if (masked_ && !wide()) {
        mask = take(now, {holds_[static_cast<std::size_t>(reg)]});
        move(mask, {slot(mask_slot_)});
    }
    const Address to = element(pointer(true, result));
    if (code_.one_element) return move_one(to, reg);
    if (!masked_) return move(to, reg);
    if (wide()) return eight() ? vmovupd(to | k2, vec(reg)) : vmovups(to | k2, vec(reg));
    eight() ? vmaskmovpd(to, vec(mask), vec(reg)) : vmaskmovps(to, vec(mask), vec(reg));
}

RILL_COLD void x86_loop_maker::add_to_sums(int v, int result, int now) {
    const int reg = in_register(v, now, {v}), sum = take(now, {v});
    if (masked_ && wide()) {
        const Ymm to = vec(sum) | k2 | T_z;
        eight() ? vmovapd(to, vec(reg)) : vmovaps(to, vec(reg));
    } else if (masked_) {
        move(sum, {slot(mask_slot_)});
        vandps(vec(sum), vec(sum), vec(reg));
    }
    const Address to = memory(rsp + rbx, slot_bytes(sum_slot_[static_cast<std::size_t>(result)]));
    add_into(static_cast<std::size_t>(result), sum, masked_ ? sum : reg, {to});
    move(to, sum);
}

/// Stores the results that are computed by instruction `now`, once all leaves are read.
RILL_COLD void x86_loop_maker::store_results(int now) {
    if (now < last_leaf_ && !code_.one_element) return;
    for (std::size_t r = 0; r < code_.results.size(); ++r) {
        const int v = code_.results[r];
        if (stored_[r] || v > now) continue;
        stored_[r] = true;
        if (is_summed(r))
            add_to_sums(v, static_cast<int>(r), now);
        else
            store(in_register(v, now, {v}), static_cast<int>(r), now);
        auto& uses = of(v).uses; // drop a use after all instructions (see choose_kept)
        uses.erase(uses.begin());
        release(v, now);
    }
}

RILL_COLD void x86_loop_maker::body() {
    stored_.assign(code_.results.size(), 0);
    for (int v = 0; v < static_cast<int>(place_.size()); ++v) {
        bytes_ = code_.bytes_of(at(v));
        compute(v, v);
        bytes_ = code_.element_bytes();
        code_.loop ? store_stacked(v) : store_results(v);
    }
}

/// Converts a number, which all lanes hold.
RILL_COLD void x86_loop_maker::cast(int v, int now) {
    const int from_kind = at(v).number / 4, to_kind = at(v).number % 4;
    const bool from_eight = from_kind % 2 != 0, to_eight = to_kind % 2 != 0;
    constexpr int int32 = 0, int64 = 1, first_float = 2;
    const int a = at(v).args[0];
    const Xmm from(in_register(a, now, {a}));
    release(a, now);
    const int reg = result_register(v, now, {});
    const Xmm to(reg);
    const auto spread = [&] { to_eight ? vpbroadcastq(to, to) : vpbroadcastd(to, to); };
    if (from_kind < first_float && to_kind < first_float)
        return to_eight ? vpmovsxdq(to, from) : vpbroadcastd(to, from);
    if (from_kind >= first_float && to_kind >= first_float)
        from_eight ? vcvtpd2ps(to, from) : vcvtps2pd(to, from);
    else if (from_kind == int32)
        vcvtdq2pd(to, from);
    else if (to_kind == int32)
        vcvttpd2dq(to, from);
    else if (wide() && from_kind == int64)
        to_eight ? vcvtqq2pd(to, from) : vcvtqq2ps(to, from);
    else if (wide())
        from_eight ? vcvttpd2qq(to, from) : vcvttps2qq(to, from);
    else if (from_kind == int64) {
        vmovq(rbx, from);
        to_eight ? vcvtsi2sd(to, from, rbx) : vcvtsi2ss(to, from, rbx);
        return spread();
    } else {
        from_eight ? vcvttsd2si(rbx, from) : vcvttss2si(rbx, from);
        return splat_rbx(reg, 8);
    }
    if (from_eight && !to_eight) spread();
}

// ---- loops over numbers -------------------------------------------------------------------------------------------------------

// rdi points to the compiled_loop_args. rsi counts the iterations that are left; rax counts those that ran, down in a reverse loop. Every
// state value has a home: a kept register, or a slot. The body reads the homes. A next value takes its home at once if the old value has
// no readers left; the others move there after the body. All lanes of a register are equal, so that truth values fit numbers of each size.

RILL_COLD bool x86_loop_maker::is_test(int v) const {
    return code_.loop && code_.loop->conditional && wide() && code_.results[0] == v &&
           (at(v).op == vector_op::compare || at(v).op == vector_op::int_compare) &&
           place_[static_cast<std::size_t>(v)].uses == std::vector{static_cast<int>(place_.size())};
}

/// Returns a register with an address of a list in the arguments: a pointer register, or r11.
RILL_COLD xbyak::Reg64 x86_loop_maker::address_of_list(int list, int number) {
    const auto n = static_cast<std::size_t>(list == stacked ? leaves_ + number : number);
    if ((list == slices || list == stacked) && n < pointers_.size()) return pointers_[n];
    mov(r11, memory(rdi, list));
    mov(r11, memory(r11, 8 * number));
    return r11;
}

/// Returns the element of the current iteration; before and after the loop, the first.
RILL_COLD auto x86_loop_maker::element_of_list(int list, int number, int bytes) -> Address {
    const xbyak::Reg64 base = address_of_list(list, number);
    return list == slices || list == stacked ? ptr[base + rax * bytes] : ptr[base];
}

RILL_COLD void x86_loop_maker::splat_rbx(int to, int bytes) {
    const Xmm x(to);
    if (wide()) return bytes == 8 ? vpbroadcastq(x, rbx) : vpbroadcastd(x, ebx);
    bytes == 8 ? vmovq(x, rbx) : vmovd(x, ebx);
    bytes == 8 ? vpbroadcastq(x, x) : vpbroadcastd(x, x);
}

/// Loads a number into all lanes. A truth value, which has 1 byte in memory, sets all bits or none.
RILL_COLD void x86_loop_maker::load_number(int to, int bytes, const Address& from) {
    if (bytes > 1) return bytes == 8 ? vpbroadcastq(Xmm(to), from) : vpbroadcastd(Xmm(to), from);
    movzx(ebx, xbyak::Address(8, false, from.getRegExp()));
    neg(ebx);
    splat_rbx(to, 4);
}

RILL_COLD void x86_loop_maker::store_number(int reg, int bytes, const Address& to) {
    if (bytes > 1) return bytes == 8 ? vmovsd(to, Xmm(reg)) : vmovss(to, Xmm(reg));
    if (wide()) {
        vpmovd2m(k1, Xmm(reg));
        kmovw(ebx, k1);
    } else {
        vmovmskps(ebx, Xmm(reg));
    }
    and_(ebx, 1);
    mov(xbyak::Address(8, false, to.getRegExp()), bl);
}

/// Leaves the loop unless the condition is true.
RILL_COLD void x86_loop_maker::leave_unless(int condition, int now) {
    if (!is_test(condition)) {
        const Xmm x(in_register(condition, now, {condition}));
        wide() ? vpmovd2m(k1, x) : vmovmskps(ebx, x);
    }
    wide() ? kortestw(k1, k1) : test(ebx, ebx);
    jz(end_of_loop_, T_NEAR);
}

/// Tests the condition if instruction `now` computes it. Stores the stacked outputs that are computed, after the test.
RILL_COLD void x86_loop_maker::store_stacked(int now) {
    const auto& l = *code_.loop;
    const auto drop = [&](int v) { // a use after all instructions (see choose_kept)
        auto& uses = of(v).uses;
        uses.erase(uses.begin());
        release(v, now);
    };
    if (l.conditional && code_.results[0] == now) {
        leave_unless(now, now);
        drop(now);
    }
    if (l.conditional && now < code_.results[0]) return;
    const std::size_t first = code_.results.size() - l.stacked_bytes.size();
    for (std::size_t r = first; r < code_.results.size(); ++r) {
        const int v = code_.results[r];
        if (stored_[r] || v > now) continue;
        stored_[r] = true;
        const int reg = in_register(v, now, {v}), bytes = l.stacked_bytes[r - first];
        store_number(reg, bytes, element_of_list(stacked, static_cast<int>(r - first), bytes));
        drop(v);
    }
}

/// Returns the state value whose register may hold its next value v from instruction `now` on: nothing reads the old value any more. Returns
/// -1 if there is none.
RILL_COLD int x86_loop_maker::replaced_by(int v, int now) {
    if (!code_.loop || (code_.loop->conditional && now <= code_.results[0])) return -1;
    const std::size_t first = code_.loop->conditional ? 1 : 0;
    for (std::size_t i = 0; i < state_.size(); ++i) {
        const int state = state_[i];
        if (code_.results[first + i] != v || state < 0 || !of(state).kept) continue;
        if (holds_[static_cast<std::size_t>(of(state).reg)] == state && next_use(state, now) == never) return state;
    }
    return -1;
}

/// Moves the next values to the homes of the state.
RILL_COLD void x86_loop_maker::go_on() {
    const std::size_t parts = state_.size(), first = code_.loop->conditional ? 1 : 0;
    const int now = static_cast<int>(place_.size()) - 1;
    std::vector<int> copy(parts, -1);
    for (std::size_t i = 0; i < parts; ++i) { // a state value that becomes another: its own home may change first
        const int v = code_.results[first + i];
        if (v == state_[i] || !is_state(v)) continue;
        const int reg = in_register(v, now, {v});
        move(slot(copy[i] = slots_++), reg);
    }
    for (std::size_t i = 0; i < parts; ++i) {
        const int v = code_.results[first + i], state = state_[i];
        if (v == state) continue;
        int reg = copy[i] < 0 ? of(v).reg : -1;
        const operand from = reg >= 0 ? in(reg) : copy[i] >= 0 ? operand{slot(copy[i])} : memory_of(v);
        if (state >= 0 && of(state).kept) {
            if (reg != of(state).reg) move(of(state).reg, from);
            continue;
        }
        if (reg < 0) move(reg = take(now, {v}), from);
        move(slot(home_[i]), reg);
    }
}

RILL_COLD void x86_loop_maker::number_loop() {
    const auto& l = *code_.loop;
    state_.assign(l.state_bytes.size(), -1);
    home_.assign(l.state_bytes.size(), -1);
    for (int v = 0; v < static_cast<int>(place_.size()); ++v)
        if (is_state(v)) {
            state_[static_cast<std::size_t>(at(v).number)] = v;
            home_[static_cast<std::size_t>(at(v).number)] = of(v).slot;
        }
    for (int& h : home_)
        if (h < 0) h = slots_++;
    mov(rsi, ptr[rdi + 32]);
    for (int k = 0; k < static_cast<int>(pointers_.size()); ++k) {
        const bool is_slice = k < leaves_;
        if (!is_slice && k - leaves_ >= static_cast<int>(l.stacked_bytes.size())) break;
        const auto& to = pointers_[static_cast<std::size_t>(k)];
        mov(to, memory(rdi, is_slice ? slices : stacked));
        mov(to, memory(to, 8 * (is_slice ? k : k - leaves_)));
    }
    const auto kept = [&](int v) { return v >= 0 && of(v).kept ? of(v).reg : -1; };
    const auto begin = [&](int list, int number, int bytes, int kept_in, int home) {
        const int reg = kept_in >= 0 ? kept_in : 0; // register 0 is free: kept values get registers from the top
        load_number(reg, bytes, element_of_list(list, number, bytes));
        if (kept_in < 0) move(slot(home), reg);
    };
    for (int v = 0; v < static_cast<int>(place_.size()); ++v)
        if (is_broadcast(v)) begin(operands, at(v).number, code_.bytes_of(at(v)), kept(v), of(v).slot);
    for (std::size_t i = 0; i < state_.size(); ++i)
        begin(states, static_cast<int>(i), l.state_bytes[i], kept(state_[i]), home_[i]);
    keep_constants();
    test(rsi, rsi);
    jz(end_of_loop_, T_NEAR);
    align(32);
    const xbyak::Label again = L();
    body();
    go_on();
    l.reverse ? dec(rax) : inc(rax);
    dec(rsi);
    jnz(again, T_NEAR);
    L(end_of_loop_);
    for (std::size_t i = 0; i < state_.size(); ++i) {
        int reg = kept(state_[i]);
        if (reg < 0) move(reg = 0, {slot(home_[i])});
        store_number(reg, l.state_bytes[i], element_of_list(states, static_cast<int>(i), l.state_bytes[i]));
    }
    mov(rax, ptr[rdi + 32]);
    sub(rax, rsi);
}

RILL_COLD void x86_loop_maker::once() {
    prologue();
    body();
}

RILL_COLD void x86_loop_maker::loop() {
    mov(rsi, ptr[rdi + 32]);
    sar(rsi, std::countr_zero(static_cast<unsigned>(code_.lanes()))); // whole registers
    shl(rsi, wide() ? 6 : 5);                                         // bytes
    prologue();
    const auto places = place_;
    const auto holds = holds_;
    const int slots = slots_;
    xbyak::Label rest, end;
    test(rsi, rsi);
    jz(rest, T_NEAR);
    align(32);
    const xbyak::Label begin = L();
    const auto last_sum = static_cast<std::uint32_t>((partial_sums - 1) * register_bytes());
    if (sums()) mov(ebx, eax), and_(ebx, last_sum);
    body();
    add(rax, static_cast<std::uint32_t>(register_bytes()));
    cmp(rax, rsi);
    jb(begin);
    L(rest);

    const int slots_of_loop = std::exchange(slots_, slots);
    place_ = places, holds_ = holds;
    mov(r11, ptr[rdi + 32]);
    shl(r11, bytes_shift()); // bytes
    sub(r11, rax);
    jz(end, T_NEAR);
    find_rest();
    if (sums()) mov(ebx, last_sum);
    masked_ = true;
    body();
    L(end);
    end_sums();
    slots_ = std::max(slots_, slots_of_loop);
}

RILL_COLD std::vector<std::uint8_t> x86_loop_maker::make() {
    push(rbp);
    mov(rbp, rsp);
    push(rbx);
    sub(rsp, 0x7fffffff); // patched below, when the stack's size is known
    const std::size_t stack = getSize() - 4;
    and_(rsp, static_cast<std::uint32_t>(-64));
    xor_(eax, eax);
    if (code_.loop)
        number_loop();
    else if (code_.one_element)
        once();
    else
        loop();
    vzeroupper();
    mov(rbx, ptr[rbp - 8]);
    leave();
    ret();
    exact_call();
    rewrite(stack, static_cast<std::uint64_t>(stack_bytes()), 4);
    align(64);
    L(constants_);
    const auto words = static_cast<std::size_t>(register_bytes() / 4);
    for (const auto& row : code_.rows())
        for (std::size_t k = 0; k < words; ++k) dd(row[k]);
    for (std::size_t k = 0; k < words; ++k)
        dd(static_cast<std::uint32_t>(4 * k) / static_cast<unsigned>(code_.element_bytes())); // numbers of lanes
    ready();
    return {getCode(), getCode() + getSize()};
}

RILL_COLD std::vector<std::uint8_t> x86_loop(const jit_ir& code) try {
    // keep as many constants in registers as possible without spilling other values
    const int most = code.wide() ? 24 : 9;
    std::vector<std::uint8_t> made;
    for (int kept = most;; kept = kept * 2 / 3) {
        x86_loop_maker maker(code, kept);
        made = maker.make();
        if (maker.stack_bytes() > most_jit_stack) return {};
        if (kept == 0 || maker.spills() == 0) return made;
    }
} catch (const std::bad_alloc&) {
    throw;
} catch (const std::exception&) { // of xbyak
    return {};
}

}}} // namespace rill::RILL_ABI::detail

#else
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::vector<std::uint8_t> x86_loop(const jit_ir&) { return {}; }

}}} // namespace rill::RILL_ABI::detail
#endif
