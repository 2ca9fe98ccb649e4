// The chunk's equations with the rule's own names, component by component, then the outputs.
#include "codegen/explain/chunk_writer.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

// An output that is nothing but a read is the left side of that read's equation.
std::map<std::string, OperandId> outputs_by_read(Recurrence const& recurrence) {
    std::map<std::string, OperandId> outputs;
    for (auto const& o : recurrence.outputs) {
        if (o.value.terms.size() != 1) continue;
        auto const& term = o.value.terms[0];
        auto factors = term.scalar;
        for (auto const* part : {&term.rows, &term.cols}) factors.insert(factors.end(), part->begin(), part->end());
        if (term.coefficient == 1 && factors.size() == 1 && factors[0].power == 1)
            outputs.emplace(factors[0].atom->key, o.output);
    }
    return outputs;
}

std::string where_read(Component const& c, Atom const& a, Formula const& read, Formula const& t) {
    int const after = read_position(c, a), all = int(c.micro.size());
    auto const when = after == 0     ? "before the token changes the state"
                      : after == all ? "after the token has changed the state"
                                     : fmt::format("after {} of {} statements on the state", after, all);
    return fmt::format("{} of token {}, {}", read.text, t.text, when);
}

} // namespace

ChunkLines chunk_lines(TypedRule const& rule, Recurrence const& recurrence) {
    ChunkLines lines;
    auto const reads = state_reads(rule, recurrence);
    Naming const naming{rule, [&](OperandId id, int version) {
                            auto const name = operand_formula(rule, id);
                            auto const seen = reads.versions.find(id);
                            bool const several = seen != reads.versions.end() && seen->second.size() > 1;
                            return several ? indexed(name, {number(version)}) : name;
                        }};
    FreshNames fresh;
    for (auto const& x : rule.operands) fresh.used.insert(x.name);
    auto const e = fresh({"e", "j"}), i = fresh({"i", "l"}), t = fresh({"t", "n"}), s = fresh({"s", "h"}),
               p = fresh({"p", "pos"});
    auto const outputs = outputs_by_read(recurrence);
    std::set<OperandId> said;
    for (auto const& c : recurrence.components) {
        // Among several components each has its own symbols, with its mark.
        auto const mark = recurrence.components.size() > 1 ? rule.operands[std::size_t(c.states[0])].name : "";
        ChunkWriter chunk{rule, c, naming, fresh, e, i, t, s, p, mark};
        std::vector<Atom const*> own;
        for (auto const* a : reads.atoms)
            if (read_state(c, *a) >= 0) {
                own.push_back(a);
                chunk.positions.insert(read_position(c, *a));
            }
        chunk.name_symbols();
        ExplainedChunk out;
        for (std::size_t j = 0; j < c.states.size(); ++j) out.states += (j ? ", " : "") + chunk.state(j).text;
        out.meanings = chunk.meanings();
        out.definitions = chunk.decays();
        for (auto& row : chunk.rows()) out.definitions.push_back(std::move(row));
        out.equations = chunk.solve();
        for (auto const* a : own) {
            auto const read = formula(naming, *a);
            auto const output = outputs.find(a->key);
            bool const is_output = output != outputs.end() && said.insert(output->second).second;
            auto const left = is_output ? operand_formula(rule, output->second) : read;
            out.equations.push_back({indexed(left, {t}), "=", chunk.read_out(*a), where_read(c, *a, read, t)});
        }
        for (std::size_t j = 0; j < c.states.size(); ++j) out.equations.push_back(chunk.state_after(j));
        lines.chunks.push_back(std::move(out));
    }
    for (auto const& o : recurrence.outputs) {
        if (said.count(o.output)) continue;
        auto const value = formula(naming, o.value);
        lines.outputs.push_back(
            {indexed(operand_formula(rule, o.output), {t}), "=", varies(rule, o.value) ? indexed(value, {t}) : value});
    }
    return lines;
}

} // namespace deltaloom::codegen
