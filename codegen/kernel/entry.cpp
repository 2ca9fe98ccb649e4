#include "codegen/kernel/entry.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace deltaloom::codegen {

BufferId Entry::make(std::string const& name, Integer rows, Integer cols) {
    f.buffers.push_back({names.fresh(name), std::move(rows), std::move(cols)});
    return BufferId(f.buffers.size()) - 1;
}
BufferId Entry::take(std::vector<Statement>& to, std::string const& name, Integer rows, Integer cols) {
    auto const b = make(name, std::move(rows), std::move(cols));
    Statement s;
    s.kind = Statement::Kind::take;
    s.buffer = b;
    to.push_back(std::move(s));
    return b;
}
BufferId Entry::matrix(Port p) {
    auto const& shape = rule.operands[p.operand].shape;
    auto const name = port_name(rule, p);
    return matrices[name] = take(f.body, name, extent(shape.rows), extent(shape.cols));
}
Entry entry(TypedRule const& rule, Kernel& kernel, std::string const& function) {
    Entry e{rule, kernel, {}, {}, {}};
    e.f.name = function;
    for (auto const& d : kernel.dims) e.names.taken.insert(d);
    return e;
}

std::vector<OperandId> with_role(TypedRule const& rule, Role role) {
    std::vector<OperandId> all;
    for (OperandId i = 0; i < OperandId(rule.operands.size()); ++i)
        if (rule.operands[i].role == role) all.push_back(i);
    return all;
}
std::string state_text(TypedRule const& rule, char const* array, OperandId state) {
    return fmt::format("s.{}[{}]", array, state_index(rule, state));
}
Statement define(std::string name, Integer value) {
    Statement s;
    s.kind = Statement::Kind::define;
    s.name = std::move(name);
    s.integer = std::move(value);
    return s;
}
Statement loop(Loop l, std::vector<Statement> body, std::string comment) {
    Statement s;
    s.kind = Statement::Kind::loop;
    s.loops.push_back(std::move(l));
    s.body = std::move(body);
    s.comment = std::move(comment);
    return s;
}

std::vector<Argument> Calls::place(std::string const& c, bool full) const {
    if (token) return {argument(c)};
    auto const first = fmt::format("{} * s.chunk", c.find(' ') == c.npos ? c : "(" + c + ")");
    if (!full) return chunk_from(first);
    return {argument(first), argument(Integer("s.chunk"))};
}
std::vector<Argument> chunk_from(Integer const& first) {
    return {argument(first), argument(fmt::format("smaller(s.chunk, s.tokens - {})", first))};
}

Statement call_unit(Entry const& e, UnitFunction const& unit, std::vector<Argument> place,
                    std::map<std::string, BufferId> const& named) {
    std::vector<Argument> arguments{argument(Integer("s"))};
    arguments.insert(arguments.end(), place.begin(), place.end());
    for (auto const& name : unit.given) {
        auto const other = named.find(name);
        arguments.push_back(argument(other != named.end() ? other->second : e.matrices.at(name)));
    }
    arguments.push_back(argument(Integer("room")));
    return call(unit.function.name, std::move(arguments));
}

bool takes(UnitFunction const& unit, std::string const& name) {
    return std::find(unit.given.begin(), unit.given.end(), name) != unit.given.end();
}

void load_parameters(Entry& e, std::vector<UnitFunction const*> const& units) {
    for (OperandId p : with_role(e.rule, Role::parameter)) {
        auto const& name = e.rule.operands[p].name;
        if (std::none_of(units.begin(), units.end(), [&](auto const* unit) { return takes(*unit, name); })) continue;
        auto const b = e.matrix({p, -1, false});
        e.add(call("load_all", {argument(b), argument(strided_text({p, -1, false}))}));
    }
}
void load_states(Entry& e) {
    for (OperandId s : with_role(e.rule, Role::state)) {
        auto const b = e.matrix({s, -1, false});
        e.add(call("load_state", {argument(b), argument(state_text(e.rule, "state_in", s))}));
    }
}
void start_state_gradients(Entry& e) {
    for (OperandId s : with_role(e.rule, Role::state)) {
        auto const b = e.matrix({s, -1, true});
        e.add(call("load_state", {argument(b), argument(state_text(e.rule, "state_out_gradient", s))}));
    }
}
void store_state_gradients(Entry& e) {
    for (OperandId s : with_role(e.rule, Role::state))
        e.add(call("store_state", {argument(e.matrices.at("d_" + e.rule.operands[s].name)),
                                   argument(state_text(e.rule, "state_in_gradient", s))}));
}

} // namespace deltaloom::codegen
