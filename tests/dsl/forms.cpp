// Every way of writing a rule compiles, and gives a rule of that name with that many statements.
#include <catch2/catch.hpp>
#include <deltaloom/dsl.hpp>
#include <string>

namespace forms {
using namespace deltaloom::dsl;
DELTALOOM_DIM(dr);
DELTALOOM_INPUT(e, dk);
DELTALOOM_GATE(w, log, dk);
DELTALOOM_GATE(r, linear);
DELTALOOM_PARAMETER(W, dr, dk);
DELTALOOM_PARAMETER(log_a, log);
DELTALOOM_PARAMETER(decay, linear, dk);
DELTALOOM_STATE(R, dv, dr);
DELTALOOM_STATE(P, dv, dpfp_dim<2, dk>);
DELTALOOM_STATE(F, dv, taylor2_dim<dk>);
DELTALOOM_OUTPUT(o2, dr);

struct layer { // a static member
    static constexpr auto member = rule("member", S <<= exp(2 * g + g) * S + v * T(k), o <<= S * q / 2.0 - 1);
};

#define MAKE(NAME) inline constexpr auto NAME = rule(#NAME, S <<= S + beta * v * T(k), o <<= S * q)
MAKE(from_a_macro);

template<int N>
inline constexpr auto product =
    rule("product", S <<= alpha * S, repeat<N>(S <<= S + beta * (v - S * k) * T(k)), o <<= S * q);
inline constexpr auto three = product<3>;

template<class X> constexpr auto project(X x) { return (S * x) * T(x); }
constexpr auto error(auto x) { return v - S * x; }
constexpr auto outer(auto a, auto b) { return b * T(a); } // its arguments are not its operands
inline constexpr auto with_helpers =
    rule("with_helpers", S <<= S - beta * project(k) + error(k) * T(e) + outer(k, v), o <<= S * q);

template<std::size_t N> constexpr auto family(char const (&name)[N]) {
    return rule(name, S <<= S + v * T(k), o <<= S * q);
}
inline constexpr auto from_a_function = family("from_a_function");

inline constexpr auto kk = k * T(k); // a named sub-expression, a named statement, another name of an operand
inline constexpr auto erase = S <<= S - beta * (S * kk);
constexpr auto key = k;
inline constexpr auto of_names = rule("of_names", erase, o <<= S * key);

constexpr double half = 0.5;
#define KEEP(x) ((1 - half) * x)
#define WRITE v* T(k)
inline constexpr auto braced{rule("braced", S <<= KEEP(S) + WRITE, (o <<= (S * q) * (-1) - 7))};

inline constexpr auto parameters = rule("parameters", S <<= exp(log_a) * S * diag(decay) + r * v * T(k),
                                        R <<= R + v * T(W * k), o <<= S * q, o2 <<= T(R) * v);

inline constexpr auto functions =
    rule("functions",
         S <<= S * diag(1 - exp(w)) + softmax(v) * T(sum_norm(k) + sum_norm(k, 1e-3) + l2norm(k) + l2norm(k, 1)),
         z <<= exp(w) % z + neg(k) / norm(k) - sum(S) * k,
         o <<= min(S * q, 1.0) + max(S * q, S* k) + max(0, v) + min(v, v) +
               2 * tanh(relu(elu1(silu(sqrt(log(softplus(sigmoid(abs(v)))))))) + 1 - (T(previous(k)) * k) * v +
                        1.0 / beta * v));

inline constexpr auto features =
    rule("features", P <<= P + beta * (v - P * dpfp<2>(k)) * T(dpfp<2>(k)), R <<= R + v * T(random_features(k, W)),
         F <<= F + v * T(taylor2(k)),
         o <<= P * dpfp<2>(q) + R * random_features(2 * q, W) + F * taylor2(q) * dot(dpfp<1>(k), dpfp<1>(q)));

constexpr auto scaled = [](auto x) { return x * beta; };
inline auto local() {
    constexpr auto write_key = k * beta;
    static constexpr auto inside = rule("inside", S <<= S + scaled(v) * T(write_key), o <<= S * q);
    return inside;
}
static constexpr auto qualified = deltaloom::dsl::rule("qualified", S <<= (S + v * T(k)), o <<= S * q);
inline constexpr auto micro = rule("micro", repeat<3>(S <<= S + v * T(k), S <<= alpha * S), o <<= S * q);
} // namespace forms

namespace not_only_operands { // names that could be mistaken
using namespace deltaloom::dsl;
DELTALOOM_DIM(declared);
DELTALOOM_DIM(type);
DELTALOOM_DIM(domains);
template<class D> struct twice {};
DELTALOOM_PARAMETER(exp_of, declared, type);
DELTALOOM_PARAMETER(far, log, ::forms::dr);
DELTALOOM_PARAMETER(wide, domains, twice<dk>);
DELTALOOM_PARAMETER(flat);
DELTALOOM_INPUT(k, type); // hides the predefined one
inline constexpr auto hidden = rule("hidden", S <<= S * sum(k) * flat, o <<= (S * q) * (T(exp_of * k) * (exp_of * k)));
} // namespace not_only_operands

namespace {
namespace ast = deltaloom::ast;
namespace role = ast::role;
namespace shape = ast::shape;
using deltaloom::dsl::dk, deltaloom::dsl::dv, forms::dr;
template<class Name, class Role, class Shape> using leaf = ast::terminal<ast::operand<Name, Role, Shape>>;
template<class A, class B> constexpr bool is(B const&) { return std::is_same_v<A, B>; }

static_assert(is<leaf<deltaloom::dsl::S_name, role::state, shape::matrix<dv, dk>>>(deltaloom::dsl::S));
static_assert(is<leaf<deltaloom::dsl::beta_name, role::input, shape::scalar>>(deltaloom::dsl::beta));
static_assert(is<leaf<deltaloom::dsl::alpha_name, role::gate, shape::scalar>>(deltaloom::dsl::alpha));
static_assert(is<leaf<deltaloom::dsl::g_name, role::gate, shape::log<shape::scalar>>>(deltaloom::dsl::g));
static_assert(is<leaf<deltaloom::dsl::o_name, role::output, shape::vector<dv>>>(deltaloom::dsl::o));
static_assert(is<leaf<forms::w_name, role::gate, shape::log<shape::vector<dk>>>>(forms::w));
static_assert(is<leaf<forms::W_name, role::parameter, shape::matrix<dr, dk>>>(forms::W));
static_assert(is<leaf<forms::P_name, role::state, shape::matrix<dv, ast::dpfp_dim<2, dk>>>>(forms::P));
static_assert(std::is_same_v<decltype(dpfp<3>(forms::e))::type, shape::vector<ast::dpfp_dim<3, dk>>>);
static_assert(std::is_same_v<decltype(taylor2(forms::e))::type, shape::vector<ast::taylor2_dim<dk>>>);
static_assert(std::is_same_v<decltype(random_features(forms::e, forms::W))::type, shape::vector<dr>>);
static_assert(is<leaf<forms::log_a_name, role::parameter, shape::log<shape::scalar>>>(forms::log_a));
static_assert(is<leaf<forms::decay_name, role::linear_parameter, shape::vector<dk>>>(forms::decay));
namespace odd = not_only_operands;
static_assert(is<leaf<odd::exp_of_name, role::parameter, shape::matrix<odd::declared, odd::type>>>(odd::exp_of));
static_assert(is<leaf<odd::far_name, role::parameter, shape::log<shape::vector<dr>>>>(odd::far));
static_assert(is<leaf<odd::wide_name, role::parameter, shape::matrix<odd::domains, odd::twice<dk>>>>(odd::wide));
static_assert(is<leaf<odd::flat_name, role::parameter, shape::scalar>>(odd::flat));

template<std::size_t N, class... X> std::string described(ast::rule_t<N, X...> const& rule) {
    return rule.name.text + (" " + std::to_string(sizeof...(X)));
}
} // namespace

TEST_CASE("every form of writing a rule gives a rule") {
    CHECK(described(forms::layer::member) == "member 2");
    CHECK(described(forms::from_a_macro) == "from_a_macro 2");
    CHECK(described(forms::product<3>) == "product 3");
    CHECK(described(forms::three) == "product 3");
    CHECK(described(forms::with_helpers) == "with_helpers 2");
    CHECK(described(forms::from_a_function) == "from_a_function 2");
    CHECK(described(forms::of_names) == "of_names 2");
    CHECK(described(forms::braced) == "braced 2");
    CHECK(described(forms::parameters) == "parameters 4");
    CHECK(described(forms::functions) == "functions 3");
    CHECK(described(forms::features) == "features 4");
    CHECK(described(forms::local()) == "inside 2");
    CHECK(described(forms::qualified) == "qualified 2");
    CHECK(described(forms::micro) == "micro 2");
    CHECK(described(not_only_operands::hidden) == "hidden 2");
}
