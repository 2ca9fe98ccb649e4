#include "codegen/check/result_json.hpp"

#include <cmath>

namespace deltaloom::codegen {
namespace {

// JSON has no infinity: what is not finite goes as text.
nlohmann::json number(double x) {
    if (std::isfinite(x)) return x;
    return x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
}
double number(nlohmann::json const& j) {
    if (j.is_number()) return j.get<double>();
    auto const text = j.get<std::string>();
    return text == "nan" ? std::nan("") : text == "inf" ? INFINITY : -INFINITY;
}

Form form_of(std::string const& text) {
    for (Form f : {Form::step, Form::recurrent, Form::chunked, Form::parallel, Form::summary})
        if (text == name(f)) return f;
    throw std::invalid_argument("no form " + text);
}

} // namespace

nlohmann::json to_json(Result const& r) {
    nlohmann::json j{{"form", name(r.form)}, {"direction", name(r.direction)},
                     {"level", r.level},     {"name", r.name},
                     {"target", r.target},   {"scalar", r.scalar},
                     {"trials", r.trials},   {"tokens", r.tokens},
                     {"chunk", r.chunk},     {"pass", r.pass}};
    j["dims"] = nlohmann::json::object();
    for (auto const& [dim, extent] : r.dims) j["dims"][dim] = extent;
    if (!r.isa.empty()) j["isa"] = r.isa;
    if (r.degree) j["degree"] = *r.degree;
    if (r.bound_log2) j["bound_log2"] = number(*r.bound_log2);
    if (r.error) j["error"] = number(*r.error);
    if (r.budget) j["budget"] = number(*r.budget);
    if (r.moves) j["moves"] = number(*r.moves);
    for (auto const& [key, text] :
         {std::pair{"index", &r.index}, {"got", &r.got}, {"want", &r.want}, {"reason", &r.reason}})
        if (!text->empty()) j[key] = *text;
    return j;
}

Result from_json(nlohmann::json const& j) {
    Result r;
    r.form = form_of(j.at("form"));
    r.direction = j.at("direction") == name(Direction::forward) ? Direction::forward : Direction::backward;
    r.level = j.at("level"), r.name = j.at("name"), r.target = j.at("target"), r.scalar = j.at("scalar");
    r.trials = j.at("trials"), r.tokens = j.at("tokens"), r.chunk = j.at("chunk"), r.pass = j.at("pass");
    for (auto const& [dim, extent] : j.at("dims").items()) r.dims.emplace_back(dim, extent.get<int>());
    if (j.contains("isa")) r.isa = j["isa"];
    if (j.contains("degree")) r.degree = j["degree"].get<long>();
    if (j.contains("bound_log2")) r.bound_log2 = number(j["bound_log2"]);
    if (j.contains("error")) r.error = number(j["error"]);
    if (j.contains("budget")) r.budget = number(j["budget"]);
    if (j.contains("moves")) r.moves = number(j["moves"]);
    for (auto const& [key, text] :
         {std::pair{"index", &r.index}, {"got", &r.got}, {"want", &r.want}, {"reason", &r.reason}})
        if (j.contains(key)) *text = j[key].get<std::string>();
    return r;
}

} // namespace deltaloom::codegen
