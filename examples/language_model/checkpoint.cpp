#include "checkpoint.hpp"

#include "files.hpp"

#include <cstring>
#include <fmt/format.h>
#include <sstream>

namespace lm {
namespace {

constexpr char const* magic = "deltaloom language model, checkpoint 1\n";

std::uint64_t hash(char const* data, std::size_t n) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < n; ++i) h = (h ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
    return h;
}
template<class T> void put(std::string& to, std::vector<T> const& v) {
    to.append(reinterpret_cast<char const*>(v.data()), v.size() * sizeof(T));
}

} // namespace

std::string as_words(Settings const& s) {
    std::string text;
    for_each_setting(
        s, [&](char const* name, auto const& value, char const*) { text += fmt::format("{} {}\n", name, value); });
    return text;
}

void save(std::string const& path, Checkpoint const& c) {
    auto const& p = c.progress;
    std::string all = magic + as_words(c.settings);
    all += fmt::format("equation {}\ntext {} {:016x}\nstep {}\nparameters {}\nstate {}\nhistory {}\n\n", c.equation,
                       c.text_bytes, c.text_hash, p.step, p.parameters.size(), p.state.size(), p.history.size());
    put(all, p.parameters), put(all, p.moments.first), put(all, p.moments.second), put(all, p.state);
    std::vector<double> curve;
    for (auto const& r : p.history) curve.insert(curve.end(), {double(r.step), r.loss, r.rate, r.norm, r.validation});
    put(all, curve);
    put(all, std::vector<std::uint64_t>{hash(all.data(), all.size())});
    write_file(path, all);
}

Checkpoint load(std::string const& path) {
    std::string const all = read_file(path);
    auto const head = all.find("\n\n");
    if (all.rfind(magic, 0) != 0 || head == all.npos)
        throw Refusal(fmt::format("{} is no checkpoint of this program, or cut short within its first lines", path));
    std::map<std::string, std::string> words;
    std::istringstream lines(all.substr(std::strlen(magic), head - std::strlen(magic) + 1));
    for (std::string line; std::getline(lines, line);) {
        auto const space = std::min(line.find(' '), line.size());
        words[line.substr(0, space)] = space < line.size() ? line.substr(space + 1) : "";
    }
    auto const number = [&](char const* name) { return std::strtoull(words[name].c_str(), nullptr, 10); };
    Checkpoint c;
    for_each_setting(c.settings, [&](char const* name, auto& value, char const*) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>)
            value = words[name];
        else if constexpr (std::is_same_v<T, bool>)
            value = words[name] == "true";
        else if constexpr (std::is_same_v<T, double>)
            value = std::strtod(words[name].c_str(), nullptr);
        else
            value = T(number(name));
    });
    c.equation = words["equation"];
    std::istringstream(words["text"]) >> c.text_bytes >> std::hex >> c.text_hash;
    auto& p = c.progress;
    p.step = int(number("step"));
    std::size_t const parameters = number("parameters"), state = number("state"), history = number("history");
    constexpr std::size_t columns = 5, limit = std::size_t(1) << 40;
    std::size_t const begin = head + 2;
    bool const sane = parameters < limit && state < limit && history < limit;
    std::size_t const body = sane ? (3 * parameters + state) * sizeof(float) + history * columns * sizeof(double) : 0;
    if (!sane || all.size() != begin + body + sizeof(std::uint64_t))
        throw Refusal(fmt::format("{} has {} bytes, its first lines say {}: it is cut short or not whole; take an "
                                  "older one",
                                  path, all.size(), begin + body + sizeof(std::uint64_t)));
    std::uint64_t kept = 0;
    std::memcpy(&kept, all.data() + begin + body, sizeof kept);
    if (kept != hash(all.data(), begin + body))
        throw Refusal(fmt::format("{} is damaged: its bytes do not give the hash that it ends with", path));
    char const* at = all.data() + begin;
    auto const take = [&]<class T>(std::vector<T>& v, std::size_t n) {
        v.resize(n);
        if (n) std::memcpy(v.data(), at, n * sizeof(T));
        at += n * sizeof(T);
    };
    take(p.parameters, parameters), take(p.moments.first, parameters), take(p.moments.second, parameters);
    take(p.state, state);
    std::vector<double> curve;
    take(curve, history * columns);
    for (std::size_t i = 0; i < history; ++i) {
        double const* const r = &curve[i * columns];
        p.history.push_back({int(r[0]), r[1], r[2], r[3], r[4]});
    }
    return c;
}

void fit(Checkpoint const& c, Model const& model, std::string const& path) {
    if (c.equation != model.plan.rule->equation)
        throw Refusal(fmt::format("{} was trained with the rule\n    {}\nand {} is now\n    {}", path, c.equation,
                                  model.plan.rule->name, model.plan.rule->equation));
    std::size_t const state = c.settings.carry ? model.state.count * std::size_t(c.settings.batch) : 0;
    if (c.progress.parameters.size() != model.offsets.count || c.progress.state.size() != state)
        throw Refusal(fmt::format("{} has another shape: {} parameters and {} numbers of state, where a model of its "
                                  "settings has {} and {}",
                                  path, c.progress.parameters.size(), c.progress.state.size(), model.offsets.count,
                                  state));
}

} // namespace lm
