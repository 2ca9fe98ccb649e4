// Every field of a call wrong in every way that the contract names: a code, the operand, the axis, a sentence with the
// field's name; nothing written.
#include "calling.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>

using namespace deltaloom::test;
using Change = std::function<void(Call&)>;

namespace {

constexpr std::uint32_t none = DL_NONE;
constexpr std::int64_t huge = std::int64_t(1) << 61;

struct Wrong {
    char const* what;
    Change change;
    std::uint32_t code;
    std::string operand; // empty: none
    std::uint32_t axis;
    std::vector<char const*> said; // words of the sentence
    bool backward = false;
    bool workspace_too = true; // dl_workspace refuses it alike
};

dl_rule const& rule() { return *dl_rule_named("all_kinds"); }

Shape usual() {
    return {.batch = 2, .tokens = 4, .heads = 4, .dk = 5, .dv = 3, .own_heads = {{"q", 2}, {"k", 2}, {"u", 1}}};
}
Shape packed() { return {.batch = 1, .tokens = 9, .heads = 2, .dk = 5, .dv = 3, .offsets = {0, 5, 5, 9}}; }

std::uint32_t operand_of(dl_rule const& r, std::string const& name) {
    for (std::uint32_t i = 0; i < r.operand_count; ++i)
        if (r.operands[i].name == name) return i;
    return none;
}

void expect(Call& c, Wrong const& w) {
    INFO(w.what);
    c.poison();
    REQUIRE(c.prepare(false) == 0);
    REQUIRE(c.prepare(true) == 0);
    c.workspace.fill(0xff);
    w.change(c);
    auto const see = [&](char const* by, int code) {
        INFO(by << " said: " << c.status.message);
        CHECK(code == int(w.code));
        CHECK(c.status.code == w.code);
        CHECK(c.status.operand == (w.operand.empty() ? none : operand_of(c.rule, w.operand)));
        CHECK(c.status.axis == w.axis);
        for (auto const* word : w.said) {
            INFO(word);
            CHECK(std::string(c.status.message).find(word) != std::string::npos);
        }
        CHECK(std::string(c.status.message).size() < sizeof c.status.message - 1);
        CHECK(c.untouched());
        for (std::size_t b = 0; b < c.workspace.bytes(); ++b) REQUIRE(c.workspace.data()[b] == std::byte(0xff));
    };
    c.status = {};
    see("the call", (w.backward ? c.library.backward : c.library.forward)(&c.rule, &c.call, &c.status));
    CHECK((w.backward ? c.library.backward : c.library.forward)(&c.rule, &c.call, nullptr) == int(w.code));
    if (!w.workspace_too) return;
    std::size_t bytes = 77;
    c.status = {};
    see("dl_workspace", c.library.workspace(&c.rule, &c.call, &bytes, &c.status));
    CHECK(bytes == 77);
}
void expect(Shape const& shape, std::vector<Wrong> const& all) {
    for (auto const& w : all) {
        Call c(rule(), shape);
        expect(c, w);
    }
}

// A change of the tensor of an operand: of the operand itself, or of one of a state's.
auto operand(char const* name, std::function<void(dl_tensor&)> const& change) {
    return [=](Call& c) { change(c.operand[c.index(name)]); };
}
auto gradient(char const* name, std::function<void(dl_tensor&)> const& change) {
    return [=](Call& c) { change(c.gradient[c.index(name)]); };
}
auto state(std::vector<dl_tensor> Call::* which, char const* name, std::function<void(dl_tensor&)> const& change) {
    return [=](Call& c) { change((c.*which)[c.index(name)]); };
}
std::function<void(dl_tensor&)> stride(int axis, std::int64_t x) {
    return [=](dl_tensor& t) { t.stride[axis] = x; };
}
std::function<void(dl_tensor&)> scalar(std::uint32_t x) {
    return [=](dl_tensor& t) { t.scalar = x; };
}
std::function<void(dl_tensor&)> heads(std::uint32_t x) {
    return [=](dl_tensor& t) { t.heads = x; };
}
void missing(dl_tensor& t) { t.data = nullptr; }
void askew(dl_tensor& t) { t.data = static_cast<char*>(t.data) + 1; }

constexpr std::uint32_t field = DL_BAD_FIELD, bad = DL_BAD_OPERAND;

} // namespace

TEST_CASE("fields of the call") {
    auto const with = [](auto member, auto value) { return [=](Call& c) { c.call.*member = value; }; };
    expect(usual(),
           {{"size of the struct", with(&dl_call::struct_size, 8u), field, "", none, {"struct_size", "8"}},
            {"no size", with(&dl_call::struct_size, 0u), field, "", none, {"struct_size"}},
            {"version", with(&dl_call::abi_version, DL_ABI_VERSION + 1), field, "", none, {"abi_version", "2", "1"}},
            {"form", with(&dl_call::form, 6u), field, "", none, {"form", "6"}},
            {"a form that there is not", with(&dl_call::form, unsigned(DL_SUMMARY)), DL_NO_FORM, "", none, {"form"}},
            {"several tokens a step", with(&dl_call::form, unsigned(DL_STEP)), field, "", none, {"tokens", "step"}},
            {"batch", with(&dl_call::batch, -1), field, "", none, {"batch", "-1"}},
            {"tokens", with(&dl_call::tokens, -3), field, "", none, {"tokens", "-3"}},
            {"no heads", with(&dl_call::value_heads, 0), field, "", none, {"value_heads", "0"}},
            {"heads", with(&dl_call::value_heads, -2), field, "", none, {"value_heads"}},
            {"dim", [](Call& c) { c.call.dim[0] = 0; }, field, "", 0, {"dim[0]"}},
            {"dim", [](Call& c) { c.call.dim[1] = -1; }, field, "", 1, {"dim[1]", "-1"}},
            {"dim", [](Call& c) { c.call.dim[1] = huge; }, field, "", 1, {"dim[1]"}},
            {"sequences alone", with(&dl_call::sequences, 2), field, "", none, {"sequences", "offsets"}},
            {"too many tokens", with(&dl_call::tokens, huge), field, "", none, {"tokens", "2^62"}},
            {"too many rows", with(&dl_call::batch, huge), field, "", none, {"batch", "2^62"}},
            {"too many heads", with(&dl_call::value_heads, huge), field, "", none, {"value_heads", "2^62"}},
            {"chunk", with(&dl_call::chunk, 17u), field, "", none, {"chunk", "17", "offer"}},
            {"chunk", with(&dl_call::chunk, 4096u), field, "", none, {"chunk", "4096"}},
            {"a chunk without chunks",
             [](Call& c) { c.call.form = DL_RECURRENT, c.call.chunk = 16; },
             field,
             "",
             none,
             {"chunk", "chunked"}},
            {"flags", with(&dl_call::flags, 0x80000001u), field, "", none, {"flags", "0x80000000"}},
            {"snapshots", with(&dl_call::snapshots, -1), field, "", none, {"snapshots", "-1"}},
            {"no tensors of snapshots", with(&dl_call::snapshots, 2), field, "", none, {"state_snapshots", "NULL"}},
            {"chunk states of any chunk",
             [](Call& c) { c.make_snapshots(4), c.call.flags = DL_CHUNK_STATES; },
             field,
             "",
             none,
             {"DL_CHUNK_STATES", "chunk"}},
            {"too few chunk states",
             [](Call& c) {
                 c.make_snapshots(1), c.call.flags = DL_CHUNK_STATES, c.call.form = DL_CHUNKED, c.call.chunk = 2;
             },
             field,
             "",
             none,
             {"snapshots", "2 chunks"}},
            {"threads", with(&dl_call::threads, -1), field, "", none, {"threads", "-1"}},
            {"a stream", [](Call& c) { c.call.stream = &c; }, field, "", none, {"stream", "CUDA"}},
            {"no operands", [](Call& c) { c.call.operand = nullptr; }, field, "", none, {"operand", "NULL"}},
            {"no gradients",
             [](Call& c) { c.call.gradient = nullptr; },
             field,
             "",
             none,
             {"gradient", "NULL"},
             true,
             false},
            {"a workspace too small",
             [](Call& c) { --c.call.workspace_bytes; },
             DL_WORKSPACE,
             "",
             none,
             {"workspace_bytes", "dl_workspace"},
             true,
             false},
            {"no workspace",
             [](Call& c) { c.call.workspace = nullptr; },
             DL_WORKSPACE,
             "",
             none,
             {"workspace", "NULL"},
             false,
             false}});
}

TEST_CASE("packed sequences") {
    auto const offset = [](int at, std::int64_t x) { return [=](Call& c) { c.shape.offsets[std::size_t(at)] = x; }; };
    expect(packed(),
           {{"first", offset(0, 1), field, "", none, {"offsets[0]", "1"}},
            {"below 0", offset(0, -1), field, "", none, {"offsets[0]", "-1"}},
            {"falling", offset(2, 4), field, "", none, {"offsets[2]", "4", "5"}},
            {"past the end", offset(3, 10), field, "", none, {"offsets", "10", "tokens", "9"}},
            {"before the end", offset(3, 8), field, "", none, {"offsets", "8", "tokens", "9"}},
            {"a batch", [](Call& c) { c.call.batch = 2; }, field, "", none, {"batch", "offsets"}},
            {"no batch", [](Call& c) { c.call.batch = 0; }, field, "", none, {"batch", "offsets"}},
            {"sequences", [](Call& c) { c.call.sequences = -1; }, field, "", none, {"sequences", "-1"}},
            {"sequences", [](Call& c) { c.call.sequences = 2; }, field, "", none, {"offsets", "5"}},
            {"steps", [](Call& c) { c.call.form = DL_STEP; }, field, "", none, {"offsets", "step", "sequence 0 has 5"}},
            {"askew",
             [](Call& c) {
                 c.call.offsets =
                     reinterpret_cast<std::int64_t const*>(reinterpret_cast<char const*>(c.call.offsets) + 4);
             },
             field,
             "",
             none,
             {"offsets", "aligned"}}});
}

TEST_CASE("operands, outputs and gradients") {
    expect(
        usual(),
        {{"an input", operand("v", missing), bad, "v", none, {"operand v", "missing"}},
         {"a gate", operand("r", missing), bad, "r", none, {"operand r", "missing"}},
         {"a parameter", operand("u", missing), bad, "u", none, {"operand u", "missing"}},
         {"scalar", operand("k", scalar(7)), bad, "k", none, {"operand k", "scalar 7", "f32"}},
         {"the field's scalar", operand("k", scalar(DL_EXACT)), bad, "k", none, {"operand k", "scalar 15"}},
         {"double in a library of float", operand("q", scalar(DL_F64)), bad, "q", none, {"operand q", "f64"}},
         {"scalar of an output", operand("o", scalar(4)), bad, "o", none, {"operand o", "scalar 4"}},
         {"no heads", operand("k", heads(0)), bad, "k", 2, {"operand k", "0 heads", "value_heads = 4"}},
         {"heads", operand("k", heads(3)), bad, "k", 2, {"operand k", "3 heads", "value_heads = 4"}},
         {"more heads", operand("v", heads(8)), bad, "v", 2, {"operand v", "8 heads"}},
         {"heads of an output", operand("o", heads(2)), bad, "o", 2, {"operand o", "2 heads", "4"}},
         {"askew", operand("v", askew), bad, "v", none, {"operand v", "aligned"}},
         {"batch stride", operand("v", stride(0, huge)), bad, "v", 0, {"operand v", "batch", "address space"}},
         {"token stride", operand("v", stride(1, -huge)), bad, "v", 1, {"operand v", "token", "address space"}},
         {"head stride", operand("q", stride(2, huge)), bad, "q", 2, {"operand q", "head", "address space"}},
         {"step stride", operand("k", stride(3, huge)), bad, "k", 3, {"operand k", "axis 2", "address space"}},
         {"key stride", operand("k", stride(4, huge)), bad, "k", 4, {"operand k", "dk", "address space"}},
         {"below the address space",
          operand("v", stride(0, -(std::int64_t(1) << 58))),
          bad,
          "v",
          0,
          {"operand v", "address space"}},
         {"tokens on one another", operand("v", stride(1, 1)), bad, "v", 1, {"operand v", "token", "together"}},
         {"heads on one another", operand("v", stride(2, 2)), bad, "v", 2, {"operand v", "head", "together"}},
         {"an output on one spot", operand("o", stride(1, 0)), bad, "o", 1, {"operand o", "stride 0", "token"}},
         {"a batch on one spot", operand("o", stride(0, 0)), bad, "o", 0, {"operand o", "stride 0", "batch"}},
         {"a vector on one spot", operand("o", stride(3, 0)), bad, "o", 3, {"operand o", "stride 0", "dv"}},
         {"an output over itself", operand("o", stride(2, 1)), bad, "o", 2, {"operand o", "head", "together"}},
         {"a gradient on one spot",
          gradient("v", stride(1, 0)),
          bad,
          "v",
          1,
          {"gradient of v", "stride 0", "token"},
          true},
         {"an incoming one", gradient("o", stride(0, 0)), bad, "o", 0, {"gradient of o", "stride 0"}, true},
         {"a gradient over itself", gradient("w", stride(2, 2)), bad, "w", 2, {"gradient of w", "together"}, true},
         {"scalar of a gradient", gradient("v", scalar(9)), bad, "v", none, {"gradient of v", "scalar 9"}, true},
         {"heads of a gradient", gradient("q", heads(4)), bad, "q", 2, {"gradient of q", "4", "operand has 2"}, true},
         {"heads of an incoming one", gradient("o", heads(1)), bad, "o", 2, {"gradient of o", "1 heads"}, true},
         {"gradient stride", gradient("u", stride(3, huge)), bad, "u", 3, {"gradient of u", "dk"}, true}});
}

TEST_CASE("states") {
    auto const in = &Call::state_in, out = &Call::state_out, d_in = &Call::state_in_gradient,
               d_out = &Call::state_out_gradient;
    expect(usual(),
           {{"half a state", state(in, "S", scalar(DL_F16)), bad, "S", none, {"initial state S", "f16", "states"}},
            {"half a state", state(out, "n", scalar(DL_F16)), bad, "n", none, {"final state n", "f16", "bf16 (2)"}},
            {"double", state(out, "n", scalar(DL_F64)), bad, "n", none, {"final state n", "f64", "f32 (0)"}},
            {"scalar", state(in, "S", scalar(99)), bad, "S", none, {"initial state S", "scalar 99"}},
            {"heads", state(in, "S", heads(2)), bad, "S", 2, {"initial state S", "2 heads", "4"}},
            {"heads", state(out, "n", heads(1)), bad, "n", 2, {"final state n", "1 heads", "4"}},
            {"heads of a hidden state",
             state(in, "q_previous", heads(1)),
             bad,
             "q_previous",
             2,
             {"initial state q_previous", "1 heads", "q", "2"}},
            {"one state for all", state(in, "S", stride(0, 0)), bad, "S", 0, {"initial state S", "sequence"}},
            {"one spot", state(out, "S", stride(4, 0)), bad, "S", 4, {"final state S", "stride 0", "dk"}},
            {"over itself", state(out, "S", stride(3, 2)), bad, "S", 3, {"final state S", "dv", "together"}},
            {"stride", state(in, "n", stride(0, huge)), bad, "n", 0, {"initial state n", "sequence"}},
            {"askew", state(out, "S", askew), bad, "S", none, {"final state S", "aligned"}},
            {"gradient of nothing",
             state(in, "S", missing),
             bad,
             "S",
             none,
             {"gradient of initial state S", "no initial state"},
             true},
            {"gradient", state(d_in, "S", stride(3, 0)), bad, "S", 3, {"gradient of initial state S", "dv"}, true},
            {"gradient", state(d_out, "n", scalar(5)), bad, "n", none, {"gradient of final state n"}, true},
            {"heads of a gradient",
             state(d_in, "q_previous", heads(4)),
             bad,
             "q_previous",
             2,
             {"gradient of initial state q_previous", "4 heads", "2"},
             true}});
    expect(usual(), {{"snapshots",
                      [](Call& c) { c.make_snapshots(3), c.snapshots[0].stride[1] = 0; },
                      bad,
                      "S",
                      1,
                      {"snapshots of S", "slot", "stride 0"}},
                     {"no chunk states",
                      [](Call& c) {
                          c.make_snapshots(2), c.snapshots[0].data = nullptr, c.call.flags = DL_CHUNK_STATES;
                          c.call.form = DL_CHUNKED, c.call.chunk = 2;
                      },
                      bad,
                      "S",
                      none,
                      {"snapshots of S", "missing"},
                      true}});
}

TEST_CASE("memory that two share") {
    auto const same = [](dl_tensor& t, dl_tensor const& as, std::ptrdiff_t bytes = 0) {
        t.data = static_cast<char*>(as.data) + bytes;
    };
    auto const at = [](Call& c, char const* name) -> dl_tensor& { return c.operand[c.index(name)]; };
    expect(
        usual(),
        {{"output on input",
          [&](Call& c) { same(at(c, "o"), at(c, "v")); },
          bad,
          "o",
          none,
          {"operand o", "operand v"}},
         {"at its last byte",
          [&](Call& c) { same(at(c, "o"), at(c, "c"), 4 * (2 * 4 * 4 * 3 - 1)); },
          bad,
          "o",
          none,
          {"operand o", "operand c"}},
         {"at its first byte",
          [&](Call& c) { same(at(c, "o"), at(c, "c"), -4 * (2 * 4 * 4 * 3 - 1)); },
          bad,
          "o",
          none,
          {"operand o", "operand c"}},
         {"state on input", [&](Call& c) { same(c.state_out[0], at(c, "w")); }, bad, "S", none, {"final state S", "w"}},
         {"state on state",
          [&](Call& c) { same(c.state_out[1], c.state_out[0]); },
          bad,
          "S",
          none,
          {"final state S", "final state n"}},
         {"state on another's",
          [&](Call& c) { same(c.state_out[1], c.state_in[0]); },
          bad,
          "n",
          none,
          {"final state n", "initial state S"}},
         {"in place, not quite",
          [&](Call& c) { same(c.state_out[0], c.state_in[0], 4); },
          bad,
          "S",
          none,
          {"final state S", "in place"}},
         {"in place, the other way round",
          [&](Call& c) { c.state_out[0] = c.state_in[0], c.state_out[0].stride[3] = 1, c.state_out[0].stride[4] = 3; },
          bad,
          "S",
          none,
          {"final state S", "in place"}},
         {"gradient on operand",
          [&](Call& c) { same(c.gradient[c.index("v")], at(c, "v")); },
          bad,
          "v",
          none,
          {"gradient of v", "operand v"},
          true},
         {"gradient on gradient",
          [&](Call& c) { same(c.gradient[c.index("v")], c.gradient[c.index("w")]); },
          bad,
          "v",
          none,
          {"gradient of v", "gradient of w"},
          true},
         {"gradient on the incoming one",
          [&](Call& c) { same(c.gradient[c.index("c")], c.gradient[c.index("o")]); },
          bad,
          "c",
          none,
          {"gradient of c", "gradient of o"},
          true},
         {"gradients of the state",
          [&](Call& c) { same(c.state_in_gradient[0], c.state_out_gradient[0]); },
          bad,
          "S",
          none,
          {"gradient of initial state S", "gradient of final state S"},
          true},
         {"workspace on a state",
          [&](Call& c) { c.call.workspace = c.state_in[0].data, c.call.workspace_bytes = huge; },
          bad,
          "S",
          none,
          {"initial state S", "workspace"},
          false,
          false},
         {"snapshots on a state",
          [&](Call& c) { c.make_snapshots(2), same(c.snapshots[0], c.state_in[0]); },
          bad,
          "S",
          none,
          {"snapshots of S", "initial state S"}}});
    {
        Call c(rule(), packed());
        c.call.offsets = reinterpret_cast<std::int64_t const*>(
            std::memcpy(at(c, "o").data, c.shape.offsets.data(), 4 * sizeof(std::int64_t)));
        CHECK(c.run(false) == bad);
        CHECK(std::string(c.status.message) == "operand o overlaps the offsets");
    }
    // Views that lie between each other's elements share nothing; inputs may share what they like.
    Call c(rule(), usual());
    std::vector<float> both(2 * 4 * 4 * 2 * 3);
    for (char const* name : {"c", "o"}) {
        auto& t = at(c, name);
        t.data = both.data() + (std::string(name) == "o" ? 3 : 0);
        t.stride[2] = 6, t.stride[1] = 24, t.stride[0] = 96;
    }
    CHECK(c.run(false) == 0);
    INFO(c.status.message);
    same(at(c, "o"), at(c, "c"), 8); // reaches one element into the neighbour
    c.status = {};
    CHECK(c.run(false) == bad);
    same(at(c, "o"), at(c, "c"), 12);
    same(at(c, "c"), at(c, "v"));
    at(c, "c").stride[0] = 48, at(c, "c").stride[1] = 12, at(c, "c").stride[2] = 3;
    CHECK(c.run(false) == 0);
}

TEST_CASE("rules that are none of this library's") {
    Call c(rule(), usual());
    REQUIRE(c.prepare(true) == 0);
    auto const refused = [&](dl_rule const* r, char const* word) {
        std::size_t bytes = 77;
        for (int code : {dl_forward(r, &c.call, &c.status), dl_backward(r, &c.call, &c.status),
                         dl_workspace(r, &c.call, &bytes, &c.status)}) {
            INFO(c.status.message);
            CHECK(code == DL_BAD_FIELD);
            CHECK(std::string(c.status.message).find(word) != std::string::npos);
        }
        CHECK(bytes == 77);
    };
    refused(nullptr, "rule is NULL");
    dl_rule other = rule();
    refused(&other, "contract_rules");
    other.abi_version = 2;
    refused(&other, "abi_version is 2");
    other.struct_size = 40;
    refused(&other, "struct_size is 40");
    c.status = {};
    CHECK(dl_forward(&rule(), nullptr, &c.status) == DL_BAD_FIELD);
    CHECK(std::string(c.status.message).find("call is NULL") != std::string::npos);
    CHECK(dl_workspace(&rule(), &c.call, nullptr, &c.status) == DL_BAD_FIELD);
    CHECK(std::string(c.status.message).find("bytes is NULL") != std::string::npos);
    CHECK(dl_rule_named("nonsense") == nullptr);
    CHECK(dl_rule_named(nullptr) == nullptr);
    CHECK(dl_rule_at(dl_rule_count()) == nullptr);
}

TEST_CASE("a workspace that cannot be") {
    // 2^24 x 2^24 states cannot be addressed by their strides; broadcast inputs and absent states ask for them all the
    // same.
    Call c(*dl_rule_named("delta"), {.batch = 1, .tokens = 4, .heads = 1});
    c.call.dim[0] = c.call.dim[1] = 1 << 24, c.call.state_in = c.call.state_out = nullptr;
    for (char const* name : {"v", "k", "q"}) c.operand[c.index(name)].stride[3] = 0;
    auto& o = c.operand[c.index("o")];
    o.stride[1] = 1 << 24, o.data = __builtin_bit_cast(void*, std::uintptr_t(1) << 40); // nothing is touched there
    c.call.form = DL_CHUNKED, c.call.chunk = 256, c.call.gradient = nullptr;
    std::size_t bytes = 0;
    CHECK(dl_workspace(&c.rule, &c.call, &bytes, &c.status) == DL_BAD_FIELD);
    INFO(c.status.message);
    CHECK(std::string(c.status.message).find("workspace") != std::string::npos);
}

TEST_CASE("values, where asked for") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    // Element `at` of an operand that has heads of 4 x 2 and so on: [batch 2, tokens 4, heads, ...].
    auto const put = [](char const* name, std::size_t at, float x) {
        return [=](Call& c) {
            c.call.flags = DL_CHECK_VALUES;
            c.data(c.operand[c.index(name)])[at] = x;
        };
    };
    std::uint32_t const value = DL_BAD_VALUE;
    expect(usual(),
           {{"NaN",
             put("v", ((1 * 4 + 2) * 4 + 3) * 6 + 4, nan),
             value,
             "v",
             1,
             {"operand v", "batch 1", "token 2", "head 3", "nan"},
             false,
             false},
            {"in a shared head",
             put("q", ((0 * 4 + 3) * 2 + 1) * 5, nan),
             value,
             "q",
             1,
             {"operand q", "batch 0", "token 3", "head 1"},
             false,
             false},
            {"a positive log gate",
             put("w", ((1 * 4 + 0) * 4 + 2) * 5 + 1, 0.5f),
             value,
             "w",
             1,
             {"operand w", "token 0", "head 2", "0.5", "log gate"},
             false,
             false},
            {"an infinite linear gate",
             put("r", (0 * 4 + 1) * 4 + 1, -inf),
             value,
             "r",
             1,
             {"operand r", "token 1", "head 1", "inf", "linear gate"},
             false,
             false},
            {"NaN in a gate, backward", put("r", 0, nan), value, "r", 1, {"operand r", "token 0"}, true, false},
            {"NaN in a parameter", put("u", 3, nan), value, "u", 2, {"operand u", "head 0"}, false, false},
            {"NaN in a state",
             [=](Call& c) { c.call.flags = DL_CHECK_VALUES, c.data(c.state_in[0])[15 * 4 + 15] = nan; },
             value,
             "S",
             2,
             {"initial state S", "sequence 1", "head 1"},
             false,
             false},
            {"NaN in a gradient",
             [=](Call& c) { c.call.flags = DL_CHECK_VALUES, c.data(c.gradient[c.index("o")])[3 * 12 + 5] = nan; },
             value,
             "o",
             1,
             {"gradient of o", "token 3", "head 1"},
             true,
             false}});
    // What is allowed: -inf as a log gate, an infinite input; and nothing is looked at unless asked.
    Call c(rule(), usual());
    c.call.flags = DL_CHECK_VALUES;
    c.data(c.operand[c.index("w")])[7] = -inf;
    CHECK(c.run(false) == 0);
    CHECK(c.finite(false));
    c.data(c.operand[c.index("c")])[7] = inf;
    CHECK(c.run(false) == 0);
    c.data(c.operand[c.index("c")])[7] = nan;
    CHECK(c.run(false) == value);
    c.call.flags = 0;
    CHECK(c.run(false) == 0);
}
