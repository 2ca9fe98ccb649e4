#include "codegen/emit/library.hpp"

#include "codegen/emit/clang_format.hpp"
#include "codegen/emit/fields.hpp"
#include "codegen/rule/dimension.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltaloom::codegen {
namespace {

struct FormName {
    Form form;
    char const* text;
};
constexpr FormName kernel_forms[] = {
    {Form::step, "step"}, {Form::recurrent, "recurrent"}, {Form::chunked, "chunked"}, {Form::summary, "summary"}};

bool wanted(LibraryOptions const& options, Form form) {
    if (options.forms.empty()) return true;
    for (Form f : options.forms)
        if (f == form || (form == Form::chunked && (f == Form::parallel || f == Form::summary)) ||
            (f == Form::recurrent && form == Form::step))
            return true;
    return false;
}
bool has(Derived const& d, Form form) {
    for (auto const& p : d.programs)
        if (p.form == form) return true;
    return false;
}
std::string quoted(std::string const& text) {
    std::string r = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') r += '\\';
        r += c;
    }
    return r + "\"";
}
std::string statements_comment(Derived const& d) {
    std::string r;
    std::size_t begin = 0;
    int depth = 0;
    auto const& text = d.rule.equation;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '(') ++depth;
        if (i < text.size() && text[i] == ')') --depth;
        if (i < text.size() && (text[i] != ',' || depth)) continue;
        auto first = text.find_first_not_of(' ', begin);
        if (first != std::string::npos) r += fmt::format("//     {}\n", text.substr(first, i - first));
        begin = i + 1;
    }
    return r;
}
std::vector<std::string> axes(Derived const& d, Operand const& o) {
    std::vector<std::string> r;
    if (o.steps) r.push_back(std::to_string(o.steps));
    for (DimId dim : {o.shape.rows, o.shape.cols})
        if (dim != one) r.push_back(d.rule.dims[dim]);
    return r;
}
char const* kind(Role role) {
    switch (role) {
    case Role::state: return "DL_STATE";
    case Role::input: return "DL_INPUT";
    case Role::gate: return "DL_GATE";
    case Role::parameter: return "DL_PARAMETER";
    case Role::output: return "DL_OUTPUT";
    }
    return "";
}
char const* domain(Domain d) {
    switch (d) {
    case Domain::real: return "DL_REAL";
    case Domain::linear: return "DL_LINEAR";
    case Domain::log: return "DL_LOG";
    }
    return "";
}
char const* varies(Role role) {
    return role == Role::parameter ? "DL_PER_HEAD" : role == Role::state ? "DL_PER_SEQUENCE" : "DL_PER_TOKEN";
}

// ---- src/NAME.cpp
// ----------------------------------------------------------------------------------------------------------------

std::string rule_source(Derived const& d, LibraryOptions const& o) {
    auto const& name = d.rule.name;
    std::string includes, entries;
    char const* const scalars[] = {"float", "double"};
    for (int s = 0; s < 2; ++s) {
        entries += "{";
        for (auto [form, text] : kernel_forms) {
            bool const there = computes(o, s) && wanted(o, form) && has(d, form);
            auto const entry = [&](char const* direction) {
                return fmt::format("{{{}_{}_scratch<{}>, run<{}, {}_{}<{}>>}}", text, direction, scalars[s], scalars[s],
                                   text, direction, scalars[s]);
            };
            entries += fmt::format("{{{}, {}}},", there ? entry("forward") : "{}",
                                   there && o.backward ? entry("backward") : "{}");
        }
        entries += "},";
    }
    for (auto [form, text] : kernel_forms) {
        if (!wanted(o, form) || !has(d, form)) continue;
        includes += fmt::format("#include \"{}_{}_forward.hpp\"\n", name, text);
        if (o.backward) includes += fmt::format("#include \"{}_{}_backward.hpp\"\n", name, text);
    }
    entries += "}, {";
    for (int s = 0; s < 2; ++s) {
        bool const there = computes(o, s) && wanted(o, Form::summary) && has(d, Form::summary);
        auto const entry = [&](char const* what) {
            return there ? fmt::format("{{summary_{0}_scratch<{1}>, run<{1}, summary_{0}<{1}>>}}", what, scalars[s])
                         : "{}";
        };
        entries += fmt::format("{{{}, {}}},", entry("states"), o.backward ? entry("gradients") : "{}");
    }
    return fmt::format(R"(// {0}: its kernels for one instruction set. Compiled once per level; see library.cpp.
{1}
#include <deltaloom/runtime/cpu/kernels.hpp>

namespace {2}::{0}_kernels {{
inline namespace DELTALOOM_ISA {{

template<class K, void (*form)(sequence const&, scratch<K>)> void run(sequence const& s, void* room) {{
    form(s, scratch<K>(static_cast<K*>(room)));
}}

}}

extern "C" kernel_table const DELTALOOM_SYMBOL({2}_{0}_kernels, DELTALOOM_LEVEL);
kernel_table const DELTALOOM_SYMBOL({2}_{0}_kernels, DELTALOOM_LEVEL) = {{{{{3}}}}};

}}
)",
                       name, includes, o.library, entries);
}

// ---- src/library.cpp
// -------------------------------------------------------------------------------------------------------------

std::string rule_tables(Derived const& d, LibraryOptions const& o) {
    auto const& name = d.rule.name;
    std::string operands, dims, fixed, previous;
    int states = 0;
    for (auto const& operand : d.rule.operands) {
        auto const names = axes(d, operand);
        std::string list;
        for (auto const& axis : names) list += quoted(axis) + ", ";
        operands += fmt::format("{{sizeof(dl_operand), {}, {}, {}, {}, {{{}}}, {}}},\n", quoted(operand.name),
                                kind(operand.role), domain(operand.domain), names.size(), list, varies(operand.role));
        if (operand.role != Role::state) continue;
        ++states;
        previous += operand.previous_of < 0 ? "DL_NONE, " : fmt::format("{}, ", operand.previous_of);
    }
    for (auto const& dim : d.rule.dims) dims += quoted(dim) + ", ", fixed += "0, ";
    std::string mapped;
    for (auto const& [of, made] : mapped_dims(d.rule.dims))
        mapped += fmt::format("{{{}, {}, {}, {}}}, ", of, made.constant, made.linear, made.square);
    std::string factors;
    for (DimId dim : factor_dims(d)) factors += fmt::format("{}, ", dim == one ? -1 : int(dim));
    unsigned forms = 0;
    for (auto [form, text] : kernel_forms)
        if (wanted(o, form) && has(d, form))
            forms |= 1u << (form == Form::step ? 1 : form == Form::recurrent ? 2 : form == Form::chunked ? 3 : 5);
    if (forms & 8u) forms |= 16u;
    std::string const missing = d.missing ? quoted(d.missing->text) : "nullptr";
    std::string const no_summary = d.no_summary ? quoted(d.no_summary->text) : "nullptr";
    return fmt::format(R"(
extern "C" {{
#ifndef DELTALOOM_WITHOUT_BASE
extern deltaloom::runtime::kernel_table const {1}_{0}_kernels_base;
#endif
#ifdef DELTALOOM_WITH_V3
extern deltaloom::runtime::kernel_table const {1}_{0}_kernels_v3;
#endif
#ifdef DELTALOOM_WITH_V4
extern deltaloom::runtime::kernel_table const {1}_{0}_kernels_v4;
#endif
}}
namespace {0}_tables {{
dl_operand const operands[] = {{{2}}};
char const* const dims[] = {{{3}nullptr}};
std::int64_t const fixed_extent[] = {{{4}0}};
std::uint32_t const chunks[] = {{{9}}};
std::uint32_t const previous_of[] = {{{10}DL_NONE}};
char const* const missing[] = {{nullptr, nullptr, nullptr, {6}, {6}, {7}}};
std::int32_t const factor_dim[] = {{{11}0}};
mapped_dim const mapped[] = {{{12}{{-1, 0, 0, 0}}}};
rule_kernels const kernels = {{{{
#ifndef DELTALOOM_WITHOUT_BASE
    &{1}_{0}_kernels_base,
#else
    nullptr,
#endif
#ifdef DELTALOOM_WITH_V3
    &{1}_{0}_kernels_v3,
#else
    nullptr,
#endif
#ifdef DELTALOOM_WITH_V4
    &{1}_{0}_kernels_v4,
#else
    nullptr,
#endif
    }}, {5}, {8}, factor_dim, previous_of, mapped}};
}}
)",
                       name, o.library, operands, dims, fixed, o.chunk, missing, no_summary, states,
                       fmt::join(offered_chunks(o.chunk), ", "), previous, factors, mapped) +
           fmt::format("#define DELTALOOM_RULE_{0} {{sizeof(dl_rule), DL_ABI_VERSION, {1}, {2}, {3}, {0}_tables::dims, "
                       "{0}_tables::fixed_extent, {4}, {0}_tables::operands, {5}, {6}, {7}, {8}, "
                       "{0}_tables::chunks, {0}_tables::missing, &{0}_tables::kernels}}\n",
                       name, quoted(name), quoted(d.rule.equation), d.rule.dims.size(), d.rule.operands.size(), forms,
                       o.backward ? 3 : 1, o.scalars, offered_state_scalars(o));
}

std::string library_source(std::vector<Derived> const& rules, LibraryOptions const& o) {
    std::string tables, list;
    for (auto const& d : rules) tables += rule_tables(d, o), list += fmt::format("DELTALOOM_RULE_{},\n", d.rule.name);
    return fmt::format(R"(// The library {0}: its rules, and the calls of the C ABI over them.
#define DELTALOOM_LIBRARY {0}
#include <deltaloom/runtime/cpu/calls.hpp>

namespace {{
using namespace deltaloom::runtime;
}}
{1}
static dl_rule const rules[] = {{{2}}};
DELTALOOM_CALLS({0}, rules)
)",
                       o.library, tables, list);
}

// ---- include/LIB/library-calls.h
// ------------------------------------------------------------------------------------------------

std::string calls_header(LibraryOptions const& o) {
    return fmt::format(R"(// The C ABI of library {0}: the calls that all its rules share.
#ifndef {0}_library_calls_H
#define {0}_library_calls_H
#include <deltaloom/runtime/abi/deltaloom.h>
#ifdef __cplusplus
extern "C" {{
#endif
uint32_t {0}_rule_count(void);
const struct dl_rule *{0}_rule_at(uint32_t);
const struct dl_rule *{0}_rule_named(const char *);
int {0}_workspace(const struct dl_rule *, const struct dl_call *, size_t *, struct dl_status *);
int {0}_forward(const struct dl_rule *, const struct dl_call *, struct dl_status *);
int {0}_backward(const struct dl_rule *, const struct dl_call *, struct dl_status *);
const char *{0}_last_path(void);
#ifdef __cplusplus
}}
#endif
#ifndef dl_rule_count
#define dl_rule_count {0}_rule_count
#define dl_rule_at {0}_rule_at
#define dl_rule_named {0}_rule_named
#define dl_workspace {0}_workspace
#define dl_forward {0}_forward
#define dl_backward {0}_backward
#define dl_last_path {0}_last_path
#endif
#endif
)",
                       o.library);
}

// ---- include/LIB/NAME.{h,hpp}
// ----------------------------------------------------------------------------------------------------

std::string c_header(Derived const& d, LibraryOptions const& o) {
    return fmt::format(R"(// The C ABI of library {1}; rule {0}:
{2}
#ifndef {1}_{0}_H
#define {1}_{0}_H
#include <{1}/library-calls.h>
#endif
)",
                       d.rule.name, o.library, statements_comment(d));
}

std::string names_of(unsigned set) { // "float, bfloat16 or float16"
    std::vector<std::string> names;
    for (std::size_t s = 0; s < scalar_names().size(); ++s)
        if (set >> s & 1) names.push_back(scalar_names()[s]);
    auto const last = names.back();
    names.pop_back();
    return names.empty() ? last : fmt::format("{} or {}", fmt::join(names, ", "), last);
}

std::string typed_header(Derived const& d, LibraryOptions const& o) {
    auto const& rule = d.rule;
    auto const field = fields(rule);
    std::string dims, operands, gradients, set;
    std::vector<std::string> extents; // as expressions
    auto const mapped = mapped_dims(rule.dims);
    for (std::size_t i = 0; i < rule.dims.size(); ++i) {
        auto const& name = field.dims[i];
        auto const& [of, made] = mapped[i];
        extents.push_back(of < 0 ? name : name + "()");
        if (of < 0)
            dims += fmt::format("std::int64_t {} = 0;\n", name);
        else
            dims += fmt::format("/// {}\nstd::int64_t {} const {{ return {}; }}\n", rule.dims[i], extents[i],
                                extent_text(made, extents[std::size_t(of)]));
        set += fmt::format("c.call.dim[{}] = a.{};\n", i, extents[i]);
    }
    int state = 0;
    for (std::size_t i = 0; i < rule.operands.size(); ++i) {
        auto const& operand = rule.operands[i];
        std::string shape;
        for (auto const& axis : axes(d, operand)) shape += ", " + axis;
        char const* const role = operand.role == Role::gate ? (operand.domain == Domain::log ? "log gate, in [-inf, 0]"
                                                                                             : "linear gate, finite")
                                 : operand.role == Role::input   ? "input"
                                 : operand.role == Role::output  ? "output"
                                 : operand.domain == Domain::log ? "log parameter, in [-inf, 0]"
                                                                 : "parameter";
        if (operand.role == Role::state) {
            auto const& f = field.operands[i];
            operands +=
                fmt::format("dl_tensor {}{{}}, {}{{}}; // state [sequences, heads{}]; absent: zeros, not wanted\n"
                            "dl_tensor {}{{}}; // [sequences, snapshots, heads{}], as deltaloom::tensor has them; "
                            "absent: not wanted\n",
                            f.initial, f.final, shape, f.snapshots, shape);
            gradients += fmt::format("dl_tensor {}{{}}, {}{{}}; // wanted, incoming\n", f.d_initial, f.d_final);
            set += fmt::format("c.state_in[{0}] = a.{1}; c.state_out[{0}] = a.{2}; c.state_in_gradient[{0}] = a.{3}; "
                               "c.state_out_gradient[{0}] = a.{4}; c.state_snapshots[{0}] = a.{5};\n",
                               state++, f.initial, f.final, f.d_initial, f.d_final, f.snapshots);
            continue;
        }
        auto const& name = field.operands[i].value;
        auto const& gradient = field.operands[i].gradient;
        operands += fmt::format("dl_tensor {}{{}}; // {} [{}heads{}]\n", name, role,
                                operand.role == Role::parameter ? "" : "batch, tokens, ", shape);
        gradients +=
            fmt::format("dl_tensor {}{{}}; // {}\n", gradient, operand.role == Role::output ? "incoming" : "wanted");
        set += fmt::format("c.operand[{0}] = a.{1}; c.gradient[{0}] = a.{2};\n", i, name, gradient);
    }
    return fmt::format(
        R"(#pragma once
// {0}, generated:
{2}
#include <deltaloom/runtime/abi/call.hpp>
#include <{1}/{0}.h>

namespace {1}::{0} {{

/// One call. Tensors by name: deltaloom::tensor, deltaloom::state, deltaloom::parameter make contiguous ones, strides are in elements.
/// An operand may have fewer heads than value_heads, if they divide it. A tensor holds what its pointer points to: here operands may be {10},
/// states {11}; deltaloom::bfloat16 and float16 are 16 bits of storage. Throws deltaloom::error, which names the wrong field.
struct arguments {{
    std::int64_t batch = 1, tokens = 0, value_heads = 1;
    {3}
    {4}
    // Gradients, for backward; absent: not wanted (outgoing) or zero (incoming).
    {5}
    std::int64_t const* offsets = nullptr; // packed sequences: sequences + 1 token offsets, batch = 1
    std::int64_t sequences = 0;
    dl_form form = DL_CHOOSE;
    std::uint32_t chunk = 0; // 0: the library's
    int threads = 1;
    void (*parallel_for)(void* host, std::int64_t n, void (*body)(void*, std::int64_t), void* context) = nullptr; // absent: the library's pool
    void* host = nullptr;
    std::uint32_t flags = 0;    // DL_CHECK_VALUES, DL_STATE_TRANSPOSED, DL_CHUNK_STATES
    std::int64_t snapshots = 0; // of the last states; with DL_CHUNK_STATES: of those before each chunk
    void* workspace = nullptr; // of workspace_size bytes; absent: allocated for the call
    std::size_t workspace_bytes = 0;
}};

namespace detail {{
struct filled {{
    dl_tensor operand[{6}]{{}}, gradient[{6}]{{}}, state_in[{7}]{{}}, state_out[{7}]{{}}, state_in_gradient[{7}]{{}}, state_out_gradient[{7}]{{}}, state_snapshots[{7}]{{}};
    dl_call call{{}};
}};
inline void fill(filled& c, arguments const& a, bool backward) {{
    c.call.struct_size = sizeof(dl_call);
    c.call.abi_version = DL_ABI_VERSION;
    c.call.form = a.form;
    c.call.batch = a.batch;
    c.call.tokens = a.tokens;
    c.call.value_heads = a.value_heads;
    {8}
    c.call.operand = c.operand;
    c.call.gradient = backward ? c.gradient : nullptr;
    c.call.state_in = c.state_in;
    c.call.state_out = c.state_out;
    c.call.state_in_gradient = c.state_in_gradient;
    c.call.state_out_gradient = c.state_out_gradient;
    c.call.offsets = a.offsets;
    c.call.sequences = a.sequences;
    c.call.chunk = a.chunk;
    c.call.flags = a.flags;
    c.call.threads = a.threads;
    c.call.parallel_for = a.parallel_for;
    c.call.host = a.host;
    c.call.state_snapshots = c.state_snapshots;
    c.call.snapshots = a.snapshots;
    c.call.workspace = a.workspace;
    c.call.workspace_bytes = a.workspace_bytes;
}}
}}

inline dl_rule const* rule() {{ return {1}_rule_named("{0}"); }}
/// Bytes of workspace that forward (backward) takes for these arguments.
inline std::size_t workspace_size(arguments const& a, bool backward = false) {{
    detail::filled c;
    detail::fill(c, a, backward);
    std::size_t bytes = 0;
    dl_status status{{}};
    if ({1}_workspace(rule(), &c.call, &bytes, &status)) throw deltaloom::error(status);
    return bytes;
}}
inline void forward(arguments const& a) {{
    detail::filled c;
    detail::fill(c, a, false);
    deltaloom::abi::run(rule(), c.call, {1}_workspace, {1}_forward);
}}
/// One token: tokens = 1; {9}_final may be the memory of {9}_initial.
inline void step(arguments a) {{
    a.tokens = 1;
    a.form = DL_STEP;
    forward(a);
}}
inline void backward(arguments const& a) {{
    detail::filled c;
    detail::fill(c, a, true);
    deltaloom::abi::run(rule(), c.call, {1}_workspace, {1}_backward);
}}

}}
)",
        rule.name, o.library, statements_comment(d), dims, operands, gradients, rule.operands.size(), state, set,
        [&] {
            for (auto const& operand : rule.operands)
                if (operand.role == Role::state) return operand.name;
            return std::string();
        }(),
        names_of(o.scalars), names_of(offered_state_scalars(o)));
}

} // namespace

std::vector<std::uint32_t> offered_chunks(int chosen) {
    std::vector<std::uint32_t> all{std::uint32_t(chosen)};
    for (std::uint32_t c : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256})
        if (c != all.front()) all.push_back(c);
    all.push_back(0);
    return all;
}
std::vector<std::string> const& scalar_names() {
    static std::vector<std::string> const names{"float", "double", "bfloat16", "float16"};
    return names;
}
unsigned scalar_set(std::vector<std::string> const& names) {
    unsigned set = 0;
    for (std::size_t s = 0; s < scalar_names().size(); ++s)
        if (std::find(names.begin(), names.end(), scalar_names()[s]) != names.end()) set |= 1u << s;
    return set;
}
bool computes(LibraryOptions const& o, bool in_double) {
    constexpr unsigned f64 = 2;
    return in_double ? o.scalars & f64 : o.scalars & ~f64;
}
unsigned offered_state_scalars(LibraryOptions const& o) {
    return o.state_scalars ? o.state_scalars : computes(o, true) ? 3 : 1;
}

std::vector<EmittedFile> emit_library(std::vector<Derived> const& rules, LibraryOptions const& o) {
    std::vector<EmittedFile> files;
    for (auto const& d : rules) {
        auto const& name = d.rule.name;
        files.push_back({fmt::format("include/{}/{}.h", o.library, name), format(c_header(d, o))});
        files.push_back({fmt::format("include/{}/{}.hpp", o.library, name), format(typed_header(d, o))});
        for (auto& file : emit_forms(d, o.library)) {
            bool keep = false;
            for (auto [form, text] : kernel_forms)
                for (char const* direction : {"forward", "backward"})
                    keep |= wanted(o, form) && (o.backward || direction[0] == 'f') &&
                            file.path == fmt::format("src/{}_{}_{}.hpp", name, text, direction);
            if (keep) files.push_back(std::move(file));
        }
        files.push_back({fmt::format("src/{}.cpp", name), format(rule_source(d, o))});
    }
    // A build system wants to know its sources before the header is read: a fixed number of parts, the rules dealt to
    // them in turn.
    for (std::size_t part = 0; part < library_parts; ++part) {
        std::string text =
            fmt::format("// Compiled once per instruction set.\n#define DELTALOOM_LIBRARY {}\n", o.library);
        for (std::size_t i = part; i < rules.size(); i += library_parts)
            text += fmt::format("#include \"{}.cpp\"\n", rules[i].rule.name);
        files.push_back({fmt::format("src/kernels_{}.cpp", part), text});
    }
    files.push_back({"src/library.cpp", format(library_source(rules, o))});
    files.push_back({fmt::format("include/{}/library-calls.h", o.library), format(calls_header(o))});
    return files;
}

} // namespace deltaloom::codegen
