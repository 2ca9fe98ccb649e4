#pragma once
// dl_call -> one sequence struct for each head of each sequence -> kernels. Knows no rule: everything comes from
// dl_rule and rule_kernels.
//
// A unit is a sequence and a group of value heads that share a gradient or a hidden state; its heads run in order on
// one thread, so a shared head's gradient is a sum in a fixed order, rounded once (shared_sums.hpp). Units are dealt to
// `lanes` fixed lists; a lane owns a slice of the workspace. Of the form summary a unit is dealt segment by segment, in
// stages (segments.hpp). Gradients of parameters are left per sequence, value head and segment in the workspace and
// summed in order at the end. So the bits do not depend on threads.
#include <cmath>
#include <deltaloom/runtime/cpu/features.hpp>
#include <deltaloom/runtime/cpu/parallel.hpp>
#include <deltaloom/runtime/cpu/path.hpp>
#include <deltaloom/runtime/cpu/pieces.hpp>
#include <deltaloom/runtime/cpu/segments.hpp>
#include <deltaloom/runtime/cpu/shared_sums.hpp>
#include <deltaloom/runtime/cpu/validate.hpp>
#include <deltaloom/runtime/cpu/values.hpp>
#include <deltaloom/runtime/ops/storage.hpp>
#include <numeric>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

struct driver {
    dl_rule const& rule;
    dl_call const& call;
    rule_kernels const& kernels;
    bool backward;

    kernel run{};
    int scalar = 0, form = 0; // indices into kernel_table
    isa_level level = isa_base;
    index sequences = 0, heads = 0, group = 1, units = 0, lanes = 1, longest = 0, shortest = 0;
    index chunk = 1, segment = 1;
    index segments_at_most = 1, segment_bytes = 0; // of a sequence (1 but for the form summary); of one of its heads
    index state_bytes = 0;                         // of the table of states' extents
    index scratch_bytes = 0, carry_bytes = 0, sum_bytes = 0, table_bytes = 0; // of a lane
    index partial_elements = 0;                                               // of one sequence and head
    bool nothing = false; // nothing that this direction writes is wanted
    std::size_t bytes = 0;

    static constexpr index line = 64;
    static index rounded(index n) { return (n + line - 1) / line * line; }
    index scalar_bytes() const { return scalar ? 8 : 4; }

    // The call has passed `validate`.
    driver(dl_rule const& r, dl_call const& c, bool b)
        : rule(r),
          call(c),
          kernels(*static_cast<rule_kernels const*>(r.implementation)),
          backward(b) {}

    index entries(dl_operand const& o) const { // of one token or head
        index n = 1;
        for (std::uint32_t a = 0; a < o.rank; ++a) n *= extent(o.dims[a]);
        return n;
    }
    index extent(char const* name) const { return runtime::extent(rule, call, name); }
    // Snapshots are written, or read: states pass through the caller's memory. Where none has data nobody asks for
    // them, however many they are said to be.
    bool in_pieces() const {
        if (call.snapshots <= 0 || !call.state_snapshots || (backward && !(call.flags & DL_CHUNK_STATES))) return false;
        for (index k = 0; k < kernels.state_count; ++k)
            if (call.state_snapshots[k].data) return true;
        return false;
    }
    index ratio(std::uint32_t operand_heads) const { return operand_heads ? heads / operand_heads : 1; }

    int prepare(dl_status* status) {
        heads = call.value_heads;
        sequences = sequences_of(call);
        longest = shortest = call.offsets ? 0 : call.tokens;
        for (index s = 0; call.offsets && s < sequences; ++s) {
            index const tokens = call.offsets[s + 1] - call.offsets[s];
            longest = std::max(longest, tokens), shortest = s ? std::min(shortest, tokens) : tokens;
        }
        if (!choose(status)) return int(DL_NO_FORM);
        nothing = !writes_something(rule, call, backward);
        if (nothing) return 0;

        std::uint32_t state = 0;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
            dl_operand const& o = rule.operands[i];
            if (o.kind == DL_STATE) {
                for (dl_tensor const* t :
                     {backward ? call.state_in_gradient : call.state_out, in_pieces() ? call.state_snapshots : nullptr})
                    if (t && t[state].data) group = std::lcm(group, ratio(t[state].heads));
                ++state;
            } else if (backward && o.kind != DL_OUTPUT && call.gradient[i].data) {
                if (o.varies == DL_PER_HEAD)
                    partial_elements += entries(o);
                else
                    group = std::lcm(group, ratio(call.gradient[i].heads));
            }
        }
        units = sequences * (heads / group);
        segments_at_most = in_segments() ? segments::count_of(longest, segment_length()) : 1;
        lanes = std::max<index>(1, index(std::min<wide>(wide(units) * segments_at_most, std::max(1, call.threads))));

        if (!fits()) return refuse(status, DL_BAD_FIELD, no_operand, no_axis, too_large, (long long)longest);
        sequence s;
        s.tokens = in_segments() ? std::min(longest, segment_length()) : longest;
        s.chunk = chunk, s.segment = segment, s.dim = call.dim;
        index const scratch = in_segments() ? segment_table().scratch(s, backward) : run.scratch(s);
        scratch_bytes = rounded(scratch * scalar_bytes()) + line;
        carry_bytes = in_pieces() ? carried() * scalar_bytes() : 0;
        wide const summed = backward ? sums().each([](auto...) {}) * scalar_bytes() : 0;
        sum_bytes = index(std::min(summed, most));
        index tables = head_tables::size(rule, kernels.state_count);
        wide segments_bytes = 0; // of all sequences and heads
        if (in_segments()) {
            tables += segments::table_size(rule.operand_count, kernels.state_count);
            index entries = 0, factors = 0;
            for (index k = 0; k < kernels.state_count; ++k) {
                auto const extents_ = state_extents(k);
                entries += extents_.rows * extents_.cols, factors += extents_.width * extents_.width;
            }
            segment_bytes = rounded(segments::elements(segments_at_most, entries, factors, backward) * scalar_bytes());
            state_bytes = rounded(index(sizeof(segment_state)) * kernels.state_count);
            segments_bytes = wide(segment_bytes) * sequences * heads + state_bytes;
        }
        table_bytes = rounded(index(sizeof(strided)) * tables);
        wide const lanes_bytes = wide(lanes) * lane_bytes(),
                   partial_bytes = wide(partial_elements) * scalar_bytes() * sequences * heads * segments_at_most;
        if (summed > most || lanes_bytes > most || partial_bytes > most || segments_bytes > most)
            return refuse(status, DL_BAD_FIELD, no_operand, no_axis, too_large, (long long)longest);
        bytes =
            std::size_t(lanes_bytes) + std::size_t(rounded(index(partial_bytes))) + std::size_t(segments_bytes) + line;
        return 0;
    }
    static constexpr wide most = wide(1) << 61;
    static constexpr char const* too_large =
        "tokens (a sequence's: %lld), chunk and dim: the bytes of the workspace are over 2^61";

    // A bound on what a kernel asks for: its largest matrices have a chunk's events or a kept state on each side.
    bool fits() const {
        double const events = form >= 2 ? double(std::min(chunk, longest)) : 1.0;
        double const kept = double(segment) + double(longest) / double(chunk) / double(segment) + 2;
        double side = 1;
        for (std::uint32_t d = 0; d < rule.dim_count; ++d) side = std::max(side, double(call.dim[d]));
        return (events * events * 4096 + kept * 64) * side * side < double(most) / 8;
    }
    // Elements of the states that pass from piece to piece.
    index carried() const {
        index n = 0;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i)
            if (rule.operands[i].kind == DL_STATE) n += rounded(entries(rule.operands[i]));
        return n;
    }
    // An operand or an initial state of float64 is computed in float64; so is all where the library has nothing else.
    int wants_double() const {
        std::uint32_t state = 0;
        bool wanted = !(rule.scalars & ~(1u << DL_F64));
        for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
            bool const is_state = rule.operands[i].kind == DL_STATE;
            dl_tensor const* const t = is_state ? (call.state_in ? call.state_in + state : nullptr) : call.operand + i;
            wanted |= t && t->data && t->scalar == DL_F64;
            state += is_state;
        }
        return wanted;
    }

    // Form, scalar, level, chunk and segment.
    bool choose(dl_status* status) {
        scalar = wants_double();
        bool const chunked = rule.forms >> DL_CHUNKED & 1;
        bool const chunks = call.form == DL_CHUNKED || call.form == DL_PARALLEL || call.form == DL_SUMMARY ||
                            (call.form == DL_CHOOSE && chunked && longest > 1);
        // With snapshots the chunks go one after the other.
        form = call.form == DL_SUMMARY && !in_pieces()                                             ? 3
               : chunks                                                                            ? 2
               : call.form == DL_STEP || (call.form == DL_CHOOSE && longest == 1 && shortest == 1) ? 0
                                                                                                   : 1;
        level = chosen_level();
        while (level > isa_base && !kernels.level[level]) level = isa_level(level - 1);
        if (kernels.level[level]) {
            run = kernels.level[level]->of[scalar][form][backward];
            if (!run && form == 0) form = 1, run = kernels.level[level]->of[scalar][form][backward];
            // Of one token too, where chunks are all there is.
            if (!run && call.form == DL_CHOOSE) form = 2, run = kernels.level[level]->of[scalar][form][backward];
            if (form == 3 && !kernels.level[level]->of[scalar][2][backward]) run = {};
        }
        if (!run) {
            refuse(status, DL_NO_FORM, no_operand, no_axis,
                   "%s: this library has no kernel for scalar %s, form %u: ask for it when the library is generated",
                   rule.name, scalar ? "f64" : "f32", call.form);
            return false;
        }
        chunk = form >= 2 ? (call.form == DL_PARALLEL ? std::max<index>(longest, 1)
                             : call.chunk             ? index(call.chunk)
                                                      : index(kernels.chunk))
                          : 1;
        // A kept state every `segment` chunks and the states inside one segment: least memory where both are equally
        // many.
        index const at_once = in_segments() ? std::min(longest, segment_length()) : longest;
        index const chunk_count = at_once / chunk + (at_once % chunk != 0);
        segment = std::max<index>(1, index(std::ceil(std::sqrt(double(chunk_count)))));
        return true;
    }

    bool in_segments() const { return form == 3; }
    index segment_length() const { return chunk * chunks_per_segment; }
    std::uint32_t computes() const { return scalar ? DL_F64 : DL_F32; }
    shared_sums sums() const {
        return {rule, call, in_segments() ? std::min(longest, segment_length()) : longest, computes()};
    }
    segment_kernels segment_table() const { return segment_kernels::of(*kernels.level[level], scalar); }
    segment_state state_extents(index number) const {
        index k = number;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
            dl_operand const& o = rule.operands[i];
            if (o.kind != DL_STATE || k-- > 0) continue;
            index const factor = kernels.factor_dim[number];
            return {o.rank > 0 ? extent(o.dims[0]) : 1, o.rank > 1 ? extent(o.dims[1]) : 1,
                    factor < 0 ? 1 : index(call.dim[factor])};
        }
        return {};
    }

    static strided at(dl_tensor const& t, index offset) {
        strided s;
        s.scalar = t.scalar;
        s.data = t.data ? static_cast<char*>(t.data) + offset * element_bytes(t.scalar) : nullptr;
        s.token = t.stride[1];
        for (int a = 0; a < 3; ++a) s.axis[a] = t.stride[3 + a];
        return s;
    }
    strided contiguous(void* data, dl_operand const& o) const {
        strided s;
        s.data = data, s.scalar = computes();
        index step = 1;
        for (std::uint32_t a = o.rank; a-- > 0;) s.axis[a] = step, step *= extent(o.dims[a]);
        return s;
    }

    // One head of one sequence, its tables at `table`. `at_token`: where in the sequence the sums of shared heads
    // begin.
    sequence head(index sequence_index, index h, strided* table, void* room, char* partial, index at_token = 0) const {
        index const first = call.offsets ? index(call.offsets[sequence_index]) : 0,
                    b = call.offsets ? 0 : sequence_index;
        sequence s;
        s.tokens = call.offsets ? index(call.offsets[sequence_index + 1]) - first : call.tokens;
        s.chunk = chunk, s.segment = segment, s.dim = call.dim;
        head_tables const to(table, rule, kernels.state_count);
        strided *const operand = to.operand, *const gradient = to.gradient;
        char* carry = static_cast<char*>(room) + scratch_bytes;
        index state = 0, partial_at = 0;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
            dl_operand const& o = rule.operands[i];
            // What is not there has not been looked at; an empty sequence may begin past the last token.
            auto const token_tensor = [&](dl_tensor const& t) {
                if (!t.data || (o.varies == DL_PER_TOKEN && s.tokens == 0)) return strided{};
                index const mine = h / ratio(t.heads);
                bool const per_head = o.varies == DL_PER_HEAD;
                strided x = at(t, (per_head ? 0 : b * t.stride[0] + first * t.stride[1]) + mine * t.stride[2]);
                if (per_head) x.token = 0;
                return x;
            };
            operand[i] = gradient[i] = {};
            if (o.kind == DL_STATE) {
                auto const mine = [&](dl_tensor const* t) {
                    if (!t || !t[state].data) return strided{};
                    strided s_ = at(t[state], sequence_index * t[state].stride[0] +
                                                  h / ratio(t[state].heads) * t[state].stride[2]);
                    if (trailing_axis(o, call, 0)) std::swap(s_.axis[0], s_.axis[1]);
                    return s_;
                };
                auto const shared = [&](dl_tensor const* t) { return t && t[state].data ? ratio(t[state].heads) : 1; };
                to.state_in[state] = mine(call.state_in);
                // A state with fewer heads: the last head that shares it writes, after all have read; its gradient
                // comes in once and goes out as a sum.
                to.state_out[state] = !backward && h % shared(call.state_out) == shared(call.state_out) - 1
                                          ? mine(call.state_out)
                                          : strided{};
                to.in_gradient[state] = backward ? mine(call.state_in_gradient) : strided{};
                to.in_gradient[state].accumulate = backward && h % shared(call.state_in_gradient) != 0;
                to.out_gradient[state] =
                    backward && h % shared(call.state_out_gradient) == 0 ? mine(call.state_out_gradient) : strided{};
                to.snapshot[state] = in_pieces() ? mine(call.state_snapshots) : strided{};
                to.carry[state] = in_pieces() ? contiguous(carry, o) : strided{};
                carry += rounded(entries(o)) * scalar_bytes();
                ++state;
                continue;
            }
            operand[i] = token_tensor(call.operand[i]);
            if (!backward) continue;
            if (o.varies == DL_PER_HEAD && o.kind != DL_OUTPUT) {
                if (!call.gradient[i].data) continue;
                gradient[i] = contiguous(partial + partial_at * scalar_bytes(), o);
                partial_at += entries(o);
            } else {
                gradient[i] = token_tensor(call.gradient[i]);
                if (o.kind != DL_OUTPUT && gradient[i].data)
                    gradient[i].accumulate = h % ratio(call.gradient[i].heads) != 0;
            }
        }
        if (sum_bytes) redirect_sums(to, room, s.tokens, at_token);
        s.operand = operand, s.gradient = gradient;
        s.state_in = to.state_in, s.state_out = to.state_out, s.state_in_gradient = to.in_gradient,
        s.state_out_gradient = to.out_gradient;
        return s;
    }
    char* sum_at(void* room, index element) const {
        return static_cast<char*>(room) + scratch_bytes + carry_bytes + element * scalar_bytes();
    }
    // The tables' gradients of shared heads lead to the lane's sums instead of the caller's tensors.
    void redirect_sums(head_tables const& to, void* room, index tokens, index at_token) const {
        sums().each([&](std::uint32_t i, dl_tensor const&, bool state, index first) {
            strided& s = state ? to.in_gradient[state_number(i)] : to.gradient[i];
            if (!state && tokens == 0) return;
            bool const accumulate = s.accumulate;
            s = contiguous(sum_at(room, first), rule.operands[i]);
            s.accumulate = accumulate;
            if (state) return;
            s.token = entries(rule.operands[i]);
            // Nothing before at_token is touched.
            s.data = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(s.data) -
                                             std::uintptr_t(at_token * s.token * scalar_bytes()));
        });
    }
    // The last head that shares a gradient rounds the sum: of tokens at_token .. at_token + tokens - 1, where `initial`
    // also that of the initial state.
    void round_sums(index sequence_index, index h, void* room, index at_token, index tokens, bool initial) const {
        if (!sum_bytes) return;
        index const first_token = call.offsets ? index(call.offsets[sequence_index]) : 0,
                    b = call.offsets ? 0 : sequence_index;
        sums().each([&](std::uint32_t i, dl_tensor const& t, bool state, index first) {
            dl_operand const& o = rule.operands[i];
            if (h % ratio(t.heads) != ratio(t.heads) - 1 || (state ? !initial : tokens == 0)) return;
            index n[3] = {1, 1, 1};
            for (std::uint32_t a = 0; a < o.rank; ++a) n[a] = extent(o.dims[a]);
            auto to = at(
                t, (state ? sequence_index * t.stride[0] : b * t.stride[0] + (first_token + at_token) * t.stride[1]) +
                       h / ratio(t.heads) * t.stride[2]);
            if (state && trailing_axis(o, call, 0)) std::swap(to.axis[0], to.axis[1]);
            void const* const sum = sum_at(room, first);
            scalar ? round_into<double>(to, sum, state ? 1 : tokens, n)
                   : round_into<float>(to, sum, state ? 1 : tokens, n);
        });
    }
    std::uint32_t state_number(std::uint32_t operand) const {
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < operand; ++i) n += rule.operands[i].kind == DL_STATE;
        return n;
    }

    void run_head(index sequence_index, index h, strided* table, void* room) const {
        auto const s = head(sequence_index, h, table, room, partial_of(sequence_index, h, 0));
        run_pieces(s, table, room);
        round_sums(sequence_index, h, room, 0, s.tokens, true);
    }
    void run_pieces(sequence const& s, strided* table, void* room) const {
        if (!in_pieces()) return run.run(s, room);
        head_tables const tables(table, rule, kernels.state_count);
        pieces several(rule, call, run, s, tables, kernels.state_count, room);
        if (!(call.flags & DL_CHUNK_STATES))
            several.last_states(call.snapshots);
        else if (backward)
            several.read_chunk_states();
        else
            several.write_chunk_states();
    }

    // The workspace: lanes of (scratch, carried states, tables), the parameters' partial gradients; of the form summary
    // then the states' extents, and what the segments of every sequence and head leave.
    char* base() const {
        auto const past = reinterpret_cast<std::uintptr_t>(call.workspace) % std::uintptr_t(line);
        return static_cast<char*>(call.workspace) + (past ? line - index(past) : 0);
    }
    index lane_bytes() const { return scratch_bytes + carry_bytes + sum_bytes + table_bytes; }
    char* partials() const { return base() + lanes * lane_bytes(); }
    char* partial_of(index sequence_index, index h, index segment_index) const {
        index const place = (sequence_index * heads + h) * segments_at_most + segment_index;
        return partials() + place * partial_elements * scalar_bytes();
    }
    segment_state* extents() const {
        return reinterpret_cast<segment_state*>(
            partials() + rounded(partial_elements * scalar_bytes() * sequences * heads * segments_at_most));
    }
    char* left_by_segments(index sequence_index, index h) const {
        return reinterpret_cast<char*>(extents()) + state_bytes + (sequence_index * heads + h) * segment_bytes;
    }

    void lane(index l) const {
        char* const room = base() + l * lane_bytes();
        auto* const table = reinterpret_cast<strided*>(room + lane_bytes() - table_bytes);
        index const groups = heads / group;
        for (index u = l; u < units; u += lanes)
            for (index h = u % groups * group; h < (u % groups + 1) * group; ++h) run_head(u / groups, h, table, room);
    }

    // One stage of the form summary.
    void lane(index l, segment_stage stage) const {
        char* const room = base() + l * lane_bytes();
        auto* const table = reinterpret_cast<strided*>(room + lane_bytes() - table_bytes);
        index const groups = heads / group, per_unit = side_by_side(stage) ? segments_at_most : 1;
        segments all;
        all.operands = rule.operand_count, all.states = kernels.state_count, all.state = extents();
        all.length = segment_length(), all.scalar = computes(), all.both = backward;
        for (index task = l; task < units * per_unit; task += lanes) {
            index const u = task / per_unit, i = task % per_unit, b = u / groups;
            for (index h = u % groups * group; h < (u % groups + 1) * group; ++h) {
                index const at_token = i * all.length;
                all.whole = head(b, h, table, room, partial_of(b, h, i), at_token);
                all.memory = left_by_segments(b, h);
                if (i >= all.count()) continue;
                all.run(stage, i, segment_table(), table + head_tables::size(rule, kernels.state_count), room);
                if (stage == segment_stage::backward)
                    round_sums(b, h, room, at_token, std::min(all.length, all.whole.tokens - at_token), i == 0);
            }
        }
    }
    template<class Body> void on_lanes(Body const& body) const {
        auto const one = [](void* f, std::int64_t l) { (*static_cast<Body const*>(f))(l); };
        auto* const context = const_cast<Body*>(&body);
        if (lanes == 1)
            body(0);
        else if (call.parallel_for)
            call.parallel_for(call.host, lanes, one, context);
        else
            shared_pool().run(lanes, one, context);
    }
    index segments_of(index sequence_index) const {
        return in_segments() ? segments::count_of(tokens_of(sequence_index), segment_length()) : 1;
    }
    index tokens_of(index sequence_index) const {
        return call.offsets ? index(call.offsets[sequence_index + 1] - call.offsets[sequence_index]) : call.tokens;
    }

    template<class K> void sum_parameters() const {
        K const* const partial = reinterpret_cast<K const*>(partials());
        index at_element = 0;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
            dl_operand const& o = rule.operands[i];
            if (o.varies != DL_PER_HEAD || o.kind == DL_OUTPUT || !call.gradient[i].data) continue;
            dl_tensor const& t = call.gradient[i];
            index const count = entries(o), share = ratio(t.heads);
            for (index head_index = 0; head_index < index(t.heads); ++head_index)
                for (index e = 0; e < count; ++e) {
                    K sum = 0;
                    for (index s = 0; s < sequences; ++s)
                        for (index h = head_index * share; h < (head_index + 1) * share; ++h)
                            for (index part = 0; part < segments_of(s); ++part)
                                sum += partial[((s * heads + h) * segments_at_most + part) * partial_elements +
                                               at_element + e];
                    index offset = head_index * t.stride[2], rest = e;
                    for (std::uint32_t a = o.rank; a-- > 0;)
                        offset += rest % extent(o.dims[a]) * t.stride[3 + a], rest /= extent(o.dims[a]);
                    store_element(t, offset, double(sum));
                }
            at_element += count;
        }
    }
    static void store_element(dl_tensor const& t, index offset, double x) {
        as_stored<double>(t.data, t.scalar, [&]<class Stored>(Stored* data) { data[offset] = narrowed<Stored>(x); });
    }

    run_path path() const {
        char const* const forms[] = {"step", "recurrent", "chunked", "summary"};
        run_path p;
        p.form = form == 2 && call.form == DL_PARALLEL ? "parallel" : forms[form];
        p.backward = backward, p.nothing = nothing, p.given = in_pieces(), p.in_double = scalar, p.level = level;
        if (in_segments()) p.schedule = "segments";
        p.chunk = chunk, p.units = units * segments_at_most, p.lanes = lanes, p.segment = segment;
        return p;
    }

    // `places`: what `validate` found.
    int execute(place_list const& places, dl_status* status) {
        if (!nothing && (bytes > call.workspace_bytes || !call.workspace))
            return refuse(status, DL_WORKSPACE, no_operand, no_axis,
                          call.workspace ? "workspace_bytes is %zu, this call needs %zu: ask dl_workspace"
                                         : "workspace is NULL (workspace_bytes is %zu), this call needs %zu bytes: ask "
                                           "dl_workspace",
                          call.workspace_bytes, bytes);
        if (!nothing)
            if (int code =
                    validate_against(places, rule, call, backward, call.workspace, bytes, true, "workspace", status))
                return code;
        if (call.flags & DL_CHECK_VALUES)
            if (int code = validate_values(rule, call, backward, status)) return code;
        if (status) *status = {0, no_operand, no_axis, ""};
        if (nothing) return 0;
        if (in_segments()) {
            for (index k = 0; k < kernels.state_count; ++k) extents()[k] = state_extents(k);
            auto const each_stage = [&](auto const& stages) {
                for (segment_stage stage : stages) on_lanes([&](index l) { lane(l, stage); });
            };
            backward ? each_stage(backward_stages) : each_stage(forward_stages);
        } else
            on_lanes([&](index l) { lane(l); });
        if (partial_elements) scalar ? sum_parameters<double>() : sum_parameters<float>();
        return 0;
    }
};

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
