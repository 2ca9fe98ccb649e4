#include "codegen/program/cost.hpp"

namespace deltaloom::codegen {

static double operations(Body const& body, Node const& n, Sizes const& sizes) {
    auto const rows = [&](NodeId i) { return double(sizes.of(body.nodes[std::size_t(i)].shape.rows)); };
    auto const cols = [&](NodeId i) { return double(sizes.of(body.nodes[std::size_t(i)].shape.cols)); };
    double const r = sizes.of(n.shape.rows), c = sizes.of(n.shape.cols), own = r * c;
    switch (n.op) {
    case Op::input:
    case Op::constant:
    case Op::eye:
    case Op::logone:
    case Op::transpose:
    case Op::hold:
    case Op::interleave:
    case Op::pick:
    case Op::aslog: return 0;
    case Op::add:
    case Op::mul:
    case Op::map:
    case Op::dmap:
    case Op::unlog:
    case Op::addlog: return own;
    case Op::sum: return rows(n.args[0]) * cols(n.args[0]);
    // A feature map multiplies once an entry of its result, its adjoint twice and adds. Its features are a value of the
    // body like any other and move no bytes (cost() counts operands only): a chunk of n tokens holds n rows of them in
    // scratch. As a tensor of the sequence they would cost a write and a read of `own` in each direction, which is 4 nu
    // times the bytes of x for dpfp and d + 1 times for taylor2.
    case Op::vector_map: return maps_features(n.name) ? own + rows(n.args[0]) * cols(n.args[0]) : 3 * own;
    case Op::vector_vjp: return maps_features(n.name) ? 4 * rows(n.args[1]) * cols(n.args[1]) : 5 * own;
    case Op::matmul: return 2 * own * cols(n.args[0]);
    case Op::decay:
        return own * n.states * n.states; // running products
    // Half of the pairs are visible; one channel's decay goes to the pair, many go to the rows.
    case Op::gram: return own * cols(n.args[0]);
    case Op::apply: return own * cols(n.args[0]);
    case Op::applyt: return own * rows(n.args[0]);
    case Op::spread: return 2 * rows(n.args[0]) * cols(n.args[0]) * cols(n.args[1]);
    case Op::solve: return own * r;
    case Op::csolve: return own * r;
    }
    return 0;
}

Cost cost(Body const& body, TypedRule const& rule, Sizes const& sizes) {
    std::vector<char> live(body.nodes.size());
    for (auto const& [name, node] : body.results) live[std::size_t(node)] = 1;
    Cost total;
    // An operand's own value or its cotangent; of a state, a part of a segment's map.
    auto const role = [&](std::string const& name) {
        for (auto const& o : rule.operands)
            if (name == o.name || name == "d_" + o.name || (o.role == Role::state && name.rfind(o.name + ".", 0) == 0))
                return o.role;
        return Role::input;
    };
    auto const add = [&](std::string const& name, double& moved, double entries) {
        auto const r = role(name);
        if (r == Role::state)
            total.states += entries;
        else if (r != Role::parameter)
            moved += entries;
    };
    auto const count = [&](NodeId i) {
        return double(sizes.of(body.nodes[std::size_t(i)].shape.rows)) *
               sizes.of(body.nodes[std::size_t(i)].shape.cols);
    };
    for (auto const& [name, node] : body.results) add(name, total.outputs, count(node));
    for (std::size_t i = body.nodes.size(); i-- > 0;) {
        if (!live[i]) continue;
        auto const& n = body.nodes[i];
        for (NodeId a : n.args) live[std::size_t(a)] = 1;
        total.operations += operations(body, n, sizes);
        if (n.op == Op::input) add(n.name, total.inputs, count(NodeId(i)));
    }
    return total;
}

} // namespace deltaloom::codegen
