#include "trainer.hpp"

#include "layers.hpp"
#include "threads.hpp"

#include <chrono>
#include <cmath>
#include <limits>

namespace lm {

Progress first_progress(Model const& model) {
    Progress p;
    p.parameters = model.initial_parameters();
    p.moments.first.resize(model.offsets.count), p.moments.second.resize(model.offsets.count);
    if (model.settings.carry) p.state.resize(model.state.count * std::size_t(model.settings.batch));
    return p;
}

Trainer::Trainer(Model const& model, int threads)
    : model_(model),
      threads_(threads),
      sequences_(model.settings.batch / model.settings.shares),
      gradient_(model.offsets.count) {
    for (int i = 0; i < model.settings.shares; ++i)
        shares_.push_back(std::make_unique<Share>(
            Share{Pass<float>(model, sequences_, model.settings.length, true), std::vector<float>(gradient_.size())}));
}

Record Trainer::step(Progress& p, Data const& data) {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    auto const& s = model_.settings;
    Batch const batch = training_batch(data, s, p.step);
    float const weight = 1.0f / float(s.batch * s.length);
    std::vector<float> next(p.state.size());
    in_parallel(int(shares_.size()), threads_, [&](int i) {
        Share& share = *shares_[std::size_t(i)];
        std::size_t const rows = std::size_t(sequences_ * s.length), first = std::size_t(i) * rows;
        std::size_t const state = std::size_t(i * sequences_) * model_.state.count;
        float const* const before = s.carry && !batch.starts ? p.state.data() + state : nullptr;
        float* const after = s.carry ? next.data() + state : nullptr;
        forward(model_, p.parameters.data(), &batch.tokens[first], before, after, share.pass);
        share.loss = double(cross_entropy(share.pass.logits, &batch.targets[first], int(rows), lm::bytes));
        std::fill(share.gradient.begin(), share.gradient.end(), 0.0f);
        backward(model_, p.parameters.data(), &batch.tokens[first], &batch.targets[first], before, weight, share.pass,
                 share.gradient.data());
    });
    double loss = 0;
    for (auto const& share : shares_) loss += share->loss;
    Record record{p.step, loss / double(s.batch * s.length), learning_rate(s, p.step), 0,
                  std::numeric_limits<double>::quiet_NaN()};
    constexpr int pieces = 64;
    in_parallel(pieces, threads_, [&](int piece) {
        std::size_t const from = gradient_.size() * std::size_t(piece) / pieces,
                          to = gradient_.size() * std::size_t(piece + 1) / pieces;
        std::copy(shares_[0]->gradient.begin() + std::ptrdiff_t(from),
                  shares_[0]->gradient.begin() + std::ptrdiff_t(to), gradient_.begin() + std::ptrdiff_t(from));
        for (std::size_t k = 1; k < shares_.size(); ++k)
            for (std::size_t i = from; i < to; ++i) gradient_[i] += shares_[k]->gradient[i];
    });
    if (!std::isfinite(record.loss)) return record;
    auto const gradients_done = clock::now();
    record.norm = update(model_, p.parameters, p.moments, gradient_, p.step, threads_);
    p.state = std::move(next);
    ++p.step;
    auto const end = clock::now();
    optimiser_seconds += std::chrono::duration<double>(end - gradients_done).count();
    seconds += std::chrono::duration<double>(end - begin).count();
    return record;
}

Profile Trainer::profile() const {
    Profile all;
    for (auto const& share : shares_)
        for (std::size_t i = 0; i < all.seconds.size(); ++i) all.seconds[i] += share->pass.profile.seconds[i];
    return all;
}
std::size_t Trainer::bytes() const {
    std::size_t total = 0;
    for (auto const& share : shares_) total += share->pass.bytes();
    return total;
}

} // namespace lm
