/* What the engine spends its time in, for WebAssembly with 128-bit SIMD. plain.js has the same functions in JavaScript.
 *
 * Compiled with the PyPI package ziglang; tests/test_viz/test_engine/test_kernel.py compiles it again and compares:
 *
 *     python -m viz.engine.compile
 */
#include <wasm_simd128.h>

#define EXPORT(type, name) __attribute__((export_name(#name))) type name
#ifdef __wasm_relaxed_simd__ /* multiplies and adds in one instruction, where the processor can */
#define MULTIPLY_ADD(a, b, sum) wasm_f32x4_relaxed_madd(a, b, sum)
#else
#define MULTIPLY_ADD(a, b, sum) wasm_f32x4_add(sum, wasm_f32x4_mul(a, b))
#endif
#define LOWEST (-3.4028235e38f)
#define SMALL (-87.0f) /* e^-87 is about the smallest number with all its digits */

static inline float sum_of(v128_t v) {
    return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 1)) +
           (wasm_f32x4_extract_lane(v, 2) + wasm_f32x4_extract_lane(v, 3));
}

#define UNROLL _Pragma("unroll")
#define BLOCK 8 /* outputs whose weights lie together: two registers */

/* Float16 numbers as float32 of 2^-112 times their value: sign, exponent and fraction are put in place, no more. Of each
   32 bits the lower 16, and the upper 16. */
static inline v128_t expand(v128_t upper) {
    return wasm_v128_and(wasm_i32x4_shr(upper, 3), wasm_i32x4_splat(0x8fffe000));
}
static inline v128_t expand_lower(v128_t pairs) { return expand(wasm_i32x4_shl(pairs, 16)); }

static inline void store(float *y, v128_t numbers, const float *bias, int count) {
    if (count >= 4) {
        wasm_v128_store(y, bias ? wasm_f32x4_add(numbers, wasm_v128_load(bias)) : numbers);
        return;
    }
    float all[4];
    wasm_v128_store(all, numbers);
    for (int i = 0; i < count; i++) y[i] = all[i] + (bias ? bias[i] : 0);
}

/* The weights of input I for a block of outputs. */
#define LOAD_FLOATS(I) \
    v128_t first = wasm_v128_load(w + BLOCK * (I)), second = wasm_v128_load(w + BLOCK * (I) + BLOCK / 2)
#define LOAD_HALVES(I) \
    v128_t pairs = wasm_v128_load(w + BLOCK * (I)), first = expand_lower(pairs), second = expand(pairs)

/* Adds the products of one input of each row with its weights, which are loaded once for all of them. */
#define ADD_PRODUCTS(SUMS, N_ROWS, I, LOAD)                            \
    do {                                                               \
        LOAD(I);                                                       \
        UNROLL for (int r = 0; r < N_ROWS; r++) {                      \
            v128_t input = wasm_v128_load32_splat(x + r * n_in + (I)); \
            SUMS[r][0] = MULTIPLY_ADD(first, input, SUMS[r][0]);       \
            SUMS[r][1] = MULTIPLY_ADD(second, input, SUMS[r][1]);      \
        }                                                              \
    } while (0)

/* A block of outputs of N_ROWS rows. N_INPUTS at a time have sums of their own: eight independent additions keep the
   processor busy while each waits for the one before it, and more would not fit its registers. */
#define PRODUCT(N_ROWS, N_INPUTS, LOAD, SCALE)                                                            \
    do {                                                                                                  \
        v128_t sums[N_INPUTS][N_ROWS][2];                                                                 \
        UNROLL for (int n = 0; n < N_INPUTS; n++)                                                         \
            UNROLL for (int r = 0; r < N_ROWS; r++) sums[n][r][0] = sums[n][r][1] = wasm_f32x4_splat(0);  \
        int i = 0;                                                                                        \
        for (; i + N_INPUTS <= n_in; i += N_INPUTS)                                                       \
            UNROLL for (int n = 0; n < N_INPUTS; n++) ADD_PRODUCTS(sums[n], N_ROWS, i + n, LOAD);         \
        for (; i < n_in; i++) ADD_PRODUCTS(sums[0], N_ROWS, i, LOAD);                                     \
        UNROLL for (int r = 0; r < N_ROWS; r++) UNROLL for (int half = 0; half < 2; half++) {             \
            v128_t sum = sums[0][r][half];                                                                \
            UNROLL for (int n = 1; n < N_INPUTS; n++) sum = wasm_f32x4_add(sum, sums[n][r][half]);        \
            sum = wasm_f32x4_mul(sum, wasm_f32x4_splat(SCALE));                                           \
            store(y + r * stride + 4 * half, sum, bias ? bias + 4 * half : 0, n_out - 4 * half);          \
        }                                                                                                 \
        x += N_ROWS * n_in, y += N_ROWS * stride;                                                         \
    } while (0)

/* All rows with one block after the other, which stays in the processor's cache meanwhile. */
#define PRODUCTS(...)                                                     \
    do {                                                                  \
        typeof(x) inputs = x;                                             \
        float *outputs = y;                                               \
        for (; n_out > 0; n_out -= BLOCK, w += BLOCK * n_in, outputs += BLOCK) { \
            int left = rows;                                              \
            x = inputs, y = outputs;                                      \
            for (; left >= 4; left -= 4) PRODUCT(4, 1, __VA_ARGS__);      \
            for (; left >= 2; left -= 2) PRODUCT(2, 2, __VA_ARGS__);      \
            for (; left >= 1; left -= 1) PRODUCT(1, 4, __VA_ARGS__);      \
            bias = bias ? bias + BLOCK : 0;                               \
        }                                                                 \
    } while (0)

/* y = x w^T + bias: x (rows, n_in), rows of y `stride` numbers apart; the bias may be missing (0). Of w (n_out, n_in)
   each block of eight rows, the last one filled up with zeros, lies transposed: (n_in, 8). */
EXPORT(void, multiply)
(float *y, int stride, const float *x, const float *w, const float *bias, int rows, int n_in, int n_out) {
    PRODUCTS(LOAD_FLOATS, 1);
}

static inline void scale(float *x, int n, float factor) {
    for (int i = 0; i < n; i++) x[i] *= factor;
}

/* The same with w in float16, of which twice as many come from memory in the same time; the weights of a block's outputs
   have the order 0 4 1 5 2 6 3 7. What makes up for 2^-112 are x, which is as it was in the end, and y, so that nothing
   becomes too large or too small on the way. */
EXPORT(void, multiply_halves)
(float *y, int stride, float *x, const short *w, const float *bias, int rows, int n_in, int n_out) {
    float *all = x;
    scale(all, rows * n_in, 0x1p100f);
    PRODUCTS(LOAD_HALVES, 0x1p12f);
    scale(all, rows * n_in, 0x1p-100f);
}

/* x += y, n numbers. */
EXPORT(void, add)(float *x, const float *y, int n) {
    int i = 0;
    for (; i + 4 <= n; i += 4) wasm_v128_store(x + i, wasm_f32x4_add(wasm_v128_load(x + i), wasm_v128_load(y + i)));
    for (; i < n; i++) x[i] += y[i];
}

/* x = max(x, 0), n numbers. */
EXPORT(void, rectify)(float *x, int n) {
    int i = 0;
    for (; i + 4 <= n; i += 4) wasm_v128_store(x + i, wasm_f32x4_pmax(wasm_f32x4_splat(0), wasm_v128_load(x + i)));
    for (; i < n; i++) x[i] = x[i] > 0 ? x[i] : 0;
}

/* The sum of x - mean, or of its square. */
static inline float sum_below(const float *x, float mean, int n, int squared) {
    v128_t sums = wasm_f32x4_splat(0), means = wasm_f32x4_splat(mean);
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        v128_t difference = wasm_f32x4_sub(wasm_v128_load(x + i), means);
        sums = squared ? MULTIPLY_ADD(difference, difference, sums) : wasm_f32x4_add(sums, difference);
    }
    float sum = sum_of(sums);
    for (; i < n; i++) sum += squared ? (x[i] - mean) * (x[i] - mean) : x[i] - mean;
    return sum;
}

/* Rows of y (rows, n) are those of x, normed: less the mean, unless `rms`, divided by the deviation, times the weight,
   plus the bias (0: none). y may be x. */
EXPORT(void, normalise)
(float *y, const float *x, const float *weight, const float *bias, int rows, int n, float eps, int rms) {
    for (; rows--; x += n, y += n) {
        float mean = rms ? 0 : sum_below(x, 0, n, 0) / n;
        float factor = 1 / __builtin_sqrtf(sum_below(x, mean, n, 1) / n + eps);
        v128_t means = wasm_f32x4_splat(mean), factors = wasm_f32x4_splat(factor);
        int i = 0;
        for (; i + 4 <= n; i += 4) {
            v128_t standard = wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(x + i), means), factors);
            v128_t scaled = wasm_f32x4_mul(standard, wasm_v128_load(weight + i));
            wasm_v128_store(y + i, bias ? wasm_f32x4_add(scaled, wasm_v128_load(bias + i)) : scaled);
        }
        for (; i < n; i++) y[i] = (x[i] - mean) * factor * weight[i] + (bias ? bias[i] : 0);
    }
}

/* scores (heads, n_keys) = q k^T of one query (heads, d_head); key j lies `offset` numbers after places[j], and has
   `groups` heads, each for heads / groups of the query. */
EXPORT(void, compare)
(float *scores, const float *query, float *const *places, int offset, int n_keys, int heads, int groups, int d_head) {
    for (int key = 0; key < n_keys; key++) {
        const float *k = places[key] + offset, *q = query;
        for (int head = 0, left = heads / groups; head < heads; head++, q += d_head) {
            if (!left--) left = heads / groups - 1, k += d_head;
            v128_t sums = wasm_f32x4_splat(0);
            int i = 0;
            for (; i + 4 <= d_head; i += 4) sums = MULTIPLY_ADD(wasm_v128_load(q + i), wasm_v128_load(k + i), sums);
            float sum = sum_of(sums);
            for (; i < d_head; i++) sum += q[i] * k[i];
            scores[head * n_keys + key] = sum;
        }
    }
}

/* context (heads, d_head) = weights (heads, n_keys) v; value j lies `offset` numbers after places[j]. */
EXPORT(void, mix)
(float *context, const float *weights, float *const *places, int offset, int n_keys, int heads, int groups,
 int d_head) {
    for (int i = 0; i < heads * d_head; i++) context[i] = 0;
    for (int key = 0; key < n_keys; key++) {
        const float *v = places[key] + offset;
        float *y = context;
        for (int head = 0, left = heads / groups; head < heads; head++, y += d_head) {
            if (!left--) left = heads / groups - 1, v += d_head;
            float weight = weights[head * n_keys + key];
            v128_t factor = wasm_f32x4_splat(weight);
            int i = 0;
            for (; i + 4 <= d_head; i += 4)
                wasm_v128_store(y + i, MULTIPLY_ADD(factor, wasm_v128_load(v + i), wasm_v128_load(y + i)));
            for (; i < d_head; i++) y[i] += weight * v[i];
        }
    }
}

/* e^x for x of at most 0, to about 1e-7 of it: 2^n e^r with |r| at most ln(2) / 2, and e^r by its series. */
static inline v128_t exponentials(v128_t x) {
    x = wasm_f32x4_max(x, wasm_f32x4_splat(SMALL));
    v128_t n = wasm_f32x4_nearest(wasm_f32x4_mul(x, wasm_f32x4_splat(1.44269504f)));
    v128_t r = wasm_f32x4_sub(x, wasm_f32x4_mul(n, wasm_f32x4_splat(0.693359375f))); /* ln(2) in two parts */
    r = wasm_f32x4_sub(r, wasm_f32x4_mul(n, wasm_f32x4_splat(-2.12194440e-4f)));
    static const float series[] = {1 / 720.0f, 1 / 120.0f, 1 / 24.0f, 1 / 6.0f, 0.5f, 1, 1};
    v128_t sum = wasm_f32x4_splat(1 / 5040.0f);
    UNROLL for (int i = 0; i < 7; i++) sum = MULTIPLY_ADD(sum, r, wasm_f32x4_splat(series[i]));
    v128_t power = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127)), 23);
    return wasm_f32x4_mul(sum, power);
}

static inline float exponential(float x) { return wasm_f32x4_extract_lane(exponentials(wasm_f32x4_splat(x)), 0); }

static inline float largest(const float *x, int n) {
    v128_t four = wasm_f32x4_splat(-__builtin_inff());
    int i = 0;
    for (; i + 4 <= n; i += 4) four = wasm_f32x4_pmax(four, wasm_v128_load(x + i));
    float most = -__builtin_inff(), all[4];
    wasm_v128_store(all, four);
    for (int lane = 0; lane < 4; lane++) most = all[lane] > most ? all[lane] : most;
    for (; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

/* Each row of x (rows, n) becomes e^x / sum(e^x); a row of -inf only becomes zeros. */
EXPORT(void, softmax)(float *x, int rows, int n) {
    for (; rows--; x += n) {
        float most = largest(x, n);
        v128_t sums = wasm_f32x4_splat(0);
        int i = 0;
        for (; i + 4 <= n; i += 4) {
            v128_t scores = wasm_v128_load(x + i);
            v128_t e = exponentials(wasm_f32x4_sub(scores, wasm_f32x4_splat(most)));
            e = wasm_v128_andnot(e, wasm_f32x4_lt(scores, wasm_f32x4_splat(LOWEST)));
            sums = wasm_f32x4_add(sums, e);
            wasm_v128_store(x + i, e);
        }
        float sum = sum_of(sums);
        for (; i < n; i++) {
            x[i] = x[i] < LOWEST ? 0 : exponential(x[i] - most);
            sum += x[i];
        }
        for (i = 0; i < n; i++) x[i] = sum ? x[i] / sum : 0;
    }
}

/* Of n logits: the largest, m; the sum of e^(x - m); and the sum of e^(x - m) (x - m). */
EXPORT(void, summarise)(float *y, const float *x, int n) {
    float most = largest(x, n);
    v128_t sums = wasm_f32x4_splat(0), products = sums, m = wasm_f32x4_splat(most);
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        v128_t below = wasm_f32x4_max(wasm_f32x4_sub(wasm_v128_load(x + i), m), wasm_f32x4_splat(SMALL));
        v128_t e = exponentials(below);
        sums = wasm_f32x4_add(sums, e);
        products = MULTIPLY_ADD(e, below, products);
    }
    y[0] = most, y[1] = sum_of(sums), y[2] = sum_of(products);
    for (; i < n; i++) {
        float e = exponential(x[i] - most);
        y[1] += e, y[2] += e * (x[i] - most);
    }
}

/* The places of the largest of n numbers, at most `count` of them, the largest first, of equal ones the first; returns
   how many there are. What is not a number is never among them. */
EXPORT(int, find_largest)(int *places, const float *x, int n, int count) {
    int found = 0;
    float least = -__builtin_inff(); /* of the places, once all are taken */
    for (int i = 0; i < n; i++) {
        if (found == count) { /* four numbers that are too small at a time */
            v128_t leasts = wasm_f32x4_splat(least);
            while (i + 4 <= n && !wasm_v128_any_true(wasm_f32x4_gt(wasm_v128_load(x + i), leasts))) i += 4;
            if (i == n) break;
            if (!(x[i] > least)) continue;
        } else if (x[i] != x[i]) {
            continue;
        } else {
            found++;
        }
        int at = found - 1;
        for (; at > 0 && x[i] > x[places[at - 1]]; at--) places[at] = places[at - 1];
        places[at] = i;
        if (found == count) least = x[places[count - 1]];
    }
    return found;
}
