#pragma once
// One source, compiled once per instruction set: everything a kernel calls stands in the inline namespace of its level,
// so that the linker never hands one level's function to another. For the same reason operations use no inline function
// of std. The namespaces carry the library's name too, so that two libraries in one program share no function: an
// emitted source defines DELTALOOM_LIBRARY before it includes anything.
#ifndef DELTALOOM_LIBRARY
#define DELTALOOM_LIBRARY any
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define DELTALOOM_LEVEL v4
#define DELTALOOM_VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define DELTALOOM_LEVEL v3
#define DELTALOOM_VECTOR_BYTES 32
#else
#define DELTALOOM_LEVEL base
#define DELTALOOM_VECTOR_BYTES 16
#endif
// A C symbol of this level: DELTALOOM_SYMBOL(memory_delta_kernels, DELTALOOM_LEVEL) is memory_delta_kernels_v4.
#define DELTALOOM_SYMBOL_OF(name, suffix) name##_##suffix
#define DELTALOOM_SYMBOL(name, suffix) DELTALOOM_SYMBOL_OF(name, suffix)
// The inline namespaces of what runs on a level (memory_v4), and of what calls it (memory_host).
#define DELTALOOM_ISA DELTALOOM_SYMBOL(DELTALOOM_LIBRARY, DELTALOOM_LEVEL)
#define DELTALOOM_HOST DELTALOOM_SYMBOL(DELTALOOM_LIBRARY, host)
// Functions that stand outside those namespaces leave no symbol behind.
#define DELTALOOM_INLINE inline __attribute__((always_inline))
