#include "codegen/emit/emit.hpp"

#include "codegen/emit/clang_format.hpp"
#include "codegen/emit/emit_cpp.hpp"
#include "codegen/kernel/names.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {

std::vector<std::string> statements(std::string const& equation) {
    std::vector<std::string> all{""};
    int depth = 0;
    for (char c : equation) {
        if (c == '(') ++depth;
        if (c == ')') --depth;
        if (c == ',' && depth == 0)
            all.emplace_back();
        else if (c != ' ' || !all.back().empty())
            all.back() += c;
    }
    return all;
}

static char const* purpose(Kernel const& k) {
    bool const backward = k.direction == Direction::backward;
    switch (k.form) {
    case Form::step: return backward ? "gradients of one token" : "one token";
    case Form::recurrent:
        return backward ? "a state is kept every s.segment tokens, those between are computed again, then tokens go in "
                          "reverse"
                        : "token by token";
    case Form::chunked:
        return backward ? "a state is kept every s.segment chunks, those between are computed again, then chunks go in "
                          "reverse"
                        : "a chunk of tokens at a time";
    case Form::summary:
        return backward ? "what the outputs of a segment owe to the states before it"
                        : "a segment of the sequence as an affine map of the states";
    case Form::parallel: break;
    }
    return "";
}

static std::string file_name(std::string const& rule, Form form, Direction direction) {
    return fmt::format("{}_{}_{}.hpp", rule, name(form), name(direction));
}

static std::string file_text(TypedRule const& rule, Kernel const& k, std::string const& library) {
    std::string text = "#pragma once\n";
    text += fmt::format("// {}, {} {}: {}.\n", rule.name, name(k.form), name(k.direction), purpose(k));
    for (auto const& s : statements(rule.equation)) text += "//     " + s + "\n";
    if (k.shared) text += fmt::format("#include \"{}\"\n\n", file_name(rule.name, *k.shared, k.direction));
    text += "#include <deltaloom/runtime/ops/ops.hpp>\n\n";
    // Not memory::delta: a rule called as the runtime calls something (matrix, scratch, std) would hide that from the
    // kernels of all rules of its library.
    text += fmt::format(
        "namespace {}::{}_kernels {{\ninline namespace DELTALOOM_ISA {{\nusing namespace ::deltaloom::runtime;\n",
        library, rule.name);
    if (of_runtime(library)) text += fmt::format("using ::deltaloom::runtime::{};\n", library);
    return text + "\n" + functions_text(k) + "}\n}\n";
}

std::vector<EmittedFile> emit_forms(Derived const& derived, std::string const& library) {
    std::vector<EmittedFile> files;
    for (auto const& p : derived.programs) {
        if (!has_kernel(p)) continue;
        files.push_back({"src/" + file_name(derived.rule.name, p.form, p.direction),
                         format(file_text(derived.rule, schedule(derived.rule, p), library))});
    }
    return files;
}

std::string text(Kernel const& k) { return format(functions_text(k)); }

} // namespace deltaloom::codegen
