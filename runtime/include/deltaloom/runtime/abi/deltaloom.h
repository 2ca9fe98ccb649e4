/* The C ABI of a generated library: plain C99. A library describes itself; adapters learn operands, dimensions, domains
   and forms from it. Extents, strides and counts are in elements. Scale is 1: a rule computes exactly its line.
   The layout of these structs is frozen with DL_ABI_VERSION. */
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
enum dl_flag {
    DL_CHECK_VALUES = 1,     /* NaN, a positive log gate, a non-finite linear gate: DL_BAD_VALUE, nothing written */
    DL_STATE_TRANSPOSED = 2, /* matrix states, their gradients and snapshots lie with the other axis first (dk x dv) */
    DL_CHUNK_STATES = 4      /* state_snapshots are the states before each chunk: forward writes, backward reads them */
};
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
    char const* const* dims; /* a feature map's result has a dimension whose name is its formula, and comes after what
                                it is made of: "dpfp_dim<2, dk>" is 2 * 2 * dk, "taylor2_dim<dk>" is 1 + dk + dk * dk */
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
    int64_t dim[8];         /* in the order of dl_rule::dims, those of feature maps too */
    int64_t const* offsets; /* sequences + 1 of them (cu_seqlens), batch = 1; or NULL */
    int64_t sequences;
    /* operand_count each; states' entries are unused. An output's gradient is the incoming one. A gradient whose data
       is NULL is zero (incoming) or not wanted (outgoing): never stored, and where a call wants none, nothing is
       computed; the gradients of one kernel share most of their work, so leaving out a few saves little more than their
       stores. */
    struct dl_tensor *operand, *gradient;
    struct dl_tensor *state_in, *state_out, *state_in_gradient, *state_out_gradient,
        *state_snapshots; /* one per state, in order; the array or its data NULL: absent, a state_in of zeros. state_out
                             may be state_in: it advances in place */
    int64_t snapshots;    /* slots along the token axis of state_snapshots: of the last n states, slot 0 the newest, or,
                             with DL_CHUNK_STATES, one for each chunk, in order */
    uint32_t chunk;       /* one of dl_rule::chunks; 0: chosen by the library */
    uint32_t flags;       /* of dl_flag */
    void* workspace;      /* of dl_workspace's bytes or more, at any address */
    size_t workspace_bytes;
    /* The host's own threads: calls body(context, i) once for each i in 0 .. n-1, in any order, on any threads, and
       returns when all have. NULL: a pool of the library's own, where threads > 1. */
    void (*parallel_for)(void* host, int64_t n, void (*body)(void*, int64_t), void* context);
    void* host;
    int threads;  /* how many bodies there may be; 0 is 1. The same bits for every number */
    void* stream; /* CUDA only */
};
#define DL_NONE 0xffffffffu /* no operand, no axis */
struct dl_status {
    uint32_t code;    /* of dl_code; what the call returned */
    uint32_t operand; /* index into dl_rule::operands of the one that is wrong, or DL_NONE */
    uint32_t axis; /* its axis, as in dl_tensor::stride (0 batch, 1 token, 2 head, 3.. trailing); of dim: which one */
    char message[240];
};

#ifdef __cplusplus
}
#endif
#endif
