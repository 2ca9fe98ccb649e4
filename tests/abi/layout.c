/* The layout of the ABI's structs, frozen with its version: a host compiled against one header of version 1 works with
   every library of version 1. Plain C99. */
#include <deltaloom/runtime/abi/deltaloom.h>
#include <stdio.h>

#define HOLDS(name, condition) typedef char name[(condition) ? 1 : -1]
#define AT(type, field, place) HOLDS(type##_##field##_at_##place, offsetof(struct type, field) == (place))
#define SIZE(type, size) HOLDS(type##_of_##size, sizeof(struct type) == (size))

HOLDS(version, DL_ABI_VERSION == 1);
HOLDS(pointers, sizeof(void *) == 8 && sizeof(size_t) == 8 && sizeof(int) == 4);

AT(dl_operand, struct_size, 0);
AT(dl_operand, name, 8);
AT(dl_operand, kind, 16);
AT(dl_operand, domain, 20);
AT(dl_operand, rank, 24);
AT(dl_operand, dims, 32);
AT(dl_operand, varies, 64);
SIZE(dl_operand, 72);

AT(dl_rule, struct_size, 0);
AT(dl_rule, abi_version, 4);
AT(dl_rule, name, 8);
AT(dl_rule, equation, 16);
AT(dl_rule, dim_count, 24);
AT(dl_rule, dims, 32);
AT(dl_rule, fixed_extent, 40);
AT(dl_rule, operand_count, 48);
AT(dl_rule, operands, 56);
AT(dl_rule, forms, 64);
AT(dl_rule, directions, 68);
AT(dl_rule, scalars, 72);
AT(dl_rule, state_scalars, 76);
AT(dl_rule, chunks, 80);
AT(dl_rule, missing, 88);
AT(dl_rule, implementation, 96);
SIZE(dl_rule, 104);

AT(dl_tensor, data, 0);
AT(dl_tensor, stride, 8);
AT(dl_tensor, scalar, 56);
AT(dl_tensor, heads, 60);
SIZE(dl_tensor, 64);

AT(dl_call, struct_size, 0);
AT(dl_call, abi_version, 4);
AT(dl_call, form, 8);
AT(dl_call, batch, 16);
AT(dl_call, tokens, 24);
AT(dl_call, value_heads, 32);
AT(dl_call, dim, 40);
AT(dl_call, offsets, 104);
AT(dl_call, sequences, 112);
AT(dl_call, operand, 120);
AT(dl_call, gradient, 128);
AT(dl_call, state_in, 136);
AT(dl_call, state_out, 144);
AT(dl_call, state_in_gradient, 152);
AT(dl_call, state_out_gradient, 160);
AT(dl_call, state_snapshots, 168);
AT(dl_call, snapshots, 176);
AT(dl_call, chunk, 184);
AT(dl_call, flags, 188);
AT(dl_call, workspace, 192);
AT(dl_call, workspace_bytes, 200);
AT(dl_call, parallel_for, 208);
AT(dl_call, host, 216);
AT(dl_call, threads, 224);
AT(dl_call, stream, 232);
SIZE(dl_call, 240);

AT(dl_status, code, 0);
AT(dl_status, operand, 4);
AT(dl_status, axis, 8);
AT(dl_status, message, 12);
SIZE(dl_status, 252);

HOLDS(kinds, DL_INPUT == 0 && DL_GATE == 1 && DL_PARAMETER == 2 && DL_STATE == 3 && DL_OUTPUT == 4);
HOLDS(domains, DL_REAL == 0 && DL_LINEAR == 1 && DL_LOG == 2);
HOLDS(scalars, DL_F32 == 0 && DL_F64 == 1 && DL_BF16 == 2 && DL_F16 == 3);
HOLDS(forms, DL_CHOOSE == 0 && DL_STEP == 1 && DL_RECURRENT == 2 && DL_CHUNKED == 3 && DL_PARALLEL == 4 && DL_SUMMARY == 5);
HOLDS(flags, DL_CHECK_VALUES == 1 && DL_STATE_TRANSPOSED == 2 && DL_CHUNK_STATES == 4);
HOLDS(varying, DL_PER_TOKEN == 0 && DL_PER_HEAD == 1 && DL_PER_SEQUENCE == 2);
HOLDS(codes, DL_OK == 0 && DL_BAD_FIELD == 1 && DL_BAD_OPERAND == 2 && DL_WORKSPACE == 3 && DL_NO_FORM == 4 &&
                 DL_BAD_VALUE == 5);

int main(void) {
    printf("ABI version %u: struct dl_call of %u bytes\n", DL_ABI_VERSION, (unsigned)sizeof(struct dl_call));
    return 0;
}
