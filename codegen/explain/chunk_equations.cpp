// The equations of codegen/program/chunk_component.hpp, for one component.
#include "codegen/explain/chunk_writer.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {

// ---- the state before the chunk ---------------------------------------------------------------------------------

Formula ChunkWriter::sigma(std::size_t j, Formula const& f) const {
    if (vector()) return inner(start(j), f);
    return product({c.flipped ? transposed(start(j)) : start(j), within(f, Binding::closed)});
}
Formula ChunkWriter::sigma_transposed(std::size_t j, Formula const& f) const {
    return product({c.flipped ? start(j) : transposed(start(j)), within(f, Binding::closed)});
}

// phi(0,to) E(0,to) . (Sigma (D(0,to) . f)), a term for each state.
std::vector<Signed> ChunkWriter::from_start(Formula const& to_, Formula const& to_state, Formula const& f) const {
    std::vector<Signed> all;
    auto const zero = start_index();
    for (std::size_t j = 0; j < n(); ++j) {
        auto const read = product(with(phi_of(zero, to_, to_state, state(j)), sigma(j, keyed(zero, to_, f))));
        all.push_back({false, valued(zero, to_, read)});
    }
    return all;
}

Formula ChunkWriter::pair(Formula const& to_, Formula const& to_state, Formula const& f) const {
    return product(with(phi_of(e, to_, to_state, to(e, false)), inner(keyed(e, to_, f), key_at(e))));
}

// ---- the pseudo-values ------------------------------------------------------------------------------------------

std::vector<Equation> ChunkWriter::solve() const {
    if (events.empty()) return {};
    auto const u_e = indexed(U, {e});
    if (slots == 0) return {{u_e, "=", direct_at(e), "what each write adds; nothing is read, so nothing is to solve"}};
    std::vector<Signed> entries, before_chunk;
    if (!single() || !events[0].write->direct.zero()) before_chunk.push_back({false, direct_at(i)});
    for (std::size_t slot = 0; slot < slots; ++slot) {
        auto const of = single() ? state(std::size_t(events[0].reads[slot]->state)) : to(i, true);
        auto const gram = pair(i, of, read_at(slot, i));
        entries.push_back(c.channel_solve ? Signed{false, gram} : scaled(slot, i, gram));
        before_chunk.push_back(scaled(slot, i, sum(from_start(i, of, read_at(slot, i)))));
    }
    auto const m_ie = indexed(M, {i, e}), b_i = indexed(B, {i});
    std::vector<Equation> all;
    all.push_back({m_ie, "=", sum(entries),
                   fmt::format("what the reads of write {} find of write {}; 0 unless {}: strictly lower triangular",
                               i.text, e.text, before(e, i).text)});
    all.push_back({b_i, "=", sum(before_chunk),
                   fmt::format("what write {} adds as far as the state before the chunk says it", i.text)});
    std::string const what = "the pseudo-values, what each write really adds: ";
    if (c.channel_solve) {
        auto const inside = sum_over(before(e, i), product({m_ie, valued(e, i, u_e)}));
        all.push_back({indexed(U, {i}), "=", sum({{false, b_i}, scaled(0, i, within(inside, Binding::product))}),
                       what + fmt::format("one triangular system for each channel of {} (csolve), all with the same {}",
                                          rule.dims[std::size_t(c.row)], M.text)});
        return all;
    }
    all.push_back({U, "=", product({inverse(sum({{false, symbol("I")}, {true, M}})), B}),
                   what + "one unit lower triangular solve"});
    all.push_back({indexed(U, {i}), "=",
                   sum({{false, b_i}, {false, sum_over(before(e, i), product({m_ie, indexed(U, {e})}))}}),
                   "the same, row by row"});
    return all;
}

// ---- read-outs --------------------------------------------------------------------------------------------------

Formula ChunkWriter::right_read(Formula const& q, std::size_t of) const {
    auto all = from_start(t, state(of), q);
    if (!events.empty()) {
        auto const written = product({pair(t, state(of), q), valued(e, t, indexed(U, {e}))});
        all.push_back({false, sum_over(before_read(), written)});
    }
    return sum(all);
}

Formula ChunkWriter::left_read(Formula const* y, std::size_t of) const {
    std::vector<Signed> all;
    auto const zero = start_index();
    for (std::size_t j = 0; j < n(); ++j) {
        auto const read = y ? sigma_transposed(j, valued(zero, t, *y)) : start(j);
        all.push_back({false, product(with(phi_of(zero, t, state(of), state(j)), keyed(zero, t, read)))});
    }
    if (!events.empty()) {
        auto factors = phi_of(e, t, state(of), to(e, false));
        factors.push_back(y ? inner(valued(e, t, *y), indexed(U, {e})) : indexed(U, {e}));
        all.push_back({false, sum_over(before_read(), product(with(factors, keyed(e, t, key_at(e)))))});
    }
    return sum(all);
}

Formula ChunkWriter::read_out(Atom const& a) const {
    auto const of = std::size_t(read_state(c, a));
    auto const at_t = [&](Monomial const& product) {
        return product.empty() ? number(1) : indexed(formula(naming, product, true), {t});
    };
    switch (a.kind) {
    case Atom::Kind::vector_state: return left_read(nullptr, of);
    case Atom::Kind::dot: {
        Monomial rest;
        for (auto const& f : a.left)
            if (f.atom->kind != Atom::Kind::vector_state || f.atom->operand != c.states[of]) rest.push_back(f);
        return right_read(at_t(rest), of);
    }
    case Atom::Kind::read: {
        auto const y = at_t(a.left);
        return a.transposed == c.flipped ? right_read(y, of) : left_read(&y, of);
    }
    case Atom::Kind::form: { // right^T S left
        auto const y = at_t(a.left);
        return inner(at_t(a.right), c.flipped ? left_read(&y, of) : right_read(y, of));
    }
    case Atom::Kind::operand:
    case Atom::Kind::exp_log:
    case Atom::Kind::map:
    case Atom::Kind::vector_map: break;
    }
    return {};
}

Equation ChunkWriter::state_after(std::size_t of) const {
    std::vector<Signed> all;
    auto const zero = start_index(), end = end_index();
    auto const whole = [&](Formula const& decay) { return diagonal(call(decay, {zero, end})); };
    bool const left = c.flipped ? key : value, right = c.flipped ? value : key;
    for (std::size_t j = 0; j < n(); ++j) {
        auto factors = phi_of(zero, end, state(of), state(j));
        if (vector())
            factors.push_back(keyed(zero, end, start(j)));
        else {
            if (left) factors.push_back(whole(c.flipped ? D : E));
            factors.push_back(start(j));
            if (right) factors.push_back(whole(c.flipped ? E : D));
        }
        all.push_back({false, product(factors)});
    }
    if (!events.empty()) {
        auto factors = phi_of(e, end, state(of), to(e, false));
        auto const values = valued(e, end, indexed(U, {e})), keys = keyed(e, end, key_at(e));
        factors.push_back(c.flipped && !vector() ? keys : values);
        factors.push_back(vector() ? keys : transposed(c.flipped ? values : keys));
        all.push_back({false, sum_over(e, product(factors))});
    }
    return {after(of), "=", sum(all), "the state after the chunk"};
}

} // namespace deltaloom::codegen
