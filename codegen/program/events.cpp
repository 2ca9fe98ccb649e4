#include "codegen/program/events.hpp"

#include <algorithm>

namespace deltaloom::codegen {

// How many decay rows lie before a position (token * micro-steps + micro-step).
static int upto(Span const& s, int position) {
    auto const within =
        std::lower_bound(s.decaying.begin(), s.decaying.end(), position % s.micro_steps) - s.decaying.begin();
    return position / s.micro_steps * int(s.decaying.size()) + int(within);
}

// decay_of(position): the decay row that bounds the products of an event there.
template<class F>
static std::vector<EventRow> rows_of(Span const& s, EventRows const& rows, int tokens, int start, int end, F decay_of) {
    auto const state = [&](std::size_t i) { return rows.state.empty() ? 0 : rows.state.at(i); };
    std::vector<EventRow> list;
    switch (rows.kind) {
    case EventRows::Kind::start: list.push_back({-1, start, state(0)}); break;
    case EventRows::Kind::end: list.push_back({tokens * s.micro_steps, end, state(0)}); break;
    case EventRows::Kind::decays:
        for (int r = 0; r < tokens * int(s.decaying.size()); ++r) list.push_back({std::nullopt, r, state(0)});
        break;
    case EventRows::Kind::tokens:
        for (int t = 0; t < tokens; ++t)
            for (std::size_t i = 0; i < rows.position.size(); ++i) {
                int const position = t * s.micro_steps + rows.position[i];
                list.push_back({position, decay_of(position), state(i)});
            }
        break;
    }
    return list;
}

std::vector<EventRow> reads_of(Span const& s, int tokens) {
    int const all = tokens * int(s.decaying.size());
    return rows_of(s, s.reads, tokens, 0, all, [&](int position) { return upto(s, position); });
}
std::vector<EventRow> writes_of(Span const& s, int tokens) {
    int const all = tokens * int(s.decaying.size());
    return rows_of(s, s.writes, tokens, -1, all - 1, [&](int position) { return upto(s, position + 1) - 1; });
}
bool reaches(Span const& s, EventRow const& write, EventRow const& read) {
    return !s.masked || !write.position || !read.position || *write.position < *read.position;
}

} // namespace deltaloom::codegen
