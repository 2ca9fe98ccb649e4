#pragma once
// One token of a declaration through `evaluate`, over values that come and go as plain slots.
#include <deltaloom/check/interface.hpp>
#include <deltaloom/evaluate.hpp>

namespace deltaloom::check {

template<class K, class Rule> void token(Rule const& rule, slot const* slots, int count) {
    using matrix = ast::dynamic_matrix<K>;
    ast::named_environment<K> values;
    for (slot const* s = slots; s != slots + count; ++s) {
        if (s->output) continue;
        K const* const from = static_cast<K const*>(s->data);
        matrix value(s->rows, s->cols, std::vector<K>(from, from + s->rows * s->cols));
        if (s->before)
            values.before.insert_or_assign(s->name, std::move(value));
        else if (s->steps)
            values.steps[s->name].push_back(std::move(value));
        else
            values.values.insert_or_assign(s->name, std::move(value));
    }
    auto const after = evaluate(rule, std::move(values));
    for (slot const* s = slots; s != slots + count; ++s) {
        if (!s->output && !s->state) continue;
        auto const& value = s->before ? after.before.at(s->name) : after.values.at(s->name);
        K* to = static_cast<K*>(s->data);
        for (K x : value.e) *to++ = x;
    }
}

} // namespace deltaloom::check
