#include "codegen/check/described.hpp"

#include "codegen/emit/library.hpp"
#include "codegen/rule/dimension.hpp"

namespace deltaloom::codegen {

Described::Described(Derived const& d, runtime::kernel_table const* table, runtime::isa_level level,
                     std::uint32_t chunk)
    : chunks(offered_chunks(int(chunk))) {
    auto const keep = [&](std::string text) { return names.emplace_back(std::move(text)).c_str(); };
    for (auto const& o : d.rule.operands) {
        dl_operand described{};
        described.struct_size = sizeof described;
        described.name = keep(o.name);
        described.kind = o.role == Role::state       ? DL_STATE
                         : o.role == Role::output    ? DL_OUTPUT
                         : o.role == Role::parameter ? DL_PARAMETER
                         : o.role == Role::gate      ? DL_GATE
                                                     : DL_INPUT;
        described.domain = o.domain == Domain::log ? DL_LOG : o.domain == Domain::linear ? DL_LINEAR : DL_REAL;
        described.varies = o.role == Role::parameter ? DL_PER_HEAD
                           : o.role == Role::state   ? DL_PER_SEQUENCE
                                                     : DL_PER_TOKEN;
        if (o.steps) described.dims[described.rank++] = keep(std::to_string(o.steps));
        for (DimId dim : {o.shape.rows, o.shape.cols})
            if (dim != one) described.dims[described.rank++] = keep(d.rule.dims[std::size_t(dim)]);
        operands.push_back(described);
        if (o.role != Role::state) continue;
        ++kernels.state_count;
        previous_of.push_back(o.previous_of < 0 ? DL_NONE : std::uint32_t(o.previous_of));
    }
    for (auto const& dim : d.rule.dims) dims.push_back(keep(dim)), fixed_extent.push_back(0);
    for (DimId dim : factor_dims(d)) factor_dim.push_back(dim == one ? -1 : std::int32_t(dim));
    for (auto const& [of, formula] : mapped_dims(d.rule.dims))
        mapped.push_back({of, formula.constant, formula.linear, formula.square});
    kernels.mapped = mapped.data();
    kernels.factor_dim = factor_dim.data();
    kernels.level[level] = table;
    kernels.chunk = chunk;
    kernels.previous_of = previous_of.data();
    rule.struct_size = sizeof rule;
    rule.abi_version = DL_ABI_VERSION;
    rule.name = keep(d.rule.name);
    rule.equation = keep(d.rule.equation);
    rule.dim_count = std::uint32_t(dims.size());
    rule.dims = dims.data();
    rule.fixed_extent = fixed_extent.data();
    rule.operand_count = std::uint32_t(operands.size());
    rule.operands = operands.data();
    for (auto const& p : d.programs) rule.forms |= 1u << (int(p.form) + 1);
    rule.directions = 3;
    rule.scalars = rule.state_scalars = 1u << DL_F32 | 1u << DL_F64 | 1u << DL_BF16 | 1u << DL_F16;
    rule.chunks = chunks.data();
    rule.implementation = &kernels;
}

} // namespace deltaloom::codegen
