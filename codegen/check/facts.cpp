#include "codegen/check/facts.hpp"

#include "codegen/check/oracle.hpp"
#include "deltaloom/runtime/scalar/function.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

template<class T> void once(std::vector<T>& list, T const& x) {
    if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
}

void operands_in(Monomial const&, std::set<OperandId>&);
void operands_in(Value const& v, std::set<OperandId>& found) {
    for (auto const& term : v.terms)
        for (auto const* m : {&term.scalar, &term.rows, &term.cols}) operands_in(*m, found);
}
void operands_in(Monomial const& m, std::set<OperandId>& found) {
    for (auto const& factor : m) {
        if (factor.atom->operand >= 0) found.insert(factor.atom->operand);
        for (auto const& argument : factor.atom->arguments) operands_in(argument, found);
    }
}

// The scalars that each term of a value is multiplied with, one set a term.
void factors_of(Value const& v, std::vector<OperandId> const& scalars, std::vector<std::set<OperandId>>& terms) {
    for (auto const& term : v.terms) {
        auto& here = terms.emplace_back();
        for (auto const& factor : term.scalar)
            if (factor.atom->kind == Atom::Kind::operand && factor.power > 0 &&
                std::find(scalars.begin(), scalars.end(), factor.atom->operand) != scalars.end())
                here.insert(factor.atom->operand);
    }
}
// A few operands such that every set has one of them; empty where a set is empty. The one in most sets comes first.
std::vector<OperandId> hitting(std::vector<std::set<OperandId>> sets) {
    std::vector<OperandId> chosen;
    while (!sets.empty()) {
        std::map<OperandId, int> count;
        for (auto const& set : sets)
            for (OperandId id : set) ++count[id];
        if (count.empty()) return {};
        auto const most = std::max_element(count.begin(), count.end(),
                                           [](auto const& a, auto const& b) { return a.second < b.second; });
        chosen.push_back(most->first);
        std::erase_if(sets, [&](auto const& set) { return set.count(chosen.back()); });
    }
    return chosen;
}

bool dyadic(Rational const& x) { // a few bits, exact in every product of small numbers
    auto denominator = boost::multiprecision::denominator(x);
    return abs(boost::multiprecision::numerator(x)) <= 64 && denominator <= 64 &&
           (denominator & (denominator - 1)) == 0;
}

} // namespace

Facts facts(Declaration const& declaration, Derived const& derived) {
    auto const& rule = derived.rule;
    Facts f;
    auto const use = uses(declaration);
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& o = rule.operands[std::size_t(id)];
        switch (o.role) {
        case Role::state: f.states.push_back(id); continue;
        case Role::output: f.outputs.push_back(id); continue;
        case Role::parameter: f.parameters.push_back(id); break;
        case Role::input:
        case Role::gate: f.inputs.push_back(id); break;
        }
        if (o.domain == Domain::log && o.per_token()) f.log_gates.push_back(id);
        if (o.domain == Domain::linear && o.per_token()) f.linear_gates.push_back(id);
        if (o.shape.scalar() && o.per_token()) f.scalars.push_back(id);
        for (std::size_t i = 0; i < declaration.operands.size(); ++i)
            if (declaration.operands[i].name == o.name && use[i].key) f.keys.push_back(id);
    }
    for (auto const& n : rule.nodes) {
        if (n.kind == ExprKind::map) {
            auto const function = runtime::function_named(n.function);
            std::string const spelt = n.function == "inv" ? "a division" : n.function;
            if (!function || !runtime::exact_on_integers(*function)) once(f.inexact, spelt);
            once(f.maps, spelt);
            f.divides |= n.function == "inv";
        } else if (n.kind == ExprKind::vector_map) {
            once(f.maps, n.function);
            if (n.function != "dpfp") once(f.inexact, n.function); // products of what relu leaves
        } else if (n.kind == ExprKind::number && !dyadic(n.number))
            once(f.inexact, fmt::format("the number {}", nearest(n.number)));
    }
    std::set<OperandId> decays;
    if (!derived.recurrence) f.no_factor = "it has no recurrence: its writes are not known one by one";
    if (derived.recurrence)
        for (auto const& component : derived.recurrence->components) {
            std::vector<std::set<OperandId>> terms;
            for (auto const& m : component.micro) {
                for (std::size_t s = 0; s < m.mix.size(); ++s)
                    if (m.mix[s]) {
                        operands_in(*m.mix[s], decays);
                        f.coupled |= int(s) != m.target;
                    }
                auto const channel = [&](std::optional<Value> const& decay, bool columns) {
                    if (!decay) return;
                    std::set<OperandId> found;
                    operands_in(*decay, found);
                    decays.insert(found.begin(), found.end());
                    auto& list = columns != component.flipped ? f.key_gates : f.value_gates;
                    for (OperandId id : found)
                        if (rule.operands[std::size_t(id)].domain == Domain::log) once(list, id);
                };
                channel(m.key_decay, true);
                channel(m.value_decay, false);
                for (auto const& w : m.writes) {
                    factors_of(w.direct, f.scalars, terms);
                    for (auto const& read : w.reads) f.erases = true, factors_of(read.coefficient, f.scalars, terms);
                }
            }
            auto const chosen = hitting(terms);
            if (chosen.empty() && !terms.empty())
                f.no_factor = fmt::format("not every write and erase of {} is multiplied with a scalar input",
                                          rule.operands[std::size_t(component.states[0])].name);
            for (OperandId id : chosen) once(f.factors, id);
        }
    if (f.factors.empty() && f.no_factor.empty()) f.no_factor = "it writes nothing";
    if (!f.no_factor.empty()) f.factors.clear();
    for (OperandId id : decays)
        if (auto const& o = rule.operands[std::size_t(id)]; o.per_token() && o.domain != Domain::real)
            f.decays.push_back(id);
    return f;
}

} // namespace deltaloom::codegen
