#include "codegen/emit/fields.hpp"

#include "codegen/rule/dimension.hpp"

#include <set>

namespace deltaloom::codegen {

Fields fields(TypedRule const& rule) {
    std::set<std::string> taken{"batch", "tokens", "value_heads",  "offsets",        "sequences",
                                "form",  "chunk",  "threads",      "workspace",      "snapshots",
                                "flags", "host",   "parallel_for", "workspace_bytes"};
    auto const field = [&](std::string name) {
        while (!taken.insert(name).second) name += '_';
        return name;
    };
    Fields all;
    for (auto const& dim : rule.dims) all.dims.push_back(field(dim_identifier(dim)));
    for (auto const& o : rule.operands) {
        auto& f = all.operands.emplace_back();
        if (o.role == Role::state) {
            f.initial = field(o.name + "_initial"), f.final = field(o.name + "_final");
            f.snapshots = field(o.name + "_snapshots");
            f.d_initial = field("d_" + o.name + "_initial"), f.d_final = field("d_" + o.name + "_final");
        } else {
            f.value = field(o.name), f.gradient = field("d_" + o.name);
        }
    }
    return all;
}

} // namespace deltaloom::codegen
