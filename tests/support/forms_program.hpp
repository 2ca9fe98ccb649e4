#pragma once
// The program that runs the emitted forms of a rule through forms_harness.hpp: exit status 0 if they agree.
#include "codegen/emit/emit.hpp"
#include "codegen/rule/dimension.hpp"

#include <fmt/format.h>

namespace deltaloom::test {

inline std::string forms_program(codegen::Derived const& d, std::string const& library) {
    using namespace codegen;
    auto const& rule = d.rule;
    std::vector<int> plain;
    for (DimId i = 0; i < DimId(rule.dims.size()); ++i) plain.push_back(3 + 2 * i);
    auto const all = with_mapped(rule.dims, std::move(plain));
    auto const extent = [&](DimId dim) { return dim == one ? 1 : all[std::size_t(dim)]; };
    std::string includes, table, extents, forms;
    for (char const* form : {"step", "recurrent", "chunked"}) {
        if (d.missing && std::string(form) == "chunked") {
            forms += "{}, ";
            continue;
        }
        for (char const* direction : {"forward", "backward"})
            includes += fmt::format("#include \"src/{}_{}_{}.hpp\"\n", rule.name, form, direction);
        forms += fmt::format(
            "{{{{{0}_forward_scratch<K>, {0}_forward<K>}}, {{{0}_backward_scratch<K>, {0}_backward<K>}}}}, ", form);
    }
    std::string summary; // compiled; `check` runs it, at level text
    if (!d.no_summary) {
        for (char const* direction : {"forward", "backward"})
            includes += fmt::format("#include \"src/{}_summary_{}.hpp\"\n", rule.name, direction);
        for (char const* f : {"forward", "backward", "states", "gradients"})
            summary += fmt::format("    (void)&summary_{0}<K>, (void)&summary_{0}_scratch<K>;\n", f);
    }
    for (DimId i = 0; i < DimId(rule.dims.size()); ++i) extents += fmt::format("{}, ", extent(i));
    for (auto const& o : rule.operands) {
        char const* const kind = o.role == Role::state       ? "state"
                                 : o.role == Role::output    ? "output"
                                 : o.role == Role::parameter ? "parameter"
                                                             : "input";
        table +=
            fmt::format("    {{\"{}\", role::{}, {}, {}, {}, {}, {}}},\n", o.name, kind, o.steps, extent(o.shape.rows),
                        extent(o.shape.cols), o.domain == Domain::log, o.domain == Domain::linear);
    }
    return fmt::format(R"({0}#include "tests/support/forms_harness.hpp"
using namespace deltaloom::test;
static deltaloom::runtime::index const extents[] = {{{1}0}};
static std::vector<operand> const operands{{
{2}}};
template<class K> int all() {{
    using namespace {3}::{4}_kernels;
{6}    return deltaloom::test::check<K>("{4}", {{{5}}}, operands, extents, 7);
}}
int main() {{ return all<deltaloom::runtime::field>() + all<double>() != 0; }}
)",
                       includes, extents, table, library, rule.name, forms, summary);
}

} // namespace deltaloom::test
