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

/* Four float16 numbers as float32 of 2^-112 times their value: one shift puts sign, exponent and fraction in place. */
static inline v128_t load_halves(const short *w) {
    return wasm_v128_and(wasm_i32x4_shl(wasm_i32x4_load16x4(w), 13), wasm_i32x4_splat(0x8fffe000));
}

static inline float half(short w) {
    union { unsigned bits; float value; } number = {(unsigned)((int)w << 13) & 0x8fffe000};
    return number.value;
}

static inline v128_t load_floats(const float *w) { return wasm_v128_load(w); }
static inline float number(float w) { return w; }

/* N_ROWS x N_OUT numbers of a product: what is loaded serves several of them. */
#define PRODUCT(N_ROWS, N_OUT, LOAD, NUMBER, SCALE)                                                       \
    do {                                                                                                  \
        v128_t sums[N_ROWS][N_OUT];                                                                       \
        for (int r = 0; r < N_ROWS; r++)                                                                  \
            for (int o = 0; o < N_OUT; o++) sums[r][o] = wasm_f32x4_splat(0);                             \
        int i = 0;                                                                                        \
        for (; i + 4 <= n_in; i += 4) {                                                                   \
            v128_t weights[N_OUT];                                                                        \
            for (int o = 0; o < N_OUT; o++) weights[o] = LOAD(w + (out + o) * n_in + i);                  \
            for (int r = 0; r < N_ROWS; r++) {                                                            \
                v128_t input = wasm_v128_load(x + (row + r) * n_in + i);                                  \
                for (int o = 0; o < N_OUT; o++) sums[r][o] = MULTIPLY_ADD(input, weights[o], sums[r][o]); \
            }                                                                                             \
        }                                                                                                 \
        for (int r = 0; r < N_ROWS; r++)                                                                  \
            for (int o = 0; o < N_OUT; o++) {                                                             \
                float sum = sum_of(sums[r][o]);                                                           \
                for (int j = i; j < n_in; j++)                                                            \
                    sum += x[(row + r) * n_in + j] * NUMBER(w[(out + o) * n_in + j]);                     \
                y[(row + r) * stride + out + o] = SCALE * sum + (bias ? bias[out + o] : 0);               \
            }                                                                                             \
    } while (0)

/* Numbers of rows and columns of a product that were fastest. */
#define PRODUCTS(...)                                                    \
    do {                                                                 \
        int row = 0, out;                                                         \
        for (; row + 4 <= rows; row += 4) {                              \
            for (out = 0; out + 2 <= n_out; out += 2) PRODUCT(4, 2, __VA_ARGS__); \
            for (; out < n_out; out++) PRODUCT(4, 1, __VA_ARGS__);       \
        }                                                                \
        for (; row + 2 <= rows; row += 2) {                              \
            for (out = 0; out + 4 <= n_out; out += 4) PRODUCT(2, 4, __VA_ARGS__); \
            for (; out < n_out; out++) PRODUCT(2, 1, __VA_ARGS__);       \
        }                                                                \
        for (; row < rows; row++) {                                      \
            for (out = 0; out + 2 <= n_out; out += 2) PRODUCT(1, 2, __VA_ARGS__); \
            for (; out < n_out; out++) PRODUCT(1, 1, __VA_ARGS__);       \
        }                                                                \
    } while (0)

/* y = x w^T + bias: x (rows, n_in), w (n_out, n_in), rows of y `stride` numbers apart; the bias may be missing (0). */
EXPORT(void, multiply)
(float *y, int stride, const float *x, const float *w, const float *bias, int rows, int n_in, int n_out) {
    PRODUCTS(load_floats, number, 1);
}

static inline void scale(float *x, int n, float factor) {
    for (int i = 0; i < n; i++) x[i] *= factor;
}

/* The same with w in float16, of which twice as many come from memory in the same time. What makes up for 2^-112 are x,
   which is as it was in the end, and y, so that nothing becomes too large or too small on the way. */
EXPORT(void, multiply_halves)
(float *y, int stride, float *x, const short *w, const float *bias, int rows, int n_in, int n_out) {
    scale(x, rows * n_in, 0x1p100f);
    PRODUCTS(load_halves, half, 0x1p12f);
    scale(x, rows * n_in, 0x1p-100f);
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
    for (int i = 0; i < 7; i++) sum = MULTIPLY_ADD(sum, r, wasm_f32x4_splat(series[i]));
    v128_t power = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127)), 23);
    return wasm_f32x4_mul(sum, power);
}

static inline float exponential(float x) { return wasm_f32x4_extract_lane(exponentials(wasm_f32x4_splat(x)), 0); }

static inline float largest(const float *x, int n) {
    float most = -__builtin_inff();
    for (int i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

/* Each row of x (rows, n) becomes e^x / sum(e^x); a row of -inf only becomes zeros. */
EXPORT(void, softmax)(float *x, int rows, int n) {
    for (; rows--; x += n) {
        float most = largest(x, n), sum = 0;
        for (int i = 0; i < n; i++) {
            x[i] = x[i] < LOWEST ? 0 : exponential(x[i] - most);
            sum += x[i];
        }
        for (int i = 0; i < n; i++) x[i] = sum ? x[i] / sum : 0;
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
