"""The CUDA half of the corpus: small kernels that call library code.

`units()` gives (group, name, source). Every source includes headers of CUB, cooperative groups, libcu++ or Thrust and
instantiates their templates. A kernel states its block by `__launch_bounds__`, and obeys the rules of the library: no
storage is used twice without a barrier, and no lane leaves before a collective call.
"""

import itertools

BLOCK_HEAD = "#include <cub/block/{}.cuh>\n"
WARP_HEAD = "#include <cub/warp/{}.cuh>\n"


def kernel(name, block, params, body):
    """Returns a kernel with this block; `I` is the thread's place in its cta, `G` in the grid."""
    return (
        f'extern "C" __global__ void __launch_bounds__({block}) {name}({params}) {{\n'
        f"  const unsigned I = threadIdx.x, G = blockIdx.x * {block} + I; (void)I; (void)G;\n{body}\n}}\n"
    )


def collective(name, block, type_, primitive, body, items=1, out="T"):
    """Returns a kernel around one collective: each thread has `items` values in `x`, and the storage is `s`."""
    return kernel(
        name,
        block,
        f"const {type_} *in, {out.replace('T', type_)} *to",
        f"  using T = {type_}; using P = cub::{primitive};\n"
        f"  __shared__ typename P::TempStorage s;\n"
        f"  T x[{items}];\n  for (int i = 0; i < {items}; i++) x[i] = in[G * {items} + i];\n{body}",
    )


def short(type_):
    return type_.replace(" ", "_").replace("unsigned", "u")


def store(items=1, what="x[i]"):
    return f"  for (int i = 0; i < {items}; i++) to[G * {items} + i] = {what};"


def block_units():
    blocks = (32, 128, 256)
    algorithms = ("RAKING", "RAKING_COMMUTATIVE_ONLY", "WARP_REDUCTIONS")
    for algorithm in algorithms:
        kernels = [
            collective(
                f"block_reduce_{algorithm.lower()}_{short(t)}_{b}", b, t,
                f"BlockReduce<T, {b}, cub::BLOCK_REDUCE_{algorithm}>",
                "  T r = P(s).Sum(x[0]);\n  if (I == 0) to[blockIdx.x] = r;",
            )
            for t, b in itertools.product(("int", "double"), blocks)
        ]
        yield f"block_reduce_{algorithm.lower()}", BLOCK_HEAD.format("block_reduce") + "".join(kernels)
    yield "block_reduce_twice", BLOCK_HEAD.format("block_reduce") + collective(
        "block_reduce_twice_96", 96, "float", "BlockReduce<T, 96>",
        "  T a = P(s).Sum(x);\n  __syncthreads();\n  T b = P(s).Reduce(x[0], Most{}, 70);\n"
        "  if (I == 0) to[blockIdx.x] = a + b;", items=3,
    ).replace('extern "C"', "struct Most { __device__ float operator()(float a, float b) const { return a < b ? b : a; } };\n"
              'extern "C"', 1)

    for algorithm in ("RAKING", "RAKING_MEMOIZE", "WARP_SCANS"):
        kernels = []
        for t, b, items in (("int", 32, 1), ("int", 128, 4), ("long long", 256, 2), ("float", 64, 1)):
            kernels.append(collective(
                f"block_scan_{algorithm.lower()}_{short(t)}_{b}", b, t,
                f"BlockScan<T, {b}, cub::BLOCK_SCAN_{algorithm}>",
                f"  T all; P(s).ExclusiveSum(x, x, all);\n{store(items)}\n  if (I == 0) to[gridDim.x * {b * items} + blockIdx.x] = all;"
                if t == "long long" else f"  P(s).InclusiveSum(x, x);\n{store(items)}", items=items,
            ))
        yield f"block_scan_{algorithm.lower()}", BLOCK_HEAD.format("block_scan") + "".join(kernels)

    kernels = [
        collective(
            f"block_radix_sort_{short(t)}_{b}", b, t, f"BlockRadixSort<T, {b}, {items}>",
            f"  P(s).{call}(x);\n{store(items)}", items=items,
        )
        for t, b, items, call in (
            ("unsigned", 64, 2, "Sort"), ("int", 128, 4, "SortDescending"), ("float", 128, 1, "SortBlockedToStriped"),
            ("unsigned char", 256, 4, "Sort"),
        )
    ]
    yield "block_radix_sort", BLOCK_HEAD.format("block_radix_sort") + "".join(kernels)

    kernels = []
    for (algorithm, bits), b in itertools.product(
        (("BlockRadixRank<B, R, false>", 4), ("BlockRadixRank<B, R, true>", 5), ("BlockRadixRankMatch<B, R, false>", 5),
         ("BlockRadixRankMatchEarlyCounts<B, R, false, cub::BLOCK_SCAN_WARP_SCANS>", 8)), (64, 128)):
        name = "block_radix_rank_" + str(len(kernels))
        kernels.append(collective(
            name, b, "unsigned", algorithm.replace("B,", f"{b},").replace("R,", f"{bits},"),
            "  int rank[2];\n"
            f"  cub::BFEDigitExtractor<T> digits(0, {bits});\n  P(s).RankKeys(x, rank, digits);\n" + store(2, "rank[i]"),
            items=2, out="int",
        ))
    yield "block_radix_rank", BLOCK_HEAD.format("block_radix_rank") + "#include <cub/block/radix_rank_sort_operations.cuh>\n" + "".join(kernels)

    calls = ("BlockedToStriped", "StripedToBlocked", "BlockedToWarpStriped", "WarpStripedToBlocked")
    for slices in ("false", "true"):
        kernels = [
            collective(
                f"block_exchange_{call.lower()}_{short(t)}_{b}_{slices}", b, t, f"BlockExchange<T, {b}, {n}, {slices}>",
                f"  P(s).{call}(x, x);\n{store(n)}", items=n,
            )
            for call, (t, b, n) in itertools.product(calls, (("int", 128, 4), ("double", 64, 3)))
        ]
        kernels.append(collective(
            f"block_exchange_scatter_{slices}", 128, "int", f"BlockExchange<T, 128, 2, {slices}>",
            f"  int to_rank[2] = {{(int)(255 - 2 * I), (int)(254 - 2 * I)}};\n  P(s).ScatterToStriped(x, x, to_rank);\n{store(2)}",
            items=2))
        yield f"block_exchange_{slices}", BLOCK_HEAD.format("block_exchange") + "".join(kernels)

    for algorithm in ("DIRECT", "STRIPED", "VECTORIZE", "TRANSPOSE", "WARP_TRANSPOSE", "WARP_TRANSPOSE_TIMESLICED"):
        kernels = []
        for t, b, n in (("int", 128, 4), ("short", 64, 2), ("double", 256, 3)):
            if algorithm == "VECTORIZE" and n == 3:
                n = 2
            head = (
                f"  using T = {t};\n  using L = cub::BlockLoad<T, {b}, {n}, cub::BLOCK_LOAD_{algorithm}>;\n"
                f"  using S = cub::BlockStore<T, {b}, {n}, cub::BLOCK_STORE_{algorithm}>;\n"
                "  __shared__ union { typename L::TempStorage load; typename S::TempStorage store; } s;\n"
                f"  T x[{n}]; const unsigned at = blockIdx.x * {b * n};\n"
            )
            kernels.append(kernel(
                f"block_load_store_{algorithm.lower()}_{short(t)}", b, f"{t} *in, {t} *to",
                head + "  L(s.load).Load(in + at, x);\n  __syncthreads();\n  S(s.store).Store(to + at, x);"))
            kernels.append(kernel(
                f"block_load_store_guarded_{algorithm.lower()}_{short(t)}", b, f"{t} *in, {t} *to, int n",
                head + "  L(s.load).Load(in + at, x, n, T(0));\n  __syncthreads();\n  S(s.store).Store(to + at, x, n);"))
        yield f"block_load_store_{algorithm.lower()}", BLOCK_HEAD.format("block_load") + BLOCK_HEAD.format("block_store") + "".join(kernels)

    kernels = []
    for algorithm, b in itertools.product(("SORT", "ATOMIC"), (64, 128)):
        kernels.append(kernel(
            f"block_histogram_{algorithm.lower()}_{b}", b, "const unsigned char *in, unsigned *to",
            f"  using P = cub::BlockHistogram<unsigned char, {b}, 4, 256, cub::BLOCK_HISTO_{algorithm}>;\n"
            "  __shared__ typename P::TempStorage s; __shared__ unsigned bins[256];\n"
            "  unsigned char x[4];\n  for (int i = 0; i < 4; i++) x[i] = in[G * 4 + i];\n"
            f"  P(s).Histogram(x, bins);\n  __syncthreads();\n  for (unsigned i = I; i < 256; i += {b}) to[blockIdx.x * 256 + i] = bins[i];"))
    yield "block_histogram", BLOCK_HEAD.format("block_histogram") + "".join(kernels)

    kernels = [
        collective(
            f"block_discontinuity_{what}_{b}", b, "int", f"BlockDiscontinuity<T, {b}>",
            f"  int head[4], tail[4]; (void)tail;\n  P(s).{call};\n{store(4, 'head[i]')}", items=4)
        for b in (64, 128)
        for what, call in (
            ("heads", "FlagHeads(head, x, cuda::std::not_equal_to<>{})"),
            ("tails", "FlagTails(head, x, cuda::std::not_equal_to<>{})"),
            ("both", "FlagHeadsAndTails(head, tail, x, cuda::std::not_equal_to<>{})"),
        )
    ]
    yield "block_discontinuity", "#include <cuda/std/functional>\n" + BLOCK_HEAD.format("block_discontinuity") + "".join(kernels)

    kernels = [
        collective(
            f"block_adjacent_difference_{call.lower()}_{short(t)}", 128, t, "BlockAdjacentDifference<T, 128>",
            f"  P(s).{call}(x, x, cuda::std::minus<>{{}}{extra});\n{store(2)}", items=2)
        for t in ("int", "float")
        for call, extra in (("SubtractLeft", ""), ("SubtractRight", ""), ("SubtractLeftPartialTile", ", 200"),
                            ("SubtractRightPartialTile", ", 200"))
    ]
    yield "block_adjacent_difference", "#include <cuda/std/functional>\n" + BLOCK_HEAD.format("block_adjacent_difference") + "".join(kernels)

    kernels = [
        collective(
            f"block_merge_sort_{short(t)}_{b}", b, t, f"BlockMergeSort<T, {b}, {n}>",
            f"  P(s).{call}(x, cuda::std::less<>{{}});\n{store(n)}", items=n)
        for t, b, n, call in (("int", 32, 2, "Sort"), ("int", 128, 4, "StableSort"), ("double", 64, 1, "Sort"))
    ]
    yield "block_merge_sort", "#include <cuda/std/functional>\n" + BLOCK_HEAD.format("block_merge_sort") + "".join(kernels)

    kernels = [
        collective(f"block_shuffle_{what}", 128, "int", "BlockShuffle<T, 128>", f"  {body}", items=n)
        for what, n, body in (
            ("offset", 1, f"T y = x[0]; P(s).Offset(x[0], y, 3);{store(1, 'y')}"),
            ("rotate", 1, f"T y = x[0]; P(s).Rotate(x[0], y, 5);{store(1, 'y')}"),
            ("up", 3, f"T y[3] = {{0, 0, 0}}; P(s).Up(x, y);{store(3, 'y[i]')}"),
            ("down", 3, f"T y[3] = {{0, 0, 0}}; P(s).Down(x, y);{store(3, 'y[i]')}"),
        )
    ]
    yield "block_shuffle", BLOCK_HEAD.format("block_shuffle") + "".join(kernels)

    kernels = []
    for b, runs, window in ((64, 1, 4), (128, 2, 2)):
        kernels.append(kernel(
            f"block_run_length_decode_{b}", b, "const int *in, const unsigned *lengths, int *to",
            f"  using P = cub::BlockRunLengthDecode<int, {b}, {runs}, {window}>;\n  __shared__ typename P::TempStorage s;\n"
            f"  int v[{runs}]; unsigned n[{runs}], total;\n  for (int i = 0; i < {runs}; i++) {{ v[i] = in[G * {runs} + i]; n[i] = lengths[G * {runs} + i]; }}\n"
            f"  P decode(s, v, n, total);\n  for (unsigned at = 0; at < total; at += {b * window}) {{\n"
            f"    int y[{window}]; decode.RunLengthDecode(y, at);\n"
            f"    for (int i = 0; i < {window}; i++) if (at + I * {window} + i < total) to[(at + I * {window} + i) * gridDim.x + blockIdx.x] = y[i];\n  }}"))
    yield "block_run_length_decode", BLOCK_HEAD.format("block_run_length_decode") + "".join(kernels)


def warp_units():
    def storage(block, width):
        return f"  __shared__ typename P::TempStorage s[{block // width}]; const unsigned w = I / {width};\n"

    kernels = [kernel(
        f"warp_reduce_{width}_{short(t)}", 64, f"const {t} *in, {t} *to",
        f"  using P = cub::WarpReduce<{t}, {width}>;\n" + storage(64, width) + "  to[G] = P(s[w]).Sum(in[G]);")
        for width, t in itertools.product((32, 16, 8), ("int", "double"))]
    # If the size of the logical warp is not a power of two, only that many lanes of each warp take part.
    kernels.append(kernel(
        "warp_reduce_7", 64, "const int *in, int *to",
        "  using P = cub::WarpReduce<int, 7>;\n  __shared__ typename P::TempStorage s[2];\n"
        "  if (I % 32 < 7) to[G] = P(s[I / 32]).Sum(in[G]);"))
    yield "warp_reduce", WARP_HEAD.format("warp_reduce") + "".join(kernels)
    kernels = [kernel(
        f"warp_reduce_{what}", 64, "const int *in, const int *flags, int *to",
        "  using P = cub::WarpReduce<int>;\n" + storage(64, 32) + f"  to[G] = P(s[w]).{call};")
        for what, call in (("head_segmented", "HeadSegmentedSum(in[G], flags[G])"),
                           ("tail_segmented", "TailSegmentedSum(in[G], flags[G])"),
                           ("partial", "Sum(in[G], 20)"))]
    yield "warp_reduce_segmented", WARP_HEAD.format("warp_reduce") + "".join(kernels)

    kernels = [kernel(
        f"warp_scan_{width}_{short(t)}_{call.lower()}", 64, f"const {t} *in, {t} *to",
        f"  using P = cub::WarpScan<{t}, {width}>;\n" + storage(64, width) + f"  {t} y; P(s[w]).{call}(in[G], y); to[G] = y;")
        for width, t, call in itertools.product((32, 16, 4), ("int", "double"), ("InclusiveSum", "ExclusiveSum"))]
    yield "warp_scan", WARP_HEAD.format("warp_scan") + "".join(kernels)

    kernels = [kernel(
        f"warp_exchange_{name}_{width}_{call.lower()}", 64, "const int *in, int *to",
        f"  using P = cub::WarpExchange<int, 4, {width}, cub::{algorithm}>;\n" + storage(64, width) +
        f"  int x[4]; for (int i = 0; i < 4; i++) x[i] = in[G * 4 + i];\n  P(s[w]).{call}(x, x);\n{store(4)}")
        for (name, algorithm), width, call in itertools.product(
            (("memory", "WARP_EXCHANGE_SMEM"), ("shuffle", "WARP_EXCHANGE_SHUFFLE")), (32, 16, 4),
            ("BlockedToStriped", "StripedToBlocked")) if name == "memory" or width == 4]
    yield "warp_exchange", WARP_HEAD.format("warp_exchange") + "".join(kernels)

    kernels = [kernel(
        f"warp_load_store_{algorithm.lower()}_{width}", 64, "int *in, int *to",
        f"  using L = cub::WarpLoad<int, 4, cub::WARP_LOAD_{algorithm}, {width}>;\n"
        f"  using S = cub::WarpStore<int, 4, cub::WARP_STORE_{algorithm}, {width}>;\n"
        f"  __shared__ union {{ typename L::TempStorage load; typename S::TempStorage store; }} s[{64 // width}];\n"
        f"  const unsigned w = I / {width}, at = (blockIdx.x * 64 + w * {width}) * 4;\n  int x[4];\n"
        "  L(s[w].load).Load(in + at, x);\n  __syncwarp();\n  S(s[w].store).Store(to + at, x);")
        for algorithm, width in itertools.product(("DIRECT", "STRIPED", "VECTORIZE", "TRANSPOSE"), (32, 16))]
    yield "warp_load_store", WARP_HEAD.format("warp_load") + WARP_HEAD.format("warp_store") + "".join(kernels)

    kernels = [kernel(
        f"warp_merge_sort_{width}_{n}", 64, "const int *in, int *to",
        f"  using P = cub::WarpMergeSort<int, {n}, {width}>;\n" + storage(64, width) +
        f"  int x[{n}]; for (int i = 0; i < {n}; i++) x[i] = in[G * {n} + i];\n"
        f"  P(s[w]).Sort(x, cuda::std::less<>{{}});\n{store(n)}")
        for width, n in ((32, 1), (32, 4), (16, 2), (4, 4))]
    yield "warp_merge_sort", "#include <cuda/std/functional>\n" + WARP_HEAD.format("warp_merge_sort") + "".join(kernels)


DEVICE = {
    "device_reduce": ("device_reduce", (
        "DeviceReduce::Sum(p, n, in, out, k)", "DeviceReduce::ArgMin(p, n, in, out, reinterpret_cast<long long *>(out), k)",
        "DeviceReduce::ReduceByKey(p, n, in, out, in, out, out, cuda::std::plus<>{}, k)",
        "DeviceReduce::Max(p, n, reinterpret_cast<double *>(in), reinterpret_cast<double *>(out), k)")),
    "device_segmented_reduce": ("device_segmented_reduce", (
        "DeviceSegmentedReduce::Sum(p, n, in, out, k, in, in + 1)",)),
    "device_scan": ("device_scan", (
        "DeviceScan::InclusiveSum(p, n, in, out, k)",
        "DeviceScan::ExclusiveSum(p, n, reinterpret_cast<double *>(in), reinterpret_cast<double *>(out), k)",
        "DeviceScan::InclusiveSumByKey(p, n, in, in, out, k)")),
    "device_radix_sort": ("device_radix_sort", (
        "DeviceRadixSort::SortKeys(p, n, in, out, k)", "DeviceRadixSort::SortPairsDescending(p, n, in, out, in, out, k)")),
    "device_segmented_radix_sort": ("device_segmented_radix_sort", (
        "DeviceSegmentedRadixSort::SortKeys(p, n, in, out, k, k, in, in + 1)",)),
    "device_segmented_sort": ("device_segmented_sort", (
        "DeviceSegmentedSort::SortKeys(p, n, in, out, k, k, in, in + 1)",)),
    "device_merge_sort": ("device_merge_sort", (
        "DeviceMergeSort::SortKeys(p, n, in, k, cuda::std::less<>{})",
        "DeviceMergeSort::StableSortPairs(p, n, in, out, k, cuda::std::less<>{})")),
    "device_merge": ("device_merge", ("DeviceMerge::MergeKeys(p, n, in, k, in, k, out)",)),
    "device_select": ("device_select", (
        "DeviceSelect::Flagged(p, n, in, in, out, out, k)", "DeviceSelect::If(p, n, in, out, out, k, Odd{})",
        "DeviceSelect::Unique(p, n, in, out, out, k)", "DeviceSelect::UniqueByKey(p, n, in, in, out, out, out, k)")),
    "device_partition": ("device_partition", (
        "DevicePartition::If(p, n, in, out, out, k, Odd{})", "DevicePartition::If(p, n, in, out, out, out, out, k, Odd{}, Odd{})")),
    "device_histogram": ("device_histogram", (
        "DeviceHistogram::HistogramEven(p, n, in, out, 65, 0, 64, k)",
        "DeviceHistogram::HistogramRange(p, n, in, out, 65, in, k)")),
    "device_run_length_encode": ("device_run_length_encode", (
        "DeviceRunLengthEncode::Encode(p, n, in, out, out, out, k)",
        "DeviceRunLengthEncode::NonTrivialRuns(p, n, in, out, out, out, k)")),
    "device_adjacent_difference": ("device_adjacent_difference", (
        "DeviceAdjacentDifference::SubtractLeftCopy(p, n, in, out, k, cuda::std::minus<>{})",
        "DeviceAdjacentDifference::SubtractLeft(p, n, in, k, cuda::std::minus<>{})")),
    "device_copy": ("device_memcpy", (
        "DeviceMemcpy::Batched(p, n, reinterpret_cast<void **>(in), reinterpret_cast<void **>(out), in, k)",)),
    "device_for": ("device_for", (
        "DeviceFor::Bulk(p, n, k, Store{out})", "DeviceFor::ForEachN(p, n, in, k, Bump{})")),
    "device_transform": ("device_transform", (
        "DeviceTransform::Transform(cuda::std::make_tuple(in, in + 1), out, k, cuda::std::plus<>{})",
        "DeviceTransform::Transform(in, out, k, Square{})")),
}

DEVICE_HEAD = """#include <cub/device/{}.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>
struct Odd {{ __host__ __device__ bool operator()(int x) const {{ return x & 1; }} }};
struct Square {{ __host__ __device__ int operator()(int x) const {{ return x * x; }} }};
struct Bump {{ __device__ void operator()(int &x) const {{ x += 1; }} }};
struct Store {{ int *to; __device__ void operator()(int i) const {{ to[i] = i; }} }};
void call(void *p, size_t n, int *in, int *out, int k) {{
"""


def device_units():
    for name, (header, calls) in DEVICE.items():
        body = "".join(f"  cub::{call};\n" for call in calls)
        yield name, DEVICE_HEAD.format(header) + body + "}\n"
    thrust = ("sort(thrust::device, in, in + k)", "set_intersection(thrust::device, in, in + k, in, in + k, out)",
              "set_union(thrust::device, in, in + k, in, in + k, out)", "reduce_by_key(thrust::device, in, in + k, in, out, out)",
              "merge(thrust::device, in, in + k, in, in + k, out)", "unique_copy(thrust::device, in, in + k, out)",
              "inclusive_scan_by_key(thrust::device, in, in + k, in, out)", "sequence(thrust::device, in, in + k)",
              "gather(thrust::device, in, in + k, in, out)", "reverse_copy(thrust::device, in, in + k, out)")
    headers = ("sort", "set_operations", "reduce", "merge", "unique", "scan", "sequence", "gather", "reverse", "execution_policy")
    yield "thrust", (
        "".join(f"#include <thrust/{header}.h>\n" for header in headers) + "void call(int *in, int *out, int k) {\n" +
        "".join(f"  thrust::{call};\n" for call in thrust) + "}\n")


CG_HEAD = """#include <cooperative_groups.h>
#include <cooperative_groups/{}.h>
namespace cg = cooperative_groups;
"""


def groups_units():
    io = "const int *in, int *to"
    kernels = [
        kernel("cg_block_sync", 128, io,
               "  __shared__ int x[128]; auto b = cg::this_thread_block();\n  x[b.thread_rank()] = in[G]; b.sync();\n  to[G] = x[127 - b.thread_rank()];"),
        kernel("cg_block_arrive_wait", 128, io,
               "  __shared__ int x[128]; auto b = cg::this_thread_block();\n  x[I] = in[G]; auto token = b.barrier_arrive(); b.barrier_wait(std::move(token));\n  to[G] = x[127 - I];"),
        kernel("cg_sync_block", 96, io, "  __shared__ int x[96]; x[I] = in[G]; cg::sync(cg::this_thread_block()); to[G] = x[95 - I];"),
        kernel("cg_grid_sync", 128, io, "  to[G] = in[G]; cg::this_grid().sync(); to[G] += 1;"),
        kernel("cg_invoke_one", 128, io,
               "  __shared__ int x; auto b = cg::this_thread_block();\n  cg::invoke_one(b, [&] { x = in[blockIdx.x]; }); b.sync(); to[G] = x;"),
        kernel("cg_coalesced", 64, io, "  if (in[G] > 0) { auto a = cg::coalesced_threads(); to[G] = a.shfl(in[G], 0) + a.size(); }"),
        kernel("cg_coalesced_known", 64, io, "  if (I % 3 == 0) { auto a = cg::coalesced_threads(); a.sync(); to[G] = a.shfl_down(in[G], 1); }"),
        kernel("cg_labeled_partition", 64, io,
               "  auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::labeled_partition(w, (int)(I % 5));\n  to[G] = g.shfl(in[G], 0);"),
        kernel("cg_binary_partition", 64, io,
               "  auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::binary_partition(w, in[G] > 0);\n  to[G] = g.size();"),
        kernel("cg_tile_dynamic", 64, io,
               "  auto t = cg::tiled_partition(cg::this_thread_block(), 8); t.sync(); to[G] = in[G] + t.thread_rank();"),
    ]
    for n in (1, 2, 4, 8, 16, 32):
        kernels.append(kernel(
            f"cg_tile_{n}", 64, io,
            f"  __shared__ int x[64]; auto t = cg::tiled_partition<{n}>(cg::this_thread_block());\n"
            f"  x[I] = in[G]; t.sync(); int y = x[I / {n} * {n} + {n - 1} - I % {n}]; t.sync();\n  to[G] = y + t.shfl_xor(y, {n // 2}) + t.any(y);"))
    for n in (64, 128, 256):
        kernels.append(kernel(
            f"cg_tile_{n}", 256, io,
            f"  __shared__ cg::block_tile_memory<256> m; __shared__ int x[256];\n  auto b = cg::this_thread_block(m); auto t = cg::tiled_partition<{n}>(b);\n"
            f"  x[I] = in[G]; t.sync(); to[G] = x[I / {n} * {n} + {n - 1} - I % {n}] + t.any(x[I]);"))
    yield "cg_sync", "#include <cooperative_groups.h>\n#include <utility>\nnamespace cg = cooperative_groups;\n" + "".join(kernels)

    for what, ops in (("reduce", ("plus", "less", "bit_xor")), ("scan", ("plus", "greater", "bit_or"))):
        call = "reduce" if what == "reduce" else "inclusive_scan"
        kernels = []
        for op in ops:
            for n in (4, 32):
                kernels.append(kernel(
                    f"cg_{what}_{op}_{n}", 64, io,
                    f"  auto t = cg::tiled_partition<{n}>(cg::this_thread_block()); to[G] = cg::{call}(t, in[G], cg::{op}<int>());"))
        kernels.append(kernel(
            f"cg_{what}_coalesced", 64, io,
            f"  if (I % 2) {{ auto t = cg::coalesced_threads(); to[G] = cg::{call}(t, in[G], cg::plus<int>()); }}"))
        if what == "reduce":
            kernels.append(kernel("cg_reduce_double", 64, "const double *in, double *to",
                "  auto t = cg::tiled_partition<32>(cg::this_thread_block()); to[G] = cg::reduce(t, in[G], cg::plus<double>());"))
            kernels.append(kernel("cg_reduce_update", 64, "const int *in, int *to",
                "  __shared__ cuda::atomic<int, cuda::thread_scope_block> sum; auto b = cg::this_thread_block(); if (I == 0) new (&sum) cuda::atomic<int, cuda::thread_scope_block>(0); b.sync();\n"
                "  cg::reduce_update_async(cg::tiled_partition<32>(b), sum, in[G], cg::plus<int>()); b.sync(); to[G] = sum;"))
            kernels.append(kernel("cg_reduce_block_tile", 128, io,
                "  __shared__ cg::block_tile_memory<128> m; auto t = cg::tiled_partition<64>(cg::this_thread_block(m)); to[G] = cg::reduce(t, in[G], cg::plus<int>());"))
        else:
            kernels.append(kernel("cg_scan_exclusive", 64, io,
                "  auto t = cg::tiled_partition<32>(cg::this_thread_block()); to[G] = cg::exclusive_scan(t, in[G]);"))
        yield f"cg_{what}", "#include <cuda/atomic>\n" + CG_HEAD.format(what) + "".join(kernels)

    kernels = [
        kernel("cg_memcpy_async_block", 128, io,
               "  __shared__ int x[512]; auto b = cg::this_thread_block();\n  cg::memcpy_async(b, x, in + blockIdx.x * 512, sizeof x); cg::wait(b);\n  for (int i = 0; i < 4; i++) to[G * 4 + i] = x[511 - I * 4 - i];"),
        kernel("cg_memcpy_async_tile", 64, io,
               "  __shared__ int x[64]; auto t = cg::tiled_partition<32>(cg::this_thread_block()); int *w = x + I / 32 * 32;\n  cg::memcpy_async(t, w, in + blockIdx.x * 64 + I / 32 * 32, 128); cg::wait(t);\n  to[G] = w[31 - I % 32];"),
        kernel("cg_memcpy_async_stages", 128, io,
               "  __shared__ int x[2][128]; auto b = cg::this_thread_block(); int sum = 0;\n"
               "  cg::memcpy_async(b, x[0], in, 512);\n  for (int i = 0; i < 4; i++) {\n    if (i < 3) { cg::memcpy_async(b, x[(i + 1) & 1], in + (i + 1) * 128, 512); cg::wait_prior<1>(b); } else cg::wait(b);\n"
               "    sum += x[i & 1][127 - I]; b.sync();\n  }\n  to[G] = sum;"),
    ]
    yield "cg_memcpy_async", CG_HEAD.format("memcpy_async") + "".join(kernels)

    yield "cg_cluster", "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n" + kernel(
        "cg_cluster", 64, io,
        "  __shared__ int x[64]; auto c = cg::this_cluster(); x[I] = in[G]; c.sync();\n"
        "  int *there = c.map_shared_rank(x, (c.block_rank() + 1) % c.num_blocks()); to[G] = there[I]; c.sync();"
    )


def libcudacxx_units():
    io = "int *in, int *to"
    kernels = []
    for scope in ("block", "device", "system"):
        # Block scope suffices for memory that only one cta accesses.
        mine = "blockIdx.x * 32" if scope == "block" else "0"
        kernels.append(kernel(
            f"atomic_add_{scope}", 64, io,
            f"  cuda::atomic_ref<int, cuda::thread_scope_{scope}> a(in[{mine}]); to[G] = a.fetch_add(1, cuda::memory_order_relaxed);"))
        kernels.append(kernel(
            f"atomic_exchange_{scope}", 64, io,
            f"  cuda::atomic_ref<int, cuda::thread_scope_{scope}> a(in[{mine} + I / 2]); int old = a.load(); while (!a.compare_exchange_weak(old, old * 3)) {{}} to[G] = old;"))
        kernels.append(kernel(
            f"atomic_flag_{scope}", 64, "int *data, int *flag, int *to",
            f"  cuda::atomic_ref<int, cuda::thread_scope_{scope}> f(flag[blockIdx.x]);\n"
            "  if (I == 0) { data[blockIdx.x] = 7; f.store(1, cuda::memory_order_release); f.notify_all(); }\n"
            "  else if (I == 32) { f.wait(0, cuda::memory_order_acquire); to[blockIdx.x] = data[blockIdx.x]; }"))
    kernels += [
        kernel("atomic_shared", 128, io,
               "  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> n; if (I == 0) new (&n) cuda::atomic<unsigned, cuda::thread_scope_block>(0);\n  __syncthreads();\n"
               "  if (in[G] > 0) to[blockIdx.x * 128 + n.fetch_add(1)] = in[G];"),
        kernel("atomic_max_float", 64, "const float *in, float *to",
               "  cuda::atomic_ref<float, cuda::thread_scope_device> m(*to); m.fetch_max(in[G]);"),
        kernel("atomic_64", 64, "unsigned long long *to",
               "  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> m(to[I % 8]); m.fetch_or(1ull << I); m.fetch_sub(3, cuda::memory_order_acq_rel);"),
        kernel("atomic_byte", 64, "unsigned char *to",
               "  cuda::atomic_ref<unsigned char, cuda::thread_scope_device> m(to[I]); m.fetch_add(1);"),
        kernel("atomic_std_flag", 64, "cuda::std::atomic_flag *lock, int *to",
               "  while (lock->test_and_set(cuda::std::memory_order_acquire)) {} *to += 1; lock->clear(cuda::std::memory_order_release);"),
        kernel("atomic_fence", 64, io,
               "  to[G] = in[G]; cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); in[G] = 0;"),
    ]
    yield "atomic", "#include <cuda/atomic>\n#include <cuda/std/atomic>\n" + "".join(kernels)

    kernels = []
    for scope in ("block", "device"):
        kernels.append(kernel(
            f"barrier_{scope}", 128, io,
            f"  using B = cuda::barrier<cuda::thread_scope_{scope}>;\n  __shared__ B b; __shared__ int x[128];\n"
            "  if (I == 0) init(&b, 128);\n  __syncthreads();\n  x[I] = in[G]; b.arrive_and_wait(); to[G] = x[127 - I];"))
    kernels += [
        kernel("barrier_split", 128, io,
               "  using B = cuda::barrier<cuda::thread_scope_block>;\n  __shared__ B b; __shared__ int x[128];\n  if (I == 0) init(&b, 128);\n  __syncthreads();\n"
               "  x[I] = in[G]; auto token = b.arrive(); int y = in[G] * 2; b.wait(std::move(token)); to[G] = x[127 - I] + y;"),
        kernel("barrier_memcpy_async", 128, io,
               "  using B = cuda::barrier<cuda::thread_scope_block>;\n  __shared__ B b; __shared__ alignas(16) int x[512];\n  if (I == 0) init(&b, 128);\n  __syncthreads();\n"
               "  cuda::memcpy_async(x + I * 4, in + G * 4, cuda::aligned_size_t<16>(16), b); b.arrive_and_wait();\n  for (int i = 0; i < 4; i++) to[G * 4 + i] = x[511 - I * 4 - i];"),
        kernel("barrier_drop", 64, io,
               "  using B = cuda::barrier<cuda::thread_scope_block>;\n  __shared__ B b; if (I == 0) init(&b, 64);\n  __syncthreads();\n"
               "  if (I >= 32) { b.arrive_and_drop(); return; } b.arrive_and_wait(); b.arrive_and_wait(); to[G] = in[G];"),
        kernel("barrier_pipeline_handover", 64, io,
               "  using B = cuda::barrier<cuda::thread_scope_block>;\n  __shared__ B full, empty; __shared__ int x[32];\n  if (I == 0) { init(&full, 64); init(&empty, 64); }\n  __syncthreads();\n"
               "  for (int i = 0; i < 4; i++) {\n    if (I < 32) { empty.arrive_and_wait(); x[I] = in[i * 32 + I]; (void)full.arrive(); }\n"
               "    else { (void)empty.arrive(); full.arrive_and_wait(); to[(blockIdx.x * 4 + i) * 32 + I - 32] = x[63 - I]; }\n  }"),
        kernel("latch", 64, io,
               "  using L = cuda::latch<cuda::thread_scope_block>;\n  __shared__ alignas(L) char raw[sizeof(L)]; __shared__ int x[64]; L &l = *reinterpret_cast<L *>(raw);\n"
               "  if (I == 0) new (&l) L(64);\n  __syncthreads();\n"
               "  x[I] = in[G]; l.arrive_and_wait(); to[G] = x[63 - I];"),
        kernel("semaphore", 64, io,
               "  using M = cuda::binary_semaphore<cuda::thread_scope_block>;\n  __shared__ alignas(M) char raw[sizeof(M)]; __shared__ int x; M &m = *reinterpret_cast<M *>(raw);\n"
               "  if (I == 0) { new (&m) M(1); x = 0; }\n  __syncthreads();\n"
               "  if (I % 32 == 0) { m.acquire(); x += 1; m.release(); }\n  __syncthreads();\n  to[G] = x;"),
        kernel("counting_semaphore", 64, io,
               "  using M = cuda::counting_semaphore<cuda::thread_scope_block, 64>;\n  __shared__ alignas(M) char raw[sizeof(M)]; M &m = *reinterpret_cast<M *>(raw);\n  if (I == 0) new (&m) M(0);\n  __syncthreads();\n"
               "  if (I < 32) m.release(); else m.acquire(); to[G] = in[G];"),
    ]
    yield "barrier", (
        "#pragma nv_diag_suppress static_var_with_dynamic_init\n#include <cuda/barrier>\n#include <cuda/latch>\n#include <cuda/semaphore>\n"
        "#include <cuda/std/utility>\n#include <utility>\n" + "".join(kernels))

    kernels = [
        kernel("pipeline_thread", 128, io,
               "  __shared__ int x[2][128]; auto p = cuda::make_pipeline(); int sum = 0;\n"
               "  p.producer_acquire(); cuda::memcpy_async(&x[0][I], in + I, sizeof(int), p); p.producer_commit();\n"
               "  for (int i = 0; i < 4; i++) {\n    if (i < 3) { p.producer_acquire(); cuda::memcpy_async(&x[(i + 1) & 1][I], in + (i + 1) * 128 + I, sizeof(int), p); p.producer_commit(); cuda::pipeline_consumer_wait_prior<1>(p); }\n"
               "    else cuda::pipeline_consumer_wait_prior<0>(p);\n    __syncthreads(); sum += x[i & 1][127 - I]; __syncthreads(); p.consumer_release();\n  }\n  to[G] = sum;"),
        kernel("pipeline_block", 128, io,
               "  __shared__ int x[2][128]; __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; auto b = cooperative_groups::this_thread_block();\n"
               "  auto p = cuda::make_pipeline(b, &state); int sum = 0;\n  p.producer_acquire(); cuda::memcpy_async(b, x[0], in, cuda::aligned_size_t<16>(512), p); p.producer_commit();\n"
               "  for (int i = 0; i < 4; i++) {\n    if (i < 3) { p.producer_acquire(); cuda::memcpy_async(b, x[(i + 1) & 1], in + (i + 1) * 128, cuda::aligned_size_t<16>(512), p); p.producer_commit(); }\n"
               "    p.consumer_wait(); sum += x[i & 1][127 - I]; p.consumer_release();\n  }\n  to[G] = sum;"),
        kernel("pipeline_partitioned", 128, io,
               "  __shared__ int x[2][64]; __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; auto b = cooperative_groups::this_thread_block();\n"
               "  auto p = cuda::make_pipeline(b, &state, I < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);\n"
               "  for (int i = 0; i < 4; i++) {\n    if (I < 64) { p.producer_acquire(); cuda::memcpy_async(&x[i & 1][I], in + i * 64 + I, sizeof(int), p); p.producer_commit(); }\n"
               "    else { p.consumer_wait(); to[i * 64 + I - 64] = x[i & 1][127 - I]; p.consumer_release(); }\n  }"),
    ]
    yield "pipeline", "#pragma nv_diag_suppress static_var_with_dynamic_init\n#include <cooperative_groups.h>\n#include <cuda/pipeline>\n" + "".join(kernels)


def units():
    for group, source in (
        ("CUB block", block_units()), ("CUB warp", warp_units()), ("CUB and Thrust device", device_units()),
        ("cooperative groups", groups_units()), ("libcu++", libcudacxx_units()),
    ):
        for name, text in source:
            yield group, name, text


# Units that need a certain architecture: clusters exist from sm_90 on.
ONLY = {"cg_cluster": ("sm_90",)}
