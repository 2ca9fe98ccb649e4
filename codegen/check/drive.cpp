#include "codegen/check/drive.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace deltaloom::codegen {
namespace {

using runtime::field;

struct Chunk {
    int first = 0, tokens = 0, rows = 0; // real tokens; rows of the chunk's matrices, more where padded
};
std::vector<Chunk> chunks_of(int length, Plan plan) {
    std::vector<Chunk> chunks;
    for (int first = 0; first < length; first += plan.chunk) {
        int const tokens = std::min(plan.chunk, length - first);
        chunks.push_back({first, tokens, plan.padded ? plan.chunk : tokens});
    }
    return chunks;
}

// An input or result of a body: an operand, one of its micro-steps, a state; or the gradient of one.
struct Name {
    std::string operand;
    int step = 0;
    bool gradient = false;
};
Name parsed(std::string name) {
    Name n;
    if (name.rfind("d_", 0) == 0) n.gradient = true, name.erase(0, 2);
    if (auto const dot = name.find('.');
        dot != std::string::npos && std::isdigit(static_cast<unsigned char>(name[dot + 1]))) {
        n.step = std::stoi(name.substr(dot + 1));
        name.erase(dot);
    }
    n.operand = std::move(name);
    return n;
}

// The phases in order. `World` says what values are: where they come from, how a body makes new ones, where they go.
template<class World> auto walk(Program const& program, std::vector<Chunk> const& chunks, World& world) {
    using Named = std::map<std::string, typename World::Value>;
    std::vector<Named> left(chunks.size()); // by earlier phases, for later ones
    for (Phase const& phase : program.phases) {
        Named carried;
        for (auto const& name : phase.carries) carried[name] = world.initial(parsed(name));
        int const count = int(chunks.size());
        for (int i = 0; i < count; ++i) {
            int const c = phase.kind == Phase::Kind::scan_reverse ? count - 1 - i : i;
            for (auto const& [name, value] : carried) left[c][name] = value;
            Named given;
            for (Node const& n : phase.body.nodes)
                if (n.op == Op::input) {
                    auto const found = left[c].find(n.name);
                    given[n.name] = found != left[c].end() ? found->second : world.given(parsed(n.name), chunks[c]);
                }
            auto results = world.evaluate(phase.body, given, chunks[c]);
            for (auto& [name, value] : carried) value = results.at(name);
            for (auto const& [name, value] : results)
                if (!carried.count(name) && !world.taken(parsed(name), value, chunks[c])) left[c][name] = value;
        }
        for (auto const& [name, value] : carried) world.final(parsed(name), value);
    }
    return left;
}

// Roles by name, of either world.
struct Operands {
    std::map<std::string, Operand const*> by_name;
    explicit Operands(TypedRule const& rule) {
        for (auto const& o : rule.operands) by_name[o.name] = &o;
    }
    Operand const* find(std::string const& name) const {
        auto const found = by_name.find(name);
        return found == by_name.end() ? nullptr : found->second;
    }
};

template<class K> struct Numbers {
    using Value = Dense<K>;
    Operands operands;
    Sizes sizes;
    bool by_token; // bodies of one token take operands in their own shape
    OracleData<K> const& data;
    Arriving<K> const& arriving;
    DrivenOver<K> driven;

    Value initial(Name const& n) const { return (n.gradient ? arriving.states : data.states).at(n.operand); }
    void final(Name const& n, Value const& v) {
        if (n.gradient)
            driven.gradients.states[n.operand] = v;
        else
            driven.forward.states[n.operand] = v;
    }
    Value given(Name const& n, Chunk const& c) const {
        if (auto const p = data.parameters.find(n.operand); p != data.parameters.end()) return p->second;
        if (!n.gradient && !data.tokens.count(n.operand)) return data.states.at(n.operand);
        auto const at = [&](int t) -> Value const& {
            return n.gradient ? arriving.outputs[t].at(n.operand) : data.tokens.at(n.operand)[t][n.step];
        };
        if (by_token) return at(c.first);
        int const width = int(at(c.first).e.size());
        Value rows(c.rows, width);
        // Padding repeats the last token; no gradient arrives at it.
        for (int i = 0; i < c.rows; ++i)
            if (i < c.tokens || !n.gradient) {
                auto const& from = at(c.first + std::min(i, c.tokens - 1)).e;
                std::copy(from.begin(), from.end(), rows.e.begin() + std::ptrdiff_t(i) * width);
            }
        return rows;
    }
    std::map<std::string, Value> evaluate(Body const& body, Environment<K> const& given, Chunk const& c) {
        sizes.tokens = c.rows, sizes.valid = c.tokens;
        return interpret(body, given, sizes);
    }
    bool taken(Name const& n, Value const& v, Chunk const& c) {
        Operand const* o = operands.find(n.operand);
        if (!o) return false;
        if (!n.gradient) {
            if (o->role != Role::output) return false;
            for (int i = 0; i < c.tokens; ++i) add(driven.forward.outputs[c.first + i][o->name], row(*o, v, i));
            return true;
        }
        if (o->role == Role::parameter)
            add(driven.gradients.parameters[o->name], v);
        else if (!o->per_token())
            return false;
        else
            for (int i = 0; i < c.tokens; ++i)
                add(driven.gradients.tokens[o->name][c.first + i][n.step], row(*o, v, i));
        return true;
    }
    // What several chunks or phases give under one name adds up.
    static void add(Value& to, Value const& v) {
        if (to.e.empty()) to = Value(v.rows, v.cols);
        for (std::size_t i = 0; i < v.e.size(); ++i) to.e[i] += v.e[i];
    }
    Value row(Operand const& o, Value const& v, int i) const {
        Value one_row(sizes.of(Extent::dim(o.shape.rows)), sizes.of(Extent::dim(o.shape.cols)));
        std::size_t const width = one_row.e.size();
        if (v.e.size() < width * (i + 1)) throw std::logic_error("a result of " + o.name + " has too few entries");
        std::copy_n(v.e.begin() + std::ptrdiff_t(width) * i, width, one_row.e.begin());
        return one_row;
    }
};

struct Degrees {
    using Value = long;
    Operands operands;
    Sizes sizes;
    Start start;
    long largest = 0;

    Value initial(Name const& n) const { return n.gradient ? start.arriving : start.states; }
    void final(Name const&, Value v) { largest = std::max(largest, v); }
    Value given(Name const&, Chunk const&) const { return 1; }
    std::map<std::string, Value> evaluate(Body const& body, std::map<std::string, long> const& given, Chunk const& c) {
        sizes.tokens = c.rows, sizes.valid = c.tokens;
        return degrees(body, given, sizes);
    }
    bool taken(Name const& n, Value v, Chunk const&) {
        Operand const* o = operands.find(n.operand);
        if (!o || (!n.gradient && o->role != Role::output)) return false;
        largest = std::max(largest, v);
        return o->role != Role::state;
    }
};

bool has_token_bodies(Program const& p) { return p.form == Form::step || p.form == Form::recurrent; }

} // namespace

template<class K>
DrivenOver<K> drive(TypedRule const& rule, Program const& program, Plan plan, std::vector<int> const& dims,
                    OracleData<K> const& data, Arriving<K> const& arriving) {
    Numbers<K> numbers{Operands(rule), {dims}, has_token_bodies(program), data, arriving, {}};
    auto& driven = numbers.driven;
    driven.forward.outputs.resize(data.length);
    // What no phase gives a gradient for has none: 0.
    if (program.direction == Direction::backward) {
        driven.gradients =
            mapped<K, K>(data, [](std::string const&, Dense<K> const& m) { return Dense<K>(m.rows, m.cols); });
        driven.gradients.states.clear();
    }
    driven.left = walk(program, chunks_of(data.length, plan), numbers);
    return std::move(driven);
}
template DrivenOver<field> drive(TypedRule const&, Program const&, Plan, std::vector<int> const&,
                                 OracleData<field> const&, Arriving<field> const&);
template DrivenOver<double> drive(TypedRule const&, Program const&, Plan, std::vector<int> const&,
                                  OracleData<double> const&, Arriving<double> const&);
template DrivenOver<float> drive(TypedRule const&, Program const&, Plan, std::vector<int> const&,
                                 OracleData<float> const&, Arriving<float> const&);

long degree(TypedRule const& rule, Program const& program, Plan plan, std::vector<int> const& dims, int length,
            Start start) {
    Degrees world{Operands(rule), {dims}, start};
    for (auto const& left : walk(program, chunks_of(length, plan), world))
        for (auto const& [name, value] : left) world.largest = std::max(world.largest, value);
    return world.largest;
}

} // namespace deltaloom::codegen
