// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// size: one class, whose parts all work on the same registers

#include <rill/device/cpu/jit/x86_codegen.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/device/cpu/jit/x86_assembler.hpp>
#include <rill/device/cpu/simd/register_math.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// On entry rdi points to the block_args (System V ABI); it keeps its value. rax counts bytes, up to rsi. Pointers to the first operands
// stay in registers; others are loaded to r11 when needed. rbx (callee-saved) is the byte offset within the partial sums on the stack. k1
// holds comparisons; k2 is the mask of the remaining lanes. On 8 lanes that mask is in memory.

class x86_loop_maker {
    using assembler = x86_assembler;
    using operand = assembler::operand;
    using opcode = assembler::vector_opcode;
    using is = operand::is;

public:
    x86_loop_maker(const jit_ir& code, int kept) : code_(code), out_(code.wide()), bytes_(code.element_bytes()) {
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
    static constexpr std::array pointers{assembler::rcx, assembler::rdx, assembler::r8, assembler::r9, assembler::r10};

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
    int registers() const { return out_.wide() ? 32 : 16; }
    int slot_bytes(int slot) const { return slot * static_cast<int>(out_.register_bytes()); }

    bool eight() const { return bytes_ == 8; }
    int bytes_shift() const { return eight() ? 3 : 2; }
    /// Returns the opcode of an instruction over packed floats, whose variant for doubles has the prefix 66.
    opcode packed(std::uint8_t code) const { return {code, 1, eight() ? std::uint8_t{1} : std::uint8_t{0}, eight()}; }
    /// Returns the opcode of an instruction whose variant for elements of 8 bytes differs by W alone.
    opcode sized(std::uint8_t code, std::uint8_t map, std::uint8_t prefix = 1) const {
        return {code, map, prefix, eight()};
    }
    /// Returns the opcode of an instruction over integers, which has another byte for elements of 8 bytes.
    opcode integers(std::uint8_t code_of_4, std::uint8_t code_of_8, std::uint8_t prefix = 1) const {
        return {eight() ? code_of_8 : code_of_4, 1, prefix, eight()};
    }
    /// Returns the opcode of a comparison into a mask register, whose predicate is an immediate.
    opcode compares(bool of_ints) const { return of_ints ? sized(0x1f, 3) : packed(0xc2); }
    opcode addition(std::size_t result) const {
        const bool whole = !code_.integers.empty() && code_.integers[result];
        return whole ? integers(0xfe, 0xd4) : packed(0x58);
    }
    opcode one_number(std::uint8_t code) const { // vmovss or vmovsd
        return {code, 1, eight() ? std::uint8_t{3} : std::uint8_t{2}, eight()};
    }

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

    operand memory_of(int v);
    int next_use(int v, int now);
    int take(int now, std::initializer_list<int> pinned);
    int in_register(int v, int now, std::initializer_list<int> pinned);
    operand anywhere(int v) { return of(v).reg >= 0 ? operand{is::vector, of(v).reg} : memory_of(v); }
    void release(int v, int now);
    void define(int v, int reg) { of(v).reg = reg, holds_[static_cast<std::size_t>(reg)] = v; }
    bool dies(int v, int now) { return !of(v).kept && next_use(v, now) == never; }
    /// Returns true if instruction v, at `now`, may overwrite its operand a.
    bool gives_way(int a, int v, int now) { return dies(a, now) || replaced_by(v, now) == a; }
    int result_register(int v, int now, std::initializer_list<int> alive);
    void move(int to, operand from) {
        const bool whole = from.kind == is::constant; // a row may have unequal numbers
        if (whole) out_.use_whole_registers(true);
        out_.vector(packed(from.kind == is::vector ? 0x28 : 0x10), to, 0, from);
        if (whole) out_.use_whole_registers(!code_.loop);
    }
    void plain(int v, int now, opcode op, bool commutes, int immediate = -1);
    void unary(int v, int now, opcode op, int immediate = -1);
    void shift(int v, int now, int extension);
    void product(int v, int now, std::uint8_t form_213);
    void choose(int v, int now);
    void compare(int v, int now);
    void compare_choose(int v, int now);
    void lookup(int v, int now);
    void exact(int v, int now);
    void exact_call();
    void widen(int v, int now);
    void narrow(int v, int now);
    void cast(int v, int now);
    void once();
    void loop();

    // loops over numbers
    void number_loop();
    assembler::general loop_pointer(bool stacked, int number);
    void load_number(int to, int bytes, operand from);
    void store_number(int reg, int bytes, operand to);
    void leave_unless(int condition, int now);
    void store_stacked(int now);
    void go_on();
    int replaced_by(int v, int now);
    bool is_test(int v) const; // a comparison that only decides whether the loop goes on
    assembler::general pointer(bool result, int number);

    const jit_ir& code_;
    x86_assembler out_;
    int bytes_; // of the elements of the instruction
    std::vector<place> place_;
    std::array<int, 32> holds_{};
    std::vector<int> kept_;
    std::vector<int> sum_slot_; // per result: the slot of its first partial sum
    int slots_ = 0, spills_ = 0, leaves_ = 0, last_leaf_ = -1;
    bool masked_ = false; // emitting the pass over the remaining lanes
    int mask_slot_ = -1;
    int exact_slot_ = -1;                   // two slots: arguments and results of exact calls
    std::vector<std::size_t> exact_places_; // the rel32 of each call
    std::vector<std::size_t> exits_;        // the rel32 of each jump out of a loop over numbers
    std::vector<int> state_;                // per state value: the instruction that reads it, or -1
    std::vector<int> home_;                 // per state value: its slot, also while it has a register
    std::vector<char> stored_;
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

RILL_COLD auto x86_loop_maker::memory_of(int v) -> operand {
    if (at(v).op == vector_op::constant) return {is::constant, at(v).number};
    return {is::stack, slot_bytes(of(v).slot)};
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
        out_.vector(packed(0x11), best, 0, memory_of(v));
    }
    of(v).reg = -1;
    holds_[static_cast<std::size_t>(best)] = -1;
    return best;
}

RILL_COLD int x86_loop_maker::in_register(int v, int now, std::initializer_list<int> pinned) {
    if (of(v).reg < 0) {
        const operand from = memory_of(v);
        const int reg = take(now - 1, pinned); // now - 1: operands of this instruction must stay
        move(reg, from);
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

RILL_COLD void x86_loop_maker::plain(int v, int now, opcode op, bool commutes, int immediate) {
    int a = at(v).args[0], b = at(v).args[1];
    if (commutes && of(a).reg < 0 && of(b).reg >= 0) std::swap(a, b);
    const int first = in_register(a, now, {a, b});
    const operand second = anywhere(b);
    release(a, now), release(b, now);
    out_.vector(op, result_register(v, now, {}), first, second, immediate);
}

RILL_COLD void x86_loop_maker::unary(int v, int now, opcode op, int immediate) {
    const int a = at(v).args[0];
    const operand from = anywhere(a);
    release(a, now);
    out_.vector(op, result_register(v, now, {}), 0, from, immediate);
}

RILL_COLD void x86_loop_maker::shift(int v, int now, int extension) {
    const int a = at(v).args[0], from = in_register(a, now, {a});
    release(a, now);
    out_.vector(integers(0x72, 0x73), extension, result_register(v, now, {}), {is::vector, from}, at(v).number);
}

/// Emits a * b + c and its variants. `form_213` is the opcode of a = b * a + c; the 132 and 231 forms are at fixed distances.
RILL_COLD void x86_loop_maker::product(int v, int now, std::uint8_t form_213) {
    auto [a, b, c, none] = at(v).args;
    const auto form_231 = static_cast<std::uint8_t>(form_213 + 0x10),
               form_132 = static_cast<std::uint8_t>(form_213 - 0x10);
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
        if (gives_way(a, v, now)) return out_.vector(sized(form_213, 2), into(a), rb, last);
        if (gives_way(b, v, now)) return out_.vector(sized(form_213, 2), into(b), ra, last);
        const int reg = result_register(v, now, {a, b, c});
        move(reg, last);
        return out_.vector(sized(form_231, 2), reg, of(a).reg, {is::vector, of(b).reg});
    }
    const int rc = in_register(c, now, {a, b, c}), state = replaced_by(v, now);
    const operand last = anywhere(b);
    if (state == c || (state < 0 && dies(c, now))) return out_.vector(sized(form_231, 2), into(c), ra, last);
    if (state == a || (state < 0 && dies(a, now))) return out_.vector(sized(form_132, 2), into(a), rc, last);
    if (last.kind == is::vector && (state == b || (state < 0 && dies(b, now))))
        return out_.vector(sized(form_213, 2), into(b), ra, {is::vector, rc});
    // operands are still read below: `reg` is not one of their registers
    const int reg = result_register(v, now, {a, b, c});
    release(a, now), release(b, now), release(c, now);
    move(reg, {is::vector, rc});
    out_.vector(sized(form_231, 2), reg, ra, last);
}

RILL_COLD void x86_loop_maker::choose(int v, int now) {
    const auto [m, a, b, none] = at(v).args;
    if (out_.wide()) { // vpternlog selects bit by bit and overwrites the condition
        const int rm = in_register(m, now, {m, a, b}), ra = in_register(a, now, {m, a, b});
        const operand last = anywhere(b);
        if (dies(m, now) && m != a && m != b) {
            holds_[static_cast<std::size_t>(rm)] = -1, of(m).reg = -1;
            define(v, rm);
            out_.vector({0x25, 3, 1}, rm, ra, last, 0xca);
        } else {
            const int reg = take(now - 1, {m, a, b});
            move(reg, {is::vector, rm});
            out_.vector({0x25, 3, 1}, reg, ra, last, 0xca);
            define(v, reg);
        }
        release(m, now), release(a, now), release(b, now);
        return;
    }
    const int rm = in_register(m, now, {m, a, b}), rb = in_register(b, now, {m, a, b});
    const operand last = anywhere(a);
    release(m, now), release(a, now), release(b, now);
    out_.vector({0x4a, 3, 1}, result_register(v, now, {}), rb, last, rm << 4);
}

RILL_COLD void x86_loop_maker::compare(int v, int now) {
    const auto& i = at(v);
    const bool of_ints = i.op == vector_op::int_compare;
    if (!out_.wide()) {
        if (!of_ints) return plain(v, now, packed(0xc2), false, i.number);
        if (i.number == int_equal) return plain(v, now, eight() ? opcode{0x29, 2, 1} : opcode{0x76, 1, 1}, true);
        return plain(v, now, eight() ? opcode{0x37, 2, 1} : opcode{0x66, 1, 1}, false);
    }
    const int a = i.args[0], b = i.args[1], first = in_register(a, now, {a, b});
    out_.vector(compares(of_ints), 1, first, anywhere(b), i.number);
    release(a, now), release(b, now);
    if (is_test(v)) return;
    out_.vector(sized(0x38, 2, 2), result_register(v, now, {}), 0, {is::vector, 1}); // all bits of the lanes in k1
}

RILL_COLD void x86_loop_maker::compare_choose(int v, int now) {
    const auto [x, y, a, b] = at(v).args;
    const int rx = in_register(x, now, {x, y, b}), rb = in_register(b, now, {x, y, b});
    const int how = at(v).number;
    out_.vector(compares(how >= of_integers), 1, rx, anywhere(y), how & 0xff); // into k1
    const operand last = anywhere(a);
    release(x, now), release(y, now), release(a, now), release(b, now);
    out_.vector(sized(0x65, 2), result_register(v, now, {}), rb, last, -1, 1);
}

RILL_COLD void x86_loop_maker::lookup(int v, int now) {
    const auto [entry, low, high, none] = at(v).args;
    const int from = in_register(entry, now, {entry, low, high});
    if (!out_.wide()) {
        const operand row = anywhere(low);
        release(entry, now);
        const int reg = result_register(v, now, {low});
        out_.use_whole_registers(true);
        out_.vector({0x16, 2, 1}, reg, from, row);
        return out_.use_whole_registers(!code_.loop);
    }
    const operand first = anywhere(low), second = anywhere(high);
    const int reg = take(now - 1, {entry, low, high});
    out_.use_whole_registers(true);
    move(reg, first);
    out_.use_whole_registers(true);
    out_.vector({0x7f, 2, 1}, reg, from, second);
    out_.use_whole_registers(!code_.loop);
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
    const opcode compare = packed(0xc2);
    constexpr int greater = 30;
    if (out_.wide()) {
        out_.vector(compare, 1, rs, anywhere(most), greater);
        out_.bytes({0xc5, 0xf8, 0x98, 0xc9}); // kortestw k1, k1
    } else {
        const int mask = take(now - 1, {y, size, x, most});
        out_.vector(compare, mask, rs, anywhere(most), greater);
        out_.vector(packed(0x50), assembler::r11, 0, {is::vector, mask}); // vmovmskps
        out_.bytes({0x45, 0x85, 0xdb});                                   // test r11d, r11d
    }
    out_.bytes({0x0f, 0x84}); // jz
    const std::size_t none = out_.here();
    out_.number(0, 4);
    const operand arguments{is::stack, slot_bytes(exact_slot_)}, results{is::stack, slot_bytes(exact_slot_ + 1)};
    out_.vector(packed(0x11), rx, 0, arguments);
    out_.vector(packed(0x11), ry, 0, results);
    out_.bytes({0x41, 0xbb}); // mov r11d, function
    out_.number(at(v).number + (eight() ? exact_of_doubles : 0), 4);
    out_.bytes({0xe8}); // call
    exact_places_.push_back(out_.here());
    out_.number(0, 4);
    if (code_.loop)
        load_number(ry, bytes_, results);
    else
        move(ry, results);
    out_.lead(none, out_.here());
    const bool last = dies(y, now);
    release(size, now), release(x, now), release(most, now), release(y, now);
    if (last) return define(v, ry);
    move(result_register(v, now, {y}), {is::vector, ry});
}

/// Emits the routine that exact calls go to. It preserves all registers but r11.
RILL_COLD void x86_loop_maker::exact_call() {
    if (exact_places_.empty()) return;
    for (const auto at : exact_places_) out_.lead(at, out_.here());
    out_.use_whole_registers(true);
    out_.bytes(
        {0x50, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52}); // push rax rcx rdx rsi rdi r8 r9 r10
    if (out_.wide()) out_.bytes({0xc5, 0xf8, 0x93, 0xc2, 0x50});             // kmovw eax, k2; push rax
    // pushed: bytes on the stack, with the return address; `saved` makes rsp a multiple of 64 again
    const int pushed = out_.wide() ? 80 : 72, saved = slot_bytes(registers()) + 128 - pushed;
    const auto each = [&](int code) {
        for (int r = 0; r < registers(); ++r)
            out_.vector(packed(static_cast<std::uint8_t>(code)), r, 0, {is::stack, slot_bytes(r)});
    };
    out_.bytes({0x48, 0x81, 0xec}); // sub rsp, saved
    out_.number(saved, 4);
    each(0x11);
    out_.bytes({0x48, 0x8d, 0xbc, 0x24}); // lea rdi, [rsp + …]
    out_.number(saved + pushed + slot_bytes(exact_slot_), 4);
    out_.bytes({0x48, 0x8d, 0xb4, 0x24}); // lea rsi
    out_.number(saved + pushed + slot_bytes(exact_slot_ + 1), 4);
    out_.bytes({0xba}); // mov edx, lanes
    out_.number(code_.loop ? 1 : code_.lanes(), 4);
    out_.bytes({0x44, 0x89, 0xd9, 0x48, 0xb8}); // mov ecx, r11d; mov rax, …
    out_.number(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&exact_numbers)), 8);
    out_.bytes({0xc5, 0xf8, 0x77, 0xff, 0xd0}); // vzeroupper; call rax
    each(0x10);
    out_.bytes({0x48, 0x81, 0xc4}); // add rsp, saved
    out_.number(saved, 4);
    if (out_.wide()) out_.bytes({0x58, 0xc5, 0xf8, 0x92, 0xd0}); // pop rax; kmovw k2, eax
    out_.bytes({0x41, 0x5a, 0x41, 0x59, 0x41, 0x58, 0x5f, 0x5e, 0x5a, 0x59, 0x58, 0xc3});
}

RILL_COLD void x86_loop_maker::widen(int v, int now) {
    const int a = at(v).args[0], from = in_register(a, now, {a});
    release(a, now);
    const int reg = result_register(v, now, {});
    const bool upper = at(v).number == 1 && !code_.loop; // in a loop over numbers both halves are equal
    if (upper) // vextractf128 or vextractf64x4
        out_.vector(out_.wide() ? opcode{0x1b, 3, 1, true} : opcode{0x19, 3, 1}, from, 0, {is::vector, reg}, 1);
    out_.vector({0x5a, 1, 0}, reg, 0, {is::vector, upper ? reg : from}); // vcvtps2pd
}

RILL_COLD void x86_loop_maker::narrow(int v, int now) {
    const int a = at(v).args[0], b = at(v).args[1];
    const int lower = in_register(a, now, {a, b}), upper = in_register(b, now, {a, b});
    const int reg = take(now - 1, {a, b});
    define(v, reg);
    const opcode convert{0x5a, 1, 1, out_.wide()}; // vcvtpd2ps
    out_.vector(convert, reg, 0, {is::vector, lower});
    if (code_.loop) {
        release(a, now), release(b, now);
        return out_.vector({0x58, 2, 1}, reg, 0, {is::vector, reg}); // vpbroadcastd
    }
    const int other = take(now - 1, {a, b, v});
    out_.vector(convert, other, 0, {is::vector, upper});
    // vinsertf128 or vinsertf64x4
    out_.vector(out_.wide() ? opcode{0x1a, 3, 1, true} : opcode{0x18, 3, 1}, reg, reg, {is::vector, other}, 1);
    release(a, now), release(b, now);
}

RILL_COLD void x86_loop_maker::compute(int v, int now) {
    const auto& i = at(v);
    switch (i.op) {
    case vector_op::constant:
    case vector_op::splat:
    case vector_op::state:
    case vector_op::scalar: return;
    case vector_op::leaf: return load_leaf(v, now);
    case vector_op::add: return plain(v, now, packed(0x58), true);
    case vector_op::mul: return plain(v, now, packed(0x59), true);
    case vector_op::sub: return plain(v, now, packed(0x5c), false);
    case vector_op::smaller: return plain(v, now, packed(0x5d), false);
    case vector_op::div: return plain(v, now, packed(0x5e), false);
    case vector_op::larger: return plain(v, now, packed(0x5f), false);
    case vector_op::bit_and: return plain(v, now, packed(0x54), true);
    case vector_op::bit_or: return plain(v, now, packed(0x56), true);
    case vector_op::bit_xor: return plain(v, now, packed(0x57), true);
    case vector_op::int_add: return plain(v, now, integers(0xfe, 0xd4), true);
    case vector_op::int_sub: return plain(v, now, integers(0xfa, 0xfb), false);
    case vector_op::int_mul: return plain(v, now, sized(0x40, 2), true);
    case vector_op::int_mul_halves: return plain(v, now, sized(0xf4, 1), true);
    case vector_op::int_smaller: return plain(v, now, sized(0x39, 2), true);
    case vector_op::int_larger: return plain(v, now, sized(0x3d, 2), true);
    case vector_op::to_float: return unary(v, now, eight() ? opcode{0xe6, 1, 2, true} : opcode{0x5b, 1, 0});
    case vector_op::to_int: return unary(v, now, eight() ? opcode{0x7a, 1, 1, true} : opcode{0x5b, 1, 2});
    case vector_op::scale: return plain(v, now, sized(0x2c, 2), false);
    case vector_op::sqrt: return unary(v, now, packed(0x51));
    case vector_op::round: return unary(v, now, sized(eight() ? std::uint8_t{0x09} : std::uint8_t{0x08}, 3), i.number);
    case vector_op::int_left: return shift(v, now, 6);
    case vector_op::int_right: return shift(v, now, 2);
    case vector_op::multiply_add: return product(v, now, 0xa8);
    case vector_op::multiply_sub: return product(v, now, 0xaa);
    case vector_op::sub_product: return product(v, now, 0xac);
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

RILL_COLD auto x86_loop_maker::pointer(bool result, int number) -> assembler::general {
    const auto n = static_cast<std::size_t>(result ? leaves_ + number : number);
    if (n < pointers.size()) return pointers[n];
    out_.load(assembler::r11, assembler::rdi, result ? 16 : 0);
    out_.load(assembler::r11, assembler::r11, 8 * number);
    return assembler::r11;
}

RILL_COLD void x86_loop_maker::prologue() {
    for (std::size_t k = 0; k < pointers.size(); ++k) {
        const bool result = k >= static_cast<std::size_t>(leaves_);
        const int number = static_cast<int>(k) - (result ? leaves_ : 0);
        if (result && static_cast<std::size_t>(number) >= code_.results.size()) break;
        out_.load(pointers[k], assembler::rdi, result ? 16 : 0);
        out_.load(pointers[k], pointers[k], 8 * number);
    }
    for (int v = 0; v < static_cast<int>(place_.size()); ++v) {
        if (!is_broadcast(v)) continue;
        out_.load(assembler::r11, assembler::rdi, at(v).op == vector_op::splat ? 0 : 8);
        out_.load(assembler::r11, assembler::r11, 8 * at(v).number);
        const int reg = of(v).kept ? of(v).reg : 0; // register 0 is free: kept values get registers from the top
        out_.splat(reg, assembler::r11, code_.element_bytes());
        if (!of(v).kept) out_.vector(packed(0x11), reg, 0, memory_of(v));
    }
    for (const int v : kept_)
        if (at(v).op == vector_op::constant) move(of(v).reg, memory_of(v));
    begin_sums();
}

RILL_COLD void x86_loop_maker::begin_sums() {
    if (!sums()) return;
    out_.vector(packed(0x57), 0, 0, {is::vector, 0}); // xor: register 0 becomes 0
    sum_slot_.resize(code_.results.size());
    for (std::size_t r = 0; r < code_.results.size(); ++r) {
        if (!is_summed(r)) continue;
        sum_slot_[r] = slots_;
        for (int part = 0; part < partial_sums; ++part)
            out_.vector(packed(0x11), 0, 0, {is::stack, slot_bytes(slots_++)});
    }
}

/// Adds the four partial sums in pairs, then halves of the register, in the order of combine_fold.
RILL_COLD void x86_loop_maker::end_sums() {
    if (!sums()) return;
    constexpr opcode shuffle_numbers{0x04, 3, 1};
    const opcode shuffle_lanes = out_.wide() ? opcode{0x43, 3, 1} : opcode{0x06, 3, 1};
    const auto join = [&](opcode add, opcode shuffle, int order) {
        out_.vector(shuffle, 1, 0, {is::vector, 0}, order);
        out_.vector(add, 0, 0, {is::vector, 1});
    };
    out_.bytes({0x31, 0xc0}); // xor eax, eax
    for (std::size_t r = 0; r < code_.results.size(); ++r) {
        if (!is_summed(r)) continue;
        const opcode add = addition(r);
        const auto part = [&](int k) { return operand{is::stack, slot_bytes(sum_slot_[r] + k)}; };
        move(0, part(0)), out_.vector(add, 0, 0, part(1));
        move(1, part(2)), out_.vector(add, 1, 1, part(3));
        out_.vector(add, 0, 0, {is::vector, 1});
        if (out_.wide()) join(add, shuffle_lanes, 0x4e);
        join(add, shuffle_lanes, out_.wide() ? 0xb1 : 1);
        join(add, shuffle_numbers, 0x4e);
        if (!eight()) join(add, shuffle_numbers, 0xb1);
        out_.vector(one_number(0x11), 0, 0, {is::element, pointer(true, static_cast<int>(r))});
    }
}

/// Computes the mask of the remaining lanes, whose bytes are in r11.
RILL_COLD void x86_loop_maker::find_rest() {
    out_.bytes({0x49, 0xc1, 0xeb, bytes_shift()}); // shr r11: elements
    if (out_.wide()) {
        out_.bytes({0xbe, 0xff, 0xff, 0xff, 0xff}); // mov esi, -1
        out_.bytes({0xc4, 0xe2, 0x20, 0xf5, 0xf6}); // bzhi esi, esi, r11d
        out_.bytes({0xc5, 0xf8, 0x92, 0xd6});       // kmovw k2, esi
        return;
    }
    mask_slot_ = slots_++;
    out_.bytes({0xc4, 0xc1, 0x79, 0x6e, 0xc3}); // vmovd xmm0, r11d
    out_.bytes({0xc4, 0xe2, 0x7d, 0x58, 0xc0}); // vpbroadcastd ymm0, xmm0
    out_.vector({0x66, 1, 1}, 0, 0,
                {is::constant, static_cast<int>(code_.rows().size())}); // vpcmpgtd: elements > lane number, per lane
    out_.vector(packed(0x11), 0, 0, {is::stack, slot_bytes(mask_slot_)});
}

RILL_COLD void x86_loop_maker::load_leaf(int v, int now) {
    if (code_.loop) {
        const int bytes = code_.bytes_of(at(v)), reg = result_register(v, now, {});
        return load_number(reg, bytes, {is::element, loop_pointer(false, at(v).number), std::countr_zero(unsigned(bytes))});
    }
    const auto from = pointer(false, at(v).number);
    const int reg = result_register(v, now, {});
    if (code_.one_element) return out_.vector(one_number(0x10), reg, 0, {is::element, from});
    if (masked_ && !out_.wide()) {
        move(reg, {is::stack, slot_bytes(mask_slot_)});
        return out_.vector({std::uint8_t(eight() ? 0x2d : 0x2c), 2, 1}, reg, reg, {is::element, from});
    }
    out_.vector(packed(0x10), reg, 0, {is::element, from}, -1, masked_ ? 2 | assembler::zeroing : 0);
}

RILL_COLD void x86_loop_maker::store(int reg, int result, int now) {
    int mask = 0;
    if (masked_ && !out_.wide()) {
        mask = take(now, {holds_[static_cast<std::size_t>(reg)]});
        move(mask, {is::stack, slot_bytes(mask_slot_)});
    }
    const auto to = pointer(true, result);
    if (code_.one_element) return out_.vector(one_number(0x11), reg, 0, {is::element, to});
    if (masked_ && !out_.wide())
        return out_.vector({std::uint8_t(eight() ? 0x2f : 0x2e), 2, 1}, reg, mask, {is::element, to});
    out_.vector(packed(0x11), reg, 0, {is::element, to}, -1, masked_ ? 2 : 0);
}

RILL_COLD void x86_loop_maker::add_to_sums(int v, int result, int now) {
    const int reg = in_register(v, now, {v}), sum = take(now, {v});
    if (masked_ && out_.wide()) out_.vector(packed(0x28), sum, 0, {is::vector, reg}, -1, 2 | assembler::zeroing);
    if (masked_ && !out_.wide()) {
        move(sum, {is::stack, slot_bytes(mask_slot_)});
        out_.vector(packed(0x54), sum, sum, {is::vector, reg});
    }
    const operand to{is::partial, slot_bytes(sum_slot_[static_cast<std::size_t>(result)])};
    out_.vector(addition(static_cast<std::size_t>(result)), sum, masked_ ? sum : reg, to);
    out_.vector(packed(0x11), sum, 0, to);
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
        if (code_.loop)
            store_stacked(v);
        else
            store_results(v);
    }
}

/// Converts a number, whose copies fill the register. A conversion to fewer bytes leaves copies in a part of the register only.
RILL_COLD void x86_loop_maker::cast(int v, int now) {
    constexpr int int32 = 0, int64 = 1, float32 = 2;
    const int a = at(v).args[0], from_kind = at(v).number / 4, to_kind = at(v).number % 4;
    const bool from_eight = from_kind % 2 != 0, to_eight = to_kind % 2 != 0;
    const int from = in_register(a, now, {a});
    release(a, now);
    const int reg = result_register(v, now, {});
    const auto spread = [&] { // vpbroadcastd or q
        out_.vector({std::uint8_t(to_eight ? 0x59 : 0x58), 2, 1, to_eight && out_.wide()}, reg, 0, {is::vector, reg});
    };
    const auto convert = [&](opcode op) { out_.vector(op, reg, 0, {is::vector, from}); };
    const bool w = out_.wide();
    if (from_kind < float32 && to_kind < float32) {
        if (to_eight) return convert({0x25, 2, 1}); // vpmovsxdq
        return out_.vector({0x58, 2, 1}, reg, 0, {is::vector, from});
    }
    if (from_kind >= float32 && to_kind >= float32)
        convert(from_eight ? opcode{0x5a, 1, 1, w} : opcode{0x5a, 1, 0}); // vcvtpd2ps, vcvtps2pd
    else if (from_kind == int32)
        convert({0xe6, 1, 2}); // vcvtdq2pd
    else if (to_kind == int32)
        convert({0xe6, 1, 1, w}); // vcvttpd2dq
    else if (w && from_kind == int64)
        convert(to_eight ? opcode{0xe6, 1, 2, true} : opcode{0x5b, 1, 0, true}); // vcvtqq2pd, vcvtqq2ps
    else if (w)
        convert({0x7a, 1, 1, from_eight}); // vcvttpd2qq, vcvttps2qq
    else if (from_kind == int64) {
        const operand number{is::stack, slot_bytes(slots_++)};
        out_.vector(packed(0x11), from, 0, number);
        out_.vector({0x2a, 1, std::uint8_t(to_eight ? 3 : 2), true}, reg, from, number); // vcvtsi2sd, vcvtsi2ss
        return spread();
    } else {
        out_.vector({0x2c, 1, std::uint8_t(from_eight ? 3 : 2), true}, assembler::rbx, 0, {is::vector, from}); // vcvttsd2si
        return out_.splat_rbx(reg, 8);
    }
    if (from_eight && !to_eight) spread();
}

// ---- loops over numbers -------------------------------------------------------------------------------------------------------

// rdi points to the compiled_loop_args. rsi counts the iterations that are left; rax counts those that ran, down in a reverse loop. Every
// state value has a home: a kept register, or a slot. The body reads the homes; the next values move there after it.

RILL_COLD bool x86_loop_maker::is_test(int v) const {
    return code_.loop && code_.loop->conditional && out_.wide() && code_.results[0] == v &&
           (at(v).op == vector_op::compare || at(v).op == vector_op::int_compare) &&
           place_[static_cast<std::size_t>(v)].uses == std::vector{static_cast<int>(place_.size())};
}

RILL_COLD auto x86_loop_maker::loop_pointer(bool stacked, int number) -> assembler::general {
    const auto slices = static_cast<int>(leaves_);
    const auto n = static_cast<std::size_t>(stacked ? slices + number : number);
    if (n < pointers.size()) return pointers[n];
    out_.load(assembler::r11, assembler::rdi, stacked ? 24 : 16);
    out_.load(assembler::r11, assembler::r11, 8 * number);
    return assembler::r11;
}

/// Loads a number into all lanes. `from` is an element or on the stack. A truth value of 1 byte fills the lanes with its bit.
RILL_COLD void x86_loop_maker::load_number(int to, int bytes, operand from) {
    const bool eight = bytes == 8;
    if (bytes > 1)
        return out_.vector({std::uint8_t(eight ? 0x59 : 0x58), 2, 1, eight && out_.wide()}, to, 0, from); // vpbroadcastd or q
    out_.bytes({0x40 | from.number >> 3, 0x0f, 0xb6, 0x1c, from.number & 7}); // movzx ebx, byte [from + rax]
    out_.bytes({0xf7, 0xdb});                                                 // neg ebx
    out_.splat_rbx(to, 4);
}

RILL_COLD void x86_loop_maker::store_number(int reg, int bytes, operand to) {
    if (bytes > 1) {
        const bool eight = bytes == 8;
        const opcode one{0x11, 1, std::uint8_t(eight ? 3 : 2), eight};
        return out_.vector(one, reg, 0, to);
    }
    if (out_.wide()) {
        out_.vector({0x39, 2, 2}, 1, 0, {is::vector, reg}); // vpmovd2m k1
        out_.bytes({0xc5, 0xf8, 0x93, 0xd9});               // kmovw ebx, k1
    } else {
        out_.vector({0x50, 1, 0}, assembler::rbx, 0, {is::vector, reg}); // vmovmskps
    }
    out_.bytes({0x83, 0xe3, 0x01});                                           // and ebx, 1
    out_.bytes({0x40 | to.number >> 3, 0x88, 0x1c, to.number & 7}); // mov byte [to + rax], bl
}

/// Leaves the loop unless the condition is true.
RILL_COLD void x86_loop_maker::leave_unless(int condition, int now) {
    if (!is_test(condition)) {
        const int reg = in_register(condition, now, {condition});
        if (out_.wide())
            out_.vector({0x39, 2, 2}, 1, 0, {is::vector, reg}); // vpmovd2m k1
        else
            out_.vector({0x50, 1, 0}, assembler::rbx, 0, {is::vector, reg}); // vmovmskps
    }
    if (out_.wide())
        out_.bytes({0xc5, 0xf8, 0x98, 0xc9}); // kortestw k1, k1
    else
        out_.bytes({0x85, 0xdb}); // test ebx, ebx
    out_.bytes({0x0f, 0x84});     // jz
    exits_.push_back(out_.here());
    out_.number(0, 4);
}

/// Stores the stacked outputs that instruction `now` has computed. Before, tests the condition, if that is the value.
RILL_COLD void x86_loop_maker::store_stacked(int now) {
    const auto& l = *code_.loop;
    const auto drop = [&](int v) { // a use after all instructions (see choose_kept)
        auto& uses = of(v).uses;
        uses.erase(uses.begin());
        release(v, now);
    };
    if (l.conditional && code_.results[0] == now) {
        leave_unless(now, now);
        if (is_test(now))
            of(now).uses.clear();
        else
            drop(now);
    }
    if (l.conditional && now < code_.results[0]) return;
    const std::size_t first = code_.results.size() - l.stacked_bytes.size();
    for (std::size_t r = first; r < code_.results.size(); ++r) {
        const int v = code_.results[r];
        if (stored_[r] || v > now) continue;
        stored_[r] = true;
        const int reg = in_register(v, now, {v}), bytes = l.stacked_bytes[r - first];
        const auto to = loop_pointer(true, static_cast<int>(r - first));
        store_number(reg, bytes, {is::element, to, std::countr_zero(unsigned(bytes))});
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
    const auto slot = [&](int s) { return operand{is::stack, slot_bytes(s)}; };
    std::vector<int> copy(parts, -1);
    for (std::size_t i = 0; i < parts; ++i) { // a state value that becomes another: its own home may change first
        const int v = code_.results[first + i];
        if (v == state_[i] || !is_state(v)) continue;
        const int reg = in_register(v, now, {v});
        out_.vector(packed(0x11), reg, 0, slot(copy[i] = slots_++));
    }
    for (std::size_t i = 0; i < parts; ++i) {
        const int v = code_.results[first + i];
        if (v == state_[i]) continue;
        const operand from = copy[i] >= 0 ? slot(copy[i]) : anywhere(v);
        if (state_[i] >= 0 && of(state_[i]).kept) {
            if (from.kind != is::vector || from.number != of(state_[i]).reg) move(of(state_[i]).reg, from);
            continue;
        }
        int reg = from.number;
        if (from.kind != is::vector) move(reg = take(now, {v}), from);
        out_.vector(packed(0x11), reg, 0, slot(home_[i]));
    }
}

RILL_COLD void x86_loop_maker::number_loop() {
    const auto& l = *code_.loop;
    out_.use_whole_registers(false);
    state_.assign(l.state_bytes.size(), -1);
    home_.assign(l.state_bytes.size(), -1);
    for (int v = 0; v < static_cast<int>(place_.size()); ++v)
        if (is_state(v)) {
            state_[static_cast<std::size_t>(at(v).number)] = v;
            home_[static_cast<std::size_t>(at(v).number)] = of(v).slot;
        }
    for (int& h : home_)
        if (h < 0) h = slots_++;
    out_.load(assembler::rsi, assembler::rdi, 32);
    for (std::size_t k = 0; k < pointers.size(); ++k) {
        const bool stacked = k >= static_cast<std::size_t>(leaves_);
        const int number = static_cast<int>(k) - (stacked ? leaves_ : 0);
        if (stacked && static_cast<std::size_t>(number) >= l.stacked_bytes.size()) break;
        out_.load(pointers[k], assembler::rdi, stacked ? 24 : 16);
        out_.load(pointers[k], pointers[k], 8 * number);
    }
    const auto address = [&](int list, std::size_t number) { // in r11
        out_.load(assembler::r11, assembler::rdi, list);
        out_.load(assembler::r11, assembler::r11, 8 * static_cast<int>(number));
        return operand{is::element, assembler::r11};
    };
    // register 0 is free: kept values get registers from the top
    const auto begin = [&](int list, std::size_t number, int bytes, int kept, int slot) {
        const int reg = kept >= 0 ? kept : 0;
        load_number(reg, bytes, address(list, number));
        if (kept < 0) out_.vector(packed(0x11), reg, 0, {is::stack, slot_bytes(slot)});
    };
    const auto kept = [&](int v) { return v >= 0 && of(v).kept ? of(v).reg : -1; };
    for (int v = 0; v < static_cast<int>(place_.size()); ++v)
        if (is_broadcast(v))
            begin(0, static_cast<std::size_t>(at(v).number), code_.bytes_of(at(v)), kept(v), of(v).slot);
    for (std::size_t i = 0; i < state_.size(); ++i) begin(8, i, l.state_bytes[i], kept(state_[i]), home_[i]);
    for (const int v : kept_)
        if (at(v).op == vector_op::constant) move(of(v).reg, memory_of(v));
    out_.bytes({0x48, 0x85, 0xf6, 0x0f, 0x84}); // test rsi, rsi; jz end
    exits_.push_back(out_.here());
    out_.number(0, 4);
    while (out_.here() % 32 != 0) out_.bytes({0x90});
    const std::size_t again = out_.here();
    body();
    go_on();
    out_.bytes({0x48, 0xff, l.reverse ? 0xc8 : 0xc0}); // dec rax or inc rax
    out_.bytes({0x48, 0xff, 0xce, 0x0f, 0x85});        // dec rsi; jnz again
    out_.number(0, 4);
    out_.lead(out_.here() - 4, again);
    for (const auto at : exits_) out_.lead(at, out_.here());
    out_.bytes({0x31, 0xc0}); // xor eax, eax
    for (std::size_t i = 0; i < state_.size(); ++i) {
        const auto to = address(8, i);
        int reg = kept(state_[i]);
        if (reg < 0) move(reg = 0, {is::stack, slot_bytes(home_[i])});
        store_number(reg, l.state_bytes[i], to);
    }
    out_.load(assembler::rax, assembler::rdi, 32);
    out_.bytes({0x48, 0x29, 0xf0}); // sub rax, rsi
}

RILL_COLD void x86_loop_maker::once() {
    prologue();
    body();
}

RILL_COLD void x86_loop_maker::loop() {
    out_.load(assembler::rsi, assembler::rdi, 32);
    out_.bytes({0x48, 0xc1, 0xfe, std::countr_zero(unsigned(code_.lanes()))}); // sar rsi: whole registers
    out_.bytes({0x48, 0xc1, 0xe6, out_.wide() ? 6 : 5});                       // shl rsi: bytes
    prologue();
    const auto places = place_;
    const auto holds = holds_;
    const int slots = slots_;
    out_.bytes({0x48, 0x85, 0xf6, 0x0f, 0x84}); // test rsi, rsi; jz rest
    const std::size_t none = out_.here();
    out_.number(0, 4);
    while (out_.here() % 32 != 0) out_.bytes({0x90});
    const std::size_t loop = out_.here();
    const int last_sum = (partial_sums - 1) * slot_bytes(1);
    if (sums()) {
        out_.bytes({0x89, 0xc3, 0x81, 0xe3}); // mov ebx, eax; and ebx, last_sum
        out_.number(last_sum, 4);
    }
    body();
    out_.bytes({0x48, 0x05}); // add rax, bytes
    out_.number(slot_bytes(1), 4);
    out_.bytes({0x48, 0x39, 0xf0, 0x0f, 0x82}); // cmp rax, rsi; jb loop
    out_.number(0, 4);
    out_.lead(out_.here() - 4, loop);
    out_.lead(none, out_.here());

    const int slots_of_loop = std::exchange(slots_, slots);
    place_ = places, holds_ = holds;
    out_.load(assembler::r11, assembler::rdi, 32);
    out_.bytes({0x49, 0xc1, 0xe3, bytes_shift(), 0x49, 0x29, 0xc3, 0x0f, 0x84}); // shl r11: bytes; sub r11, rax; jz end
    const std::size_t end = out_.here();
    out_.number(0, 4);
    find_rest();
    if (sums()) {
        out_.bytes({0xbb}); // mov ebx, last_sum
        out_.number(last_sum, 4);
    }
    masked_ = true;
    body();
    out_.lead(end, out_.here());
    end_sums();
    slots_ = std::max(slots_, slots_of_loop);
}

RILL_COLD std::vector<std::uint8_t> x86_loop_maker::make() {
    out_.bytes({0x55, 0x48, 0x89, 0xe5, 0x53}); // push rbp; mov rbp, rsp; push rbx
    out_.bytes({0x48, 0x81, 0xec});             // sub rsp, stack
    const std::size_t stack = out_.here();
    out_.number(0, 4);
    out_.bytes({0x48, 0x83, 0xe4, 0xc0}); // and rsp, -64
    out_.bytes({0x31, 0xc0});             // xor eax, eax
    if (code_.loop)
        number_loop();
    else if (code_.one_element)
        once();
    else
        loop();
    out_.bytes({0xc5, 0xf8, 0x77, 0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3}); // vzeroupper; mov rbx, [rbp - 8]; leave; ret
    exact_call();
    out_.set(stack, static_cast<std::uint32_t>(stack_bytes()));
    auto rows = code_.rows();
    auto& numbers = rows.emplace_back();
    for (std::size_t k = 0; k < numbers.size(); ++k)
        numbers[k] = static_cast<std::uint32_t>(4 * k) / static_cast<unsigned>(code_.element_bytes());
    return out_.with_constants(rows);
}

RILL_COLD std::vector<std::uint8_t> x86_loop(const jit_ir& code) {
    // keep as many constants in registers as possible without spilling other values
    const int most = code.wide() ? 24 : 9;
    std::vector<std::uint8_t> made;
    for (int kept = most;; kept = kept * 2 / 3) {
        x86_loop_maker maker(code, kept);
        made = maker.make();
        if (maker.stack_bytes() > most_jit_stack) return {};
        if (kept == 0 || maker.spills() == 0) return made;
    }
}

}}} // namespace rill::RILL_ABI::detail
