#include "codegen/check/segments.hpp"

#include "deltaloom/runtime/cpu/segments.hpp"

namespace deltaloom::codegen {

using runtime::field;
using runtime::index;

void run_segments(Compiled const& compiled, Direction direction, runtime::sequence const& s, index length,
                  InScratch const& in_scratch) {
    auto const& derived = compiled.rule().derived;
    auto const& rule = derived.rule;
    bool const backward = direction == Direction::backward;
    auto const extent = [&](DimId d) { return d == one ? 1 : s.dim[d]; };
    std::vector<runtime::segment_state> states;
    index entries = 0, factors = 0;
    auto const widths = factor_dims(derived);
    for (OperandId id : rule.with_role(Role::state)) {
        auto const& shape = rule.operands[std::size_t(id)].shape;
        auto const& one_ = states.emplace_back(
            runtime::segment_state{extent(shape.rows), extent(shape.cols), extent(widths.at(states.size()))});
        entries += one_.rows * one_.cols, factors += one_.width * one_.width;
    }
    auto const text = [&](int form, Direction d) { return compiled.text(form, d); };
    runtime::segment_kernels const kernels{text(3, Direction::forward),  compiled.apply(Direction::forward),
                                           text(3, Direction::backward), compiled.apply(Direction::backward),
                                           text(2, Direction::forward),  text(2, Direction::backward)};
    runtime::segments all;
    all.whole = s;
    all.operands = index(rule.operands.size()), all.states = index(states.size()), all.state = states.data();
    all.length = length, all.scalar = DL_EXACT, all.both = backward;
    // Fresh memory holds rubbish, so that what a stage does not write is seen.
    auto const rubbish = [](index n) {
        return std::vector<field>(std::size_t(n), field::from_element(0x123456789abcdu));
    };
    auto left = rubbish(runtime::segments::elements(all.count(), entries, factors, backward) + 1);
    all.memory = reinterpret_cast<char*>(left.data());
    // A parameter's gradient is the sum of all segments', as the driver's is of what each leaves.
    std::vector<runtime::strided> adding(s.gradient, s.gradient + all.operands);
    for (OperandId id : rule.with_role(Role::parameter)) adding[std::size_t(id)].accumulate = true;
    auto const stage = [&](runtime::segment_stage which) {
        for (index i = 0; i < (runtime::side_by_side(which) ? all.count() : 1); ++i) {
            std::vector<runtime::strided> table(std::size_t(runtime::segments::table_size(all.operands, all.states)));
            all.whole.gradient = i == 0 ? s.gradient : adding.data();
            in_scratch(kernels.scratch(s, backward),
                       [&](void* room) { all.run(which, i, kernels, table.data(), room); });
        }
    };
    if (backward)
        for (auto which : runtime::backward_stages) stage(which);
    else
        for (auto which : runtime::forward_stages) stage(which);
}

} // namespace deltaloom::codegen
