// One chunk from the recurrence. No loop over tokens: rows are the events of all tokens, and one triangular solve a
// component does the rest.
#include "codegen/program/chunk.hpp"
#include "codegen/program/expression_text.hpp"

#include <stdexcept>

namespace deltaloom::codegen {

Chunk::Chunk(TypedRule const& rule, Recurrence const& r, bool padded)
    : recurrence(r),
      values{rule, padded, Builder(rule.dims), {}} {
    // Every operand is an input, used or not, in the order of the ABI.
    for (OperandId i = 0; i < static_cast<OperandId>(rule.operands.size()); ++i) {
        auto const& x = rule.operands[i];
        if (x.role == Role::output) continue;
        for (int j = 0; j < std::max(1, x.steps); ++j) values.operand(i, j);
    }
    values.read_out = [this](Atom const& a) {
        auto const state = state_read(a);
        for (auto const& c : components)
            for (auto const own : c.component.states)
                if (own == state) return read_out(c, a);
        throw std::logic_error("the value " + a.key + " is read before its component");
    };
}

ChunkComponent& Chunk::add(Component const& component) {
    return components.emplace_back(chunk_component(values, component));
}

// "o <<= S * q".
static std::string output_line(TypedRule const& rule, OperandId output) {
    for (auto const& s : rule.statements)
        if (s.target == output) return rule.operands[output].name + " <<= " + text(rule, s.value);
    return "";
}

Body Chunk::finished() {
    auto const& rule = values.rule;
    auto& b = values.b;
    std::vector<std::pair<std::string, NodeId>> results;
    for (auto const& [output, value] : recurrence.outputs) {
        auto const& name = rule.operands[output].name;
        auto const node = values.rows(value);
        if (b[node].op != Op::input) {
            auto& named = b.body.nodes[node];
            named.hint = name;
            named.note = output_line(rule, output);
        }
        results.emplace_back(name, node);
    }
    for (OperandId i = 0; i < static_cast<OperandId>(rule.operands.size()); ++i)
        for (auto const& c : components)
            for (int s = 0; s < static_cast<int>(c.component.states.size()); ++s)
                if (c.component.states[s] == i) results.emplace_back(rule.operands[i].name, state_after(c, s));
    b.body.results = std::move(results);
    return std::move(b.body);
}

std::set<OperandId> feeding(Component const& component) {
    std::set<OperandId> all;
    auto const see = [&](Value const& v) { all.merge(states_in(v)); };
    for (auto const& micro : component.micro) {
        for (auto const& m : micro.mix)
            if (m) see(*m);
        if (micro.key_decay) see(*micro.key_decay);
        if (micro.value_decay) see(*micro.value_decay);
        for (auto const& w : micro.writes) {
            see(w.key), see(w.direct);
            for (auto const& r : w.reads) see(r.coefficient), see(r.key);
        }
    }
    return all;
}

Body lower_chunk(TypedRule const& rule, Recurrence const& recurrence, bool padded) {
    Chunk chunk(rule, recurrence, padded);
    for (auto const& component : recurrence.components) {
        auto& c = chunk.add(component);
        c.U = pseudo_values(c);
    }
    return chunk.finished();
}

} // namespace deltaloom::codegen
