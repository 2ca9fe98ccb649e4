#include "codegen/check/subject.hpp"

#include "codegen/check/sensitivity.hpp"
#include "codegen/rule/dimension.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace deltaloom::codegen {

dl_form code(Form f) {
    switch (f) {
    case Form::step: return DL_STEP;
    case Form::recurrent: return DL_RECURRENT;
    case Form::chunked: return DL_CHUNKED;
    case Form::parallel: return DL_PARALLEL;
    case Form::summary: break;
    }
    return DL_SUMMARY;
}

Subject::Subject(Compiled const& c, runtime::isa_level level, std::vector<Form> const& asked, std::uint64_t s)
    : compiled(c),
      rule(c.rule().derived.rule),
      isa(level),
      described(c.rule().derived, c.production(level), level, 16),
      facts(codegen::facts(c.rule().declaration, c.rule().derived)),
      seed(s) {
    auto const& table = c.production(level)->of[0];
    for (Form f : {Form::step, Form::recurrent, Form::chunked, Form::parallel, Form::summary}) {
        bool const wanted = asked.empty() || std::find(asked.begin(), asked.end(), f) != asked.end();
        int const kernel = f == Form::step ? 0 : f == Form::recurrent ? 1 : f == Form::summary ? 3 : 2;
        if (wanted && table[kernel][0] && table[kernel][1]) forms.push_back(f);
    }
}

bool Subject::has(Form f) const { return std::find(forms.begin(), forms.end(), f) != forms.end(); }

bool Subject::has_matrix_state() const {
    return std::any_of(facts.states.begin(), facts.states.end(),
                       [&](OperandId id) { return operand(id).shape.rows != one && operand(id).shape.cols != one; });
}

std::vector<int> Subject::dims(int rows, int columns, int rest) const {
    std::vector<int> all(rule.dims.size(), rest);
    std::vector<char> named(rule.dims.size()); // is it an extent of a matrix state itself?
    for (OperandId id : facts.states) {
        auto const& shape = operand(id).shape;
        bool const matrix = shape.rows != one && shape.cols != one;
        if (matrix) all[std::size_t(shape.rows)] = rows, all[std::size_t(shape.cols)] = columns;
        if (matrix) named[std::size_t(shape.rows)] = named[std::size_t(shape.cols)] = 1;
        if (!matrix && shape.rows != one && all[std::size_t(shape.rows)] == rest)
            all[std::size_t(shape.rows)] = columns;
    }
    // What is mapped has about the extent that is asked for: its own dimension is small, though never trivial.
    auto const mapped = mapped_dims(rule.dims);
    for (std::size_t d = rule.dims.size(); d-- > 0;) {
        auto const& [of, made] = mapped[d];
        if (of < 0 || named[std::size_t(of)]) continue;
        int extent = 3;
        while (made.extent(extent + 1) <= all[d]) ++extent;
        all[std::size_t(of)] = extent, named[std::size_t(of)] = 1;
    }
    return with_mapped(rule.dims, std::move(all));
}

CallShape Subject::shape(int tokens, int batch, int heads) const {
    return shape_with(rule, dims(6, 5), batch, tokens, heads);
}

Draw Subject::draw(std::string const& name, int item) const {
    std::uint64_t h = seed ^ 0xcbf29ce484222325u;
    for (unsigned char c : rule.name + "/" + name) h = (h ^ c) * 0x100000001b3u;
    return Draw(h, std::uint64_t(item));
}

Point Subject::point(CallShape shape, Draw& draw, std::vector<std::int64_t> offsets) const {
    return draw_point(compiled, std::move(shape), draw, std::move(offsets));
}

Sheet::Sheet(Subject const& s, std::string level, std::string name, Watch const& watch)
    : subject(s),
      level_(std::move(level)),
      name_(std::move(name)),
      watch_(watch) {}

std::pair<Verdict, Result>& Sheet::at(Form f, Direction d) {
    auto const [found, fresh] = found_.try_emplace({f, d});
    if (fresh) {
        Result& r = found->second.second;
        r.rule = subject.rule.name, r.form = f, r.direction = d, r.level = level_, r.name = name_;
        r.scalar = "float", r.isa = runtime::isa_name(subject.isa);
    }
    return found->second;
}

static int chunk_of(Form f, Point const& p, int chunk) {
    return f == Form::parallel ? p.shape.tokens : f == Form::chunked ? chunk ? chunk : 16 : 1;
}

Answer Sheet::call(Form f, Point const& p, Manner manner) {
    manner.form = code(f);
    // Segments of the form summary are 16 chunks: with chunks of one token most points have several.
    if (f != Form::chunked) manner.chunk = f == Form::summary ? 1 : 0;
    Result next = at(f, manner.forward ? Direction::forward : Direction::backward).second;
    describe(next, subject.rule, p);
    next.chunk = chunk_of(f, p, manner.chunk);
    watch_(next);
    return invoke(subject.described, subject.rule, p, manner);
}

void Sheet::see(Form f, Direction d, Point const& p, int chunk, Worst const& worst, Allowed allowed) {
    auto& [verdict, result] = at(f, d);
    ++result.trials;
    // The worst against its budget is what is told.
    auto const badness = [](double error, double budget) {
        return error > 0 && !(error <= budget) ? 1 + error : budget > 0 ? error / budget : 0;
    };
    if (verdict.looked &&
        !(badness(worst.error, allowed.budget) > badness(verdict.worst.error, verdict.allowed.budget)))
        return;
    verdict = {worst, allowed, chunk_of(f, p, chunk), true, ""};
    describe(result, subject.rule, p);
}

// A backward multiplies states by gradients, which may be of one magnitude: the product is in range too.
static bool in_range(std::vector<Sampled> const& gradients) {
    auto const far = [](double x) { return !(std::abs(x) < 1e15); };
    for (auto const& s : gradients) {
        if (far(s.slope)) return false;
        for (auto const& [at, derivative] : s.entries)
            if (far(derivative)) return false;
    }
    return true;
}

Sheet::Leeway Sheet::leeway(Reference const& reference, CallTensors const& got, std::vector<Sampled> const& gradients,
                            double budget, double floor) const {
    Leeway all{{{budget}, {budget}}, {}};
    auto const grows = [&](char const* what) { return beyond_float32(what, reference.point()); };
    if (!reference.in_range()) {
        all.reason[0] = all.reason[1] = grows("the line");
        return all;
    }
    if (!in_range(gradients)) all.reason[1] = grows("the line's gradient");
    if (budget == 0) return all;
    auto const moved =
        sensitivity(reference, got, all.reason[1].empty() ? gradients : std::vector<Sampled>{}, floor, Over::tensor);
    for (Direction d : {Direction::forward, Direction::backward}) {
        auto const i = std::size_t(d == Direction::backward);
        double const moves = i ? moved.backward : moved.forward;
        if (!std::isfinite(moves))
            all.reason[i] = grows("the line, moved by one unit roundoff,");
        else if (roundings * moves > budget)
            all.allowed[i] = {roundings * moves, moves};
    }
    return all;
}

void Sheet::same(Form f, Point const& p, int chunk, Answer const& got, CallTensors const& forward,
                 CallTensors const& gradients, double budget, double floor) {
    std::optional<Leeway> leeway;
    for (Direction d : {Direction::forward, Direction::backward}) {
        auto const i = std::size_t(d == Direction::backward);
        auto const& want = i ? gradients : forward;
        auto const& have = i ? got.gradients : got.forward;
        Worst worst;
        if (!got.good()) {
            worst.error = std::numeric_limits<double>::infinity();
            worst.index = "the call", worst.got = got.code ? got.status.message : got.stray;
        } else {
            if (have.values.empty() || want.values.empty()) continue;
            compare_values(worst, subject.rule, p, have, want, floor);
            if (i && !worst.index.empty()) worst.index = "d_" + worst.index;
        }
        bool const empty =
            got.good() && std::all_of(have.values.begin(), have.values.end(), [](auto const& v) { return v.empty(); });
        if (empty) continue;
        if (got.good() && !(worst.error <= budget) && !leeway) {
            Reference const reference(subject.compiled, p);
            Draw draw = subject.draw("leeway");
            leeway = this->leeway(reference, got.gradients,
                                  got.gradients.values.empty() || !reference.in_range() ? std::vector<Sampled>{}
                                                                                        : sample(reference, draw, 3),
                                  budget, floor);
        }
        if (!leeway)
            see(f, d, p, chunk, worst, {budget});
        else if (!leeway->reason[i].empty())
            not_applicable(f, d, leeway->reason[i]);
        else
            see(f, d, p, chunk, worst, leeway->allowed[i]);
    }
}

void Sheet::same(Form f, Point const& p, int chunk, Answer const& got, Reference const& reference,
                 std::vector<Sampled> const& gradients, double budget, double floor) {
    if (!got.good()) return same(f, p, chunk, got, {}, {}, budget, floor);
    bool const values = !got.forward.values.empty();
    bool const slopes = !got.gradients.values.empty() && !gradients.empty();
    Worst worst[2];
    if (values) compare_values(worst[0], subject.rule, p, got.forward, reference.forward(), floor);
    if (slopes && reference.in_range()) compare_gradients(worst[1], subject.rule, p, got.gradients, gradients, floor);
    Leeway allow{{{budget}, {budget}}, {}};
    if (!reference.in_range() || !(worst[0].error <= budget) || !(worst[1].error <= budget))
        allow = leeway(reference, got.gradients, slopes ? gradients : std::vector<Sampled>{}, budget, floor);
    for (Direction d : {Direction::forward, Direction::backward}) {
        auto const i = std::size_t(d == Direction::backward);
        if (!allow.reason[i].empty())
            not_applicable(f, d, allow.reason[i]);
        else if (i ? slopes : values)
            see(f, d, p, chunk, worst[i], allow.allowed[i]);
    }
}

void Sheet::holds(Form f, Direction d, Point const& p, int chunk, bool good, std::string const& index,
                  std::string const& got, std::string const& want) {
    Worst worst;
    if (!good) {
        if (!Reference(subject.compiled, p).in_range()) return not_applicable(f, d, beyond_float32("the line", p));
        worst = {std::numeric_limits<double>::infinity(), index, got, want};
    }
    see(f, d, p, chunk, worst, {});
}

void Sheet::not_applicable(Form f, Direction d, std::string reason) {
    auto& [verdict, result] = at(f, d);
    if (!verdict.looked) verdict.reason = std::move(reason);
}
void Sheet::not_applicable(Form f, std::string const& reason) {
    for (Direction d : {Direction::forward, Direction::backward}) not_applicable(f, d, reason);
}
void Sheet::not_applicable(std::string const& reason) {
    for (Form f : subject.forms) not_applicable(f, reason);
}

std::vector<Result> Sheet::results() const {
    std::vector<Result> all;
    for (Form f : subject.forms)
        for (Direction d : {Direction::forward, Direction::backward}) {
            auto [verdict, r] = const_cast<Sheet*>(this)->at(f, d);
            if (verdict.looked) {
                r.error = verdict.worst.error, r.budget = verdict.allowed.budget, r.moves = verdict.allowed.moves;
                r.chunk = verdict.chunk;
                r.pass = verdict.worst.error <= verdict.allowed.budget; // false for a NaN
                if (!r.pass) r.index = verdict.worst.index, r.got = verdict.worst.got, r.want = verdict.worst.want;
            } else if (!verdict.reason.empty())
                r.reason = "not applicable: " + verdict.reason;
            else
                r.pass = false, r.got = "nothing was compared";
            all.push_back(r);
        }
    return all;
}

std::vector<Task> tasks_of(std::shared_ptr<Subject const> const& subject, std::string const& level,
                           std::vector<Row> const& rows) {
    std::vector<Task> tasks;
    for (auto const& row : rows) {
        Result at;
        at.level = level, at.name = row.name, at.scalar = "float";
        tasks.push_back({at, [subject, level, row](Watch const& watch, bool) {
                             Sheet sheet(*subject, level, row.name, watch);
                             row.run(sheet);
                             return sheet.results();
                         }});
    }
    return tasks;
}

} // namespace deltaloom::codegen
