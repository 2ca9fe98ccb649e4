// cxxflags, random, doctor: what needs no header.
#include "codegen/check/random.hpp"
#include "codegen/tool/commands.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltaloom::codegen::tool {

Command add_cxxflags(CLI::App& app) {
    app.add_subcommand("cxxflags", "The compiler flags a rules header needs");
    return [] {
        fmt::print("{}\n", fmt::join(compiler_flags(), " "));
        return Exit::ok;
    };
}

Command add_random(CLI::App& app) {
    struct Options {
        std::uint64_t seed = 0;
        int count = 0;
        bool chunkable = false;
    };
    auto const o = std::make_shared<Options>();
    auto* c = app.add_subcommand("random", "A header of random rules, the same bytes for the same seed");
    c->add_option("--seed", o->seed, "Seed")->required()->check(whole_number);
    c->add_option("--count", o->count, "How many rules")->required()->check(CLI::Range(1, 100000));
    c->add_flag("--chunkable", o->chunkable, "Only rules with a chunked form");
    return [o] {
        fmt::print("{}", random_rules(o->seed, o->count, o->chunkable));
        return Exit::ok;
    };
}

static std::string first_line(std::string const& command) {
    std::string text;
    if (FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r")) {
        char line[256];
        if (std::fgets(line, sizeof line, pipe)) text = line;
        pclose(pipe);
    }
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

Command add_doctor(CLI::App& app) {
    app.add_subcommand("doctor", "CPU features, compilers, headers that the tool found, and what is missing");
    return [] {
        int missing = 0;
        auto const line = [&](char const* what, std::string const& found, char const* cure) {
            fmt::print("{:<22}{}\n", what, found.empty() ? fmt::format("missing: {}", cure) : found);
            missing += found.empty();
        };
        fmt::print("{:<22}{}\n", "deltaloom", DELTALOOM_VERSION);
        fmt::print("{:<22}{}{}\n", "instruction set", runtime::isa_name(runtime::machine_level()),
                   std::getenv("DELTALOOM_ISA")
                       ? fmt::format(" (DELTALOOM_ISA={} forces {})", std::getenv("DELTALOOM_ISA"),
                                     runtime::isa_name(runtime::chosen_level()))
                       : "");
        auto const compiler = default_compiler();
        line("compiler", compiler.empty() ? "" : fmt::format("{}: {}", compiler, first_line(compiler + " --version")),
             "install g++");
        line("clang++-19", first_line("clang++-19 --version"), "install clang-19 (a second compiler, not needed)");
        auto const nvcc = first_line("nvcc --version | tail -n 1");
        fmt::print("{:<22}{}\n", "CUDA", nvcc.empty() ? "none found (not needed for target cpu)" : nvcc);
        for (auto const& folder : header_folders())
            line("headers", std::filesystem::exists(folder) ? folder : "", "install the package again");
        std::string const boost =
            std::filesystem::exists("/usr/include/boost/yap/algorithm.hpp") ? "found in the compiler's folders" : "";
        line("Boost.YAP, Boost.Hana", boost, "install libboost-dev");
        std::string rules;
        try {
            auto const loaded = load({catalogue_header()}, read_options({}));
            if (!loaded.refused()) rules = fmt::format("{} read", loaded.rules.size());
        } catch (Failure const&) {
            rules.clear(); // the line says what is missing
        }
        line("shipped rules", rules, "the reader finds no clang headers: install libclang-common-19-dev");
        fmt::print("{:<22}{}\n", "cache", cache_folder().string());
        return missing ? Exit::machine : Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
