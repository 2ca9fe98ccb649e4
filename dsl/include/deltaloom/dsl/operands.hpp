#pragma once
// Dimensions and operands, declared at namespace scope. Their names are types: they print as one word, and two headers
// that mean one operand share its type.
#include <deltaloom/dsl/functions.hpp>

namespace deltaloom::ast {

// A declaration is a struct that derives from this one: in it `log` and `linear` mean the domains, every other name
// what it means to the user.
struct deltaloom_domains {
    struct log {};
    struct linear {};
};

template<class... D> struct dimensions;
template<> struct dimensions<> {
    using type = shape::scalar;
};
template<class D> struct dimensions<D> {
    using type = shape::vector<D>;
};
template<class R, class C> struct dimensions<R, C> {
    using type = shape::matrix<R, C>;
};

template<class Name, class Role, class Shape> using leaf = terminal<operand<Name, Role, Shape>>;

// The operand that a role and what follows the name declare: dimensions, before them a domain.
template<class Name, class Role, class... D> struct declared {
    static_assert(((!same<D, deltaloom_domains::log> && !same<D, deltaloom_domains::linear>) && ...),
                  "log and linear are domains: a gate or a parameter has one, before its dimensions");
    using type = leaf<Name, Role, typename dimensions<D...>::type>;
};
template<class Name> struct declared<Name, role::state> {
    static_assert(sizeof(Name) < 0, "a state is a vector or a matrix: name one or two dimensions");
};
template<class Name, class... D> struct declared<Name, role::gate, D...> {
    static_assert(sizeof(Name) < 0,
                  "a gate has a domain: DELTALOOM_GATE(x, log, ...) or DELTALOOM_GATE(x, linear, ...)");
};
template<class Name, class... D> struct declared<Name, role::gate, deltaloom_domains::linear, D...> {
    using type = leaf<Name, role::gate, typename dimensions<D...>::type>;
};
template<class Name, class... D> struct declared<Name, role::gate, deltaloom_domains::log, D...> {
    using type = leaf<Name, role::gate, shape::log<typename dimensions<D...>::type>>;
};
template<class Name, class... D> struct declared<Name, role::parameter, deltaloom_domains::linear, D...> {
    using type = leaf<Name, role::linear_parameter, typename dimensions<D...>::type>;
};
template<class Name, class... D> struct declared<Name, role::parameter, deltaloom_domains::log, D...> {
    using type = leaf<Name, role::parameter, shape::log<typename dimensions<D...>::type>>;
};
} // namespace deltaloom::ast

#define DELTALOOM_DIM(ID)                                                                                              \
    struct ID {                                                                                                        \
        static constexpr char const* text = #ID;                                                                       \
    }
#define DELTALOOM_OPERAND(ID, ROLE, ...)                                                                               \
    struct ID##_name {                                                                                                 \
        static constexpr char const* text = #ID;                                                                       \
    };                                                                                                                 \
    struct ID##_declared : ::deltaloom::ast::deltaloom_domains {                                                       \
        using deltaloom_leaf =                                                                                         \
            ::deltaloom::ast::declared<ID##_name, ::deltaloom::ast::role::ROLE __VA_OPT__(, ) __VA_ARGS__>::type;      \
    };                                                                                                                 \
    inline constexpr ID##_declared::deltaloom_leaf ID {}
#define DELTALOOM_STATE(ID, ...) DELTALOOM_OPERAND(ID, state __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_INPUT(ID, ...) DELTALOOM_OPERAND(ID, input __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_GATE(ID, ...) DELTALOOM_OPERAND(ID, gate __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_PARAMETER(ID, ...) DELTALOOM_OPERAND(ID, parameter __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_OUTPUT(ID, ...) DELTALOOM_OPERAND(ID, output __VA_OPT__(, ) __VA_ARGS__)
