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

template<class D>
concept Dimension = !same<D, deltaloom_domains::log> && !same<D, deltaloom_domains::linear>;

template<class... D> struct dimensions {
    using type = shape::misfit;
};
template<> struct dimensions<> {
    using type = shape::scalar;
};
template<Dimension D> struct dimensions<D> {
    using type = shape::vector<D>;
};
template<Dimension R, Dimension C> struct dimensions<R, C> {
    using type = shape::matrix<R, C>;
};
template<class Shape> using log_over = std::conditional_t<is_misfit<Shape>, Shape, shape::log<Shape>>;

template<class Name, class Role, class Shape> using leaf = terminal<operand<Name, Role, Shape>>;

// The operand of a role and of what follows its name: a domain, dimensions. A misfit is no operand.
template<class Name, class Role, class... D> struct declared {
    using type = leaf<Name, Role, typename dimensions<D...>::type>;
};
template<class Name> struct declared<Name, role::state> {
    using type = leaf<Name, role::state, shape::misfit>;
};
template<class Name, class... D> struct declared<Name, role::gate, D...> {
    using type = leaf<Name, role::gate, shape::misfit>;
};
template<class Name, class... D> struct declared<Name, role::gate, deltaloom_domains::linear, D...> {
    using type = leaf<Name, role::gate, typename dimensions<D...>::type>;
};
template<class Name, class... D> struct declared<Name, role::gate, deltaloom_domains::log, D...> {
    using type = leaf<Name, role::gate, log_over<typename dimensions<D...>::type>>;
};
template<class Name, class... D> struct declared<Name, role::parameter, deltaloom_domains::linear, D...> {
    using type = leaf<Name, role::linear_parameter, typename dimensions<D...>::type>;
};
template<class Name, class... D> struct declared<Name, role::parameter, deltaloom_domains::log, D...> {
    using type = leaf<Name, role::parameter, log_over<typename dimensions<D...>::type>>;
};
template<class Leaf> inline constexpr bool is_operand = !is_misfit<type_t<Leaf>>;

} // namespace deltaloom::ast

#define DELTALOOM_DIM(ID)                                                                                              \
    struct ID {                                                                                                        \
        static constexpr char const* text = #ID;                                                                       \
    }
#define DELTALOOM_OPERAND(USAGE, ID, ...)                                                                              \
    struct ID##_name {                                                                                                 \
        static constexpr char const* text = #ID;                                                                       \
    };                                                                                                                 \
    struct ID##_declared : ::deltaloom::ast::deltaloom_domains {                                                       \
        using deltaloom_leaf = ::deltaloom::ast::declared<ID##_name, ::deltaloom::ast::role::__VA_ARGS__>::type;       \
        static_assert(::deltaloom::ast::is_operand<deltaloom_leaf>, USAGE);                                            \
    };                                                                                                                 \
    inline constexpr ID##_declared::deltaloom_leaf ID {}
#define DELTALOOM_STATE(ID, ...)                                                                                       \
    DELTALOOM_OPERAND("a state has one or two dimensions: DELTALOOM_STATE(name, rows, columns)", ID,                   \
                      state __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_INPUT(ID, ...)                                                                                       \
    DELTALOOM_OPERAND("an input has up to two dimensions and no domain: DELTALOOM_INPUT(name, rows, columns)", ID,     \
                      input __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_GATE(ID, ...)                                                                                        \
    DELTALOOM_OPERAND(                                                                                                 \
        "a gate has a domain, log or linear, then up to two dimensions: DELTALOOM_GATE(name, log, rows)", ID,          \
        gate __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_PARAMETER(ID, ...)                                                                                   \
    DELTALOOM_OPERAND(                                                                                                 \
        "a parameter has up to two dimensions, a domain may come first: DELTALOOM_PARAMETER(name, log, rows)", ID,     \
        parameter __VA_OPT__(, ) __VA_ARGS__)
#define DELTALOOM_OUTPUT(ID, ...)                                                                                      \
    DELTALOOM_OPERAND("an output has up to two dimensions and no domain: DELTALOOM_OUTPUT(name, rows, columns)", ID,   \
                      output __VA_OPT__(, ) __VA_ARGS__)
