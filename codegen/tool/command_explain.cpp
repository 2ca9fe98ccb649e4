#include "codegen/tool/commands.hpp"
namespace deltaloom::codegen::tool {
Command add_explain(CLI::App& app, std::vector<std::string> const&) {
    app.add_subcommand("explain", "draft");
    return [] { return Exit::ok; };
}
} // namespace deltaloom::codegen::tool
