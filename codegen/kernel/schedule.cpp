// Programs as kernels: how a sequence is walked, what is kept and recomputed. The bodies are schedule_body's.
#include "codegen/kernel/entry.hpp"
#include "codegen/rule/dimension.hpp"

#include <cassert>
#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

// ---- forward
// ----------------------------------------------------------------------------------------------------------

std::vector<std::string> forward_results(TypedRule const& rule) {
    std::vector<std::string> all;
    for (auto role : {Role::output, Role::state})
        for (OperandId i : with_role(rule, role)) all.push_back(rule.operands[i].name);
    return all;
}

std::string entry_name(Program const& program) {
    return fmt::format("{}_{}", name(program.form), name(program.direction));
}

Function forward_entry(TypedRule const& rule, Kernel& kernel, Program const& program, UnitFunction const& unit) {
    auto e = entry(rule, kernel, entry_name(program));
    load_parameters(e, {&unit});
    load_states(e);
    if (program.form == Form::step)
        e.f.body.push_back(call_unit(e, unit, {argument(Integer("0"))}));
    else if (program.form == Form::recurrent)
        e.f.body.push_back(
            loop({"token", "0", "s.tokens", "1", false}, {call_unit(e, unit, {argument(Integer("token"))})}));
    else
        e.f.body.push_back(
            loop({"first", "0", "s.tokens", "s.chunk", false}, {call_unit(e, unit, chunk_from("first"))}));
    for (OperandId s : with_role(rule, Role::state))
        e.f.body.push_back(call("store_state", {argument(e.matrices.at(rule.operands[s].name)),
                                                argument(state_text(rule, "state_out", s))}));
    return e.f;
}

// ---- backward
// ---------------------------------------------------------------------------------------------------------

std::vector<std::string> backward_results(TypedRule const& rule) {
    std::vector<std::string> all;
    for (auto role : {Role::input, Role::gate, Role::parameter, Role::state})
        for (OperandId i : with_role(rule, role)) {
            auto const& o = rule.operands[i];
            for (int j = 0; j < o.steps; ++j) all.push_back(fmt::format("d_{}.{}", o.name, j));
            if (o.steps == 0) all.push_back("d_" + o.name);
        }
    return all;
}

// Gradients of parameters are summed from zero; a segment's map has none.
void start_gradients(Entry& e) {
    for (OperandId p : with_role(e.rule, Role::parameter)) {
        if (e.kernel.form == Form::summary) break;
        auto const b = e.matrix({p, -1, true});
        e.add(call("clear", {argument(b)}));
    }
    start_state_gradients(e);
}
void store_gradients(Entry& e) {
    store_state_gradients(e);
    for (OperandId p : with_role(e.rule, Role::parameter)) {
        if (e.kernel.form == Form::summary) break;
        e.add(call("store_all",
                   {argument(e.matrices.at("d_" + e.rule.operands[p].name)), argument(strided_text({p, -1, true}))}));
    }
}

Function step_backward_entry(TypedRule const& rule, Kernel& kernel, Program const& program, UnitFunction const& unit) {
    auto e = entry(rule, kernel, entry_name(program));
    load_parameters(e, {&unit});
    load_states(e);
    start_gradients(e);
    e.f.body.push_back(call_unit(e, unit, {argument(Integer("0"))}));
    store_gradients(e);
    return e.f;
}

// Row blocks of one buffer: a state before every segment, or before every chunk of a segment.
struct Kept {
    OperandId state;
    BufferId all, own;
};

} // namespace

Function backward_entry(TypedRule const& rule, Kernel& kernel, Program const& program, UnitFunction const& advance,
                        UnitFunction const& unit) {
    bool const token = program.form == Form::recurrent;
    Calls const calls{token};
    auto e = entry(rule, kernel, entry_name(program));
    auto const what = token ? "token" : "chunk";
    e.f.body.push_back(define("chunks", token ? Integer("s.tokens") : Integer("(s.tokens + s.chunk - 1) / s.chunk")));
    e.f.body.push_back(define("segments", "(chunks + s.segment - 1) / s.segment"));
    e.f.body.push_back(define("last", "(segments - 1) * s.segment"));
    load_parameters(e, {&unit, &advance});
    load_states(e);
    start_gradients(e);
    std::vector<Kept> marks, inside;
    for (OperandId s : with_role(rule, Role::state)) {
        auto const& o = rule.operands[s];
        auto const rows = [&](Integer count) {
            return o.shape.rows == one ? count : fmt::format("{} * {}", count, e.extent(o.shape.rows));
        };
        auto const own = e.matrices.at(o.name);
        marks.push_back({s, e.take(e.f.body, "marks_" + o.name, rows("segments"), e.extent(o.shape.cols)), own});
        inside.push_back(
            {s, e.take(e.f.body, "states_" + o.name, rows("smaller(s.segment, chunks)"), e.extent(o.shape.cols)), own});
    }
    auto const at = [&](std::vector<Statement>& to, Kept const& kept, std::string const& wish, Integer position) {
        auto const own = e.f.buffers[kept.own]; // a copy: `make` below moves them
        Statement s;
        s.kind = Statement::Kind::view;
        s.buffer = e.make(wish, own.rows, own.cols);
        s.other = kept.all;
        if (position.find(' ') != position.npos) position = "(" + position + ")";
        s.row = own.rows == "1" || position == "0" ? position : fmt::format("{} * {}", position, own.rows);
        to.push_back(s);
        return s.buffer;
    };

    std::vector<Statement> keep;
    for (auto const& m : marks) {
        auto const mark = at(keep, m, "mark_" + rule.operands[m.state].name, "segment");
        keep.push_back(call("copy", {argument(mark), argument(m.own)}));
    }
    keep.push_back(loop({"c", "segment * s.segment", "smaller((segment + 1) * s.segment, last)", "1", false},
                        {call_unit(e, advance, calls.place("c", true))}));
    e.f.body.push_back(loop({"segment", "0", "segments", "1", false}, std::move(keep),
                            fmt::format("The state before every segment of s.segment {}s.", what)));

    std::vector<Statement> back;
    back.push_back(define("begin", "segment * s.segment"));
    back.push_back(define("end", "smaller(begin + s.segment, chunks)"));
    for (std::size_t i = 0; i < marks.size(); ++i) {
        auto const& name = rule.operands[marks[i].state].name;
        auto const first = at(back, inside[i], "first_" + name, "0");
        auto const mark = at(back, marks[i], "kept_" + name, "segment");
        back.push_back(call("copy", {argument(first), argument(mark)}));
    }
    std::vector<Statement> again;
    std::map<std::string, BufferId> named;
    for (auto const& k : inside) {
        auto const& name = rule.operands[k.state].name;
        auto const before = at(again, k, "before_" + name, "c - begin");
        auto const after = at(again, k, "after_" + name, "c + 1 - begin");
        again.push_back(call("copy", {argument(after), argument(before)}));
        named[name] = after;
    }
    again.push_back(call_unit(e, advance, calls.place("c", true), named));
    back.push_back(
        loop({"c", "begin", "end - 1", "1", false}, std::move(again), fmt::format("The states before its {}s.", what)));
    std::vector<Statement> gradients;
    named.clear();
    for (auto const& k : inside) {
        auto const& name = rule.operands[k.state].name;
        if (takes(unit, name)) named[name] = at(gradients, k, name + "_before", "c - begin");
    }
    gradients.push_back(call_unit(e, unit, calls.place("c"), named));
    back.push_back(loop({"c", "begin", "end", "1", true}, std::move(gradients), "Their gradients."));
    e.f.body.push_back(loop({"segment", "0", "segments", "1", true}, std::move(back), "Segments in reverse."));
    store_gradients(e);
    return e.f;
}

bool has_kernel(Program const& program) { return !program.split && program.form != Form::parallel; }

Kernel schedule(TypedRule const& rule, Program const& program) {
    assert(has_kernel(program));
    if (program.form == Form::summary) return schedule_summary(rule, program);
    bool const token = program.form != Form::chunked;
    std::string const what = token ? "token" : "chunk";
    std::string const place = token ? "One token." : "One chunk: the tokens first .. first + n.";
    Kernel kernel;
    kernel.rule = rule.name;
    kernel.form = program.form;
    kernel.direction = program.direction;
    Names names;
    for (auto const& d : rule.dims) kernel.dims.push_back(names.fresh(dim_identifier(d)));
    auto const& phases = program.phases;
    std::vector<std::string> states;
    for (OperandId s : with_role(rule, Role::state)) states.push_back(rule.operands[s].name);

    auto const body = [&](Phase const& phase, std::string const& function, bool backward,
                          std::vector<std::string> const& results) {
        return schedule_body(rule, phase.body, {what + "_" + function, place, token, backward, results}, kernel);
    };
    if (program.direction == Direction::forward) {
        auto const unit = body(phases.back(), "forward", false, forward_results(rule));
        if (program.form == Form::recurrent)
            kernel.shared = Form::step, kernel.spans.clear();
        else
            kernel.functions.push_back(unit.function);
        kernel.functions.push_back(forward_entry(rule, kernel, program, unit));
        return kernel;
    }
    auto const unit = body(phases.back(), "backward", true, backward_results(rule));
    if (program.form == Form::step) {
        kernel.functions = {unit.function, step_backward_entry(rule, kernel, program, unit)};
        return kernel;
    }
    if (program.form == Form::recurrent)
        kernel.shared = Form::step, kernel.spans.clear();
    else
        kernel.functions.push_back(unit.function);
    auto const advance = body(phases.front(), "states", false, states);
    kernel.functions.push_back(advance.function);
    kernel.functions.push_back(backward_entry(rule, kernel, program, advance, unit));
    return kernel;
}

} // namespace deltaloom::codegen
