// One random rule as source text. In the right form keys lie over dk and a read is S * x; in the left form they lie
// over dv and a read is T(S) * x; "mirrored" is the left form spelled as the right form of T(S). At most one draw in an
// expression: the order of two is the compiler's.
#include "codegen/check/draw.hpp"
#include "codegen/check/random.hpp"

namespace deltaloom::codegen {
namespace {

using std::string;

struct Writer {
    Draw draw;
    bool left = false, mirrored = false;
    bool repeated = false; // inside repeat: other operands, with a step axis
    string aux = {};       // a vector state over the keys' dimension that keys may use
    RandomRule rule = {};

    void tag(string t) { rule.tags.insert(std::move(t)); }
    string one_of(std::initializer_list<char const*> names) { return names.begin()[draw.below(int(names.size()))]; }
    bool keys_over_dk() const { return !left; }

    // Operands by what they are for.
    string vector(bool over_dk) {
        if (repeated) return over_dk ? one_of({"kr", "er"}) : one_of({"vr", "xr"});
        return over_dk ? one_of({"k", "k", "e", "f"}) : one_of({"v", "v", "x", "y"});
    }
    string vector_beside(string const& first, bool over_dk) {
        string second = vector(over_dk);
        if (second == first)
            second = repeated ? (over_dk ? (first == "kr" ? "er" : "kr") : (first == "vr" ? "xr" : "vr"))
                              : (over_dk ? (first == "k" ? "e" : "k") : (first == "v" ? "x" : "v"));
        return second;
    }
    string key_vector() { return vector(keys_over_dk()); }
    string value_vector() { return vector(!keys_over_dk()); }
    string scalar_input() { return repeated ? "br" : one_of({"beta", "beta", "eta", "rho"}); }
    string linear_gate() { return repeated ? "ar" : one_of({"alpha", "r"}); }
    string log_gate() { return repeated ? "gr" : one_of({"g", "h"}); }
    // A vector of numbers in [0, 1].
    string channel(bool over_dk, bool decay) {
        string const kind =
            decay ? (over_dk == keys_over_dk() ? "key-channel decay" : "value-channel decay") : "channel gate";
        switch (draw.weighted({3, repeated ? 0 : 2, 1})) {
        case 0: tag(kind + " log"); return "exp(" + string(over_dk ? "w" : "wv") + (repeated ? "r)" : ")");
        case 1: tag(kind + " linear"); return over_dk ? "a" : "av";
        default: tag(kind + " sigmoid"); return "sigmoid(" + vector(over_dk) + ")";
        }
    }

    // A scalar in [0, 1]: what may erase.
    string unit() {
        string const s = scalar_input(), t = scalar_input(), k = key_vector(), e = vector_beside(k, keys_over_dk()),
                     gate = linear_gate();
        switch (draw.weighted({8, 2, 2, 1, 1, 1, 1, 1, 1, 1, repeated ? 0 : 1})) {
        case 0: return s;
        case 1: tag("sigmoid"); return "sigmoid(" + s + ")";
        case 2: return "(1 - " + s + ")";
        case 3: return s + " * " + t;
        case 4: tag("parameter"); return "sigmoid(c + " + s + ")";
        case 5: tag("inner product of inputs"); return "sigmoid(dot(" + k + ", " + e + "))";
        case 6: tag("quotient"); return s + " / (1 + " + s + " * dot(" + k + ", " + k + "))";
        case 7: return "exp(-" + s + ")";
        case 8: tag("minimum"); return "min(" + s + ", 0.5)";
        case 9: tag("maximum"); return "max(" + s + ", " + gate + ")";
        default: tag("previous"); return "previous(" + s + ")";
        }
    }
    string coefficient() { // of a write: bounded, of any sign
        string const k = key_vector(), e = vector_beside(k, keys_over_dk());
        switch (draw.weighted({6, 1, 1, 1})) {
        case 0: return unit();
        case 1: tag("inner product of inputs"); return "dot(" + k + ", " + e + ")";
        case 2: return "2.0 * " + unit();
        default: tag("norm"); return "norm(" + value_vector() + ")";
        }
    }
    // A key of norm at most 1.
    string key() {
        string const k = key_vector(), e = vector_beside(k, keys_over_dk());
        switch (draw.weighted({6, 2, 1, 1, aux.empty() || repeated ? 0 : 3, 1})) {
        case 0: return k;
        case 1: tag("l2norm"); return "l2norm(" + k + ", 1e-6)";
        case 2: tag("sum of keys"); return "(0.5 * (" + k + " + " + e + "))";
        case 3: return "(" + channel(keys_over_dk(), false) + " % " + k + ")";
        case 4: tag("auxiliary state in a key"); return "l2norm(" + aux + " % " + k + ", 1e-6)";
        default: tag("softmax"); return "softmax(" + k + ")";
        }
    }
    string value() {
        string const v = value_vector(), x = vector_beside(v, !keys_over_dk());
        switch (draw.weighted({8, 1, 1, 1, 1, repeated ? 0 : 1})) {
        case 0: return v;
        case 1: tag("map of a value"); return one_of({"silu", "tanh", "relu", "softplus", "elu1"}) + "(" + v + ")";
        case 2: return "(" + channel(!keys_over_dk(), false) + " % " + v + ")";
        case 3: tag("maximum"); return "max(" + v + ", " + x + ")";
        case 4: return "(" + v + " - " + x + ")";
        default: tag("previous"); return "previous(" + v + ")";
        }
    }

    // Orientation.
    static string bare(string const& s) { return s[0] == '(' ? s.substr(1, s.size() - 2) : s; }
    bool turned() const { return left && !mirrored; }
    string view(string const& state) const { return left && mirrored ? "T(" + state + ")" : state; }
    string read(string const& state, string const& key) const {
        return (left ? "T(" + state + ") * " : state + " * ") + key;
    }
    string outer(string const& coefficient, string const& p, string const& key) const {
        string const lead = coefficient.empty() ? "" : coefficient + " * ";
        return turned() ? lead + key + " * T(" + bare(p) + ")" : lead + p + " * T(" + bare(key) + ")";
    }
    string on_keys(string const& x, string const& a) const {
        return turned() ? "diag(" + a + ") * " + x : x + " * diag(" + a + ")";
    }
    string on_values(string const& x, string const& a) const {
        return turned() ? x + " * diag(" + a + ")" : "diag(" + a + ") * " + x;
    }

    string scalar_decay() {
        string const g = log_gate(), h = log_gate();
        switch (draw.weighted({3, 3, repeated ? 0 : 1, 1, 1, 1})) {
        case 0: tag("scalar decay linear"); return linear_gate();
        case 1: tag("scalar decay log"); return "exp(" + g + ")";
        case 2: tag("scalar decay parameter"); return "exp(lam)";
        case 3: tag("scalar decay map"); return "exp(-softplus(" + scalar_input() + "))";
        case 4: tag("scalar decay one minus"); return "(1 - " + scalar_input() + ")";
        default:
            tag("scalar decay sum of logs");
            return g == h ? "exp(2 * " + g + ")" : "exp(" + g + " + 2 * " + h + ")";
        }
    }
    enum class Decay { none, scalar, key, both, reset, value, all };
    // The old state, decayed; empty: reset.
    string decayed(string const& state, Decay kind) {
        string x = view(state);
        switch (kind) {
        case Decay::none: break;
        case Decay::scalar: return scalar_decay() + " * " + x;
        case Decay::key: return on_keys(x, channel(keys_over_dk(), true));
        case Decay::both: x = scalar_decay() + " * " + x; return on_keys(x, channel(keys_over_dk(), true));
        case Decay::reset: tag("static reset"); return "";
        case Decay::value: return on_values(x, channel(!keys_over_dk(), true));
        case Decay::all:
            x = on_values(x, channel(!keys_over_dk(), true));
            return on_keys(x, channel(keys_over_dk(), true));
        }
        return x;
    }
    Decay decay(bool values, bool reset) {
        Decay const kinds[] = {Decay::none,  Decay::scalar, Decay::key, Decay::both,
                               Decay::reset, Decay::value,  Decay::all};
        return kinds[draw.weighted({5, 6, 6, 2, reset ? 1 : 0, values ? 4 : 0, values ? 1 : 0})];
    }

    // One erase, to be subtracted: c (S x) x^T, weaker and lopsided only where the statement forgets.
    string erase(string const& state, bool halved, bool forgets, bool rows) {
        string const x = key();
        string c = (halved ? "0.5 * " : "") + unit(), read_key = x;
        if (forgets && draw.chance(0.25)) {
            tag("erase key differs from write key");
            c = "0.25 * " + unit(), read_key = key();
        }
        string y = "(" + read(state, read_key) + ")";
        if (rows && draw.chance(0.4)) {
            tag("value-channel coefficient of a read");
            y = "(" + channel(!keys_over_dk(), false) + " % " + y + ")";
        }
        return outer(c, y, x);
    }
    string delta(string const& state) {
        string const x = key(), v = value();
        return outer(unit(), "(" + v + " - " + read(state, x) + ")", x);
    }
    string write() {
        string const c = draw.chance(0.7) ? coefficient() : "", v = value();
        return outer(c, v, key());
    }

    // state <<= decayed + extra - erases + writes
    string update(string const& state, Decay kind, int erases, string const& extra = "") {
        string text = decayed(state, kind);
        bool const forgets = kind != Decay::none && kind != Decay::reset;
        auto plus = [&](string const& term) { text += (text.empty() ? "" : " + ") + term; };
        if (!extra.empty()) plus(extra);
        int writes = 0;
        if (erases == 1 && draw.chance(0.5)) {
            plus(delta(state));
            --erases, ++writes;
            tag("erase");
        }
        bool const halved = erases + writes > 1;
        if (halved) tag("several reads of one statement");
        for (int i = 0; i < erases; ++i) {
            tag("erase");
            string const term = erase(state, halved, forgets, !halved && !repeated && draw.chance(0.3));
            text += (text.empty() ? "-" : " - ") + term;
        }
        int const more = draw.weighted({writes ? 4 : 1, 4, 1});
        auto const idle = [&] { return text.empty() || text == view(state); };
        for (int i = 0; i < more || idle(); ++i, ++writes) plus(write());
        if (writes > 1) tag("several writes of one statement");
        return state + " <<= " + (left && mirrored ? "T(" + text + ")" : text);
    }
    void say(string statement) { rule.statements.push_back(std::move(statement)); }

    string query(string const& state) { return state + " * " + one_of({"q", "q", "k"}); }
    // A read-out of `state` into a value output, `other` a second state to combine with, `normaliser` a vector state
    // over dk.
    void output(string const& name, string const& state, string const& other, string const& normaliser) {
        string const y = query(state), again = query(other.empty() ? state : other);
        switch (draw.weighted({6, 2, 2, 2, normaliser.empty() ? 0 : 9, 1, other.empty() ? 0 : 4, 1})) {
        case 0: return say(name + " <<= " + y);
        case 1: tag("bonus"), tag("parameter"); return say(name + " <<= " + y + " + dot(u % k, q) * v");
        case 2: tag("gated output"); return say(name + " <<= sigmoid(p) % (" + y + ")");
        case 3: tag("output nonlinear in reads"); return say(name + " <<= silu(" + y + ") % (" + again + ")");
        case 4:
            tag("normaliser");
            return say(name + " <<= (" + y + ") / " +
                       (draw.chance(0.6) ? "max(abs(dot(" + normaliser + ", q)), 1.0)"
                                         : "(1 + sum(abs(" + normaliser + ")))"));
        case 5:
            tag("output nonlinear in reads");
            return say(name + " <<= (" + y + ") / (1 + dot(" + y + ", " + y + "))");
        case 6:
            tag("output of two states"), tag("output nonlinear in reads");
            return say(name + " <<= tanh(" + y + ") % (" + again + ") + v");
        default: tag("l2norm"), tag("output nonlinear in reads"); return say(name + " <<= l2norm(" + y + ", 1e-2)");
        }
    }
    void left_output(string const& name, string const& state) {
        tag("read from the left");
        say(name + " <<= T(" + state + ") * " + one_of({"v", "p"}));
    }
};

// What the rule is to hold whatever else is drawn, so that a few dozen cover the whole class.
enum class Theme { any, left, repeat, two_states, value_decay, unchunkable };

void repeat_statements(Writer& w) {
    w.tag("repeat");
    w.repeated = true;
    std::string const count = w.draw.chance(0.75) ? "2" : "3";
    Writer::Decay const kind = w.draw.chance(0.6) ? Writer::Decay::none : Writer::Decay::scalar;
    std::string inside = w.update("S", kind, 1);
    if (w.draw.chance(0.25)) {
        w.tag("several statements in a repeat");
        inside = w.update("S", Writer::Decay::key, 0) + ", " + inside;
    }
    w.repeated = false;
    w.say("repeat<" + count + ">(" + inside + ")");
}

// Two matrix states: coupled, apart, or one read by the other.
void second_state(Writer& w, bool erasing) {
    using Decay = Writer::Decay;
    std::string const M = w.view("M");
    switch (w.draw.weighted({2, 1, 2})) {
    case 0: {
        w.tag("coupled states");
        std::string const x = w.key(), v = w.value(), c = "0.5 * " + w.unit();
        w.say(w.update("M", Decay::scalar, 0, w.outer(c, "(" + v + " - " + w.read("S", x) + ")", x)));
        w.say(w.update("S", Decay::scalar, 0, "0.5 * " + M));
        return;
    }
    case 1:
        w.tag("two states");
        for (char const* state : {"M", "S"}) {
            Decay const kind = w.decay(false, state[0] == 'S');
            w.say(w.update(state, kind, erasing ? 1 : 0));
        }
        return;
    default:
        w.tag("one state feeds another");
        Decay const kind = w.decay(false, true);
        w.say(w.update("S", kind, erasing ? 1 : 0));
        std::string const read = "(" + w.read("S", w.key()) + ")", x = w.key(), term = w.outer(w.unit(), read, x);
        w.say(w.update("M", w.draw.chance(0.5) ? Decay::scalar : Decay::key, 0, term));
    }
}

// A memory over features of the keys, beside what the rule is about.
void feature_map(Writer& w) {
    w.tag("feature map");
    struct Map {
        char const *state, *open, *close;
    };
    constexpr Map maps[] = {{"Sd", "dpfp<2>(", ")"}, {"Sr", "random_features(", ", W)"}, {"St", "taylor2(", ")"}};
    Map const map = maps[w.draw.below(3)];
    std::string const state = map.state, decay = w.scalar_decay(), v = w.vector(false),
                      write = w.one_of({"k", "k", "e"});
    std::string const read = w.one_of({"q", "q", "k"});
    auto const features = [&](std::string const& x) { return map.open + x + map.close; };
    bool const erases = map.state[1] == 'd' && w.draw.chance(0.6); // features of norm at most 1
    std::string const content = erases ? "beta * (" + v + " - " + state + " * " + features(write) + ")" : v;
    w.say(state + " <<= " + decay + " * " + state + " + " + content + " * T(" + features(write) + ")");
    w.say("of <<= " + state + " * " + features(read));
}

// Rules that leave the class of the chunked form, each for another reason.
void unchunkable(Writer& w) {
    w.tag("no chunked form");
    std::string const b = w.unit(), c = w.unit();
    switch (w.draw.below(9)) {
    case 0:
        w.tag("map of the state");
        return w.say("S <<= " + w.one_of({"tanh(S)", "tanh(alpha * S)", "sigmoid(S)", "0.5 * silu(S)"}) + " + " + b +
                     " * v * T(k)");
    case 1:
        w.tag("low rank on both sides");
        return w.say("S <<= S - 0.5 * " + b + " * (S * k) * T(k) - 0.5 * " + c + " * x * (T(x) * S) + v * T(e)");
    case 2: w.tag("dense transition"); return w.say("S <<= 0.25 * S * A + " + b + " * v * T(k)");
    case 3:
        w.tag("norm of the state");
        w.say("S <<= S + v * T(k)");
        return w.say("S <<= S / max(1.0, norm(S))");
    case 4:
        w.tag("read through an inner product");
        return w.say("S <<= alpha * S + 0.5 * " + b + " * tanh(dot(S * k, x)) * x * T(k) + v * T(e)");
    case 5: w.tag("full-rank write"); return w.say("S <<= " + w.scalar_decay() + " * S + B");
    case 6:
        w.tag("normalised read");
        return w.say("S <<= S + " + b + " * (v - (S * k) / sqrt(1 + dot(S * k, S * k))) * T(k)");
    case 7:
        w.tag("transposed state added");
        w.say("P <<= 0.5 * P - 0.25 * T(P) + k * T(" + w.key() + ")");
        w.say("S <<= exp(g) * S + v * T(k)");
        return w.say("ok <<= P * q");
    default:
        w.tag("coupled states with channel decays");
        w.say("M <<= M * diag(exp(w)) + 0.5 * " + b + " * (v - S * k) * T(k)");
        w.say("S <<= S * diag(a) + 0.5 * M");
    }
}

} // namespace

RandomRule random_rule(std::uint64_t seed, int item, bool chunkable) {
    constexpr Theme themes[] = {Theme::any,        Theme::left,        Theme::repeat,
                                Theme::two_states, Theme::value_decay, Theme::unchunkable};
    Theme theme = themes[item % 6];
    if (chunkable && theme == Theme::unchunkable) theme = Theme::any;
    Writer w{Draw(seed, std::uint64_t(item))};
    using Decay = Writer::Decay;
    if (theme == Theme::unchunkable) {
        unchunkable(w);
        w.output("o", "S", "", "");
        return w.rule;
    }
    w.left = theme == Theme::left || w.draw.chance(0.15);
    w.mirrored = w.left && w.draw.chance(0.35);
    if (w.left) w.tag("left form");
    if (w.mirrored) w.tag("right form of the transposed state");

    std::string normaliser, aux;
    if (w.draw.chance(0.2)) {
        aux = w.left ? "mv" : "m";
        std::string const gate =
            w.draw.chance(0.7) ? w.channel(w.keys_over_dk(), false) + " % " : w.scalar_decay() + " * ";
        w.tag("auxiliary vector state");
        w.say(aux + " <<= " + gate + aux + " + " + w.key());
    }
    w.aux = aux;
    if (w.draw.chance(0.3)) {
        normaliser = w.draw.chance(0.5) ? "z" : "n";
        std::string const decay = w.scalar_decay();
        w.say(normaliser + " <<= " + decay + " * " + normaliser + " + " + w.one_of({"k", "sigmoid(k)", "softmax(e)"}));
    }
    if (w.draw.chance(0.25)) {
        w.tag("read before an update");
        if (w.left && w.draw.chance(0.5))
            w.left_output("ok", "S");
        else
            w.output("o2", "S", "", normaliser);
    }
    bool const erasing = w.draw.chance(0.8);
    std::string other;
    if (theme == Theme::two_states) {
        other = "M";
        second_state(w, erasing);
    } else {
        int const count = theme == Theme::repeat ? w.draw.between(0, 1) : w.draw.between(1, 2);
        if (count + (theme == Theme::repeat) > 1) w.tag("several statements");
        for (int i = 0; i < count; ++i) {
            bool const values = theme == Theme::value_decay && (i == 0 || w.draw.chance(0.5));
            Decay kind = w.decay(values, true);
            if (values && i == 0 && kind != Decay::all) kind = Decay::value;
            int const erases = erasing ? w.draw.weighted({2, 5, 2}) : 0;
            w.say(w.update("S", kind, erases));
        }
        if (theme == Theme::repeat) repeat_statements(w);
    }
    w.output("o", "S", other, normaliser);
    if (!other.empty()) w.say("o3 <<= " + w.query("M"));
    if (!normaliser.empty() && !w.rule.tags.count("normaliser")) w.say("ok2 <<= " + normaliser + " % q");
    if (!aux.empty() && !w.rule.tags.count("auxiliary state in a key"))
        w.say((w.left ? "omv <<= mv % v" : "om <<= m % k"));
    if (w.left ? w.draw.chance(0.3) : w.draw.chance(0.15))
        if (!w.rule.tags.count("read before an update")) w.left_output("ok", "S");
    if (w.draw.chance(0.15)) feature_map(w);
    return w.rule;
}

} // namespace deltaloom::codegen
