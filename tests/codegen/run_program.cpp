#include "tests/codegen/run_program.hpp"
#include "codegen/program/operands.hpp"
#include "codegen/rule/dimension.hpp"

#include <algorithm>

namespace deltaloom::test {

using namespace codegen;

namespace {

int extent(std::vector<int> const& dims, DimId d) { return d == one ? 1 : dims.at(d); }

Matrix random_matrix(int rows, int cols, double zeros, std::mt19937_64& random) {
    Matrix m(rows, cols);
    std::bernoulli_distribution zero(zeros);
    for (auto& x : m.e) {
        auto const drawn = field::from_element(random() % field::prime);
        x = zeros > 0 && zero(random) ? field(0.0) : drawn;
    }
    return m;
}

// Tokens first .. last - 1, and the last of them again until there are `rows`.
Matrix rows_of(Matrix const& m, int first, int last, int rows, bool repeat) {
    Matrix part(rows, m.cols);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < m.cols; ++j)
            if (first + i < last || repeat) part(i, j) = m(std::min(first + i, last - 1), j);
    return part;
}

Matrix shaped(Matrix m, int rows, int cols) {
    m.rows = rows, m.cols = cols;
    return m;
}

void add_to(Values& all, std::string const& name, Matrix const& x) {
    auto const [at, added] = all.try_emplace(name, x);
    if (!added) at->second = sum(at->second, x);
}

} // namespace

Matrix sum(Matrix const& a, Matrix const& b) {
    auto y = a;
    for (std::size_t i = 0; i < y.e.size(); ++i) y.e[i] += b.e[i];
    return y;
}

Matrix product(Matrix const& a, Matrix const& b) {
    Matrix y(a.rows, b.cols);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < b.cols; ++j)
            for (int k = 0; k < a.cols; ++k) y(i, j) += a(i, k) * b(k, j);
    return y;
}

Matrix transposed(Matrix const& a) {
    Matrix y(a.cols, a.rows);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) y(j, i) = a(i, j);
    return y;
}

Sequence draw(TypedRule const& rule, std::vector<int> dims, int tokens, double resets, std::mt19937_64& random) {
    Sequence s;
    s.tokens = tokens;
    s.dims = with_mapped(rule.dims, std::move(dims));
    for (auto const& x : rule.operands) {
        int const rows = extent(s.dims, x.shape.rows), cols = extent(s.dims, x.shape.cols);
        double const zeros = x.role == Role::gate ? resets : 0;
        switch (x.role) {
        case Role::input:
        case Role::gate:
            for (int j = 0; j < std::max(1, x.steps); ++j)
                s.per_token[input_name(x, j)] = random_matrix(tokens, rows * cols, zeros, random);
            break;
        case Role::parameter: s.fixed[x.name] = random_matrix(rows, cols, 0, random); break;
        case Role::state:
            s.states[x.name] = random_matrix(rows, cols, 0, random);
            s.state_cotangents["d_" + x.name] = random_matrix(rows, cols, 0, random);
            break;
        case Role::output: s.output_cotangents["d_" + x.name] = random_matrix(tokens, rows * cols, 0, random); break;
        }
    }
    return s;
}

namespace {

struct Chunk {
    int first = 0, last = 0;
    Values before, results; // the states before it; what earlier phases gave
};

bool has(Values const& values, std::string const& name) { return values.find(name) != values.end(); }

// A body of one token takes columns and matrices, a body of a chunk a row a token.
Matrix as_input(Node const& input, Matrix rows, Sizes const& sizes) {
    return shaped(std::move(rows), sizes.of(input.shape.rows), sizes.of(input.shape.cols));
}

struct Run {
    Sequence const& sequence;
    int rows = 1; // of a chunk, padding included; 0: as many as it has tokens
    bool padded = false;
    std::vector<Chunk> chunks;
    Values totals;

    void phase(Phase const& p);
    Values inputs(Phase const& p, Chunk const& c, Values const& carried, Sizes const& sizes) const;
    void collect(Chunk& c, std::string const& name, Matrix const& x);
};

Values Run::inputs(Phase const& p, Chunk const& c, Values const& carried, Sizes const& sizes) const {
    Values env;
    for (auto const& n : p.body.nodes) {
        if (n.op != Op::input) continue;
        auto const& name = n.name;
        if (has(carried, name))
            env[name] = carried.at(name);
        else if (has(c.before, name))
            env[name] = c.before.at(name);
        else if (has(sequence.per_token, name))
            env[name] = as_input(n, rows_of(sequence.per_token.at(name), c.first, c.last, sizes.tokens, true), sizes);
        else if (has(sequence.output_cotangents, name))
            env[name] =
                as_input(n, rows_of(sequence.output_cotangents.at(name), c.first, c.last, sizes.tokens, false), sizes);
        else if (has(sequence.fixed, name))
            env[name] = sequence.fixed.at(name);
        else if (has(c.results, name))
            env[name] = c.results.at(name);
    }
    return env;
}

void Run::phase(Phase const& p) {
    bool const reverse = p.kind == Phase::Kind::scan_reverse;
    auto carried = p.kind == Phase::Kind::each ? Values{} : reverse ? sequence.state_cotangents : sequence.states;
    auto order = std::vector<Chunk*>{};
    for (auto& c : chunks) order.push_back(&c);
    if (reverse) std::reverse(order.begin(), order.end());
    for (auto* c : order) {
        if (p.kind == Phase::Kind::scan_forward) c->before = carried;
        Sizes const sizes{sequence.dims, padded ? rows : c->last - c->first, c->last - c->first};
        auto const values = interpret(p.body, inputs(p, *c, carried, sizes), sizes);
        for (auto const& [name, x] : values) {
            if (std::find(p.carries.begin(), p.carries.end(), name) != p.carries.end())
                carried[name] = x;
            else
                add_to(c->results, name, x);
        }
    }
    if (p.kind == Phase::Kind::each) return;
    for (auto const& [name, x] : carried) totals[name] = x;
}

} // namespace

Values run(TypedRule const& rule, Program const& program, Sequence const& sequence, int chunk, bool padded) {
    bool const token = program.form == Form::step || program.form == Form::recurrent;
    Run r{sequence, chunk, padded, {}, {}};
    int const length = token ? 1 : program.form == Form::parallel ? sequence.tokens : chunk;
    for (int first = 0; first < sequence.tokens; first += length) {
        r.chunks.push_back({first, std::min(first + length, sequence.tokens), {}, {}});
    }
    for (auto const& p : program.phases) r.phase(p);
    auto& all = r.totals;
    bool const backward = program.direction == Direction::backward;
    auto const assembled = [&](std::string const& name, int width) {
        Matrix whole(sequence.tokens, width);
        for (auto const& c : r.chunks) {
            if (!has(c.results, name)) continue;
            auto const& rows = c.results.at(name).e;
            auto const valid = rows.begin() + (c.last - c.first) * width;
            std::copy(rows.begin(), valid, whole.e.begin() + c.first * width);
            if (backward && std::any_of(valid, rows.end(), [](field x) { return x != field(0.0); }))
                throw std::logic_error("padding has a gradient: " + name);
        }
        return whole;
    };
    if (program.form == Form::summary) return all;
    if (backward) {
        for (auto const& [name, x] : sequence.per_token) all["d_" + name] = assembled("d_" + name, x.cols);
        for (auto const& [name, x] : sequence.fixed)
            for (auto const& c : r.chunks)
                if (has(c.results, "d_" + name)) add_to(all, "d_" + name, c.results.at("d_" + name));
        for (auto const& [name, x] : sequence.states) all.erase(name);
    } else {
        for (auto const& x : rule.operands)
            if (x.role == Role::output) all[x.name] = assembled(x.name, extent(sequence.dims, x.shape.rows));
    }
    return all;
}

std::vector<Values> states_between(TypedRule const& rule, Sequence const& sequence) {
    std::vector<Values> all{sequence.states};
    auto one_token = sequence;
    Program const step{Form::step, Direction::forward, false, {{Phase::Kind::scan_forward, "", lower_step(rule), {}}}};
    auto p = step;
    for (auto const id : rule.with_role(Role::state)) p.phases[0].carries.push_back(rule.operands[id].name);
    one_token.tokens = 1;
    for (int t = 0; t < sequence.tokens; ++t) {
        for (auto& [name, x] : one_token.per_token) x = rows_of(sequence.per_token.at(name), t, t + 1, 1, false);
        one_token.states = all.back();
        auto const after = run(rule, p, one_token, 1);
        Values next;
        for (auto const& [name, x] : sequence.states) next[name] = after.at(name);
        all.push_back(std::move(next));
    }
    return all;
}

} // namespace deltaloom::test
