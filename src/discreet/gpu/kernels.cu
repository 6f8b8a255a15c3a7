// The loops of discreet.kernels that take longest, for an NVIDIA card: the same whole numbers, bit for bit.
//
// NVRTC compiles this text when it is first needed; tests compile the same text as C++ and run it on a processor. So no
// header is included, shared memory has a fixed size, and what a block shares is only written between two barriers.
// Floating-point sums are added in the order of the compiled kernels, and products are never fused with sums
// (--fmad=false): they round as there.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define THREADS 256   // of a block, for all kernels
#define ITEMS 8       // items that a thread counts for
#define CELLS 4096    // cells of a table, or of a histogram, that a block keeps nearby
#define FEW 16        // buckets whose sums a block keeps nearby

// What the words of a report are: a seed and a bucket, a seed and a point of the wheel, a seed and a window.
#define OLH 0
#define WHEEL 1
#define WINDOW 2

// ---------------------------------------------------------------------------------------------- hashes and random words

static __device__ __forceinline__ u32 mixed(u32 value) {
    value = (value ^ (value >> 16)) * 0x21F0AAADu;
    value = (value ^ (value >> 15)) * 0xD35A2D97u;
    return value ^ (value >> 15);
}

static __device__ __forceinline__ u32 hashed(u32 item, u32 first, u32 second) { return mixed(item * first + second); }

// Published seeds, by number: numbers are below 2^31, so twice a number fits.
static __device__ __forceinline__ u32 first_of(u32 number) { return mixed(2u * number + 0x9E3779B9u) | 1u; }

static __device__ __forceinline__ u32 second_of(u32 number) { return mixed(2u * number + 1u + 0x9E3779B9u); }

static __device__ __forceinline__ u64 scrambled(u64 value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

// The words of one person: the low half of 64 bits first.
struct Stream {
    u64 state;
    u32 left;
    bool half;
};

static __device__ __forceinline__ Stream begun(u64 seed, i64 person) {
    Stream stream;
    stream.state = scrambled(scrambled(seed) + (u64)person * 0x9E3779B97F4A7C15ull);
    stream.left = 0u;
    stream.half = false;
    return stream;
}

static __device__ __forceinline__ u32 word(Stream &stream) {
    if (stream.half) {
        stream.half = false;
        return stream.left;
    }
    stream.state += 0x9E3779B97F4A7C15ull;
    u64 drawn = scrambled(stream.state);
    stream.left = (u32)(drawn >> 32);
    stream.half = true;
    return (u32)drawn;
}

static __device__ i64 below(Stream &stream, i64 bound) {
    if (bound <= 1) return 0;
    u64 size = (u64)bound;
    u64 limit = 0x100000000ull - 0x100000000ull % size;
    while (true) {
        u64 drawn = word(stream);
        if (drawn < limit) return (i64)(drawn % size);
    }
}

static __device__ i64 place(Stream &stream, u64 weight, i64 inside, i64 outside) {
    u64 low = word(stream);
    u64 drawn = low + ((u64)word(stream) << 32);
    u64 mass = weight * (u64)inside;
    if (drawn < mass) return (i64)(drawn / weight);
    return inside + (i64)((drawn - mass) % (u64)outside);
}

static __device__ i64 symbol(Stream &stream, const int *held, i64 low, i64 high, i64 pad, i64 size, i64 dummies) {
    i64 many = high - low;
    i64 drawn = below(stream, many > pad ? many : pad);
    return drawn < many ? (i64)held[low + drawn] : size + (drawn - many) % dummies;
}

// Randomised response over buckets: the own one, or another.
static __device__ u32 told(Stream &stream, u32 whole, u64 weight, i64 buckets) {
    i64 bucket = (i64)(((u64)whole * (u64)buckets) >> 32);
    i64 drawn = place(stream, weight, 1, buckets - 1);
    return (u32)(drawn == 0 ? bucket : drawn - (drawn <= bucket ? 1 : 0));
}

// --------------------------------------------------------------------------------------------------- reports that are made

extern "C" __global__ void make_hashed(
    const i64 *offsets, const int *held, const i64 *people, u64 seed, i64 pad, i64 size, i64 dummies, u64 weight,
    i64 buckets, i64 many, u32 *words
) {
    i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= many) return;
    Stream stream = begun(seed, people[row]);
    i64 own = symbol(stream, held, offsets[row], offsets[row + 1], pad, size, dummies);
    u32 first = word(stream) | 1u;
    u32 second = word(stream);
    words[3 * row] = first;
    words[3 * row + 1] = second;
    words[3 * row + 2] = told(stream, hashed((u32)own, first, second), weight, buckets);
}

extern "C" __global__ void make_numbered(
    const i64 *offsets, const int *held, const i64 *people, u64 seed, i64 pad, i64 size, i64 dummies, u64 weight,
    i64 buckets, i64 seeds, i64 many, u32 *words
) {
    i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= many) return;
    Stream stream = begun(seed, people[row]);
    i64 own = symbol(stream, held, offsets[row], offsets[row + 1], pad, size, dummies);
    u32 number = (u32)below(stream, seeds);
    words[2 * row] = number;
    words[2 * row + 1] = told(stream, hashed((u32)own, first_of(number), second_of(number)), weight, buckets);
}

// A row that is cut or sorted is so in its own place: `held` is a copy that nobody else needs.
extern "C" __global__ void make_points(
    const i64 *offsets, int *held, const i64 *people, u64 seed, i64 pad, u64 weight, i64 arc, i64 many, u32 *words
) {
    i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= many) return;
    const i64 circle = 1ll << 32;
    Stream stream = begun(seed, people[row]);
    int *own = held + offsets[row];
    i64 count = offsets[row + 1] - offsets[row];
    if (count > pad) {
        for (i64 at = 0; at < pad; at++) {
            i64 other = at + below(stream, count - at);
            int swapped = own[at];
            own[at] = own[other];
            own[other] = swapped;
        }
        count = pad;
    }
    u32 first = word(stream) | 1u;
    u32 second = word(stream);
    u32 *starts = (u32 *)own;
    for (i64 at = 0; at < count; at++) {  // few: a padding is a few dozen
        u32 start = hashed((u32)own[at], first, second);
        i64 hole = at;
        for (; hole > 0 && starts[hole - 1] > start; hole--) starts[hole] = starts[hole - 1];
        starts[hole] = start;
    }
    i64 wrapped = 0;
    if (count && (i64)starts[count - 1] + arc > circle) wrapped = (i64)starts[count - 1] + arc - circle;
    i64 inside = wrapped, end = wrapped;
    for (i64 at = 0; at < count; at++) {
        i64 from = starts[at], to = from + arc;
        from = from > end ? from : end;
        to = to < circle ? to : circle;
        end = to > end ? to : end;
        inside += end - from;
    }
    i64 drawn = place(stream, weight, inside, circle - inside);
    i64 missed = drawn - inside, found = -1;
    end = 0;
    for (i64 at = -1; at < count && found < 0; at++) {
        i64 from = 0;
        if (at < 0) {
            end = wrapped;
        } else {
            i64 to = (i64)starts[at] + arc;
            from = (i64)starts[at] > end ? (i64)starts[at] : end;
            to = to < circle ? to : circle;
            end = to > end ? to : end;
        }
        if (missed >= from) missed += end - from;
        if (drawn >= 0 && drawn < end - from) found = from + drawn;
        drawn -= end - from;
    }
    words[3 * row] = first;
    words[3 * row + 1] = second;
    words[3 * row + 2] = (u32)(found < 0 ? missed : found);
}

// ------------------------------------------------------------------------------------------------ reports that are added up

struct __align__(16) Window {
    u32 first, second, low, width;
};

static __device__ Window window(const u32 *words, int kind, u32 number) {
    Window one = {words[0], words[1], 0u, 0u};
    if (kind == WINDOW) {
        one.low = words[2];
        one.width = words[3];
    } else if (kind == WHEEL) {
        one.low = words[2] - (number - 1u);
        one.width = number;
    } else if (words[2] < number) {
        u64 low = (((u64)words[2] << 32) + number - 1u) / number;
        u64 high = ((((u64)words[2] + 1u) << 32) + number - 1u) / number;
        one.low = (u32)low;
        one.width = (u32)(high - low);
    }
    if (kind != WINDOW && !(one.first & 1u)) one.width = 0u;  // no report: it supports nothing
    return one;
}

// Counts for each item how many reports support it. A block has THREADS * ITEMS items (x) and a slice of reports (y).
extern "C" __global__ void count_reports(
    const u32 *words, int wide, int kind, u32 number, i64 many, i64 slice, u32 size, u64 *counts
) {
    __shared__ Window near[THREADS];
    u32 item = blockIdx.x * (THREADS * ITEMS) + threadIdx.x;
    u32 tally[ITEMS];
    for (int at = 0; at < ITEMS; at++) tally[at] = 0u;
    i64 start = (i64)blockIdx.y * slice;
    i64 stop = start + slice < many ? start + slice : many;
    for (; start < stop; start += THREADS) {
        int here = stop - start < THREADS ? (int)(stop - start) : THREADS;
        __syncthreads();
        if (threadIdx.x < here) near[threadIdx.x] = window(words + (start + threadIdx.x) * wide, kind, number);
        __syncthreads();
#pragma unroll 4
        for (int row = 0; row < here; row++) {
            Window one = near[row];
#pragma unroll
            for (int at = 0; at < ITEMS; at++) {
                u32 whole = hashed(item + at * THREADS, one.first, one.second);
                tally[at] += (u32)(whole - one.low) < one.width ? 1u : 0u;
            }
        }
    }
    for (int at = 0; at < ITEMS; at++) {
        if (item + at * THREADS < size && tally[at]) atomicAdd(&counts[item + at * THREADS], (u64)tally[at]);
    }
}

// Counts what is no report, and how many reports lie in each of a few cells: buckets, or sixteenths of the circle.
extern "C" __global__ void look_over(
    const u32 *words, int kind, u32 number, i64 many, u32 cells, u64 *counts, u64 *refused
) {
    __shared__ u32 near[CELLS];
    __shared__ u32 bad;
    for (u32 at = threadIdx.x; at < cells; at += THREADS) near[at] = 0u;
    if (threadIdx.x == 0) bad = 0u;
    __syncthreads();
    for (i64 row = (i64)blockIdx.x * THREADS + threadIdx.x; row < many; row += (i64)gridDim.x * THREADS) {
        u32 value = words[3 * row + 2];
        if (!(words[3 * row] & 1u) || (kind == OLH && value >= number)) {
            atomicAdd(&bad, 1u);
        } else if (cells) {
            atomicAdd(&near[kind == OLH ? value : value >> 28], 1u);
        }
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < cells; at += THREADS) {
        if (near[at]) atomicAdd(&counts[at], (u64)near[at]);
    }
    if (threadIdx.x == 0 && bad) atomicAdd(refused, (u64)bad);
}

// Adds reports to a table of published seeds and buckets.
extern "C" __global__ void tabulate(
    const u32 *words, i64 many, u32 seeds, u32 buckets, u64 *table, u64 *refused
) {
    i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= many) return;
    u32 number = words[2 * row], value = words[2 * row + 1];
    if (number < seeds && value < buckets) {
        atomicAdd(&table[(u64)number * buckets + value], 1ull);
    } else {
        atomicAdd(refused, 1ull);
    }
}

// ---------------------------------------------------------------------------------------------- tables of published seeds

// Adds the weights of items to the cells that they fall into, a row per thread and item by item: the order counts.
static __device__ void gather(
    u32 number, u32 buckets, const u32 *items, const double *weights, int many, double *inside, int apart
) {
    u32 first = first_of(number), second = second_of(number);
    for (int at = 0; at < many; at++) {
        inside[(i64)__umulhi(hashed(items[at], first, second), buckets) * apart] += weights[at];
    }
}

extern "C" __global__ void weigh_rows(
    i64 start, i64 rows, u32 buckets, const u32 *items, const double *weights, i64 many, double begin, double *inside
) {
    __shared__ u32 near_items[THREADS];
    __shared__ double near_weights[THREADS];
    __shared__ double near[FEW * THREADS];
    i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    bool few = buckets <= FEW;
    double *mine = few ? near + threadIdx.x : inside + row * buckets;
    int apart = few ? THREADS : 1;
    if (row < rows) {
        for (u32 bucket = 0; bucket < buckets; bucket++) mine[(i64)bucket * apart] = begin;
    }
    for (i64 from = 0; from < many; from += THREADS) {
        int here = many - from < THREADS ? (int)(many - from) : THREADS;
        __syncthreads();
        if (threadIdx.x < here) {
            near_items[threadIdx.x] = items[from + threadIdx.x];
            near_weights[threadIdx.x] = weights[from + threadIdx.x];
        }
        __syncthreads();
        if (row < rows) gather((u32)(start + row), buckets, near_items, near_weights, here, mine, apart);
    }
    if (few && row < rows) {
        for (u32 bucket = 0; bucket < buckets; bucket++) inside[row * buckets + bucket] = mine[bucket * THREADS];
    }
}

// What is left of each cell when what is expected of it is taken off.
extern "C" __global__ void take_off(
    i64 rows, u32 buckets, const i64 *table, const double *inside, double slope, double even, double scale, int *cells
) {
    i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows) return;
    const i64 *counts = table + row * buckets;
    i64 many = 0;
    for (u32 bucket = 0; bucket < buckets; bucket++) many += counts[bucket];
    double share = 1.0 / (double)buckets;
    for (u32 bucket = 0; bucket < buckets; bucket++) {
        double expected = (double)many * (share + slope * inside[row * buckets + bucket] - even);
        cells[row * buckets + bucket] = (int)rint(scale * ((double)counts[bucket] - expected));
    }
}

// Adds up, for each symbol, the cells that it falls into. A block has THREADS * ITEMS symbols (x) and a slice of rows
// (y). `step` rows are gone through at a time: their sums fit into 32 bits, and their cells nearby where those are few.
extern "C" __global__ void sum_cells(
    i64 start, i64 rows, i64 slice, int step, u32 buckets, const int *cells, u32 symbols, i64 *sums
) {
    __shared__ u32 firsts[THREADS];
    __shared__ u32 seconds[THREADS];
    __shared__ int near[CELLS];
    u32 item = blockIdx.x * (THREADS * ITEMS) + threadIdx.x;
    bool few = (i64)step * buckets <= CELLS;
    i64 total[ITEMS];
    for (int at = 0; at < ITEMS; at++) total[at] = 0;
    i64 from = (i64)blockIdx.y * slice;
    i64 stop = from + slice < rows ? from + slice : rows;
    for (; from < stop; from += step) {
        int here = stop - from < step ? (int)(stop - from) : step;
        __syncthreads();
        if (threadIdx.x < here) {
            firsts[threadIdx.x] = first_of((u32)(start + from + threadIdx.x));
            seconds[threadIdx.x] = second_of((u32)(start + from + threadIdx.x));
        }
        if (few) {
            for (int at = threadIdx.x; at < here * (int)buckets; at += THREADS) near[at] = cells[from * buckets + at];
        }
        __syncthreads();
        int tally[ITEMS];
        for (int at = 0; at < ITEMS; at++) tally[at] = 0;
        if (few) {
            for (int row = 0; row < here; row++) {
                u32 first = firsts[row], second = seconds[row];
#pragma unroll
                for (int at = 0; at < ITEMS; at++) {
                    u32 whole = hashed(item + at * THREADS, first, second);
                    tally[at] += near[row * buckets + __umulhi(whole, buckets)];
                }
            }
        } else {
            for (int row = 0; row < here; row++) {
                u32 first = firsts[row], second = seconds[row];
                const int *far = cells + (from + row) * buckets;
#pragma unroll
                for (int at = 0; at < ITEMS; at++) {
                    u32 whole = hashed(item + at * THREADS, first, second);
                    tally[at] += far[__umulhi(whole, buckets)];
                }
            }
        }
        for (int at = 0; at < ITEMS; at++) total[at] += tally[at];
    }
    for (int at = 0; at < ITEMS; at++) {
        if (item + at * THREADS < symbols) atomicAdd((u64 *)&sums[item + at * THREADS], (u64)total[at]);
    }
}

// Adds, for each item, the weights that share its cell times the reports of the row: a thread has an item (x) and a part
// of the rows (y), and goes through it in order.
extern "C" __global__ void meet_rows(
    i64 start, i64 rows, i64 part, u32 buckets, const i64 *reports, const double *inside, const u32 *items, i64 many,
    double *out
) {
    __shared__ u32 firsts[THREADS];
    __shared__ u32 seconds[THREADS];
    i64 at = (i64)blockIdx.x * THREADS + threadIdx.x;
    u32 item = at < many ? items[at] : 0u;
    double sum = 0.0;
    i64 from = (i64)blockIdx.y * part;
    i64 stop = from + part < rows ? from + part : rows;
    for (; from < stop; from += THREADS) {
        int here = stop - from < THREADS ? (int)(stop - from) : THREADS;
        __syncthreads();
        if (threadIdx.x < here) {
            firsts[threadIdx.x] = first_of((u32)(start + from + threadIdx.x));
            seconds[threadIdx.x] = second_of((u32)(start + from + threadIdx.x));
        }
        __syncthreads();
        for (int row = 0; row < here; row++) {
            u32 bucket = __umulhi(hashed(item, firsts[row], seconds[row]), buckets);
            sum += (double)reports[from + row] * inside[(from + row) * buckets + bucket];
        }
    }
    if (at < many) out[(i64)blockIdx.y * many + at] = sum;
}
