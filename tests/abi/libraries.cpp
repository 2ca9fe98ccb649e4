// Two libraries in one program, static and shared, with a rule of the same name: they do not meet.
#include <contract_rules/delta.hpp>
#include <other_rules/delta.hpp>

#include <catch2/catch.hpp>
#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <set>
#include <string>

namespace {

// v k^T written once into nothing, read by q = k = 1: v times what the rule makes of it.
template<class Arguments> float write_once(void (*forward)(Arguments const&)) {
    float k = 1, v = 5, q = 1, o = 0, beta = 1;
    Arguments a{};
    a.tokens = 1, a.dk = 1, a.dv = 1;
    a.k = deltaloom::tensor(&k, 1, 1, {1}), a.v = deltaloom::tensor(&v, 1, 1, {1});
    a.q = deltaloom::tensor(&q, 1, 1, {1}), a.o = deltaloom::tensor(&o, 1, 1, {1});
    if constexpr (requires { a.beta; }) a.beta = deltaloom::tensor(&beta, 1, 1);
    forward(a);
    return o;
}

std::set<std::string> symbols(std::string const& command) {
    std::set<std::string> all;
    std::unique_ptr<FILE, int (*)(FILE*)> const pipe(popen(command.c_str(), "r"), pclose);
    char line[4096];
    while (pipe && std::fgets(line, sizeof line, pipe.get())) {
        std::string s = line;
        while (!s.empty() && (s.back() == '\n' || s.back() == '\r')) s.pop_back();
        if (!s.empty()) all.insert(s);
    }
    return all;
}
bool of_std(std::string const& mangled) { // what the standard library's headers leave in every object
    for (char const* begin : {"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZTISt", "_ZTSSt", "_ZTVSt", "_ZTINSt",
                              "_ZTSNSt", "_ZTVNSt", "DW.ref.", "__clang_call_terminate"})
        if (mangled.rfind(begin, 0) == 0) return true;
    return false;
}

} // namespace

TEST_CASE("two libraries of one program each compute their own rule") {
    CHECK(write_once(contract_rules::delta::forward) == 5);
    CHECK(write_once(other_rules::delta::forward) == 15);
    CHECK(std::string(contract_rules_last_path()).find("forward") != std::string::npos);
    CHECK(contract_rules_rule_count() == 5);
    CHECK(other_rules_rule_count() == 1);
    CHECK(other_rules_rule_named("gated_delta") == nullptr);
    // What is asked of one says nothing about the other.
    dl_status status{};
    dl_call call{};
    CHECK(contract_rules_forward(contract_rules_rule_named("delta"), &call, &status) == DL_BAD_FIELD);
    CHECK(std::string(contract_rules_last_path()).empty());
    // One token, and the library has no other form.
    CHECK(std::string(other_rules_last_path()).find("chunked forward") != std::string::npos);
    // A rule of the other is refused by name.
    call.struct_size = sizeof call, call.abi_version = DL_ABI_VERSION;
    CHECK(contract_rules_forward(other_rules_rule_at(0), &call, &status) == DL_BAD_FIELD);
    CHECK(std::string(status.message).find("contract_rules") != std::string::npos);
    CHECK(other_rules_forward(contract_rules_rule_at(0), &call, &status) == DL_BAD_FIELD);
    CHECK(std::string(status.message).find("other_rules") != std::string::npos);
    // Only what was asked for: neither operands nor states of 16 bits, each refused by its name.
    float x = 0;
    auto one = deltaloom::tensor(&x, 1, 1, {1}), half = one;
    half.scalar = DL_BF16;
    other_rules::delta::arguments a{};
    a.tokens = 1, a.dk = 1, a.dv = 1, a.k = half, a.v = one, a.q = one, a.o = one;
    for (std::string const& said :
         {std::string("operand k: scalar 2 (bf16) is not offered for operands; it may be f32 (0)"),
          std::string("initial state S: scalar 2 (bf16) is not offered for states; it may be f32 (0)")}) {
        try {
            other_rules::delta::forward(a);
            FAIL("taken");
        } catch (deltaloom::error const& e) {
            CHECK(e.what() == said);
        }
        a.k = one, a.S_initial = half;
    }
    // Built without a backward.
    call.gradient = reinterpret_cast<dl_tensor*>(&call);
    CHECK(other_rules_backward(other_rules_rule_at(0), &call, &status) != 0);
}

TEST_CASE("a shared build exports the plain names for dlopen, bound to itself") {
    void* const handle = dlopen(OTHER_RULES, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle);
    auto const count = reinterpret_cast<uint32_t (*)()>(dlsym(handle, "dl_rule_count"));
    auto const named = reinterpret_cast<dl_rule const* (*)(char const*)>(dlsym(handle, "dl_rule_named"));
    auto const path = reinterpret_cast<char const* (*)()>(dlsym(handle, "dl_last_path"));
    for (char const* name : {"dl_rule_at", "dl_workspace", "dl_forward", "dl_backward"}) CHECK(dlsym(handle, name));
    REQUIRE((count && named && path));
    CHECK(count() == 1);
    CHECK(named("delta") == other_rules_rule_named("delta"));
    write_once(other_rules::delta::forward);
    CHECK(std::string(path()) == other_rules_last_path());
    dlclose(handle);
    // Nothing else is to be seen from outside.
    for (auto const& s : symbols(std::string("nm -D --defined-only -P " OTHER_RULES " | cut -d' ' -f1")))
        if (!of_std(s)) {
            INFO(s);
            CHECK((s.rfind("dl_", 0) == 0 || s.rfind("other_rules_", 0) == 0));
        }
    CHECK_FALSE(symbols("readelf -d " OTHER_RULES " | grep SYMBOLIC").empty());
}

TEST_CASE("two static libraries define no symbol in common") {
    auto const all = [](char const* file) {
        return symbols(std::string("nm -g --defined-only -P ") + file + " | grep -v ':$' | cut -d' ' -f1");
    };
    auto const mine = all(CONTRACT_RULES), theirs = all(MEMORY);
    REQUIRE(mine.count("contract_rules_forward"));
    REQUIRE(theirs.count("memory_forward"));
    CHECK_FALSE(mine.count("dl_forward"));
    for (auto const& s : mine)
        if (!of_std(s)) {
            INFO(s << " is in both");
            CHECK_FALSE(theirs.count(s));
        }
}
