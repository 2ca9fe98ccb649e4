#pragma once
// A rule described for the driver of the C ABI, in this process: what an emitted library.cpp says in static tables.
#include "codegen/program/program.hpp"
#include "deltaloom/runtime/cpu/library.hpp"

#include <deque>

namespace deltaloom::codegen {

// Not to be moved once made: `rule` points into it.
struct Described {
    std::deque<std::string> names;
    std::vector<dl_operand> operands;
    std::vector<char const*> dims;
    std::vector<std::int64_t> fixed_extent;
    std::vector<std::int32_t> factor_dim;
    std::vector<std::uint32_t> chunks, previous_of;
    std::vector<runtime::mapped_dim> mapped;
    runtime::rule_kernels kernels{};
    dl_rule rule{};

    Described(Derived const&, runtime::kernel_table const*, runtime::isa_level, std::uint32_t chunk);
    Described(Described const&) = delete;
};

} // namespace deltaloom::codegen
