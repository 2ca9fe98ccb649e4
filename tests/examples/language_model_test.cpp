// The model of examples/language_model: its gradient, its state, its checkpoints, what it fills and what it refuses.
#include "own_rules.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <deltaloom/evaluate.hpp>
#include <evaluate.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <passes.hpp>
#include <random>
#include <train.hpp>

namespace {

using namespace lm;
using Dual = scalar::dual<double>;
using Numbers = std::vector<double>;

Settings tiny(std::string const& rule) {
    Settings s;
    s.rule = rule;
    s.width = 12, s.layers = 2, s.heads = 2, s.dk = 3, s.dv = 5, s.taps = 3, s.hidden = 10;
    s.length = 21, s.batch = 2, s.shares = 1, s.steps = 6, s.warm_up = 2;
    return s;
}
RuleCalls own_rule(std::string const& name) {
    setenv("XDG_CACHE_HOME", LM_TEST_CACHE, 0);
    return rule_of_header(LM_OWN_RULES, name, "double");
}

// A call of the ABI answered by the declaration itself, evaluated token by token: no generated code has a part in it.
template<auto const& declared> int evaluated(dl_rule const* rule, dl_call const* call, dl_status*) {
    using Matrix = deltaloom::oracle::dynamic_matrix<Dual>;
    auto const element = [](dl_tensor const& t, std::int64_t offset) -> Dual& {
        return static_cast<Dual*>(t.data)[offset];
    };
    auto const extent = [&](char const* axis) {
        for (std::uint32_t d = 0; d < rule->dim_count; ++d)
            if (!std::strcmp(rule->dims[d], axis)) return int(call->dim[d]);
        return std::atoi(axis);
    };
    auto const matrix = [&](dl_operand const& o, dl_tensor const& t, std::int64_t at, std::uint32_t first) {
        int const rows = o.rank > first ? extent(o.dims[first]) : 1,
                  columns = o.rank > first + 1 ? extent(o.dims[first + 1]) : 1;
        Matrix m(rows, columns);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                m(i, j) = t.data
                              ? element(t, at + i * t.stride[3 + first] + (columns > 1 ? j * t.stride[4 + first] : 0))
                              : Dual(0.0);
        return m;
    };
    for (std::int64_t b = 0; b < call->batch; ++b)
        for (std::int64_t h = 0; h < call->value_heads; ++h) {
            deltaloom::oracle::named_environment<Dual> env;
            for (std::int64_t t = 0; t < call->tokens; ++t) {
                std::uint32_t state = 0, output = 0;
                env.steps.clear();
                for (std::uint32_t i = 0; i < rule->operand_count; ++i) {
                    dl_operand const& o = rule->operands[i];
                    if (o.kind == DL_OUTPUT) output = i;
                    if (o.kind == DL_OUTPUT) continue;
                    std::string name = o.name;
                    if (o.kind == DL_STATE) {
                        dl_tensor const& from = call->state_in[state++];
                        auto const hidden = name.find("_previous");
                        auto const value = matrix(o, from, b * from.stride[0] + h * from.stride[2], 0);
                        if (t == 0 && hidden != name.npos)
                            env.before.insert_or_assign(name.substr(0, hidden), value);
                        else if (t == 0)
                            env.values.insert_or_assign(name, value);
                        continue;
                    }
                    dl_tensor const& from = call->operand[i];
                    std::int64_t const at = b * from.stride[0] + t * from.stride[1] + h * from.stride[2];
                    bool const stepped = o.rank && std::isdigit(static_cast<unsigned char>(o.dims[0][0]));
                    if (!stepped) env.values.insert_or_assign(name, matrix(o, from, at, 0));
                    for (int s = 0; stepped && s < extent(o.dims[0]); ++s)
                        env.steps[name].push_back(matrix(o, from, at + s * from.stride[3], 1));
                }
                env = evaluate(declared, std::move(env));
                dl_tensor const& to = call->operand[output];
                auto const& read = env.values.at(rule->operands[output].name);
                for (int j = 0; j < read.rows(); ++j)
                    element(to, b * to.stride[0] + t * to.stride[1] + h * to.stride[2] + j * to.stride[3]) = read(j, 0);
            }
        }
    return 0;
}
int no_workspace(dl_rule const*, dl_call const*, size_t* bytes, dl_status*) { return *bytes = 0, 0; }

struct Example {
    Model model;
    Numbers parameters, before;
    std::vector<unsigned char> tokens, targets;
    Example(Settings const& s, RuleCalls const& calls) : model(s, calls) {
        std::mt19937 random(3);
        std::normal_distribution<double> normal;
        for (float x : model.initial_parameters()) parameters.push_back(double(x) + 0.1 * normal(random));
        before.resize(model.state.count * std::size_t(s.batch));
        for (double& x : before) x = 0.3 * normal(random);
        for (int i = 0; i < s.batch * s.length; ++i)
            tokens.push_back(static_cast<unsigned char>(random() % 256)), targets.push_back(random() % 256);
    }
    template<class K> K loss(std::vector<K> const& w, Model const& m) const {
        Pass<K> pass(m, m.settings.batch, m.settings.length, false);
        std::vector<K> state;
        for (double x : before) state.push_back(K(x));
        forward<K>(m, w.data(), tokens.data(), state.data(), nullptr, pass);
        return cross_entropy(pass.logits, targets.data(), m.settings.batch * m.settings.length, lm::bytes);
    }
    Numbers gradient() const {
        Pass<double> pass(model, model.settings.batch, model.settings.length, true);
        Numbers g(parameters.size());
        forward<double>(model, parameters.data(), tokens.data(), before.data(), nullptr, pass);
        backward<double>(model, parameters.data(), tokens.data(), targets.data(), before.data(), 1.0, pass, g.data());
        return g;
    }
};

template<auto const& declared> void check_gradient(std::string const& rule, bool plain_read = false) {
    auto settings = tiny(rule);
    settings.plain_read = plain_read;
    Example const example(settings, own_rule(rule));
    auto const g = example.gradient();
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    Model by_declaration(example.model.settings,
                         {example.model.calls.rule, no_workspace, evaluated<declared>, nullptr});
    for (auto const& block : example.model.offsets.blocks) {
        if (!block.count) continue;
        INFO(rule << ": " << block.name);
        double largest = 0;
        for (std::size_t i = 0; i < block.count; ++i) largest = std::max(largest, std::abs(g[block.offset + i]));
        REQUIRE(std::isfinite(largest));
        CHECK(largest > 0);
        // Central differences of fourth order at some entries, those of bytes that do not occur among them.
        auto w = example.parameters;
        for (int trial = 0; trial < 6; ++trial) {
            std::size_t const at = block.offset + random() % block.count;
            constexpr double h = 1e-4;
            auto const moved = [&](double by) {
                w[at] = example.parameters[at] + by;
                return example.loss(w, example.model);
            };
            double const difference = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
            w[at] = example.parameters[at];
            INFO("entry " << at - block.offset << ": " << g[at] << ", by differences " << difference);
            CHECK(std::abs(g[at] - difference) <= 1e-6 * std::max(1e-2, largest));
        }
        // One direction through dual numbers, with the rule's declaration in the place of its kernels.
        std::vector<Dual> moving;
        double along = 0;
        for (double x : example.parameters) moving.push_back(Dual(x));
        for (std::size_t i = block.offset; i < block.offset + block.count; ++i)
            moving[i].tangent = normal(random), along += moving[i].tangent * g[i];
        double const tangent = example.loss(moving, by_declaration).tangent;
        INFO("along a direction: " << along << ", by dual numbers " << tangent);
        CHECK(std::abs(along - tangent) <= 1e-10 * (1 + std::abs(tangent)));
    }
}

Data sample_text(Settings const& s) {
    std::string text;
    for (int i = 0; i < 30000; ++i) text += "the quick brown fox jumps over the lazy dog. "[(i * i / 7 + i) % 45];
    return Data(text, s);
}
struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("lm_test_{}", getpid());
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};
std::string contents(std::filesystem::path const& path) {
    FILE* const file = std::fopen(path.c_str(), "rb");
    REQUIRE(file);
    std::string all(std::filesystem::file_size(path), ' ');
    CHECK(std::fread(all.data(), 1, all.size(), file) == all.size());
    std::fclose(file);
    return all;
}
template<class F> std::string refusal(F f) {
    try {
        f();
    } catch (Refusal const& e) {
        return e.what();
    }
    return "";
}

// A rule as a library describes it, without kernels.
struct Described {
    std::vector<dl_operand> operands;
    std::vector<char const*> dims{"dv", "dk"};
    dl_rule rule{};
    Described(std::vector<dl_operand> more, std::vector<char const*> more_dims = {}) {
        operands = {{sizeof(dl_operand), "S", DL_STATE, DL_REAL, 2, {"dv", "dk"}, DL_PER_SEQUENCE},
                    {sizeof(dl_operand), "k", DL_INPUT, DL_REAL, 1, {"dk"}, DL_PER_TOKEN},
                    {sizeof(dl_operand), "o", DL_OUTPUT, DL_REAL, 1, {"dv"}, DL_PER_TOKEN}};
        operands.insert(operands.end(), more.begin(), more.end());
        dims.insert(dims.end(), more_dims.begin(), more_dims.end());
        rule.name = "given", rule.directions = 3;
        rule.dim_count = std::uint32_t(dims.size()), rule.dims = dims.data();
        rule.operand_count = std::uint32_t(operands.size()), rule.operands = operands.data();
    }
};

} // namespace

TEST_CASE("gradient of the whole model: differences in double, dual numbers through the declaration") {
    check_gradient<own::gated_delta>("gated_delta");
    check_gradient<own::gated_delta>("gated_delta", true);
    check_gradient<own::everything>("everything");
}

TEST_CASE("prompt, then decode, is one full pass; any split carries the state") {
    for (char const* rule : {"sum", "gated", "delta", "gated_delta"}) {
        INFO(rule);
        auto s = tiny(rule);
        s.dk = s.dv = 16, s.width = 32;
        Model const model(s, shipped_rule(rule));
        auto const parameters = model.initial_parameters();
        auto const data = sample_text(s);
        CHECK(decode_difference(model, parameters, data.validation()) <= 1e-4);
        // The state carried through blocks of the text is the state of one pass over all of it.
        auto const text = data.validation().first(1301);
        auto const carried = untruncated_losses(model, parameters, text);
        auto longer = s;
        longer.length = 1300;
        auto const whole = segment_losses(Model(longer, shipped_rule(rule)), parameters, text, 1, 1);
        REQUIRE(whole.size() == carried.size());
        for (std::size_t i = 0; i < whole.size(); ++i) REQUIRE(whole[i] == Approx(carried[i]).margin(1e-4));
    }
}

TEST_CASE("a resumed run has the bits of one that was not interrupted, whatever the threads") {
    for (bool carry : {false, true}) {
        Folder folder;
        auto s = tiny("gated_delta");
        s.carry = carry, s.batch = 4, s.shares = 2;
        Model const model(s, shipped_rule(s.rule));
        auto const data = sample_text(s);
        TrainOptions through{.out = folder.path / "a", .threads = 2, .every = 4, .validate = 3}, parts = through;
        CHECK(train(model, data, first_progress(model), through) == 0);
        parts.out = folder.path / "b", parts.threads = 1, parts.stop_after = 3;
        CHECK(train(model, data, first_progress(model), parts) == 130);
        auto kept = load(checkpoint_path(parts.out));
        CHECK(kept.progress.step == 3);
        fit(kept, model, "b");
        parts.stop_after = -1;
        CHECK(train(Model(kept.settings, shipped_rule(s.rule)), data, std::move(kept.progress), parts) == 0);
        for (char const* file : {"checkpoint", "loss.csv", "loss.svg"})
            CHECK(contents(folder.path / "a" / file) == contents(folder.path / "b" / file));
        auto const curve = load(checkpoint_path(through.out)).progress.history;
        CHECK(curve.back().loss < curve.front().loss);
    }
}

TEST_CASE("a checkpoint that is cut short, damaged or of another model is refused") {
    Folder folder;
    auto const s = tiny("delta");
    Model const model(s, shipped_rule("delta"));
    auto const path = (folder.path / "checkpoint").string();
    save(path, {s, model.plan.rule->equation, 10, 11, first_progress(model)});
    auto const whole = contents(path);
    auto const refused_with = [&](std::string const& content) {
        FILE* const file = std::fopen(path.c_str(), "wb");
        std::fwrite(content.data(), 1, content.size(), file);
        std::fclose(file);
        return refusal([&] { load(path); });
    };
    CHECK(refused_with(whole).empty());
    for (std::size_t n : {std::size_t(0), std::size_t(5), std::size_t(60), whole.size() / 2, whole.size() - 1})
        CHECK_THAT(refused_with(whole.substr(0, n)), Catch::Contains("cut short"));
    CHECK_THAT(refused_with(whole + "x"), Catch::Contains("not whole"));
    auto damaged = whole;
    damaged[whole.size() - 100] ^= 1;
    CHECK_THAT(refused_with(damaged), Catch::Contains("damaged"));
    REQUIRE(refused_with(whole).empty());
    auto const kept = load(path);
    CHECK(refusal([&] { fit(kept, model, path); }).empty());
    auto other = s;
    other.width = 14;
    CHECK_THAT(refusal([&] { fit(kept, Model(other, shipped_rule("delta")), path); }),
               Catch::Contains("another shape"));
    CHECK_THAT(refusal([&] { fit(kept, Model(s, shipped_rule("sum")), path); }),
               Catch::Contains("trained with the rule"));
}

TEST_CASE("memory of a training step grows linearly with the length") {
    for (char const* rule : {"sum", "delta"}) {
        auto s = tiny(rule);
        s.dk = s.dv = 16;
        Model const model(s, shipped_rule(rule));
        auto const parameters = model.initial_parameters();
        auto const bytes_of = [&](int length) {
            Pass<float> pass(model, 1, length, true);
            std::vector<unsigned char> const text(std::size_t(length) + 1, 'a');
            std::vector<float> gradient(parameters.size());
            forward<float>(model, parameters.data(), text.data(), nullptr, nullptr, pass);
            backward<float>(model, parameters.data(), text.data(), text.data() + 1, nullptr, 1, pass, gradient.data());
            return double(pass.bytes());
        };
        double const one = bytes_of(512), two = bytes_of(1024), four = bytes_of(2048);
        CHECK(two / one <= 2.02);
        CHECK(four / two <= 2.02);
        CHECK(four / two >= 1.8);
    }
}

TEST_CASE("operands that the model cannot fill are named, with how to give them") {
    auto const asked = [](Described const& d, std::string const& dims = "") {
        auto s = tiny("given");
        s.dims = dims;
        return refusal([&] { plan(d.rule, s); });
    };
    Described const plain({});
    CHECK(asked(plain).empty());
    Described const matrix({{sizeof(dl_operand), "A", DL_INPUT, DL_REAL, 2, {"dk", "dk"}, DL_PER_TOKEN}});
    CHECK_THAT(asked(matrix), Catch::Contains("operand A is a matrix for every token") &&
                                  Catch::Contains("DELTALOOM_PARAMETER(A, ...)"));
    Described const per_head({{sizeof(dl_operand), "A", DL_PARAMETER, DL_REAL, 2, {"dk", "dk"}, DL_PER_HEAD}});
    CHECK(asked(per_head).empty());
    Described const own({{sizeof(dl_operand), "x", DL_INPUT, DL_REAL, 1, {"r"}, DL_PER_TOKEN}}, {"r"});
    CHECK_THAT(asked(own), Catch::Contains("operand x has the dimension r") && Catch::Contains("--dim r=16"));
    CHECK(asked(own, "r=4").empty());
    CHECK_THAT(asked(own, "r=4,s=2"), Catch::Contains("no dimension of that name"));
    CHECK_THAT(asked(own, "r"), Catch::Contains("r=8,s=2"));
    Described const two({{sizeof(dl_operand), "o2", DL_OUTPUT, DL_REAL, 1, {"dv"}, DL_PER_TOKEN}});
    CHECK_THAT(asked(two), Catch::Contains("o2 is a second one"));
    Described forward_only({});
    forward_only.rule.directions = 1;
    CHECK_THAT(asked(forward_only), Catch::Contains("NO_BACKWARD"));
    CHECK_THAT(refusal([] { shipped_rule("detla"); }), Catch::Contains("sum") && Catch::Contains("--rules"));
}
