#pragma once
// Environments: what the operands' names are bound to. Either a Hana map from name tags to matrices of any kind,
//     environment(bind(S, state), bind(k, key), bind(w, steps<mat<double, 2, 1>, 3>{...}), bind_before(v,
//     value_before))
// whose lookups are the compiler's; or any other type with the members of named_environment, whose lookups go by text.
#include <boost/hana/at_key.hpp>
#include <boost/hana/core/tag_of.hpp>
#include <boost/hana/erase_key.hpp>
#include <boost/hana/fold_left.hpp>
#include <boost/hana/insert.hpp>
#include <boost/hana/keys.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/union.hpp>
#include <deltaloom/dsl/expression.hpp>
#include <deltaloom/evaluate/matrix.hpp>
#include <functional>
#include <map>
#include <utility>

namespace deltaloom::oracle {
using namespace deltaloom::ast;

template<class V, int N> struct steps { // an input that is used inside repeat<N>: a value per micro-step
    V at[N];
};
template<class V> constexpr V const* at_step(V const* v, int) { return v; }
template<class V, int N> constexpr V const* at_step(steps<V, N> const* v, int step) { return &v->at[step]; }

template<class Name> struct previous_of {}; // the key of an input's value at the token before

template<class N, class R, class S> constexpr auto name(terminal<operand<N, R, S>>) { return hana::type_c<N>; }
template<class N, class R, class S> constexpr auto name_before(terminal<operand<N, R, S>>) {
    return hana::type_c<previous_of<N>>;
}
template<class E, class V> constexpr auto bind(E operand, V value) { return hana::make_pair(name(operand), value); }
template<class E, class V> constexpr auto bind_before(E operand, V value) {
    return hana::make_pair(name_before(operand), value);
}
template<class... P> constexpr auto environment(P... pairs) { return hana::make_map(pairs...); }

// Names looked up by their text, extents at run time.
template<class K> struct named_environment {
    using matrix = dynamic_matrix<K>;
    template<class V> using by_name = std::map<std::string, V, std::less<>>;
    by_name<matrix> values;             // operands, by name; evaluate adds outputs and advances states
    by_name<std::vector<matrix>> steps; // inputs and gates that are used inside a repeat: a value per micro-step
    by_name<matrix> before;             // of every x in previous(x): its value at the token before

    matrix const& value(char const* name, int step) const {
        if (auto const found = steps.find(name); found != steps.end()) {
            if (std::size_t(step) < found->second.size()) return found->second[std::size_t(step)];
            throw std::out_of_range(std::string(name) + " has no value for step " + std::to_string(step));
        }
        return known(values, name, " has no value");
    }
    matrix const& value_before(char const* name) const {
        return known(before, name, " has no value at the token before");
    }
    void assign(char const* name, matrix value) { values.insert_or_assign(name, std::move(value)); }
    void pass_token() {
        for (auto& [name, value] : before) value = known(values, name, " has no value");
    }

private:
    template<class Name>
    static matrix const& known(by_name<matrix> const& in, Name const& name, char const* otherwise) {
        if (auto const found = in.find(name); found != in.end()) return found->second;
        throw std::out_of_range(std::string(name) + otherwise);
    }
};

// The protocol that evaluation uses.
template<class Env>
concept HanaMap = std::is_same_v<typename hana::tag_of<Env>::type, hana::map_tag>;

template<class Name, class Env> constexpr auto const& value_of(Env const& env, int step) {
    if constexpr (HanaMap<Env>)
        return *at_step(&env[hana::type_c<Name>], step);
    else
        return env.value(Name::text, step);
}
template<class Name, class Env> constexpr auto const& value_before(Env const& env) {
    if constexpr (HanaMap<Env>)
        return env[hana::type_c<previous_of<Name>>];
    else
        return env.value_before(Name::text);
}
template<class Env, class Key, class V> constexpr auto replaced(Env const& env, Key key, V const& value) {
    return hana::insert(hana::erase_key(env, key), hana::make_pair(key, value));
}
template<class Name, class Env, class V> constexpr auto assigned(Env env, V value) {
    if constexpr (HanaMap<Env>)
        return replaced(env, hana::type_c<Name>, value);
    else {
        env.assign(Name::text, std::move(value));
        return env;
    }
}
// After the token previous(x) becomes x.
template<class Env, class Key> constexpr auto passed(Env const& env, hana::basic_type<Key>) { return env; }
template<class Env, class N> constexpr auto passed(Env const& env, hana::basic_type<previous_of<N>> key) {
    return replaced(env, key, env[hana::type_c<N>]);
}
template<class Env> constexpr auto token_passed(Env env) {
    if constexpr (HanaMap<Env>)
        return hana::fold_left(hana::keys(env), env, [](auto const& e, auto key) { return passed(e, key); });
    else {
        env.pass_token();
        return env;
    }
}

} // namespace deltaloom::oracle
