#include "codegen/kernel/schedule_body.hpp"

#include "codegen/kernel/block.hpp"
#include "codegen/kernel/order.hpp"
#include "codegen/kernel/ports.hpp"

#include <algorithm>
#include <stdexcept>

namespace deltaloom::codegen {
namespace {

struct Result {
    Port port;
    NodeId node;
};

// Where a result goes.
enum class Fate { stored, carried, summed };
Fate fate(TypedRule const& rule, Port p) {
    switch (rule.operands[p.operand].role) {
    case Role::state: return Fate::carried;
    case Role::parameter: return Fate::summed;
    case Role::input:
    case Role::gate:
    case Role::output: return Fate::stored;
    }
    return Fate::stored;
}

} // namespace

UnitFunction schedule_body(TypedRule const& rule, Body const& body, Unit const& unit, Kernel& kernel) {
    UnitFunction made;
    auto& f = made.function;
    f.name = unit.function;
    f.comment = unit.comment;
    auto const place = argument(Integer(unit.token ? "token" : "first"));
    f.integers = unit.token ? std::vector<std::string>{"token"} : std::vector<std::string>{"first", "n"};

    std::vector<Result> results;
    for (auto const& name : unit.results) {
        auto const at =
            std::find_if(body.results.begin(), body.results.end(), [&](auto const& r) { return r.first == name; });
        // Every operand is an input, used or not, so that its gradient is there.
        if (at == body.results.end()) throw std::logic_error("a body without " + name);
        results.push_back({port(rule, name, unit.backward), at->second});
    }
    std::vector<NodeId> kept, carried, summed;
    for (auto const& r : results) {
        auto const where = fate(rule, r.port);
        (where == Fate::summed ? summed : kept).push_back(r.node);
        if (where == Fate::carried) carried.push_back(r.node);
    }
    auto const turned = stored_turned(body, carried);

    Names names;
    for (auto const& d : kernel.dims) names.taken.insert(d);
    BlockWriter w{
        kernel, f, names, body, turned, fuse(body, kept, summed, turned), std::vector<BufferId>(body.nodes.size(), -1)};
    auto const& fusion = w.fusion;

    // Names of operands come first; parameters of the function in the order parameters, states, their gradients.
    std::vector<std::pair<NodeId, Port>> inputs;
    for (NodeId id = 0; id < NodeId(body.nodes.size()); ++id)
        if (body.nodes[id].op == Op::input && fusion.reached[id])
            inputs.emplace_back(id, port(rule, body.nodes[id].name, unit.backward));
    std::map<std::string, BufferId> matrices;
    auto const give = [&](Port p, Extents s) {
        auto const [at, added] = matrices.try_emplace(port_name(rule, p), -1);
        if (added) {
            at->second = w.make(at->first, s);
            f.parameters.push_back(at->second);
            made.given.push_back(at->first);
        }
        return at->second;
    };
    for (bool cotangent : {false, true})
        for (Role role : {Role::parameter, Role::state}) {
            for (auto const& [id, p] : inputs)
                if (p.cotangent == cotangent && rule.operands[p.operand].role == role)
                    w.buffer[id] = give(p, body.nodes[id].shape);
            for (auto const& r : results)
                if (r.port.cotangent == cotangent && rule.operands[r.port.operand].role == role)
                    give(r.port, body.nodes[r.node].shape);
        }
    for (auto const& [id, p] : inputs) {
        if (given(rule, p)) continue;
        w.buffer[id] = w.make(port_name(rule, p), body.nodes[id].shape);
        auto const from = argument(strided_text(p));
        w.blocks.push_back(
            {w.buffer[id], {call(unit.token ? "load_token" : "load", {argument(w.buffer[id]), from, place})}});
    }
    auto const loads = w.blocks.size();
    for (NodeId id = 0; id < NodeId(body.nodes.size()); ++id)
        if (fusion.reached[id] && fusion.stored[id] && body.nodes[id].op != Op::input) w.write(id);

    // Results: stored from where they are; added up; a carried one moves into its own buffer, or is computed there (see
    // order).
    std::vector<Carried> moves;
    for (auto const& r : results) {
        auto const v = strip(body, r.node);
        switch (fate(rule, r.port)) {
        case Fate::stored: {
            auto const value = w.whole(r.node);
            auto s = call(unit.token ? "store_token" : "store", {value, argument(strided_text(r.port)), place});
            w.blocks.push_back({-1, {std::move(s)}});
            break;
        }
        case Fate::summed: w.add_into(matrices.at(port_name(rule, r.port)), r.node); break;
        case Fate::carried: {
            auto const own = matrices.at(port_name(rule, r.port));
            auto const from = w.buffer[v.node];
            if (from == own && !v.turned) break;
            if (body.nodes[v.node].op == Op::input && given(rule, port(rule, body.nodes[v.node].name, unit.backward))) {
                // the old value of another state: out of its buffer before that one is overwritten
                auto const copy = w.make(port_name(rule, r.port) + "_after", body.nodes[r.node].shape);
                auto const value = w.whole(r.node);
                w.blocks.push_back({copy, {call("copy", {argument(copy), value})}});
                moves.push_back({own, argument(copy), copy});
            } else {
                auto const value = w.whole(r.node);
                bool const computed = body.nodes[v.node].op != Op::input;
                moves.push_back(
                    {own, value, computed && value.kind == Argument::Kind::buffer && value.buffer == from ? from : -1});
            }
            break;
        }
        }
    }
    arrange(f, w.blocks, loads, moves);
    return made;
}

} // namespace deltaloom::codegen
