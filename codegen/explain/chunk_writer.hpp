#pragma once
// One component's chunk being written down: its events and symbols, and the factors its equations are made of.
#include "codegen/explain/chunk_names.hpp"

namespace deltaloom::codegen {

struct ExplainedEvent { // one row of the chunk's matrices, for each token
    int micro = 0, target = 0;
    Write const* write = nullptr;
    bool direct = true; // the first of the events that one write is split into has the direct part
    std::vector<Read const*> reads;
};
std::vector<ExplainedEvent> explained_events(Component const&);

struct ChunkWriter {
    TypedRule const& rule;
    Component const& c;
    Naming naming;
    FreshNames fresh;
    Formula e, i, t, s, p; // indices: of writes, of tokens read out, of what decays; p: the order of all
    std::string mark;      // of this component among several
    std::vector<ExplainedEvent> events = {};
    std::size_t slots = 0;        // reads of a write, at most
    std::set<int> positions = {}; // of the read-outs: after how many statements on the state
    bool simple = false;          // indices are tokens: one write, at most one decay of a kind, one place of read-outs
    bool scalar = false, key = false, value = false; // decays
    Formula phi = {}, D = {}, E = {}, M = {}, B = {}, U = {}, x = {}, P = {};
    std::vector<Formula> r = {}, k = {}; // keys and coefficients of the reads of a write

    void name_symbols(); // from the component and the read-outs

    // What the symbols stand for; what a token's writes are, where there are several.
    std::vector<Meaning> meanings() const;
    std::vector<Equation> decays();
    std::vector<Equation> rows() const;

    // M, B and U; the value of an atom at every token; the state after.
    std::vector<Equation> solve() const;
    Formula read_out(Atom const&) const;
    Equation state_after(std::size_t state) const;

    // ---- factors ----

    int m() const { return int(c.micro.size()); }
    std::size_t n() const { return c.states.size(); }
    bool single() const { return events.size() == 1; }
    bool vector() const { return rule.operands[std::size_t(c.states[0])].shape.cols == one; }
    bool decaying(int micro) const; // by a number, or mixing
    bool mixes() const;             // any of them
    Formula own(std::vector<std::string> const& wishes) { return marked(fresh(wishes), mark); }

    Formula state(std::size_t j) const { return operand_formula(rule, c.states[j]); }
    Formula start(std::size_t j) const; // S0
    Formula after(std::size_t j) const; // S'
    Formula at(Value const&, Formula const& index) const;
    Formula place(Formula const& index) const { return call(p, {index}); }

    Formula to(Formula const& index, bool read) const; // which of coupled states is written, or read
    std::vector<Formula> phi_of(Formula const& from, Formula const& to, Formula const& to_state,
                                Formula const& from_state) const;
    Formula keyed(Formula const& from, Formula const& to, Formula const&) const;  // D(from,to) . f
    Formula valued(Formula const& from, Formula const& to, Formula const&) const; // E(from,to) . f
    Formula key_at(Formula const& index) const;
    Formula direct_at(Formula const& index) const;
    Formula read_at(std::size_t slot, Formula const& index) const;
    Signed scaled(std::size_t slot, Formula const& index, Formula const&) const; // by the read's coefficient

    // Relations of indices: of a write or decay of statement `micro` to one at a place.
    char const* up_to(int micro, int place) const { return micro < place ? "<=" : "<"; }
    int write_micro() const { return events.empty() ? 0 : events[0].micro; }
    Formula before(Formula const& a, Formula const& b) const;
    Formula before_read() const;

    // Sigma and its transpose, of the state before the chunk.
    Formula sigma(std::size_t j, Formula const&) const;
    Formula sigma_transposed(std::size_t j, Formula const&) const;
    std::vector<Signed> from_start(Formula const& to, Formula const& to_state, Formula const&) const;
    Formula pair(Formula const& to, Formula const& to_state, Formula const&) const; // phi(e,to) <f . D(e,to), x[e]>
    Formula right_read(Formula const& q, std::size_t of) const;
    Formula left_read(Formula const* y, std::size_t of) const; // no y: the vector state itself
};

// Extends a product.
std::vector<Formula> with(std::vector<Formula> factors, Formula const&);
inline Formula start_index() { return number(0); }
inline Formula end_index() { return word("end"); }

} // namespace deltaloom::codegen
