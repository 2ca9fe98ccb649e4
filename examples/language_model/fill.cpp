#include "fill.hpp"

#include <algorithm>
#include <cstdlib>
#include <deltaloom/runtime/abi/dimension.hpp>
#include <fmt/format.h>

namespace lm {
namespace {

// A step axis is named by its length.
bool is_number(std::string const& axis) { return !axis.empty() && axis[0] >= '0' && axis[0] <= '9'; }

struct Dims {
    dl_rule const& rule;
    std::map<std::string, int> extent;

    Dims(dl_rule const& r, Settings const& s) : rule(r), extent(extents(s.dims)) {
        for (auto const& [name, unused] : extent) {
            if (name == "dk" || name == "dv") throw Refusal(fmt::format("--dim {0}: that is the option --{0}", name));
            if (std::none_of(r.dims, r.dims + r.dim_count, [&](auto d) { return name == d; }))
                throw Refusal(fmt::format("--dim {}: the rule {} has no dimension of that name", name, r.name));
        }
        extent["dk"] = s.dk, extent["dv"] = s.dv;
        for (std::uint32_t d = 0; d < r.dim_count; ++d)
            if (r.fixed_extent && r.fixed_extent[d]) extent[r.dims[d]] = int(r.fixed_extent[d]);
    }
    int of(std::string const& axis, char const* operand) const {
        if (is_number(axis)) return std::atoi(axis.c_str());
        auto const plain = [&](std::string const& name) -> std::int64_t {
            if (auto const found = extent.find(name); found != extent.end()) return found->second;
            throw Refusal(
                fmt::format("rule {}: operand {} has the dimension {}, whose extent this model does not know: "
                            "give it with --dim {}=16",
                            rule.name, operand, name, name));
        };
        return int(deltaloom::extent_of(axis, plain));
    }
};

Map map_of(dl_operand const& o, bool vector) {
    switch (dl_domain(o.domain)) {
    case DL_LINEAR: return Map::sigmoid;
    case DL_LOG: return Map::minus_softplus;
    case DL_REAL: break;
    }
    if (o.varies == DL_PER_HEAD) return Map::none;
    if (!vector) return Map::sigmoid;
    return std::string(o.dims[o.rank - 1]) == "dk" ? Map::unit : Map::plain;
}

} // namespace

Plan plan(dl_rule const& rule, Settings const& s) {
    if (!(rule.directions & 2))
        throw Refusal(
            fmt::format("rule {}: its library was made without a backward; make it without NO_BACKWARD", rule.name));
    Dims const dims(rule, s);
    Plan p{&rule, {}, {}, {}, ~0u};
    for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
        dl_operand const& o = rule.operands[i];
        std::vector<int> axes;
        std::size_t entries = 1;
        for (std::uint32_t a = 0; a < o.rank; ++a)
            axes.push_back(dims.of(o.dims[a], o.name)), entries *= std::size_t(axes.back());
        if (o.kind == DL_STATE) {
            p.states.push_back({o.name, axes, entries});
            continue;
        }
        if (o.kind == DL_OUTPUT) {
            if (p.output != ~0u)
                throw Refusal(fmt::format("rule {}: the model reads one output, and {} is a second one: join them in "
                                          "the rule, o <<= ... + ...",
                                          rule.name, o.name));
            if (o.rank != 1 || axes[0] != s.dv)
                throw Refusal(fmt::format("rule {}: the model reads an output of dv = {} entries, and {} is another: "
                                          "declare it with DELTALOOM_OUTPUT({}, dv)",
                                          rule.name, s.dv, o.name, o.name));
            p.output = i;
            continue;
        }
        bool const stepped = o.rank > 0 && is_number(o.dims[0]), learned = o.varies == DL_PER_HEAD;
        std::uint32_t const rank = o.rank - stepped;
        if (rank > 1 && !learned)
            throw Refusal(fmt::format("rule {}: operand {} is a matrix for every token, which no projection of this "
                                      "model gives: make it of vectors in the rule, as in v * T(k), or one per head "
                                      "with DELTALOOM_PARAMETER({}, ...)",
                                      rule.name, o.name, o.name));
        int const steps = stepped ? axes[0] : 1;
        Filling f{i, o.name, map_of(o, rank > 0), learned, steps, int(entries) / steps, 0, axes};
        bool const vector = f.map == Map::unit || f.map == Map::plain;
        int& columns = learned ? p.learned : vector ? p.vectors : p.gates;
        f.column = columns;
        columns += s.heads * int(entries);
        if (f.map == Map::unit) p.units += s.heads * steps;
        p.fillings.push_back(f);
    }
    for (std::uint32_t d = 0; d < rule.dim_count; ++d) p.dim.push_back(dims.of(rule.dims[d], "of a state"));
    if (p.vectors == 0) throw Refusal(fmt::format("rule {}: it has no input of a vector per token", rule.name));
    return p;
}

} // namespace lm
