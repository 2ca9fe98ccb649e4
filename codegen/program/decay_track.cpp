#include "codegen/program/decay_track.hpp"

#include <algorithm>
#include <set>

namespace deltaloom::codegen {
namespace {

// steps: the micro-steps that decay, and for each of them one node for every entry of the transition, tokens x cols.
using Steps = std::vector<std::pair<int, std::vector<NodeId>>>;

DecayTrack track(ChunkValues& values, Component const& component, Steps const& steps, Extent cols, int states,
                 std::vector<Value> const& factors) {
    auto& b = values.b;
    DecayTrack t;
    t.micro_steps = static_cast<int>(component.micro.size());
    std::set<std::string> seen;
    for (auto const& v : factors) {
        auto const text = print(values.rule, v);
        if (seen.insert(text).second) t.factor += (t.factor.empty() ? "" : ", ") + text;
    }
    auto const is_log = [&](auto const& step) { return b[step.second[0]].log; };
    bool const log = states == 1 && std::all_of(steps.begin(), steps.end(), is_log);
    for (int entry = 0; entry < states * states; ++entry) {
        // Padding decays nothing: the transition of a row past the end is the identity.
        Rational const unit = entry % (states + 1) == 0 ? 1 : 0;
        std::vector<NodeId> parts;
        for (auto const& [step, entries] : steps) {
            auto const x = entries[entry];
            parts.push_back(values.neutral(log || !b[x].log ? x : b.unlog(x), unit));
        }
        t.rows.push_back(parts.empty() ? b.constant(1, {Extent::tokens(0), cols}) : b.interleave(parts));
    }
    for (auto const& step : steps) t.decaying.push_back(step.first);
    return t;
}

DecayTrack channel_track(ChunkValues& values, Component const& component, DimId dim,
                         std::optional<Value> MicroStep::* decay) {
    Steps steps;
    std::vector<Value> factors;
    for (int j = 0; j < static_cast<int>(component.micro.size()); ++j) {
        auto const& v = component.micro[j].*decay;
        if (!v) continue;
        steps.emplace_back(j, std::vector{values.decay(*v)});
        factors.push_back(*v);
    }
    return track(values, component, steps, Extent::dim(dim), 1, factors);
}

bool is_identity(MicroStep const& micro) {
    for (int s = 0; s < static_cast<int>(micro.mix.size()); ++s) {
        auto const& m = micro.mix[s];
        if (s == micro.target ? !m || !is_one(*m) : m && !m->zero()) return false;
    }
    return true;
}

} // namespace

DecayTrack key_track(ChunkValues& values, Component const& component) {
    return channel_track(values, component, component.col, &MicroStep::key_decay);
}

DecayTrack value_track(ChunkValues& values, Component const& component) {
    return channel_track(values, component, component.row, &MicroStep::value_decay);
}

DecayTrack transition_track(ChunkValues& values, Component const& component) {
    auto const n = static_cast<int>(component.states.size());
    auto const number = [&](int x) { return values.b.constant(x, {Extent::tokens(1), Extent::of(1)}); };
    Steps steps;
    std::vector<Value> factors;
    for (int j = 0; j < static_cast<int>(component.micro.size()); ++j) {
        auto const& micro = component.micro[j];
        if (is_identity(micro)) continue;
        std::vector<NodeId> entries;
        for (int to = 0; to < n; ++to)
            for (int from = 0; from < n; ++from) {
                if (to != micro.target)
                    entries.push_back(number(to == from));
                else
                    entries.push_back(micro.mix[from] ? values.decay(*micro.mix[from]) : number(0));
            }
        steps.emplace_back(j, std::move(entries));
        for (auto const& m : micro.mix) factors.push_back(m ? *m : Value{});
    }
    return track(values, component, steps, Extent::of(1), n, factors);
}

} // namespace deltaloom::codegen
