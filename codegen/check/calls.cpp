#include "codegen/check/calls.hpp"

namespace deltaloom::codegen {

std::size_t entries(TypedRule const& rule, CallShape const& shape, OperandId id) {
    auto const& o = rule.operands[std::size_t(id)];
    std::size_t n = o.steps ? std::size_t(o.steps) : 1;
    for (DimId d : {o.shape.rows, o.shape.cols})
        if (d != one) n *= std::size_t(shape.dims[std::size_t(d)]);
    return n;
}
std::size_t total(TypedRule const& rule, CallShape const& shape, OperandId id) {
    std::size_t const n = entries(rule, shape, id) * std::size_t(shape.operand_heads[std::size_t(id)]);
    switch (rule.operands[std::size_t(id)].role) {
    case Role::parameter: return n;
    case Role::state: return n * std::size_t(shape.batch);
    case Role::input:
    case Role::gate:
    case Role::output: return n * std::size_t(shape.batch) * std::size_t(shape.tokens);
    }
    return n;
}

} // namespace deltaloom::codegen
