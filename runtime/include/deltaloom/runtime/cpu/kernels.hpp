#pragma once
// What one instruction set's object file offers of a rule: its forms as plain function pointers, found by scalar, form
// and direction.
#include <deltaloom/runtime/abi/deltaloom.h>
#include <deltaloom/runtime/sequence.hpp>

namespace deltaloom::runtime {

struct kernel {
    index (*scratch)(sequence const&) = nullptr;        // elements of the compute scalar that `run` takes
    void (*run)(sequence const&, void* room) = nullptr; // room: aligned to 64 bytes
    DELTALOOM_INLINE explicit operator bool() const { return run != nullptr; }
};

inline constexpr int kernel_scalars = 2; // float32, float64: the compute scalars of the CPU
inline constexpr int kernel_forms = 4;   // step, recurrent, chunked (parallel is chunked with one chunk), summary

struct kernel_table {
    kernel of[kernel_scalars][kernel_forms][2]; // [scalar][form][direction]
    kernel apply[kernel_scalars][2];            // a segment's map to the states before it; its adjoint
};

} // namespace deltaloom::runtime
