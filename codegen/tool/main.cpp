#include "codegen/tool/commands.hpp"

#include <fmt/format.h>
#include <new>

using namespace deltaloom::codegen::tool;

namespace {

// The command that the arguments name, for the list of its options.
CLI::App* command_of(CLI::App& app, std::vector<std::string> const& arguments) {
    for (auto const& a : arguments)
        for (auto* sub : app.get_subcommands({}))
            if (sub->get_name() == a) return sub;
    return nullptr;
}

std::string choices(CLI::App& app, CLI::App* command) {
    std::string text;
    if (!command) {
        for (auto* sub : app.get_subcommands({})) text += (text.empty() ? "" : ", ") + sub->get_name();
        return "the commands are " + text;
    }
    for (auto* option : command->get_options())
        text += (text.empty() ? "" : ", ") + option->get_name(option->get_positional());
    return fmt::format("{} takes {}", command->get_name(), text);
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments, user_flags;
    bool after = false;
    for (int i = 1; i < argc; ++i) {
        if (!after && std::string(argv[i]) == "--")
            after = true;
        else
            (after ? user_flags : arguments).push_back(argv[i]);
    }

    CLI::App app{"One line of C++ to checked kernels for sequence models with a matrix memory.", "deltaloom"};
    app.require_subcommand(1);
    app.set_version_flag("--version", "deltaloom " DELTALOOM_VERSION);
    app.footer("Everything after -- goes to the reader as compiler flags. Exit: 0 done, 1 a check did not hold, 2 "
               "usage, 3 the header, 4 the machine, 70 a defect of ours.");
    std::vector<std::pair<std::string, Command>> commands;
    commands.emplace_back("check", add_check(app, user_flags));
    commands.emplace_back("show", add_show(app, user_flags));
    commands.emplace_back("emit", add_emit(app, user_flags));
    commands.emplace_back("list", add_list(app, user_flags));
    commands.emplace_back("explain", add_explain(app, user_flags));
    commands.emplace_back("new", add_new(app, user_flags));
    commands.emplace_back("same", add_same(app, user_flags));
    commands.emplace_back("random", add_random(app));
    commands.emplace_back("cxxflags", add_cxxflags(app));
    commands.emplace_back("doctor", add_doctor(app));

    try {
        auto reversed = arguments;
        std::reverse(reversed.begin(), reversed.end());
        app.parse(reversed);
    } catch (CLI::ParseError const& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help, --version
        auto* const command = command_of(app, arguments);
        bool const unknown = !command && !arguments.empty() && arguments[0][0] != '-';
        fmt::print(stderr, "deltaloom: {}\n{}\n", unknown ? fmt::format("no command '{}'", arguments[0]) : e.what(),
                   choices(app, command));
        return int(Exit::usage);
    }
    try {
        for (auto& [name, run] : commands)
            if (app.got_subcommand(name)) return int(run());
    } catch (Failure const& failure) {
        if (!failure.text.empty()) fmt::print(stderr, "deltaloom: {}\n", failure.text);
        return int(failure.code);
    } catch (std::bad_alloc const&) {
        fmt::print(stderr, "deltaloom: out of memory\n");
        return int(Exit::machine);
    } catch (std::exception const& e) {
        fmt::print(stderr, "deltaloom: a defect of ours: {}\nPlease report it with the header and this command line.\n",
                   e.what());
        return int(Exit::defect);
    }
    return 0;
}
