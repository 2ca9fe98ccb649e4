#include "codegen/kernel/block.hpp"

#include "codegen/kernel/describe.hpp"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

namespace deltaloom::codegen {

Integer integer(Extent e, std::vector<std::string> const& dims) {
    switch (e.kind) {
    case Extent::Kind::constant: return std::to_string(e.value);
    case Extent::Kind::dim: return dims.at(e.value);
    case Extent::Kind::tokens: return e.value == 0 ? "0" : e.value == 1 ? "n" : std::to_string(e.value) + " * n";
    }
    return "";
}
Argument argument(BufferId b) { return {Argument::Kind::buffer, b, {}, -1, {}}; }
Argument argument(Integer i) { return {Argument::Kind::integer, -1, {}, -1, std::move(i)}; }
Statement call(std::string function, std::vector<Argument> arguments) {
    Statement s;
    s.kind = Statement::Kind::call;
    s.name = std::move(function);
    s.arguments = std::move(arguments);
    return s;
}

// ---- entries --------------------------------------------------------------------------------------------------------

namespace {

Scalar scalar(Scalar::Kind kind, std::vector<Scalar> arguments, std::string function = {}) {
    Scalar s;
    s.kind = kind;
    s.function = std::move(function);
    s.arguments = std::move(arguments);
    return s;
}
Scalar number(Rational c) {
    Scalar s;
    s.number = std::move(c);
    return s;
}
bool is(Scalar const& s, Rational const& c) { return s.kind == Scalar::Kind::number && s.number == c; }
Scalar negate(Scalar a) {
    return a.kind == Scalar::Kind::negate ? std::move(a.arguments[0]) : scalar(Scalar::Kind::negate, {std::move(a)});
}
Scalar add(Scalar a, Scalar b) {
    if (is(a, 0)) return b;
    if (is(b, 0)) return a;
    if (a.kind == Scalar::Kind::negate && b.kind != Scalar::Kind::negate) std::swap(a, b);
    if (b.kind == Scalar::Kind::negate)
        return scalar(Scalar::Kind::subtract, {std::move(a), std::move(b.arguments[0])});
    return scalar(Scalar::Kind::add, {std::move(a), std::move(b)});
}
Scalar multiply(Scalar a, Scalar b) {
    if (b.kind == Scalar::Kind::number) std::swap(a, b);
    if (is(a, 1)) return b;
    if (is(a, -1)) return negate(std::move(b));
    if (is(a, 0)) return a;
    if (a.kind == Scalar::Kind::negate && b.kind == Scalar::Kind::negate)
        return multiply(std::move(a.arguments[0]), std::move(b.arguments[0]));
    if (a.kind == Scalar::Kind::negate) return negate(multiply(std::move(a.arguments[0]), std::move(b)));
    if (b.kind == Scalar::Kind::negate) return negate(multiply(std::move(a), std::move(b.arguments[0])));
    return scalar(Scalar::Kind::multiply, {std::move(a), std::move(b)});
}
Scalar select(std::string mask, Scalar a) {
    return scalar(Scalar::Kind::select, {std::move(a), number(0)}, std::move(mask));
}
Integer times(int m, Integer const& i, int plus) {
    auto text = i == "0"                ? std::string()
                : i.find(' ') == i.npos ? fmt::format("{} * {}", m, i)
                                        : fmt::format("{} * ({})", m, i);
    if (plus || text.empty()) text += fmt::format("{}{}", text.empty() ? "" : " + ", plus);
    return text;
}

} // namespace

Scalar BlockWriter::entry(NodeId id, Integer row, Integer col) {
    auto const& n = body.nodes[id];
    if (n.shape.rows.is_one()) row = "0";
    if (n.shape.cols.is_one()) col = "0";
    if (n.op == Op::transpose) return entry(n.args[0], col, row);
    if (buffer[id] >= 0) {
        Scalar s;
        s.kind = Scalar::Kind::element;
        s.buffer = buffer[id];
        s.row = turned[id] ? col : row;
        s.col = turned[id] ? row : col;
        return s;
    }
    auto const arg = [&](int i) { return entry(n.args[i], row, col); };
    auto const selected = [&](NodeId mask, NodeId other) {
        auto const& m = body.nodes[mask];
        auto const text = m.op == Op::eye ? fmt::format("{} == {}", row, col)
                                          : fmt::format("{} {} {}", col, mask_of(m) == Mask::below ? "<" : "<=", row);
        return select(text, other < 0 ? number(1) : entry(other, row, col));
    };
    auto const masks = [&](NodeId a) {
        return buffer[a] < 0 && (body.nodes[a].op == Op::eye || mask_of(body.nodes[a]) != Mask::none);
    };
    switch (n.op) {
    case Op::constant: return number(n.number);
    case Op::logone: return scalar(Scalar::Kind::log_one, {});
    case Op::eye: return selected(id, -1);
    case Op::decay: return selected(id, -1);
    case Op::add: return add(arg(0), arg(1));
    case Op::mul:
        if (masks(n.args[0])) return selected(n.args[0], n.args[1]);
        if (masks(n.args[1])) return selected(n.args[1], n.args[0]);
        return multiply(arg(0), arg(1));
    case Op::map:
        return n.args.size() == 2 ? scalar(Scalar::Kind::call, {arg(0), arg(1)}, "larger")
                                  : scalar(Scalar::Kind::call, {arg(0)}, "map_" + n.name);
    case Op::dmap: {
        if (n.args.size() == 1) return scalar(Scalar::Kind::call, {arg(0)}, "derivative_" + n.name);
        auto along = scalar(Scalar::Kind::call, {arg(0), arg(1)}, "is_larger");
        return n.index == 0 ? along : scalar(Scalar::Kind::subtract, {number(1), std::move(along)});
    }
    case Op::unlog: return scalar(Scalar::Kind::call, {arg(0)}, "unlog");
    case Op::aslog: return scalar(Scalar::Kind::call, {arg(0)}, "aslog");
    case Op::addlog: return scalar(Scalar::Kind::call, {arg(0), arg(1)}, "addlog");
    case Op::pick: return entry(n.args[0], times(n.per, row, n.index), col);
    case Op::input:
    case Op::sum:
    case Op::transpose:
    case Op::matmul:
    case Op::vector_map:
    case Op::vector_vjp:
    case Op::hold:
    case Op::interleave:
    case Op::gram:
    case Op::apply:
    case Op::applyt:
    case Op::spread:
    case Op::solve:
    case Op::csolve: break;
    }
    assert(false);
    return {};
}

// ---- buffers
// ----------------------------------------------------------------------------------------------------------

BufferId BlockWriter::make(std::string const& name, Extents s) {
    function.buffers.push_back({names.fresh(name), integer(s.rows, kernel.dims), integer(s.cols, kernel.dims)});
    return BufferId(function.buffers.size()) - 1;
}

static Extents storage(Extents s, bool turned) { return turned ? Extents{s.cols, s.rows} : s; }

// Is there a buffer that holds it as it is, not transposed?
bool BlockWriter::in_memory(NodeId a) const {
    auto const v = strip(body, a);
    return buffer[v.node] >= 0 && v.turned == (turned[v.node] != 0);
}
Argument BlockWriter::whole(NodeId a) {
    auto const v = strip(body, a);
    auto const& s = body.nodes[v.node].shape;
    assert(buffer[v.node] >= 0);
    if (v.turned == (turned[v.node] != 0)) return argument(buffer[v.node]);
    if (vector(s)) {
        auto r = argument(buffer[v.node]);
        r.kind = Argument::Kind::turned;
        return r;
    }
    auto const [at, added] = turned_copies.try_emplace(v.node, -1);
    if (added) {
        at->second = make(function.buffers[buffer[v.node]].name + "_t", storage(body.nodes[a].shape, false));
        auto const& from = function.buffers[buffer[v.node]];
        auto s2 = call("transpose", {argument(at->second), argument(buffer[v.node])});
        s2.comment = fmt::format("{} = {}^T", function.buffers[at->second].name, from.name);
        blocks.push_back({at->second, {std::move(s2)}});
    }
    return argument(at->second);
}

Argument BlockWriter::span(Span const& s) {
    auto& all = kernel.spans;
    auto at = std::find(all.begin(), all.end(), s);
    if (at == all.end()) at = all.insert(at, s);
    Argument a;
    a.kind = Argument::Kind::span;
    a.span = int(at - all.begin());
    return a;
}

// ---- blocks
// -------------------------------------------------------------------------------------------------------------

// target(i, j) = sum of the terms (of the value itself where there are none), to what it holds if `adds`; target(0, j)
// if it adds up rows. `turned`: of the target, against the node.
Statement BlockWriter::entries(BufferId target, NodeId id, bool is_turned, std::vector<View> const& parts, bool adds,
                               bool rows) {
    auto const s = storage(body.nodes[id].shape, is_turned);
    bool const square = s.rows.kind == Extent::Kind::tokens && s.cols.kind == Extent::Kind::tokens;
    Integer const i = s.rows.is_one() ? "0" : "i", j = s.cols.is_one() ? "0" : square ? "e" : "j";
    Statement each;
    each.kind = Statement::Kind::each;
    each.buffer = target;
    each.row = rows ? "0" : i;
    each.col = j;
    if (!s.rows.is_one()) each.loops.push_back({i, "0", integer(s.rows, kernel.dims), "1", false});
    if (!s.cols.is_one()) each.loops.push_back({j, "0", integer(s.cols, kernel.dims), "1", false});
    std::optional<Scalar> value;
    if (adds) {
        value.emplace();
        value->kind = Scalar::Kind::element;
        value->buffer = target;
        value->row = each.row;
        value->col = each.col;
    }
    auto const put = [&](NodeId node, bool t) {
        auto term = t ? entry(node, j, i) : entry(node, i, j);
        value = value ? add(std::move(*value), std::move(term)) : std::move(term);
    };
    if (parts.empty()) put(id, is_turned);
    for (auto const& p : parts) put(p.node, p.turned);
    each.value = std::move(*value);
    return each;
}

// out = the product, seen turned or not; its operands' transposes are folded into the call.
Statement BlockWriter::product(View v, BufferId out, bool adds) {
    auto const& n = body.nodes[v.node];
    std::vector<Argument> arguments{argument(out)};
    bool turn[2];
    for (int k = 0; k < 2; ++k) {
        auto const a = strip(body, n.args[v.turned ? 1 - k : k]);
        turn[k] = (a.turned != (turned[a.node] != 0)) != v.turned;
        arguments.push_back(argument(buffer[a.node]));
    }
    for (int k = 0; k < 2 && turn[0] && turn[1]; ++k) { // one of them is a vector
        auto const a = strip(body, n.args[v.turned ? 1 - k : k]);
        if (!vector(body.nodes[a.node].shape)) continue;
        arguments[k + 1].kind = Argument::Kind::turned;
        turn[k] = false;
    }
    assert(!(turn[0] && turn[1]));
    return call(std::string("multiply") +
                    (turn[1]   ? "_nt"
                     : turn[0] ? "_tn"
                               : "") +
                    (adds ? "_add" : ""),
                std::move(arguments));
}

// The terms of a sum into its block: what is entrywise in one loop, then the products one by one.
void BlockWriter::sum(Block& block, View v, bool adds) {
    std::vector<View> rest, products;
    for (auto const& t : terms(body, fusion, v)) (fusion.absorbed[t.node] ? products : rest).push_back(t);
    if (!rest.empty()) {
        block.statements.push_back(entries(block.target, v.node, v.turned, rest, adds));
        adds = true;
    }
    for (auto const& t : products) {
        block.statements.push_back(product(t, block.target, adds));
        adds = true;
    }
}

Statement BlockWriter::operation(NodeId id, BufferId out) {
    auto const& n = body.nodes[id];
    auto const arg = [&](int i) { return whole(n.args[i]); };
    auto const domain = [&](int i) {
        return argument(Integer(body.nodes[n.args[i]].log ? "domain::log" : "domain::linear"));
    };
    auto const eps = [&] { // of a feature map nu
        if (maps_features(n.name)) return argument(Integer(print(n.number)));
        auto const text = fmt::format("{}", nearest(n.number));
        return argument(Integer(text.find_first_of(".e") == text.npos ? text + ".0" : text));
    };
    auto const target = argument(out);
    auto const tokens = argument(Integer("n"));
    switch (n.op) {
    case Op::sum: return call(n.index == 0 ? "sum_rows" : "sum_cols", {target, arg(0)});
    case Op::matmul: return product({id, turned[id] != 0}, out, false);
    case Op::vector_map: return call(n.name, {target, arg(0), argument(std::to_string(n.index)), eps()});
    case Op::vector_vjp:
        return call(n.name + "_vjp", {target, arg(0), arg(1), argument(std::to_string(n.index)), eps()});
    case Op::decay: {
        Argument rows;
        rows.kind = Argument::Kind::list;
        for (std::size_t i = 0; i < n.args.size(); ++i) {
            assert(arg(int(i)).kind == Argument::Kind::buffer);
            rows.list.push_back(arg(int(i)).buffer);
        }
        return call("decay", {target, span(n.span), tokens, rows, domain(0)});
    }
    case Op::gram: return call("gram", {target, span(n.span), tokens, arg(0), arg(1), arg(2), domain(2)});
    case Op::apply: return call("apply", {target, span(n.span), tokens, arg(0), arg(1), arg(2), domain(2)});
    case Op::applyt: return call("applyt", {target, span(n.span), tokens, arg(0), arg(1), arg(2), domain(2)});
    case Op::spread: return call("spread", {target, span(n.span), tokens, arg(0), arg(1), arg(2), arg(3), domain(3)});
    case Op::solve: return call(n.transposed ? "solve_transposed" : "solve", {target, arg(0), arg(1)});
    case Op::csolve:
        return call(n.transposed ? "csolve_transposed" : "csolve",
                    {target, span(n.span), tokens, arg(0), arg(1), arg(2), arg(3), domain(3)});
    case Op::input:
    case Op::constant:
    case Op::eye:
    case Op::logone:
    case Op::add:
    case Op::mul:
    case Op::transpose:
    case Op::map:
    case Op::dmap:
    case Op::unlog:
    case Op::aslog:
    case Op::addlog:
    case Op::hold: // chunks end where the sequence ends: no padding
    case Op::interleave:
    case Op::pick: break;
    }
    assert(false);
    return {};
}

void BlockWriter::write(NodeId id) {
    auto const& n = body.nodes[id];
    auto const target = make(wish(*this, id), storage(n.shape, turned[id] != 0));
    Block block{target, {}};
    bool const nothing = n.shape.rows == Extent::tokens(0) || n.shape.cols == Extent::tokens(0);
    if (nothing) {
    } else if (n.op == Op::interleave) {
        for (int j = 0; j < n.per; ++j) {
            auto const part = n.args[j];
            if (in_memory(part)) {
                block.statements.push_back(call("interleave", {argument(target), argument(std::to_string(j)),
                                                               argument(std::to_string(n.per)), whole(part)}));
            } else {
                auto s = entries(target, part, false, {}, false);
                s.row = times(n.per, s.row, j);
                block.statements.push_back(std::move(s));
            }
        }
    } else if (n.op == Op::pick && in_memory(n.args[0])) {
        block.statements.push_back(call("pick", {argument(target), whole(n.args[0]), argument(std::to_string(n.index)),
                                                 argument(std::to_string(n.per))}));
    } else if (n.op == Op::constant && n.number == 0) {
        block.statements.push_back(call("clear", {argument(target)}));
    } else if (sums_rows(n) && !in_memory(n.args[0])) {
        block.statements.push_back(call("clear", {argument(target)}));
        block.statements.push_back(entries(target, n.args[0], false, {}, true, true));
    } else if (n.op == Op::add) {
        sum(block, {id, turned[id] != 0}, false);
    } else if (entrywise(n.op) || n.op == Op::pick || free_of_charge(n)) {
        block.statements.push_back(entries(target, id, turned[id] != 0, {}, false));
    } else {
        block.statements.push_back(operation(id, target));
    }
    buffer[id] = target;
    if (!block.statements.empty()) block.statements[0].comment = formula(*this, id);
    blocks.push_back(std::move(block));
}

void BlockWriter::add_into(BufferId target, NodeId id) {
    Block block{target, {}};
    auto const v = strip(body, id);
    if (buffer[v.node] < 0 && fusion.absorbed[v.node])
        block.statements.push_back(product(v, target, true));
    else if (buffer[v.node] < 0 && body.nodes[v.node].op == Op::add)
        sum(block, v, true);
    else
        block.statements.push_back(entries(target, id, false, {}, true));
    if (!block.statements.empty()) block.statements[0].comment = buffer[v.node] < 0 ? formula(*this, v.node) : "";
    blocks.push_back(std::move(block));
}

} // namespace deltaloom::codegen
