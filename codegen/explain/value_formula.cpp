#include "codegen/explain/value_formula.hpp"

namespace deltaloom::codegen {
namespace {

Formula function_of(std::string const& function, std::vector<Formula> const& arguments) {
    if (function == "abs") return absolute(arguments[0]);
    if (function == "inv") return over(number(1), arguments[0]);
    if (function == "sqrt") return root(arguments[0]);
    return call(codegen::function(function), arguments);
}

Formula vector_function(std::string const& function, Formula const& of, Rational const& eps) {
    if (function == "dpfp") return call(codegen::function(function, number(eps)), {of});
    return has_eps(function) ? call(codegen::function(function), of, number(eps)) : function_of(function, {of});
}

Formula matrix(Naming const& naming, MatrixFactor const& m) {
    auto const turned = [&](Formula const& f) { return m.transposed ? transposed(f) : f; };
    switch (m.kind) {
    case MatrixFactor::Kind::none: return number(1);
    case MatrixFactor::Kind::identity: return symbol("I");
    case MatrixFactor::Kind::state: return turned(naming.state(m.operand, m.version));
    case MatrixFactor::Kind::dense: return turned(operand_formula(naming.rule, m.operand));
    case MatrixFactor::Kind::product: break;
    }
    std::vector<Formula> factors;
    for (std::size_t i = 0; i < m.parts.size(); ++i) {
        if (i > 0 && !m.between[i - 1].empty()) factors.push_back(diagonal(formula(naming, m.between[i - 1], true)));
        factors.push_back(matrix(naming, m.parts[i]));
    }
    return product(factors);
}

// What stands in front of the numerator and below it.
void scalars(Naming const& naming, Monomial const& m, std::vector<Formula>& above, std::vector<Formula>& below) {
    for (auto const& [atom, exponent] : m) {
        bool const inverse = atom->kind == Atom::Kind::map && atom->function == "inv";
        auto const f = inverse ? formula(naming, atom->arguments[0]) : formula(naming, *atom);
        (inverse == (exponent > 0) ? below : above).push_back(power(f, std::abs(exponent)));
    }
}

Formula divided(std::vector<Formula> const& above, std::vector<Formula> const& below) {
    return below.empty() ? product(above) : over(product(above), product(below));
}

// Without its sign.
Formula term(Naming const& naming, Shape shape, Term const& t) {
    std::vector<Formula> above, below;
    Rational const size = t.coefficient < 0 ? Rational(-t.coefficient) : t.coefficient;
    if (size != 1) above.push_back(number(size));
    scalars(naming, t.scalar, above, below);
    if (shape.scalar()) return divided(above, below);
    if (shape.vector()) {
        auto channels = t.rows;
        channels.insert(channels.end(), t.cols.begin(), t.cols.end());
        if (!channels.empty()) above.push_back(formula(naming, channels, true));
        return divided(above, below);
    }
    if (t.matrix.kind == MatrixFactor::Kind::none) {
        above.push_back(formula(naming, t.rows, true));
        above.push_back(transposed(formula(naming, t.cols, true)));
        return divided(above, below);
    }
    if (!t.rows.empty()) above.push_back(diagonal(formula(naming, t.rows, true)));
    above.push_back(matrix(naming, t.matrix));
    if (!t.cols.empty()) above.push_back(diagonal(formula(naming, t.cols, true)));
    return divided(above, below);
}

// "S (k . e)": what a matrix is applied to.
Formula applied(Formula const& matrix, Formula const& to) { return product({matrix, within(to, Binding::closed)}); }

} // namespace

Formula operand_formula(TypedRule const& rule, OperandId id, int step) {
    auto const& x = rule.operands[std::size_t(id)];
    if (x.previous_of >= 0) return call(function("previous"), {operand_formula(rule, x.previous_of)});
    auto const name = symbol(x.name);
    return x.steps == 0 ? name : stepped(name, step);
}

Formula formula(Naming const& naming, Monomial const& m, bool vectors) {
    std::vector<Formula> factors;
    for (auto const& [atom, exponent] : m) factors.push_back(power(formula(naming, *atom), exponent));
    return vectors ? entrywise(factors) : product(factors);
}

Formula formula(Naming const& naming, Atom const& a) {
    std::vector<Formula> arguments;
    for (auto const& argument : a.arguments) arguments.push_back(formula(naming, argument));
    auto const left = [&] { return formula(naming, a.left, true); };
    auto const& rule = naming.rule;
    auto const of = [&] {
        bool const state = rule.operands[std::size_t(a.operand)].role == Role::state;
        return state ? naming.state(a.operand, a.version) : operand_formula(rule, a.operand, a.step);
    };
    switch (a.kind) {
    case Atom::Kind::operand: return of();
    case Atom::Kind::exp_log: return function_of("exp", arguments);
    case Atom::Kind::map: return function_of(a.function, arguments);
    case Atom::Kind::vector_map: return vector_function(a.function, arguments[0], a.eps);
    case Atom::Kind::vector_state: return of();
    case Atom::Kind::read: {
        auto const read = applied(a.transposed ? transposed(of()) : of(), left());
        return within(read, Binding::product);
    }
    case Atom::Kind::form: return inner(formula(naming, a.right, true), applied(of(), left()));
    case Atom::Kind::dot: break;
    }
    std::vector<Formula> factors;
    for (auto const& [atom, exponent] : a.left)
        for (int i = 0; i < std::abs(exponent); ++i)
            factors.push_back(power(formula(naming, *atom), exponent < 0 ? -1 : 1));
    if (factors.empty()) return symbol(rule.dims[std::size_t(a.dim)]); // a sum of ones
    if (factors.size() == 2) return inner(factors[0], factors[1]);
    return function_of("sum", {entrywise(factors)});
}

std::vector<Signed> terms(Naming const& naming, Value const& v) {
    std::vector<Signed> all;
    for (auto const& t : v.terms) all.push_back({t.coefficient < 0, term(naming, v.shape, t)});
    return all;
}

Formula formula(Naming const& naming, Value const& v) { return sum(terms(naming, v)); }

Signed factor(Naming const& naming, Value const& v) {
    auto const all = terms(naming, v);
    return all.size() == 1 ? all[0] : Signed{false, sum(all)};
}

// ---- expressions as the rule has them ---------------------------------------------------------------------------

namespace {

std::vector<Signed> terms_of(TypedRule const& rule, ExprId id, NodeNames const& names);

void signed_terms(TypedRule const& rule, ExprId id, NodeNames const& names, bool minus, std::vector<Signed>& all) {
    auto const& e = rule.nodes[std::size_t(id)];
    if (auto const named = names.find(id); named != names.end()) return all.push_back({minus, named->second});
    if (e.kind == ExprKind::negate) return signed_terms(rule, e.arguments[0], names, !minus, all);
    if (e.kind == ExprKind::add || e.kind == ExprKind::add_log) {
        // What is subtracted keeps its parentheses: the person's own line.
        if (minus) return all.push_back({true, within(sum(terms_of(rule, id, names)), Binding::entrywise)});
        signed_terms(rule, e.arguments[0], names, minus, all);
        return signed_terms(rule, e.arguments[1], names, minus, all);
    }
    if (e.kind == ExprKind::number && e.number < 0) return all.push_back({!minus, number(Rational(-e.number))});
    all.push_back({minus, formula(rule, id, names)});
}

std::vector<Signed> terms_of(TypedRule const& rule, ExprId id, NodeNames const& names) {
    std::vector<Signed> all;
    signed_terms(rule, id, names, false, all);
    return all;
}

} // namespace

Formula formula(TypedRule const& rule, ExprId id, NodeNames const& names) {
    if (auto const named = names.find(id); named != names.end()) return named->second;
    auto const& e = rule.nodes[std::size_t(id)];
    std::vector<Formula> arguments;
    auto const all = [&]() -> std::vector<Formula> const& {
        for (ExprId const a : e.arguments) arguments.push_back(formula(rule, a, names));
        return arguments;
    };
    switch (e.kind) {
    case ExprKind::operand: return operand_formula(rule, e.operand, e.step);
    case ExprKind::number: return number(e.number);
    case ExprKind::add:
    case ExprKind::add_log:
    case ExprKind::negate: return sum(terms_of(rule, id, names));
    case ExprKind::scale: {
        if (auto const f = random_features(rule, id))
            return function_of("random_features", {formula(rule, f->of), formula(rule, f->weights)});
        auto const& scalar = rule.nodes[std::size_t(e.arguments[0])];
        if (scalar.kind == ExprKind::map && scalar.function == "inv")
            return over(formula(rule, e.arguments[1], names), formula(rule, scalar.arguments[0], names));
        return product(all());
    }
    case ExprKind::matmul: {
        auto const& left = rule.nodes[std::size_t(e.arguments[0])];
        if (e.shape.scalar() && left.kind == ExprKind::transpose)
            return inner(formula(rule, left.arguments[0], names), formula(rule, e.arguments[1], names));
        return product(all());
    }
    case ExprKind::hadamard: return entrywise(all());
    case ExprKind::transpose: return transposed(all()[0]);
    case ExprKind::diag: return diagonal(all()[0]);
    case ExprKind::map: return function_of(e.function, all());
    case ExprKind::maximum: return function_of("max", all());
    case ExprKind::vector_map: return vector_function(e.function, all()[0], e.number);
    case ExprKind::sum: return function_of("sum", all());
    case ExprKind::exp_log: return function_of("exp", all());
    case ExprKind::multiple_log: return product({number(e.number), all()[0]});
    }
    return {};
}

} // namespace deltaloom::codegen
