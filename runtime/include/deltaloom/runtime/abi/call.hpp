#pragma once
// C++ over the C ABI: tensors from pointers, errors as exceptions. The typed header of a rule, <LIB/NAME.hpp>, is
// written in these.
#include <deltaloom/runtime/abi/deltaloom.h>
#include <deltaloom/runtime/abi/short_floats.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace deltaloom {

// A refused call: what() is the sentence of the status, operand and axis say where (~0u: no operand).
struct error : std::runtime_error {
    dl_status status;
    explicit error(dl_status const& s) : std::runtime_error(s.message), status(s) {}
};

// The scalar of a tensor of T. For a type of one's own with the bits of one of these:
//     template<> inline constexpr std::uint32_t deltaloom::scalar_of<my::half> = DL_F16;
inline constexpr std::uint32_t no_scalar = ~0u;
template<class T> inline constexpr std::uint32_t scalar_of = no_scalar;
template<> inline constexpr std::uint32_t scalar_of<float> = DL_F32;
template<> inline constexpr std::uint32_t scalar_of<double> = DL_F64;
template<> inline constexpr std::uint32_t scalar_of<bfloat16> = DL_BF16;
template<> inline constexpr std::uint32_t scalar_of<float16> = DL_F16;

namespace abi {
template<class T> dl_tensor described(T const* data, std::int64_t heads) {
    constexpr auto scalar = scalar_of<std::remove_const_t<T>>;
    static_assert(scalar != no_scalar,
                  "a tensor holds float, double, deltaloom::bfloat16 or deltaloom::float16; see deltaloom::scalar_of");
    constexpr std::size_t bytes[] = {4, 8, 2, 2};
    static_assert(scalar == no_scalar || sizeof(T) == bytes[scalar & 3],
                  "deltaloom::scalar_of: a scalar of other bytes");
    dl_tensor t{};
    t.data = const_cast<T*>(data);
    t.scalar = scalar;
    t.heads = std::uint32_t(heads);
    return t;
}
// Row-major trailing axes from stride[3] on; returns the entries of one head.
inline std::int64_t trailing(dl_tensor& t, std::initializer_list<std::int64_t> axes) {
    std::int64_t step = 1, a = std::int64_t(axes.size());
    for (auto extent = axes.end(); extent != axes.begin(); step *= *--extent) t.stride[3 + --a] = step;
    return step;
}
} // namespace abi

// A contiguous [batch, tokens, heads, axes...]: inputs, gates, outputs and their gradients. A scalar operand has no
// axes. States kept on the way are [sequences, snapshots, heads, axes...]: snapshots in place of tokens.
template<class T>
dl_tensor tensor(T* data, std::int64_t tokens, std::int64_t heads, std::initializer_list<std::int64_t> axes = {}) {
    auto t = abi::described(data, heads);
    t.stride[2] = abi::trailing(t, axes);
    t.stride[1] = heads * t.stride[2];
    t.stride[0] = tokens * t.stride[1];
    return t;
}
// A contiguous [sequences, heads, axes...]: states and their gradients. With DL_STATE_TRANSPOSED the axes are the other
// way round: {dk, dv}.
template<class T> dl_tensor state(T* data, std::int64_t heads, std::initializer_list<std::int64_t> axes) {
    auto t = abi::described(data, heads);
    t.stride[2] = abi::trailing(t, axes);
    t.stride[0] = heads * t.stride[2];
    return t;
}
// A contiguous [heads, axes...]: parameters and their gradients.
template<class T> dl_tensor parameter(T* data, std::int64_t heads, std::initializer_list<std::int64_t> axes = {}) {
    auto t = abi::described(data, heads);
    t.stride[2] = abi::trailing(t, axes);
    return t;
}

namespace abi {
// Runs one of the library's calls on a workspace of the caller's, or on one of its own where the caller brings none.
template<class Workspace, class Run> void run(dl_rule const* rule, dl_call call, Workspace workspace, Run f) {
    dl_status status{};
    std::unique_ptr<std::byte[]> own;
    if (!call.workspace) {
        if (workspace(rule, &call, &call.workspace_bytes, &status)) throw error(status);
        own.reset(new std::byte[call.workspace_bytes]);
        call.workspace = own.get();
    }
    if (f(rule, &call, &status)) throw error(status);
}
} // namespace abi

} // namespace deltaloom
