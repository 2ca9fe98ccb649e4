/* Plain C99 against a generated library: it describes itself, computes, and names what is wrong. */
#include <contract_rules/delta.h>
#include <contract_rules/gated_delta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dl_tensor tensor(float *data, int64_t tokens, int64_t extent) {
    struct dl_tensor t;
    memset(&t, 0, sizeof t);
    t.data = data;
    t.scalar = DL_F32;
    t.heads = 1;
    t.stride[3] = 1;
    t.stride[2] = extent;
    t.stride[1] = extent;
    t.stride[0] = tokens * extent;
    return t;
}

int main(void) {
    /* Two pairs, written one after the other and read back: S = (5,2) (1,0)^T + (3,7) (0,1)^T. */
    float k[] = {1, 0, 0, 1}, v[] = {5, 2, 3, 7}, q[] = {1, 0, 1, 1}, beta[] = {1, 1}, o[4], S[4];
    const struct dl_rule *r = dl_rule_named("delta");
    struct dl_tensor *operand, state;
    struct dl_call call;
    struct dl_status status;
    size_t bytes = 0;
    uint32_t i;
    if (!r || strcmp(r->name, "delta") != 0 || r != contract_rules_rule_named("delta")) return 1;
    operand = calloc(r->operand_count, sizeof *operand);
    for (i = 0; i < r->operand_count; ++i) {
        const char *name = r->operands[i].name;
        if (!strcmp(name, "k")) operand[i] = tensor(k, 2, 2);
        if (!strcmp(name, "v")) operand[i] = tensor(v, 2, 2);
        if (!strcmp(name, "q")) operand[i] = tensor(q, 2, 2);
        if (!strcmp(name, "o")) operand[i] = tensor(o, 2, 2);
        if (!strcmp(name, "beta")) operand[i] = tensor(beta, 2, 1);
    }
    memset(&call, 0, sizeof call);
    memset(&status, 0, sizeof status);
    if (dl_workspace(r, &call, &bytes, &status) == 0 || !strstr(status.message, "struct_size")) return 2;
    call.struct_size = sizeof call;
    call.abi_version = DL_ABI_VERSION;
    call.batch = 1;
    call.tokens = 2;
    call.value_heads = 1;
    call.dim[0] = call.dim[1] = 2;
    call.operand = operand;
    state = tensor(S, 1, 4);
    state.stride[3] = 2;
    state.stride[4] = 1;
    call.state_out = &state;
    if (dl_workspace(r, &call, &bytes, &status)) return 3;
    call.workspace = malloc(bytes);
    call.workspace_bytes = bytes;
    if (dl_forward(r, &call, &status)) return 4;
    if (o[0] != 5 || o[1] != 2 || o[2] != 8 || o[3] != 9) return 5;
    if (S[0] != 5 || S[1] != 3 || S[2] != 2 || S[3] != 7) return 6;
    call.tokens = -1;
    if (dl_forward(r, &call, &status) != DL_BAD_FIELD || !strstr(status.message, "tokens")) return 7;
    printf("%u rules, %s: %g %g\n", dl_rule_count(), r->equation, (double)o[2], (double)o[3]);
    free(call.workspace);
    free(operand);
    return 0;
}
