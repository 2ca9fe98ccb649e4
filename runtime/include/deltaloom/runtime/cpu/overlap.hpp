#pragma once
// Which bytes a strided tensor has, whether its elements are distinct, whether two tensors meet. Exact: an element's
// address is base + sum_a stride_a x_a with 0 <= x_a < extent_a, so both questions ask for a solution of a linear
// equation in bounded integers.
#include <deltaloom/runtime/cpu/tensors.hpp>
#include <utility>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

// The axes that have more than one position, as steps in bytes upwards from the lowest address.
struct placed {
    struct axis {
        index step; // > 0
        index last; // positions 0 .. last
        int number;
    };
    std::uintptr_t low = 0;
    index span = 0; // bytes from low to the last element's end, at most 2^62
    int axes = 0;
    axis axis_of[6];
    int element = 1;
};

// False where the span leaves the address space; `axis` says where the sum ran over.
inline bool place(placed& p, void const* data, int element, index const* extents, index const* strides, int count,
                  int& axis) {
    constexpr index limit = index(1) << 62;
    p.element = element, p.axes = 0;
    index below = 0, above = 0, longest = -1;
    for (int a = 0; a < count; ++a) {
        index const last = extents[a] - 1;
        if (last < 1) continue;
        index const size = strides[a] < 0 ? -(strides[a] + 1) : strides[a]; // one less where negative: it always fits
        index step = 0, reach = 0;
        if (__builtin_mul_overflow(size + (strides[a] < 0 && size < limit), index(element), &step) ||
            __builtin_mul_overflow(step, last, &reach) || reach > limit - below - above)
            return axis = a, false;
        (strides[a] < 0 ? below : above) += reach;
        if (reach > longest) longest = reach, axis = a;
        if (step) p.axis_of[p.axes++] = {step, last, a};
    }
    auto const base = reinterpret_cast<std::uintptr_t>(data);
    if (base < std::uintptr_t(below) || ~std::uintptr_t(0) - base < std::uintptr_t(above + element)) return false;
    p.low = base - std::uintptr_t(below), p.span = below + above + element;
    return true;
}

// sum_i step_i x_i = target, 0 <= x_i <= last_i?
class bounded_equation {
public:
    void add(wide step, wide last) {
        if (last == 0) return;
        int at = 0;
        while (at < count_ && terms_[at].step > step) ++at;
        if (at < count_ && terms_[at].step == step) {
            terms_[at].last += last;
            return;
        }
        for (int i = count_; i > at; --i) terms_[i] = terms_[i - 1];
        terms_[at] = {step, last, 0, 0};
        ++count_;
    }
    // True also where the search was given up: what cannot be told apart is taken to meet.
    bool solvable(wide target) {
        wide reach = 0, divisor = 0;
        for (int i = count_; i-- > 0;) {
            reach += terms_[i].step * terms_[i].last, divisor = gcd(divisor, terms_[i].step);
            terms_[i].reach = reach, terms_[i].divisor = divisor;
        }
        tries_ = 4096;
        return from(0, target);
    }

private:
    struct term {
        wide step, last, reach, divisor; // of this and the smaller ones: greatest sum, greatest common divisor
    };
    term terms_[16];
    int count_ = 0, tries_ = 0;

    static wide gcd(wide a, wide b) {
        while (b) {
            wide const rest = a % b;
            a = b, b = rest;
        }
        return a;
    }
    static wide up(wide a, wide b) { return a <= 0 ? 0 : (a + b - 1) / b; } // ceil(a / b), at least 0

    bool from(int i, wide target) {
        if (target < 0) return false;
        if (i == count_) return target == 0;
        term const& t = terms_[i];
        if (target > t.reach || target % t.divisor) return false;
        if (i + 1 == count_) return true; // a multiple of the step within reach
        if (i + 2 == count_) return two(t, terms_[i + 1], target);
        wide const most = target / t.step < t.last ? target / t.step : t.last;
        for (wide x = most, least = up(target - terms_[i + 1].reach, t.step); x >= least; --x) {
            if (--tries_ < 0) return true;
            if (from(i + 1, target - t.step * x)) return true;
        }
        return false;
    }
    // a x + b y = c: the x that solve it are one residue modulo b / g.
    static bool two(term const& a, term const& b, wide c) {
        wide const g = gcd(a.step, b.step);
        if (c % g) return false;
        wide const step = a.step / g, modulus = b.step / g, target = c / g;
        wide inverse = 0, next = 1, r = modulus, s = step % modulus; // inverse * step = 1 modulo `modulus`
        while (s) {
            wide const quotient = r / s, rest = r % s, before = inverse - quotient * next;
            r = s, s = rest, inverse = next, next = before;
        }
        wide const residue = modulus == 1 ? 0 : ((target % modulus) * inverse % modulus + modulus) % modulus;
        wide const least = up(target - modulus * b.last, step);
        wide const most = target / step < a.last ? target / step : a.last;
        return residue + up(least - residue, modulus) * modulus <= most;
    }
};

// -1, or the number of an axis whose positions fall together with others'. Strides of 0 are not looked at.
inline int coinciding_axis(placed p) {
    for (int i = 1; i < p.axes; ++i) // longest step first
        for (int j = i; j > 0 && p.axis_of[j].step > p.axis_of[j - 1].step; --j)
            std::swap(p.axis_of[j], p.axis_of[j - 1]);
    index within = 0; // the reach of the shorter steps
    for (int i = p.axes; i-- > 0;) {
        auto const& a = p.axis_of[i];
        if (a.step <= within) {
            // step d + sum_j step_j d_j = 0 with d in 1 .. last, d_j in -last_j .. last_j
            bounded_equation e;
            e.add(a.step, a.last - 1);
            for (int j = i + 1; j < p.axes; ++j) e.add(p.axis_of[j].step, 2 * wide(p.axis_of[j].last));
            if (e.solvable(within - a.step)) return a.number;
        }
        within += a.step * a.last;
    }
    return -1;
}

// A byte that both have.
inline bool meet(placed const& a, placed const& b) {
    if (a.low + std::uintptr_t(a.span) <= b.low || b.low + std::uintptr_t(b.span) <= a.low) return false;
    bounded_equation e;
    wide target = wide(b.low) - wide(a.low);
    for (int i = 0; i < a.axes; ++i) e.add(a.axis_of[i].step, a.axis_of[i].last);
    for (int i = 0; i < b.axes; ++i)
        e.add(b.axis_of[i].step, b.axis_of[i].last), target += wide(b.axis_of[i].step) * b.axis_of[i].last;
    e.add(1, wide(a.element) - 1 + b.element - 1);
    return e.solvable(target + b.element - 1);
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
