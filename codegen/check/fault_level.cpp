#include "codegen/check/fault_level.hpp"

#include "codegen/check/slices.hpp"

namespace deltaloom::codegen {

static void against(Sheet& sheet, std::vector<Form> const& forms, Point const& p, Draw& draw, Comparison const& how) {
    Reference const reference(sheet.subject.compiled, p);
    std::vector<Sampled> gradients;
    if (how.backward) gradients = sample(reference, draw, how.samples);
    for (Form f : forms)
        for (int chunk : how.chunks) {
            if (f != Form::chunked && chunk != how.chunks[0]) continue;
            Manner manner{.chunk = chunk, .backward = how.backward};
            manner.scalars = how.scalars;
            sheet.same(f, p, chunk, sheet.call(f, p, manner), reference, gradients, how.budget, how.floor);
            if (!how.backward) sheet.not_applicable(f, Direction::backward, "it is about values");
        }
}

void against(Sheet& sheet, Point const& p, Draw& draw, Comparison const& how) {
    auto const& s = sheet.subject;
    constexpr int longest_parallel = 300;
    std::vector<Form> whole, head, step;
    for (Form f : s.forms)
        (f == Form::step && p.shape.tokens != 1                     ? step
         : f == Form::parallel && p.shape.tokens > longest_parallel ? head
                                                                    : whole)
            .push_back(f);
    if (!whole.empty()) against(sheet, whole, p, draw, how);
    if (!head.empty()) against(sheet, head, slice(s, p, 0, 0, longest_parallel), draw, how);
    if (!step.empty() && p.shape.tokens > 0) against(sheet, step, slice(s, p, 0, 0, 1), draw, how);
}

std::vector<Row> faults() {
    std::vector<Row> all;
    for (auto&& part : {range_faults(), sequence_faults(), shape_faults(), gradient_faults(), interface_faults()})
        all.insert(all.end(), part.begin(), part.end());
    auto const place = [](Row const& row) { return std::pair(std::stoi(row.name), std::string_view(row.name)); };
    std::sort(all.begin(), all.end(), [&](Row const& a, Row const& b) { return place(a) < place(b); });
    return all;
}

} // namespace deltaloom::codegen
