// Every form and direction of a rule, as ordered phases over tokens (step, recurrent) or chunks.
#include "codegen/program/program.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

using Names = std::vector<std::string>;

Names states(TypedRule const& rule) {
    Names all;
    for (auto const id : rule.with_role(Role::state)) all.push_back(rule.operands[id].name);
    return all;
}

Names prefixed(Names names) {
    for (auto& n : names) n.insert(0, "d_");
    return names;
}

Names results(Body const& body) {
    Names all;
    for (auto const& [name, node] : body.results) all.push_back(name);
    return all;
}

// The cotangents of every input of a body.
Names cotangents(Body const& body) {
    Names all;
    for (auto const& node : body.nodes)
        if (node.op == Op::input) all.push_back("d_" + node.name);
    return all;
}

Phase scan(Phase::Kind kind, std::string purpose, Body body, Names carries) {
    return {kind, std::move(purpose), std::move(body), std::move(carries)};
}

Program forward(TypedRule const& rule, Form form, Body const& body) {
    auto const purpose = form == Form::step ? "output and state" : "outputs and states";
    auto const live = pruned(body, results(body));
    return {form, Direction::forward, false, {scan(Phase::Kind::scan_forward, purpose, live, states(rule))}};
}

Phase states_before(TypedRule const& rule, Body const& body, std::string const& unit) {
    return scan(Phase::Kind::scan_forward, "states before every " + unit, pruned(body, states(rule)), states(rule));
}

// What the body owes its inputs, pruned to that.
Body gradients(TypedRule const& rule, Body const& body) {
    return pruned(differentiate(body, rule.dims), cotangents(body));
}

// Nothing but the inputs and the initial state is kept of the forward: its states are computed again, then the chunks
// go in reverse.
Program backward(TypedRule const& rule, Form form, Body const& body, char const* unit) {
    auto const reverse = scan(Phase::Kind::scan_reverse, "gradients", gradients(rule, body), prefixed(states(rule)));
    return {form, Direction::backward, false, {states_before(rule, body, unit), reverse}};
}

Phase prepared(SplitBody const& split) {
    return {Phase::Kind::each, "the solve, before any state is known", split.prepare, {}};
}

Program split_forward(TypedRule const& rule, SplitBody const& split) {
    auto const rest = scan(Phase::Kind::scan_forward, "outputs and states", split.scan, states(rule));
    return {Form::chunked, Direction::forward, true, {prepared(split), rest}};
}

// The reverse scan gives what the operands are owed directly, and the cotangents of the solve, which owes them the
// rest.
Program split_backward(TypedRule const& rule, SplitBody const& split) {
    auto const reverse = scan(Phase::Kind::scan_reverse, "gradients past the solve", gradients(rule, split.scan),
                              prefixed(states(rule)));
    Phase const solve{Phase::Kind::each, "gradients through the solve", gradients(rule, split.prepare), {}};
    return {Form::chunked,
            Direction::backward,
            true,
            {prepared(split), states_before(rule, split.scan, "chunk"), reverse, solve}};
}

// The segment's map: right and plus (left and plus) go from chunk to chunk, from the identity on.
Program summary_forward(Body const& body) {
    return {Form::summary,
            Direction::forward,
            false,
            {scan(Phase::Kind::scan_forward, "the segment as an affine map of each state", body, results(body))}};
}

// The adjoint map is d_S = d_S' right^T + plus, or left^T d_S' + plus, of the same factor. Its plus is what the
// segment's outputs owe to the states before it: the chunks in reverse, where nothing arrives at the states after.
Program summary_backward(TypedRule const& rule, Body const& chunk) {
    auto const cotangents_of_states = prefixed(states(rule));
    auto plus = pruned(differentiate(chunk, rule.dims), cotangents_of_states);
    auto const own = states(rule);
    bool const needs_states = std::any_of(plus.nodes.begin(), plus.nodes.end(), [&](Node const& n) {
        return n.op == Op::input && std::find(own.begin(), own.end(), n.name) != own.end();
    });
    Program p{Form::summary, Direction::backward, false, {}};
    if (needs_states) p.phases.push_back(states_before(rule, chunk, "chunk"));
    p.phases.push_back(scan(Phase::Kind::scan_reverse, "what the segment's outputs owe to the states before it",
                            std::move(plus), cotangents_of_states));
    return p;
}

} // namespace

Derived derive(TypedRule given) {
    Derived d;
    d.rule = std::move(given);
    auto const& rule = d.rule;
    auto const both = [&](Form form, Body const& body, char const* unit) {
        d.programs.push_back(forward(rule, form, body));
        d.programs.push_back(backward(rule, form, body, unit));
    };
    auto const step = lower_step(rule);
    both(Form::step, step, "token");
    both(Form::recurrent, step, "token");
    auto found = normalise(rule);
    if (auto const* reason = std::get_if<Reason>(&found)) {
        d.missing = d.no_summary = *reason;
        return d;
    }
    d.recurrence = std::get<Recurrence>(std::move(found));
    auto const chunk = lower_chunk(rule, *d.recurrence);
    both(Form::chunked, chunk, "chunk");
    if (auto const split = lower_split(rule, *d.recurrence)) {
        d.programs.push_back(split_forward(rule, *split));
        d.programs.push_back(split_backward(rule, *split));
    }
    both(Form::parallel, chunk, "chunk");
    auto const summary = lower_summary(rule, *d.recurrence);
    if (auto const* reason = std::get_if<Reason>(&summary)) {
        d.no_summary = *reason;
        return d;
    }
    d.programs.push_back(summary_forward(std::get<Body>(summary)));
    d.programs.push_back(summary_backward(rule, chunk));
    return d;
}

} // namespace deltaloom::codegen
