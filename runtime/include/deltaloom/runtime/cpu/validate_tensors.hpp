#pragma once
// The tensors of a call, each by itself and against each other.
#include <deltaloom/runtime/cpu/overlap.hpp>
#include <deltaloom/runtime/cpu/refuse.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

inline char const* scalar_name(std::uint32_t scalar) {
    constexpr char const* names[] = {"f32", "f64", "bf16", "f16"};
    return scalar <= DL_F16 ? names[scalar] : "unknown";
}
// Names of the scalars of a mask: "f32 (0), f64 (1)".
struct scalar_list {
    char text[64] = "none";
    explicit scalar_list(std::uint32_t mask) {
        int at = 0;
        for (std::uint32_t s = 0; s <= DL_F16; ++s)
            if (mask >> s & 1)
                at += std::snprintf(text + at, sizeof text - std::size_t(at), "%s%s (%u)", at ? ", " : "",
                                    scalar_name(s), s);
    }
};

inline char const* axis_name(dl_rule const& r, tensor_use const& u, dl_call const& c, int axis) {
    bool const state = r.operands[u.operand].kind == DL_STATE;
    if (axis == 0) return state ? "sequence" : "batch";
    if (axis == 1) return state ? "slot" : "token";
    if (axis == 2) return "head";
    return r.operands[u.operand].dims[trailing_axis(r.operands[u.operand], c, axis - 3)];
}

inline bool placed_at(placed& p, tensor_use const& u, int& axis) {
    return place(p, u.tensor->data, int(element_bytes(u.tensor->scalar)), u.extents, u.tensor->stride, 6, axis);
}

// The operand that a hidden state repeats; no_operand: a state of the rule's own.
inline std::uint32_t held_by(dl_rule const& r, std::uint32_t state) {
    auto const& kernels = *static_cast<rule_kernels const*>(r.implementation);
    return kernels.previous_of ? kernels.previous_of[state] : no_operand;
}

inline int validate_heads(dl_rule const& r, dl_call const& c, tensor_use const& u, dl_status* status) {
    dl_operand const& o = r.operands[u.operand];
    std::uint32_t const heads = u.tensor->heads;
    auto const bad = [&](char const* text, auto... x) {
        return refuse(status, DL_BAD_OPERAND, u.operand, 2, text, phrase(u.kind), o.name, heads, x...);
    };
    if (heads == 0 || c.value_heads % heads)
        return bad("%s %s: %u heads do not divide value_heads = %lld", (long long)c.value_heads);
    if (o.kind == DL_OUTPUT && heads != c.value_heads)
        return bad("%s %s: %u heads; an output has value_heads = %lld", (long long)c.value_heads);
    if (o.kind == DL_STATE) {
        std::uint32_t const held = held_by(r, u.state);
        if (held == no_operand) {
            if (heads != c.value_heads)
                return bad("%s %s: %u heads; a state has value_heads = %lld", (long long)c.value_heads);
        } else if (c.operand[held].heads == 0 || heads % c.operand[held].heads)
            return bad("%s %s: %u heads; it holds the token before of %s, which has %u", r.operands[held].name,
                       c.operand[held].heads);
        if (u.kind == use_kind::state_in_gradient && heads != c.state_in[u.state].heads)
            return bad("%s %s: %u heads, the initial state has %u", c.state_in[u.state].heads);
    } else if (u.kind == use_kind::gradient && o.kind != DL_OUTPUT && heads != c.operand[u.operand].heads)
        return bad("%s %s: %u heads, the operand has %u", c.operand[u.operand].heads);
    return 0;
}

inline bool in_place(tensor_use const& out, dl_tensor const* in) {
    dl_tensor const& x = *out.tensor;
    if (!in || x.data != in->data || x.scalar != in->scalar || x.heads != in->heads) return false;
    bool same = true;
    for (int d = 0; d < 6; ++d) same &= out.extents[d] <= 1 || x.stride[d] == in->stride[d];
    return same;
}

// The memory of a call's tensors, so that most calls need no second look for what overlaps.
struct place_list {
    struct place {
        std::uintptr_t low, end;
        std::uint32_t operand;
        bool written, initial, in_place; // in_place: a final state where its initial one is
    };
    place all[48];
    int count = 0;
    bool complete = true, writes = false;

    void add(dl_call const& c, tensor_use const& u, placed const& p) {
        writes |= u.written;
        if (count == int(sizeof all / sizeof all[0])) {
            complete = false;
            return;
        }
        bool const in = u.kind == use_kind::state_in;
        bool const same = u.kind == use_kind::state_out && in_place(u, c.state_in ? c.state_in + u.state : nullptr);
        all[count++] = {p.low, p.low + std::uintptr_t(p.span), u.operand, u.written, in, same};
    }
    // May something that is written lie on something else?
    bool may_meet() const {
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < count && all[i].written; ++j) {
                place const &a = all[i], &b = all[j];
                if (i != j && a.low < b.end && b.low < a.end && !(a.in_place && b.initial && a.operand == b.operand) &&
                    !(b.in_place && a.initial && a.operand == b.operand))
                    return true;
            }
        return !complete;
    }
    bool may_meet(void const* other, std::size_t bytes, bool other_written) const {
        auto const low = reinterpret_cast<std::uintptr_t>(other);
        for (int i = 0; i < count; ++i)
            if ((all[i].written || other_written) && all[i].low < low + bytes && low < all[i].end) return true;
        return !complete;
    }
};

// One tensor that is there.
inline int validate_tensor(dl_rule const& r, dl_call const& c, tensor_use const& u, place_list& places,
                           dl_status* status) {
    dl_operand const& o = r.operands[u.operand];
    dl_tensor const& t = *u.tensor;
    auto const bad = [&](int axis, char const* text, auto... x) {
        return refuse(status, DL_BAD_OPERAND, u.operand, std::uint32_t(axis), text, phrase(u.kind), o.name, x...);
    };
    bool const state = o.kind == DL_STATE;
    std::uint32_t const scalars = state ? r.state_scalars : r.scalars;
    if (t.scalar > DL_F16 || !(scalars >> t.scalar & 1))
        return bad(-1, "%s %s: scalar %u (%s) is not offered for %s; it may be %s", t.scalar, scalar_name(t.scalar),
                   state ? "states" : "operands", scalar_list(scalars).text);
    if (int code = validate_heads(r, c, u, status)) return code;
    if (u.empty()) return 0;
    if (reinterpret_cast<std::uintptr_t>(t.data) % std::uintptr_t(element_bytes(t.scalar)))
        return bad(-1, "%s %s: data is not aligned to its scalar's %d bytes", int(element_bytes(t.scalar)));
    placed p;
    int axis = -1;
    if (!placed_at(p, u, axis))
        return bad(axis, "%s %s: %lld positions along the axis %s with stride %lld leave the address space",
                   (long long)u.extents[axis], axis_name(r, u, c, axis), (long long)t.stride[axis]);
    for (int a = 0; a < 6 && !u.broadcast; ++a)
        if (u.extents[a] > 1 && t.stride[a] == 0)
            return bad(a, "%s %s: stride 0 along the axis %s: only inputs, gates and parameters may be broadcast",
                       axis_name(r, u, c, a));
    if (int const a = coinciding_axis(p); a >= 0)
        return bad(a, "%s %s: stride %lld along the axis %s: elements fall together with those along other axes",
                   (long long)t.stride[a], axis_name(r, u, c, a));
    places.add(c, u, p);
    return 0;
}

// The tensors that must be there are, and each that is there describes its elements.
inline int validate_each(dl_rule const& r, dl_call const& c, bool backward, place_list& places, dl_status* status) {
    return each_tensor(r, c, backward, [&](tensor_use const& u) {
        dl_operand const& o = r.operands[u.operand];
        bool const nothing = o.varies == DL_PER_TOKEN && (c.tokens == 0 || c.batch == 0);
        if (!u.tensor->data) {
            if (u.kind == use_kind::operand && o.kind != DL_OUTPUT && !nothing)
                return refuse(status, DL_BAD_OPERAND, u.operand, no_axis,
                              "operand %s is missing (data is NULL); a rule without it is another rule", o.name);
            if (u.kind == use_kind::snapshots && backward)
                return refuse(status, DL_BAD_OPERAND, u.operand, no_axis,
                              "snapshots of %s are missing (data is NULL): with DL_CHUNK_STATES backward reads them",
                              o.name);
            return 0;
        }
        if (u.kind == use_kind::state_in_gradient && !(c.state_in && c.state_in[u.state].data))
            return refuse(status, DL_BAD_OPERAND, u.operand, no_axis,
                          "gradient of initial state %s: there is no initial state, so there is no gradient for it",
                          o.name);
        return validate_tensor(r, c, u, places, status);
    });
}

// What is written shares no byte with anything else, but for a state that advances in place. `other` is a memory that
// no operand names: the workspace, the offsets.
inline int validate_against(place_list const& places, dl_rule const& r, dl_call const& c, bool backward,
                            void const* other, std::size_t bytes, bool other_written, char const* name,
                            dl_status* status) {
    placed room;
    int axis = -1;
    index const extents[] = {index(bytes)}, strides[] = {1};
    if (!bytes || !places.may_meet(other, bytes, other_written) || !place(room, other, 1, extents, strides, 1, axis))
        return 0;
    return each_tensor(r, c, backward, [&](tensor_use const& u) {
        placed p;
        if (!u.tensor->data || u.empty() || !(u.written || other_written) || !placed_at(p, u, axis) || !meet(p, room))
            return 0;
        return refuse(status, DL_BAD_OPERAND, u.operand, no_axis, "%s %s overlaps the %s", phrase(u.kind),
                      r.operands[u.operand].name, name);
    });
}

inline int validate_overlaps(dl_rule const& r, dl_call const& c, bool backward, place_list const& places,
                             dl_status* status) {
    int const code = !places.may_meet() ? 0 : each_tensor(r, c, backward, [&](tensor_use const& a) {
        placed p;
        int axis = -1;
        if (!a.written || !a.tensor->data || a.empty() || !placed_at(p, a, axis)) return 0;
        bool after = false; // two that are written are compared once
        return each_tensor(r, c, backward, [&](tensor_use const& b) {
            if (b.tensor == a.tensor && b.kind == a.kind) {
                after = true;
                return 0;
            }
            placed q;
            if (!b.tensor->data || b.empty() || (b.written && !after) ||
                (a.kind == use_kind::state_out && b.kind == use_kind::state_in && a.state == b.state &&
                 in_place(a, b.tensor)) ||
                !placed_at(q, b, axis) || !meet(p, q))
                return 0;
            return refuse(status, DL_BAD_OPERAND, a.operand, no_axis, "%s %s overlaps %s %s%s", phrase(a.kind),
                          r.operands[a.operand].name, phrase(b.kind), r.operands[b.operand].name,
                          a.kind == use_kind::state_out && b.kind == use_kind::state_in && a.operand == b.operand
                              ? ": in place they have the same data, strides, scalar and heads"
                              : "");
        });
    });
    if (code || !c.offsets) return code;
    return validate_against(places, r, c, backward, c.offsets, std::size_t(c.sequences + 1) * sizeof(std::int64_t),
                            false, "offsets", status);
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
