// Rule -> Recurrence: which states belong together, then each group in its orientation.
#include "codegen/rule/recurrence.hpp"

#include "codegen/rule/split.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

struct Flow { // every statement in normal form, states at their version
    std::vector<Update> updates;
    std::vector<OutputValue> outputs;
};

Flow flow_of(TypedRule const& rule) {
    Flow flow;
    std::vector<int> version(rule.operands.size());
    for (std::size_t i = 0; i < rule.statements.size(); ++i) {
        TypedStatement const& s = rule.statements[i];
        std::vector<Value> states(rule.operands.size());
        for (OperandId const id : rule.with_role(Role::state))
            states[id] = state({rule, rule.operands[id].where, ""}, id, version[id]);
        Value v = symbolic(rule, s.value, states);
        if (rule.operands[s.target].role == Role::output) {
            flow.outputs.push_back({s.target, std::move(v)});
        } else {
            flow.updates.push_back({s.target, static_cast<int>(i), std::move(v), s.where});
            ++version[s.target];
        }
    }
    return flow;
}

using Needs = std::map<OperandId, std::set<OperandId>>;

// What each state depends on, through any number of others. A state added as a whole is part of the sum: both
// directions.
Needs needs_of(TypedRule const& rule, Flow const& flow) {
    Needs needs;
    for (OperandId const s : rule.with_role(Role::state)) needs[s];
    for (auto const& u : flow.updates) {
        auto const states = states_in(u.value);
        needs[u.target].insert(states.begin(), states.end());
        for (auto const& t : u.value.terms)
            if (t.matrix.kind == MatrixFactor::Kind::state) needs[t.matrix.operand].insert(u.target);
    }
    for (std::size_t round = 0; round < needs.size(); ++round)
        for (auto& [s, all] : needs) {
            auto const before = all;
            for (OperandId const x : before) all.insert(needs[x].begin(), needs[x].end());
        }
    return needs;
}

// Groups of states that need each other, those that need least first; by name among equals.
std::vector<std::vector<OperandId>> groups_of(TypedRule const& rule, Needs const& needs) {
    std::vector<OperandId> states = rule.with_role(Role::state);
    auto const name = [&](OperandId s) -> std::string const& { return rule.operands[s].name; };
    std::sort(states.begin(), states.end(), [&](OperandId a, OperandId b) { return name(a) < name(b); });
    std::vector<std::vector<OperandId>> groups;
    std::set<OperandId> placed;
    for (OperandId const s : states) {
        if (placed.count(s)) continue;
        auto& group = groups.emplace_back();
        for (OperandId const x : states)
            if (x == s || (needs.at(s).count(x) && needs.at(x).count(s))) group.push_back(x);
        placed.insert(group.begin(), group.end());
    }
    auto const fed_by = [&](std::vector<OperandId> const& g) {
        auto all = needs.at(g[0]);
        for (OperandId const s : g) all.erase(s);
        return all.size();
    };
    std::sort(groups.begin(), groups.end(), [&](auto const& a, auto const& b) {
        return std::pair(fed_by(a), name(a[0])) < std::pair(fed_by(b), name(b[0]));
    });
    return groups;
}

std::string names(TypedRule const& rule, std::vector<OperandId> const& states) {
    std::string s;
    for (std::size_t i = 0; i < states.size(); ++i)
        s += (i == 0 ? "" : i + 1 == states.size() ? " and " : ", ") + rule.operands[states[i]].name;
    return s;
}

Location later(Location const& a, Location const& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column) ? b : a;
}

void check_shapes(TypedRule const& rule, std::vector<OperandId> const& group, std::vector<Update> const& mine) {
    Shape const shape = rule.operands[group[0]].shape;
    for (auto const& u : mine)
        for (auto const& t : u.value.terms)
            for (OperandId const s : states_in(t)) {
                bool const inside = std::find(group.begin(), group.end(), s) != group.end();
                bool const odd = rule.operands[s].shape != rule.operands[u.target].shape;
                if (inside && odd)
                    throw Refused{{"the states " + names(rule, group) +
                                       " depend on each other and have different shapes: not generated",
                                   t.where}};
            }
    for (OperandId const s : group)
        if (rule.operands[s].shape != shape)
            throw Refused{
                {"the states " + names(rule, group) + " depend on each other and have different shapes: not generated",
                 rule.operands[s].where}};
}

Frame frame_of(TypedRule const& rule, std::vector<OperandId> const& group, std::vector<Update> const& mine) {
    Shape const s = rule.operands[group[0]].shape;
    Frame frame{group, s.cols == one, s.rows, s.cols};
    if (frame.flipped) std::swap(frame.row, frame.col);
    std::optional<Location> right, left;
    for (auto const& u : mine) {
        Parts const parts = split(rule, frame, u);
        if (parts.right) right = right ? later(*right, *parts.right) : parts.right;
        if (parts.left) left = left ? later(*left, *parts.left) : parts.left;
    }
    if (left && right)
        throw Refused{{"low-rank terms on both sides of the state " + names(rule, group) + ": not generated",
                       later(*left, *right)}};
    if (left) {
        frame.flipped = !frame.flipped;
        std::swap(frame.row, frame.col);
    }
    return frame;
}

MicroStep micro_step(TypedRule const& rule, Frame const& frame, Update const& u) {
    Parts parts = split(rule, frame, u);
    MicroStep m;
    m.target = frame.index(u.target);
    m.statement = u.statement;
    m.mix.resize(frame.states.size());
    for (auto& [state, sum] : parts.kept) {
        auto const terms = std::move(sum).terms();
        if (terms.empty()) continue;
        Location where = terms[0].where;
        for (auto const& t : terms) where = later(where, t.where);
        std::string const target = rule.operands[u.target].name;
        auto decay = factored(terms, frame.row, frame.col);
        if (!decay) throw Refused{{"statement on " + target + ": the decay is not diag(g) S diag(a)", where}};
        if (frame.states.size() > 1 && (decay->rows || decay->cols))
            throw Refused{{"statement on " + target + ": the states " + names(rule, frame.states) +
                               " are coupled and have channel decays: not generated",
                           where}};
        m.mix[state] = std::move(decay->scalar);
        m.value_decay = std::move(decay->rows);
        m.key_decay = std::move(decay->cols);
    }
    m.writes = gathered(frame, std::move(parts));
    return m;
}

bool solves_by_channel(Component const& c) {
    bool decay = false, reads = false, rows = false;
    for (auto const& m : c.micro) {
        decay = decay || m.value_decay;
        for (auto const& w : m.writes)
            for (auto const& r : w.reads) {
                reads = true;
                rows = rows || !r.coefficient.shape.scalar();
            }
    }
    return rows || (decay && reads);
}

Component component(TypedRule const& rule, std::vector<OperandId> const& group, Flow const& flow) {
    std::vector<Update> mine;
    for (auto const& u : flow.updates)
        if (std::find(group.begin(), group.end(), u.target) != group.end()) mine.push_back(u);
    check_shapes(rule, group, mine);
    Frame const frame = frame_of(rule, group, mine);
    Component c;
    c.states = group;
    c.flipped = frame.flipped;
    c.row = frame.row;
    c.col = frame.col;
    c.after.assign(group.size(), {0});
    for (auto const& u : mine) {
        c.micro.push_back(micro_step(rule, frame, u));
        c.after[frame.index(u.target)].push_back(static_cast<int>(c.micro.size()));
    }
    c.channel_solve = solves_by_channel(c);
    return c;
}

// A matrix of every token has no place in a chunk, which holds one row per token; nor has its gradient, where it
// cancels.
void check_operands(TypedRule const& rule) {
    for (auto const& o : rule.operands)
        if (o.per_token() && o.shape.rows != one && o.shape.cols != one)
            throw Refused{{o.name + " is a matrix of every token: a chunk holds a vector of every token; not generated",
                           o.where}};
}

} // namespace

std::variant<Recurrence, Reason> normalise(TypedRule const& rule) {
    try {
        Flow flow = flow_of(rule);
        Recurrence out;
        for (auto const& group : groups_of(rule, needs_of(rule, flow)))
            out.components.push_back(component(rule, group, flow));
        check_operands(rule);
        out.outputs = std::move(flow.outputs);
        return out;
    } catch (Refused const& refused) {
        return refused.reason;
    }
}

} // namespace deltaloom::codegen
