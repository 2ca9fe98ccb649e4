// Programs as kernels: how a sequence is walked, what is kept and recomputed. The bodies are schedule_body's.
#include "codegen/kernel/block.hpp"
#include "codegen/kernel/ports.hpp"
#include "codegen/kernel/schedule_body.hpp"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

// The entry function of a kernel. Its matrices are what a sequence carries: parameters, states, and their gradients.
struct Entry {
    TypedRule const& rule;
    Kernel& kernel;
    Function f;
    Names names;
    std::map<std::string, BufferId> matrices; // by port_name

    BufferId make(std::string const& name, Integer rows, Integer cols) {
        f.buffers.push_back({names.fresh(name), std::move(rows), std::move(cols)});
        return BufferId(f.buffers.size()) - 1;
    }
    BufferId take(std::vector<Statement>& to, std::string const& name, Integer rows, Integer cols) {
        auto const b = make(name, std::move(rows), std::move(cols));
        Statement s;
        s.kind = Statement::Kind::take;
        s.buffer = b;
        to.push_back(std::move(s));
        return b;
    }
    Integer extent(DimId d) const { return integer(Extent::dim(d), kernel.dims); }
    BufferId matrix(Port p) {
        auto const& shape = rule.operands[p.operand].shape;
        auto const name = port_name(rule, p);
        return matrices[name] = take(f.body, name, extent(shape.rows), extent(shape.cols));
    }
};

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
Statement loop(Loop l, std::vector<Statement> body, std::string comment = {}) {
    Statement s;
    s.kind = Statement::Kind::loop;
    s.loops.push_back(std::move(l));
    s.body = std::move(body);
    s.comment = std::move(comment);
    return s;
}

// What the functions of one token or one chunk are called with.
struct Calls {
    bool token;
    // Chunk number `c` of the sequence, full or not.
    std::vector<Argument> place(std::string const& c, bool full = false) const {
        if (token) return {argument(c)};
        auto const first = fmt::format("{} * s.chunk", c.find(' ') == c.npos ? c : "(" + c + ")");
        return {argument(first),
                argument(full ? Integer("s.chunk") : fmt::format("smaller(s.chunk, s.tokens - {})", first))};
    }
};

// `named`: what stands for a given matrix of the function instead of the entry's own.
Statement call_unit(Entry const& e, UnitFunction const& unit, std::vector<Argument> place,
                    std::map<std::string, BufferId> const& named = {}) {
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

void load_parameters(Entry& e, UnitFunction const& unit) {
    for (OperandId p : with_role(e.rule, Role::parameter)) {
        if (!takes(unit, e.rule.operands[p].name)) continue;
        auto const b = e.matrix({p, -1, false});
        e.f.body.push_back(call("load_all", {argument(b), argument(strided_text({p, -1, false}))}));
    }
}
void load_states(Entry& e) {
    for (OperandId s : with_role(e.rule, Role::state)) {
        auto const b = e.matrix({s, -1, false});
        e.f.body.push_back(call("load_state", {argument(b), argument(state_text(e.rule, "state_in", s))}));
    }
}

Entry entry(TypedRule const& rule, Kernel& kernel, Program const& program) {
    Entry e{rule, kernel, {}, {}, {}};
    e.f.name = fmt::format("{}_{}", name(program.form), name(program.direction));
    for (auto const& d : kernel.dims) e.names.taken.insert(d);
    return e;
}

// ---- forward
// ----------------------------------------------------------------------------------------------------------

std::vector<std::string> forward_results(TypedRule const& rule) {
    std::vector<std::string> all;
    for (auto role : {Role::output, Role::state})
        for (OperandId i : with_role(rule, role)) all.push_back(rule.operands[i].name);
    return all;
}

Function forward_entry(TypedRule const& rule, Kernel& kernel, Program const& program, UnitFunction const& unit) {
    auto e = entry(rule, kernel, program);
    load_parameters(e, unit);
    load_states(e);
    if (program.form == Form::step)
        e.f.body.push_back(call_unit(e, unit, {argument(Integer("0"))}));
    else if (program.form == Form::recurrent)
        e.f.body.push_back(
            loop({"token", "0", "s.tokens", "1", false}, {call_unit(e, unit, {argument(Integer("token"))})}));
    else
        e.f.body.push_back(
            loop({"first", "0", "s.tokens", "s.chunk", false},
                 {call_unit(e, unit,
                            {argument(Integer("first")), argument(Integer("smaller(s.chunk, s.tokens - first)"))})}));
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

// Gradients of parameters are summed from zero; those of states come from the states after the sequence.
void start_gradients(Entry& e) {
    for (OperandId p : with_role(e.rule, Role::parameter)) {
        auto const b = e.matrix({p, -1, true});
        e.f.body.push_back(call("clear", {argument(b)}));
    }
    for (OperandId s : with_role(e.rule, Role::state)) {
        auto const b = e.matrix({s, -1, true});
        e.f.body.push_back(call("load_state", {argument(b), argument(state_text(e.rule, "state_out_gradient", s))}));
    }
}
void store_gradients(Entry& e) {
    for (OperandId s : with_role(e.rule, Role::state))
        e.f.body.push_back(call("store_state", {argument(e.matrices.at("d_" + e.rule.operands[s].name)),
                                                argument(state_text(e.rule, "state_in_gradient", s))}));
    for (OperandId p : with_role(e.rule, Role::parameter))
        e.f.body.push_back(call("store_all", {argument(e.matrices.at("d_" + e.rule.operands[p].name)),
                                              argument(strided_text({p, -1, true}))}));
}

Function step_backward_entry(TypedRule const& rule, Kernel& kernel, Program const& program, UnitFunction const& unit) {
    auto e = entry(rule, kernel, program);
    load_parameters(e, unit);
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

Function backward_entry(TypedRule const& rule, Kernel& kernel, Program const& program, UnitFunction const& advance,
                        UnitFunction const& unit) {
    bool const token = program.form != Form::chunked;
    Calls const calls{token};
    auto e = entry(rule, kernel, program);
    auto const what = token ? "token" : "chunk";
    e.f.body.push_back(define("chunks", token ? Integer("s.tokens") : Integer("(s.tokens + s.chunk - 1) / s.chunk")));
    e.f.body.push_back(define("segments", "(chunks + s.segment - 1) / s.segment"));
    e.f.body.push_back(define("last", "(segments - 1) * s.segment"));
    load_parameters(e, unit);
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

} // namespace

Kernel schedule(TypedRule const& rule, Program const& program) {
    assert(!program.split && program.form != Form::parallel && program.form != Form::summary);
    bool const token = program.form != Form::chunked;
    std::string const what = token ? "token" : "chunk";
    std::string const place = token ? "One token." : "One chunk: the tokens first .. first + n.";
    Kernel kernel;
    kernel.rule = rule.name;
    kernel.form = program.form;
    kernel.direction = program.direction;
    Names names;
    for (auto const& d : rule.dims) kernel.dims.push_back(names.fresh(d));
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
