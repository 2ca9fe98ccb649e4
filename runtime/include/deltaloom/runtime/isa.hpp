#pragma once
// One source, compiled once per instruction set: everything a kernel calls stands in the inline namespace of its level,
// so that the linker never hands one level's function to another. For the same reason operations use no inline function
// of std.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define DELTALOOM_ISA v4
#define DELTALOOM_VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define DELTALOOM_ISA v3
#define DELTALOOM_VECTOR_BYTES 32
#else
#define DELTALOOM_ISA base
#define DELTALOOM_VECTOR_BYTES 16
#endif
// A C symbol of this level: DELTALOOM_SYMBOL(memory_delta_kernels, DELTALOOM_ISA) is memory_delta_kernels_v4.
#define DELTALOOM_SYMBOL_OF(name, isa) name##_##isa
#define DELTALOOM_SYMBOL(name, isa) DELTALOOM_SYMBOL_OF(name, isa)
