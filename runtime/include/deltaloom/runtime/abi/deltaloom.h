/* The C ABI of a generated library: plain C99. A library describes itself; adapters learn operands, dimensions, domains
   and forms from it. Extents, strides and counts are in elements. Scale is 1: a rule computes exactly its line. */
#ifndef DELTALOOM_ABI_H
#define DELTALOOM_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DL_ABI_VERSION 1u

enum dl_kind { DL_INPUT = 0, DL_GATE = 1, DL_PARAMETER = 2, DL_STATE = 3, DL_OUTPUT = 4 };
enum dl_domain { DL_REAL = 0, DL_LINEAR = 1, DL_LOG = 2 }; /* LOG: values in [-inf, 0] */
enum dl_scalar { DL_F32 = 0, DL_F64 = 1, DL_BF16 = 2, DL_F16 = 3, DL_EXACT = 15 /* the prime field: proofs only */ };
enum dl_form { DL_CHOOSE = 0, DL_STEP = 1, DL_RECURRENT = 2, DL_CHUNKED = 3, DL_PARALLEL = 4, DL_SUMMARY = 5 };
enum dl_varies { DL_PER_TOKEN = 0, DL_PER_HEAD = 1, DL_PER_SEQUENCE = 2 };
enum dl_code { DL_OK = 0, DL_BAD_FIELD = 1, DL_BAD_OPERAND = 2, DL_WORKSPACE = 3, DL_NO_FORM = 4, DL_BAD_VALUE = 5 };

struct dl_operand {
    uint32_t struct_size;
    char const* name;
    uint32_t kind, domain, rank;
    char const*
        dims[4]; /* names of the trailing axes: a step axis ("2 steps") first, then "dk", "dv", the user's own */
    uint32_t varies;
};
struct dl_rule {
    uint32_t struct_size, abi_version;
    char const *name, *equation;
    uint32_t dim_count;
    char const* const* dims;
    int64_t const* fixed_extent; /* 0: the caller's */
    uint32_t operand_count;
    const struct dl_operand* operands; /* in the order of first use; hidden states last */
    uint32_t forms;                    /* bit 1 << dl_form */
    uint32_t directions;               /* bit 0 forward, bit 1 backward */
    uint32_t scalars, state_scalars;   /* bit 1 << dl_scalar */
    uint32_t const* chunks;            /* 0-terminated */
    char const* const* missing;        /* indexed by dl_form: why it is not there, or NULL */
    void const* implementation;        /* the library's own */
};
struct dl_tensor {
    void* data;
    int64_t stride[6]; /* batch (or sequence, for states), token, head, then the trailing axes; 0 = broadcast, inputs
                          only */
    uint32_t scalar, heads;
};
struct dl_call {
    uint32_t struct_size, abi_version;
    uint32_t form; /* DL_CHOOSE: by the library */
    int64_t batch, tokens, value_heads;
    int64_t dim[8];         /* in the order of dl_rule::dims */
    int64_t const* offsets; /* sequences + 1 of them (cu_seqlens), batch = 1; or NULL */
    int64_t sequences;
    struct dl_tensor *operand,
        *gradient; /* operand_count each; an output's gradient is the incoming one; states' entries are unused */
    struct dl_tensor *state_in, *state_out, *state_in_gradient, *state_out_gradient,
        *state_snapshots; /* one per state, in order; data NULL: absent */
    int64_t snapshots;
    uint32_t chunk, flags;
    void* workspace;
    size_t workspace_bytes;
    void (*parallel_for)(void* host, int64_t n, void (*body)(void*, int64_t), void* context);
    void* host;
    int threads;
    void* stream;
};
struct dl_status {
    uint32_t code, operand, axis;
    char message[240];
};

#ifdef __cplusplus
}
#endif
#endif
