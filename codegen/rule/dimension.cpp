#include "codegen/rule/dimension.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

constexpr long largest = std::numeric_limits<int>::max();

struct Parts {
    bool dpfp = false;
    int count = 0;
    std::string of;
};
std::optional<Parts> parts(std::string_view name) {
    if (name.empty() || name.back() != '>') return std::nullopt;
    name.remove_suffix(1);
    constexpr std::string_view taylor2 = "taylor2_dim<", dpfp = "dpfp_dim<";
    if (name.starts_with(taylor2)) return Parts{false, 0, std::string(name.substr(taylor2.size()))};
    if (!name.starts_with(dpfp)) return std::nullopt;
    name.remove_prefix(dpfp.size());
    Parts p{true, 0, {}};
    auto const [end, fault] = std::from_chars(name.data(), name.data() + name.size(), p.count);
    std::string_view const rest = name.substr(std::size_t(end - name.data()));
    if (fault != std::errc() || p.count < 1 || !rest.starts_with(", ")) return std::nullopt;
    p.of = rest.substr(2);
    return p;
}

} // namespace

std::optional<MappedDim> mapped_dim(std::string const& name) {
    auto const p = parts(name);
    if (!p) return std::nullopt;
    return p->dpfp ? MappedDim{p->of, 0, 2L * p->count, 0} : MappedDim{p->of, 1, 1, 1};
}

std::optional<std::string> mapped_name(std::string const& function, int count, std::string const& of) {
    if (function == "dpfp") return "dpfp_dim<" + std::to_string(count) + ", " + of + ">";
    if (function == "taylor2") return "taylor2_dim<" + of + ">";
    return std::nullopt;
}

DimId dimension(std::vector<std::string>& dims, std::string const& name) {
    if (auto const made = mapped_dim(name)) dimension(dims, made->of);
    auto const at = std::find(dims.begin(), dims.end(), name);
    auto const id = static_cast<DimId>(at - dims.begin());
    if (at == dims.end()) dims.push_back(name);
    return id;
}

std::string extent_text(MappedDim const& made, std::string const& d) {
    std::string text = made.constant ? std::to_string(made.constant) : "";
    auto const add = [&](long times, std::string const& what) {
        if (times) text += (text.empty() ? "" : " + ") + (times == 1 ? what : fmt::format("{} * {}", times, what));
    };
    add(made.linear, d);
    add(made.square, d + " * " + d);
    return text;
}

std::vector<std::pair<DimId, MappedDim>> mapped_dims(std::vector<std::string> const& dims) {
    std::vector<std::pair<DimId, MappedDim>> all;
    for (auto const& name : dims) {
        auto made = mapped_dim(name).value_or(MappedDim{});
        auto const of = std::find(dims.begin(), dims.end(), made.of);
        all.emplace_back(of == dims.end() ? -1 : static_cast<DimId>(of - dims.begin()), std::move(made));
    }
    return all;
}

std::vector<int> with_mapped(std::vector<std::string> const& dims, std::vector<int> extents) {
    auto const mapped = mapped_dims(dims);
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (auto const& [of, made] = mapped[d]; of >= 0)
            extents[d] = static_cast<int>(std::min<long>(made.extent(extents[static_cast<std::size_t>(of)]), largest));
    return extents;
}

bool has_mapped(std::vector<std::string> const& dims, std::string const& of) {
    auto const mapped = mapped_dims(dims);
    return std::any_of(mapped.begin(), mapped.end(), [&](auto const& m) { return m.first >= 0 && m.second.of == of; });
}

std::string dim_identifier(std::string const& dim) {
    auto const p = parts(dim);
    if (!p) return dim;
    return (p->dpfp ? "dpfp_" + std::to_string(p->count) : "taylor2") + "_" + dim_identifier(p->of);
}

} // namespace deltaloom::codegen
