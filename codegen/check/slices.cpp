#include "codegen/check/slices.hpp"

namespace deltaloom::codegen {
namespace {

std::size_t row(Subject const& s, Point const& p, OperandId id) {
    return entries(s.rule, p.shape, id) * std::size_t(p.shape.operand_heads[std::size_t(id)]);
}

} // namespace

Point slice(Subject const& s, Point const& p, int sequence, int first, int count) {
    Point part{p.shape, {}, {}, {}};
    part.shape.batch = 1, part.shape.tokens = count;
    auto const size = s.rule.operands.size();
    part.values.values.resize(size), part.arriving.values.resize(size);
    for (OperandId id = 0; id < OperandId(size); ++id) {
        auto const i = std::size_t(id);
        auto const role = s.operand(id).role;
        auto const take = [&](std::vector<double> const& from, std::vector<double>& to) {
            if (from.empty()) return;
            auto const at = role == Role::parameter ? 0 : place(s.rule, p, id, sequence, first, 0);
            auto const n =
                role == Role::state || role == Role::parameter ? row(s, p, id) : row(s, p, id) * std::size_t(count);
            to.assign(from.begin() + std::ptrdiff_t(at), from.begin() + std::ptrdiff_t(at + n));
        };
        take(p.values.values[i], part.values.values[i]);
        take(p.arriving.values[i], part.arriving.values[i]);
    }
    return part;
}

CallTensors blank(Subject const& s, Point const& p) {
    CallTensors t;
    for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id)
        t.values.emplace_back(total(s.rule, p, id), 0.0);
    return t;
}

void put(Subject const& s, Point const& whole, CallTensors& to, int sequence, int first, Point const& piece,
         CallTensors const& from, bool states) {
    for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
        auto const& values = from.values[std::size_t(id)];
        auto& list = to.values[std::size_t(id)];
        auto const role = s.operand(id).role;
        if (values.empty()) {
            // Not a result of this direction, or no tokens.
            bool const no_tokens = piece.shape.tokens == 0 && role != Role::state && role != Role::parameter;
            if (!no_tokens) list.clear();
            continue;
        }
        if (role == Role::parameter) {
            for (std::size_t i = 0; i < values.size(); ++i) list[i] += values[i];
            continue;
        }
        if (role == Role::state && !states) continue;
        std::copy(values.begin(), values.end(),
                  list.begin() + std::ptrdiff_t(place(s.rule, whole, id, sequence, first, 0)));
    }
}

void silence_states(Subject const& s, Point& p) {
    for (OperandId id : s.facts.states) std::ranges::fill(p.arriving.values[std::size_t(id)], 0.0);
}
void zero_states(Subject const& s, Point& p) {
    for (OperandId id : s.facts.states) std::ranges::fill(p.values.values[std::size_t(id)], 0.0);
}
void set_states(Subject const& s, Point& p, CallTensors const& forward) {
    for (OperandId id : s.facts.states) p.values.values[std::size_t(id)] = forward.values[std::size_t(id)];
}

Answer in_pieces(Sheet& sheet, Form form, Point const& p, std::vector<int> const& lengths, Manner const& manner) {
    auto const& s = sheet.subject;
    Answer whole;
    whole.forward = blank(s, p), whole.gradients = blank(s, p);
    std::vector<Point> pieces;
    std::vector<int> firsts;
    int first = 0;
    for (int n : lengths) {
        auto piece = slice(s, p, 0, first, n);
        if (!pieces.empty()) set_states(s, piece, whole.forward); // the states so far
        Manner forward = manner;
        forward.backward = false;
        auto const got = sheet.call(form, piece, forward);
        if (!got.good()) return got;
        put(s, p, whole.forward, 0, first, piece, got.forward, true);
        pieces.push_back(std::move(piece)), firsts.push_back(first);
        first += n;
    }
    CallTensors arriving = p.arriving;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        for (OperandId id : s.facts.states)
            pieces[i].arriving.values[std::size_t(id)] = arriving.values[std::size_t(id)];
        Manner backward = manner;
        backward.forward = false;
        auto const got = sheet.call(form, pieces[i], backward);
        if (!got.good()) return got;
        put(s, p, whole.gradients, 0, firsts[i], pieces[i], got.gradients, true);
        for (OperandId id : s.facts.states) arriving.values[std::size_t(id)] = got.gradients.values[std::size_t(id)];
    }
    return whole;
}

} // namespace deltaloom::codegen
