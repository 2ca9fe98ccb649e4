// The command line: train, evaluate, generate, profile, plot.
#include "curves.hpp"
#include "evaluate.hpp"
#include "files.hpp"
#include "generate.hpp"
#include "profile.hpp"
#include "read_text.hpp"
#include "train.hpp"

#include <CLI/CLI.hpp>
#include <cblas.h>
#include <cmath>
#include <deltaloom/runtime/abi/call.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace {
using namespace lm;

struct Options {
    Settings settings;
    TrainOptions train;
    std::string text, folder, split = "validation", json, prompt = "In the beginning", svg, title = "loss";
    std::vector<std::string> curves;
    double temperature = 0.7;
    int count = 600, steps = 5;
    std::uint64_t sample_seed = 1;
    int threads = int(std::max(1u, std::thread::hardware_concurrency()));
};

RuleCalls rule_of(Settings const& s) {
    if (s.rules.empty()) return shipped_rule(s.rule);
    return rule_of_header(s.rules, s.rule, "float", [](std::string const& what) { fmt::print(stderr, "{}\n", what); });
}

// Options of the command line that set `to`.
void add_settings(CLI::App& app, Settings& to) {
    for_each_setting(to, [&](std::string const& name, auto& value, std::string const& what) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>)
            app.add_flag("--" + name, value, what);
        else
            app.add_option("--" + name, value, what)->capture_default_str();
    });
}

// What was said on the command line must agree with what the checkpoint holds.
void agree(CLI::App const& app, Settings const& said, Settings const& kept, std::string const& path) {
    std::map<std::string, std::string> words;
    for_each_setting(kept,
                     [&](char const* name, auto const& value, char const*) { words[name] = fmt::format("{}", value); });
    for_each_setting(said, [&](std::string const& name, auto const& value, char const*) {
        if (app.count("--" + name) && fmt::format("{}", value) != words[name])
            throw Refusal(fmt::format("{} was made with --{} {}, not {}: leave the option out, or train a new one in "
                                      "another --out",
                                      path, name, words[name], value));
    });
}

void same_text(Checkpoint const& c, Data const& data, std::string const& path) {
    if (c.text_bytes != data.text.size() || c.text_hash != data.hash)
        throw Refusal(fmt::format("{} was trained on another text, of {} bytes; this one has {}: name the one it was "
                                  "with --text",
                                  path, c.text_bytes, data.text.size()));
}

int run_train(CLI::App const& app, Options& o) {
    if (!o.settings.rules.empty()) o.settings.rules = std::filesystem::absolute(o.settings.rules).string();
    auto const path = checkpoint_path(o.train.out);
    bool const there = std::filesystem::is_regular_file(path);
    if (there && !o.train.resume)
        throw Refusal(fmt::format("{} is there already: go on with --resume, or choose another --out", path));
    Checkpoint kept;
    if (there) {
        kept = load(path);
        agree(app, o.settings, kept.settings, path);
        o.settings = kept.settings;
    }
    validate(o.settings);
    Data const data(read_text(o.text), o.settings);
    Model const model(o.settings, rule_of(o.settings));
    if (there) same_text(kept, data, path), fit(kept, model, path);
    fmt::print("text: {} bytes; {} train, {} validation, {} test\n{}: {}\nmodel: {} parameters; state of a sequence: "
               "{} numbers\n",
               data.text.size(), data.training().size(), data.validation().size(), data.test().size(), o.settings.rule,
               model.plan.rule->equation, model.offsets.count, model.state.count);
    std::fflush(stdout);
    o.train.threads = o.threads;
    return train(model, data, there ? std::move(kept.progress) : first_progress(model), o.train);
}

struct Trained {
    std::string path;
    Checkpoint checkpoint;
    Model model;
    explicit Trained(std::string const& folder)
        : path(checkpoint_path(folder)),
          checkpoint(load(path)),
          model(checkpoint.settings, rule_of(checkpoint.settings)) {
        fit(checkpoint, model, path);
    }
};

int run_evaluate(Options const& o) {
    Trained const t(o.folder);
    Data const data(read_text(o.text), t.model.settings);
    same_text(t.checkpoint, data, t.path);
    auto const& parameters = t.checkpoint.progress.parameters;
    auto const text = o.split == "test" ? data.test() : data.validation();
    int const length = t.model.settings.length;
    auto const segments = segment_losses(t.model, parameters, text, int(text.size()), o.threads);
    auto const untruncated = untruncated_losses(t.model, parameters, text);
    double const decode = decode_difference(t.model, parameters, text.first(std::min<std::size_t>(text.size(), 512)));
    auto const line = [](std::string const& what, double loss) {
        fmt::print("  {:<52}{:9.4f} nats{:9.4f} bits a byte{:9.3f} perplexity\n", what, loss, bits(loss),
                   std::exp(loss));
    };
    fmt::print("{} after {} steps, {} text, {} bytes\n", t.model.settings.rule, t.checkpoint.progress.step, o.split,
               text.size());
    auto const segments_name = fmt::format("segments of {}, each from a zero state", length);
    nlohmann::json numbers{{"rule", t.model.settings.rule},
                           {"seed", t.model.settings.seed},
                           {"steps", t.checkpoint.progress.step},
                           {"decode", decode}};
    for (auto const& [name, losses] : {std::pair{segments_name, &segments},
                                       {std::string("untruncated, the state carried to the end"), &untruncated}}) {
        auto const key = losses == &segments ? "segments" : "untruncated";
        line(name, mean(*losses));
        line("    second halves of the segments alone", warm_mean(*losses, length));
        numbers[key] = {{"all", mean(*losses)}, {"warm", warm_mean(*losses, length)}};
        for (std::size_t i = 0; i < 4; ++i) {
            std::size_t const from = losses->size() * i / 4, to = losses->size() * (i + 1) / 4;
            double const quarter = mean(std::span(*losses).subspan(from, to - from));
            line(fmt::format("    quarter {} of the text", i + 1), quarter);
            numbers[key]["quarters"].push_back(quarter);
        }
    }
    fmt::print("  decode (step kernel) against one full pass: largest difference of a logit {:.1e}\n", decode);
    if (!o.json.empty()) write_file(o.json, numbers.dump(1) + "\n");
    if (decode <= 1e-4) return 0;
    fmt::print(stderr, "language_model: decode and full pass differ by more than 1e-4\n");
    return 1;
}

int run_generate(Options const& o) {
    Trained const t(o.folder);
    fmt::print("{}", o.prompt);
    generate(t.model, t.checkpoint.progress.parameters, o.prompt, o.count, o.temperature, o.sample_seed, [](char c) {
        std::fputc(c, stdout);
        std::fflush(stdout);
    });
    fmt::print("\n");
    return 0;
}

int run_profile(Options const& o) {
    validate(o.settings);
    auto const calls = rule_of(o.settings);
    Data const data(read_text(o.text), o.settings);
    print_profile(Model(o.settings, calls), data, o.threads, o.steps);
    print_memory(o.settings, calls);
    return 0;
}

int run_plot(Options const& o) {
    Curves curves;
    for (auto const& named : o.curves) {
        auto const equal = named.find('=');
        if (equal == named.npos) throw Refusal(fmt::format("{}: write NAME=FILE.csv", named));
        auto const path = named.substr(equal + 1);
        curves.emplace_back(named.substr(0, equal), curve_of_csv(read_file(path), path));
    }
    write_file(o.svg, curves_svg(curves, o.title));
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    openblas_set_num_threads(1); // the shares of a batch run side by side
    CLI::App app("A small language model whose memory is a generated rule");
    app.require_subcommand(1);
    Options o;
    auto* const train = app.add_subcommand("train", "Trains, or goes on training");
    add_settings(*train, o.settings);
    train->add_option("--out", o.train.out, "Folder of the checkpoint and the loss curve")->capture_default_str();
    train->add_flag("--resume", o.train.resume, "Go on from the checkpoint in --out, where there is one");
    train->add_option("--every", o.train.every, "Steps between checkpoints")->check(CLI::PositiveNumber);
    train->add_option("--validate", o.train.validate, "Steps between validations")->check(CLI::PositiveNumber);
    train->add_option("--stop-after", o.train.stop_after, "Stop once so many steps are done, as Ctrl-C would");
    auto* const evaluate = app.add_subcommand("evaluate", "Losses on text that was not trained on");
    evaluate->add_option("--split", o.split, "validation or test")->check(CLI::IsMember({"validation", "test"}));
    evaluate->add_option("--json", o.json, "Also write the numbers into this file");
    auto* const talk = app.add_subcommand("generate", "Continues a prompt");
    talk->add_option("--prompt", o.prompt, "What comes before")->capture_default_str();
    talk->add_option("--bytes", o.count, "Bytes to write")->capture_default_str()->check(CLI::NonNegativeNumber);
    talk->add_option("--temperature", o.temperature, "0: the likeliest byte")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    talk->add_option("--seed", o.sample_seed, "Seed of the choice");
    auto* const profile = app.add_subcommand("profile", "Time and memory of a training step");
    add_settings(*profile, o.settings);
    profile->add_option("--measured", o.steps, "Steps to measure")->check(CLI::PositiveNumber);
    auto* const plot = app.add_subcommand("plot", "Draws loss curves");
    plot->add_option("SVG", o.svg, "File to write")->required();
    plot->add_option("CURVE", o.curves, "NAME=loss.csv, one or more; equal names share a colour")->required();
    plot->add_option("--title", o.title, "Title");
    for (auto* c : {train, evaluate, profile})
        c->add_option("--text", o.text, "Text file; without it, what Debian's `bible -f gen1:1-rev22:21` prints");
    for (auto* c : {train, evaluate, profile})
        c->add_option("--threads", o.threads, "Threads; they do not change the results")->check(CLI::PositiveNumber);
    for (auto* c : {evaluate, talk}) c->add_option("FOLDER", o.folder, "The --out of a training")->required();
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        int const code = app.exit(e);
        return code ? 2 : 0;
    }
    try {
        if (train->parsed()) return run_train(*train, o);
        if (evaluate->parsed()) return run_evaluate(o);
        if (talk->parsed()) return run_generate(o);
        if (profile->parsed()) return run_profile(o);
        return run_plot(o);
    } catch (std::exception const& e) {
        fmt::print(stderr, "language_model: {}\n", e.what());
        return 1;
    }
}
