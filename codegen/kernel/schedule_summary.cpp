// A segment of a sequence as an affine map of each state, S' = S A + B (or A S + B): the map, chunk by chunk; how it
// and its adjoint are applied; in a backward, the part of the adjoint that comes from the segment's outputs. Which
// segments there are, and what runs side by side, is the caller's.
#include "codegen/kernel/entry.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

struct StateMap {
    Port factor, plus;
    Extents shape, square; // of plus, of the factor
    bool right() const { return factor.map == Port::Map::right; }
};
std::vector<StateMap> maps(TypedRule const& rule, Body const& body) {
    std::vector<StateMap> all;
    for (std::size_t i = 0; i + 1 < body.results.size(); i += 2) { // factor and plus in turn
        auto const& [factor, plus] = std::pair{body.results[i], body.results[i + 1]};
        all.push_back({port(rule, factor.first, false), port(rule, plus.first, false), body.nodes[plus.second].shape,
                       body.nodes[factor.second].shape});
    }
    return all;
}

BufferId take(Entry& e, std::string const& name, Extents s) {
    return e.take(e.f.body, name, integer(s.rows, e.kernel.dims), integer(s.cols, e.kernel.dims));
}

// buffer = 1
Statement identity(BufferId buffer, Integer const& extent) {
    Statement s;
    s.kind = Statement::Kind::each;
    s.buffer = buffer;
    s.row = extent == "1" ? "0" : "i", s.col = extent == "1" ? "0" : "j";
    Scalar one_, zero, value;
    one_.number = 1;
    if (extent == "1") {
        s.value = one_;
        return s;
    }
    value.kind = Scalar::Kind::select;
    value.function = "i == j";
    value.arguments = {one_, zero};
    s.value = value;
    for (char const* variable : {"i", "j"}) s.loops.push_back({variable, "0", extent, "1", false});
    return s;
}

// The map of s, from the identity on.
Function map_entry(TypedRule const& rule, Kernel& kernel, std::vector<StateMap> const& all, UnitFunction const& unit) {
    auto e = entry(rule, kernel, "summary_forward");
    e.f.comment = "The map of all of s, from the identity on.";
    load_parameters(e, {&unit});
    for (auto const& m : all) {
        auto const factor = e.matrices[port_name(rule, m.factor)] = take(e, port_name(rule, m.factor), m.square);
        auto const plus = e.matrices[port_name(rule, m.plus)] = take(e, port_name(rule, m.plus), m.shape);
        e.add(identity(factor, integer(m.square.rows, kernel.dims)));
        e.add(call("clear", {argument(plus)}));
    }
    e.add(loop({"first", "0", "s.tokens", "s.chunk", false}, {call_unit(e, unit, chunk_from("first"))}));
    for (auto const& m : all)
        for (auto const& p : {m.factor, m.plus})
            e.add(call("store_all", {argument(e.matrices.at(port_name(rule, p))), argument(map_text(rule, p))}));
    return e.f;
}

// The map applied to the states before, or its adjoint to the gradients of the states after.
Function apply_entry(TypedRule const& rule, Kernel& kernel, std::vector<StateMap> const& all, bool adjoint) {
    auto e = entry(rule, kernel, adjoint ? "summary_gradients" : "summary_states");
    e.f.comment = adjoint ? "The gradient at a segment's start, from what arrives at its end and what its outputs owe."
                          : "The states after a segment, from those before it and its map.";
    for (auto const& m : all) {
        auto const state = m.plus.operand;
        auto const name = (adjoint ? "d_" : "") + rule.operands[state].name;
        auto const before = take(e, name, m.shape), factor = take(e, port_name(rule, m.factor), m.square),
                   after = take(e, adjoint ? "owed_" + rule.operands[state].name : port_name(rule, m.plus), m.shape);
        e.add(call("load_state",
                   {argument(before), argument(state_text(rule, adjoint ? "state_out_gradient" : "state_in", state))}));
        e.add(call("load_all", {argument(factor), argument(map_text(rule, m.factor))}));
        e.add(call("load_all", {argument(after), argument(map_text(rule, m.plus))}));
        auto const operation = fmt::format("multiply{}_add", !adjoint ? "" : m.right() ? "_nt" : "_tn");
        auto product = m.right() ? call(operation, {argument(after), argument(before), argument(factor)})
                                 : call(operation, {argument(after), argument(factor), argument(before)});
        auto const& b = e.f.buffers;
        auto const by = b[factor].name + (adjoint ? "^T" : "");
        product.comment = fmt::format("{}: {} + {}", adjoint ? "Of the state before" : "The state after",
                                      m.right() ? b[before].name + " " + by : by + " " + b[before].name, b[after].name);
        e.add(std::move(product));
        e.add(call("store_state",
                   {argument(after), argument(state_text(rule, adjoint ? "state_in_gradient" : "state_out", state))}));
    }
    return e.f;
}

// What the outputs owe to the states before s: the chunks in reverse. Where no state is needed for that, none is kept.
Function owed_entry(TypedRule const& rule, Kernel& kernel, UnitFunction const& unit) {
    auto e = entry(rule, kernel, "summary_backward");
    load_parameters(e, {&unit});
    start_state_gradients(e);
    e.add(define("chunks", "(s.tokens + s.chunk - 1) / s.chunk"));
    e.add(loop({"c", "0", "chunks", "1", true}, {call_unit(e, unit, Calls{false}.place("c"))}));
    store_state_gradients(e);
    return e.f;
}

} // namespace

Kernel schedule_summary(TypedRule const& rule, Program const& program) {
    Kernel kernel;
    kernel.rule = rule.name;
    kernel.form = program.form;
    kernel.direction = program.direction;
    Names names;
    for (auto const& d : rule.dims) kernel.dims.push_back(names.fresh(d));
    auto const body = [&](Phase const& phase, std::string const& function, std::string const& does, bool backward,
                          std::vector<std::string> const& results) {
        return schedule_body(rule, phase.body, {function, does, false, backward, results}, kernel);
    };
    auto const& last = program.phases.back();
    if (program.direction == Direction::forward) {
        auto const all = maps(rule, last.body);
        auto const unit = body(last, "chunk_map", "The map through one more chunk: the tokens first .. first + n.",
                               false, last.carries);
        kernel.functions.push_back(unit.function);
        for (bool adjoint : {false, true}) kernel.functions.push_back(apply_entry(rule, kernel, all, adjoint));
        kernel.functions.push_back(map_entry(rule, kernel, all, unit));
        return kernel;
    }
    std::optional<UnitFunction> advance;
    if (program.phases.size() > 1) {
        advance = body(program.phases.front(), "chunk_states", "", false, program.phases.front().carries);
        kernel.shared = Form::chunked, kernel.spans.clear();
    }
    auto const unit =
        body(last, "chunk_adjoint", "One chunk in reverse: the tokens first .. first + n.", true, last.carries);
    kernel.functions.push_back(unit.function);
    auto e = advance ? backward_entry(rule, kernel, program, *advance, unit) : owed_entry(rule, kernel, unit);
    e.comment = "What the outputs of s owe to the states before it, and what the gradients of the states after s do.";
    kernel.functions.push_back(std::move(e));
    return kernel;
}

} // namespace deltaloom::codegen
