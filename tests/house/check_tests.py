# SPDX-License-Identifier: BSD-3-Clause
"""tests/ mirrors include/rill/: every header of a folder has its test file, and every test file its header."""
import re
import sys
from pathlib import Path

from check_includes import forwards

# path without suffix -> why it has no partner
HEADERS_WITHOUT_TEST = {f"device/cuda/{part}" for part in ("captured_kernels", "cuda_backend", "element_kernel", "gpu_card", "gpus", "kernels", "product_library",
                                                       "program_compiler")} # tests/nvcc/gpu/programs.cu compiles them
HEADERS_WITHOUT_TEST |= {"device/cuda/convolution_library"}  # tests/nvcc/fake/convolutions.cpp
# path of a header that only another's test can reach -> that test
COVERED_BY = {f"runtime/control_flow/{kernel}": "runtime/control_flow/region_kernels"
              for kernel in ("typed_region_kernel", "cond_kernel", "loop_kernel")}
COVERED_BY |= {"graph/op/op_def": "graph/op/op_model", "resources/step_threads": "session/session_core",
               "runtime/executor/nested_run": "runtime/executor/run_plan",
               "runtime/executor/posted_step": "runtime/executor/step_run",
               "passes/state_groups": "passes/partition",
               "passes/insert_exchanges": "session/partitioned_run", "passes/region_share": "session/partitioned_run",
               "device/rendezvous": "runtime/executor/local_rendezvous",
               "graph/op/exchange_ops": "ops/exchange/exchange_ops", "ops/exchange/send_as": "session/partitioned_run",
               "runtime/executor/partitioned_step": "session/partitioned_run",
               "runtime/plan/partitioned_plan": "session/partitioned_run",
               "session/local_session_state": "session/local_session_core", "session/plan_cache": "session/local_session_core", "session/callable": "session/session",
               "device/loop_code": "runtime/control_flow/loops/lower_loop", "device/cpu/jit/jit_limits": "device/cpu/jit/jit_program"}
COVERED_BY |= {"distributed/task_identity": "distributed/channel", "distributed/joined_answers": "distributed/server",
               "distributed/wire_rendezvous": "distributed/worker", "distributed/cluster_step": "distributed/server",
               "distributed/client_links": "distributed/local_cluster", "distributed/run_by_names": "distributed/master",
               "core/byte_units": "distributed/transports", "core/credentials": "distributed/security", "core/file_access": "distributed/server_files"}
COVERED_BY |= {"resources/collective_call": "resources/collective_state", "resources/rank_plugin": "resources/rank_exchanges",
               "core/named_array": "io/checkpoint", "io/shard": "io/checkpoint", "ops/summary/summary": "ops/summary/scalar_summary"}
TESTS_WITHOUT_HEADER = {"device/thrust/host_random_graphs": "random graphs on the device in the host's memory, of all headers",
                        "device/thrust/host_loops": "captured loops on a virtual device",
                        "device/thrust/host_programs": "programs that are compiled at run time",
                        "device/thrust/host_prefetch": "datasets that deliver to a virtual device",
                        "device/thrust/host_swap_memory": "steps that do not fit into the memory of a virtual device",
                        "device/cpu/jit/element_types": "programs of all element types, for all headers of the JIT",
                        "device/cpu/jit/random_loops": "random loops over numbers of all types, for all headers of the JIT",
                        "distributed/hostile_bytes": "bytes from strangers, for all headers that read any",
                        "io/hostile_files": "files from strangers, for all headers that read any",
                        "data/exchange": "files of other programs, for all headers that read any",
                        "distributed/namespaces": "tasks in network namespaces, whose link is cut",
                        "distributed/processes": "tasks in processes of their own, of all headers",
                        "distributed/simulated_training": "training in the simulator, with tasks that die",
                        "distributed/faults": "training by processes that are killed",
                        "distributed/worker_processes": "training by processes, one of which dies in a round or which are slow at random",
                        "distributed/training": "sync_replicas and monitored_session across tasks",
                        "session/random_sessions": "an attack on sessions by threads, of all headers"}
# one test file for a family of ops
COVERED_BY |= {f"ops/nn/window/{op}": "ops/nn/window/conv2d"
               for op in ("window_op", "convolution_op", "conv2d_transpose", "depthwise_conv2d")}
COVERED_BY |= {f"ops/nn/window/{op}": "ops/nn/window/max_pool"
               for op in ("pool_op", "avg_pool", "extract_image_patches", "space_to_depth")}
COVERED_BY |= {f"ops/nn/{op}": "ops/nn/batch_normalization"
               for op in ("crelu", "l2_normalize", "log_poisson_loss", "lrn", "weighted_cross_entropy", "xw_plus_b",
                          "zero_fraction")}
COVERED_BY |= {"device/cpu/simd/register_math": "device/cpu/simd/pack_math", "device/cpu/simd/register_power": "device/cpu/simd/pack_math",
               "ops/array/take_along": "ops/nn/top_k",
               "train/sequential": "train/layers", "ops/math/polyval": "ops/math/count_nonzero",
               "ops/math/reduce_std": "ops/math/count_nonzero",
               "device/cpu/primitives/windows": "ops/nn/window/max_pool",
               "device/cpu/primitives/convolution": "ops/nn/window/conv2d", "ops/linalg/row_epilogue": "ops/linalg/matmul"}
COVERED_BY |= {f"ops/linalg/{op}": "ops/linalg/matrix_inverse"
               for op in ("cholesky", "matrix_determinant", "matrix_gradient", "matrix_op", "matrix_solve",
                          "matrix_solve_ls")}
COVERED_BY |= {f"ops/linalg/{op}": "ops/linalg/matrix_diag" for op in ("diag", "matrix_band_part", "matrix_transpose")}
COVERED_BY |= {f"ops/linalg/{op}": "ops/linalg/svd" for op in ("norm", "qr", "self_adjoint_eig")}
COVERED_BY |= {f"device/cpu/linalg/{part}": "ops/linalg/matrix_inverse"
               for part in ("block_updates", "lu", "matrices", "row_updates", "triangular")}
COVERED_BY |= {f"device/cpu/linalg/{part}": "ops/linalg/svd" for part in ("lapack", "qr", "self_adjoint_eig", "svd")}
COVERED_BY |= {part: "ops/quantized/quantize"
               for part in ("ops/quantized/quantized_conv2d", "ops/quantized/fake_quant", "device/quantization",
                            "device/cpu/primitives/quantized")}
COVERED_BY |= {"core/fingerprint": "ops/string/string_to_hash_bucket_fast", "device/matrix_task": "ops/linalg/matrix_inverse", "ops/linalg/einsum_equation": "ops/linalg/einsum"}
COVERED_BY |= {"ops/array/sequence_lengths": "ops/array/reverse_sequence", "ops/array/sequence_mask": "ops/array/reverse_sequence",
               "train/cell_wrappers": "train/cells", "ops/nn/compute_accidental_hits": "ops/nn/sampled_losses",
               "ops/random/candidate_sampler": "ops/nn/sampled_losses"}
COVERED_BY |= {f"device/thrust/{part}": "device/thrust/thrust_device"
               for part in ("elementwise", "kernel_starter", "launch", "launch_sequence", "layouts", "lines", "products", "randoms",
                            "reduction", "updates", "window_kernels")}
COVERED_BY |= {f"device/thrust/{part}": "device/thrust/program_source"
               for part in ("element_function", "program_arguments", "program_element", "program_front")}
COVERED_BY |= {f"device/cuda/{part}": "device/thrust/program_source" for part in ("nvrtc", "program_std")}
COVERED_BY |= {"core/elementwise_info": "core/program", "core/index": "core/dims"}
COVERED_BY["device/cpu/fusion/joined_program"] = "device/cpu/jit/jit_program"
COVERED_BY |= {header: "data/dataset"
               for header in ("resources/element_source", "resources/iterator_state", "ops/input/iterator", "ops/input/iterator_op",
                              "ops/input/iterator_get_next", "ops/input/make_iterator", "data/dataset_of", "data/dataset_iterator",
                              "data/element_types", "data/traced_function")}
COVERED_BY |= {header: "data/pipeline" for header in ("resources/pipeline_memory", "resources/pull_lock")}
COVERED_BY |= {header: "data/input_producers" for header in ("resources/reader_state", "ops/input/reader", "ops/input/reader_counts",
                                                             "ops/input/reader_read")}
COVERED_BY |= {f"estimator/{header}": "estimator/canned" for header in ("estimator", "estimator_core", "export_model", "feature_column")}
COVERED_BY |= {"ops/image/decode_image": "ops/image/resize_image", "ops/image/image_adjustments": "ops/image/resize_image",
               "io/image": "ops/image/resize_image", "io/example": "ops/input/parse_example", "ops/input/category_ids": "estimator/canned"}
COVERED_BY |= {f"ops/string/{op}": "ops/string/string_split" for op in ("string_lower", "string_upper", "string_strip", "substr")}
COVERED_BY["ops/input/decode_raw"] = "ops/input/decode_csv"
COVERED_BY |= {"ops/input/decode_compressed": "ops/input/parse_tensor", "io/tensor_message": "ops/input/parse_tensor"}
COVERED_BY |= {f"io/{header}": "data/file_sources" for header in ("byte_stream", "csv_record", "record_stream")}
COVERED_BY |= {f"ops/{op}": "ops/array/gather_nd"
               for op in ("array/nd_indices", "array/scatter_nd", "array/sparse_to_dense", "array/tensor_scatter",
                          "array/tensor_scatter_add", "array/tensor_scatter_sub", "array/tensor_scatter_update",
                          "state/scatter_div", "state/scatter_max", "state/scatter_min", "state/scatter_mul",
                          "state/scatter_nd", "state/scatter_nd_add", "state/scatter_nd_sub", "state/scatter_nd_update")}
COVERED_BY |= {f"ops/array/{op}": "ops/array/roll"
               for op in ("bitcast", "dynamic_partition", "dynamic_stitch", "invert_permutation", "list_diff", "meshgrid")}
COVERED_BY |= {f"ops/math/{op}": "ops/math/segment"
               for op in ("bincount", "bucketize", "segment_gather", "segment_places", "unsorted_segment", "unsorted_segment_max", "unsorted_segment_mean",
                          "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum")}
COVERED_BY |= {"ops/array/index_count": "ops/math/segment", "ops/math/mul_no_nan": "ops/math/div_no_nan",
               "ops/math/xdivy": "ops/math/div_no_nan", "ops/math/xlogy": "ops/math/div_no_nan"}
COVERED_BY |= {f"ops/sync/{op}": "train/sync_replicas"
               for op in ("replica_gradients", "replica_gradients_put", "replica_gradients_take", "round_arrive", "round_begin",
                          "round_dropped", "round_end", "round_leave", "round_reset", "sync_round")}
COVERED_BY |= {f"ops/sync/{op}": "train/bounded_staleness" for op in ("clock_advance", "clock_leave", "staleness_clock")}
COVERED_BY |= {header: "ops/collective/all_reduce" for header in ("ops/collective/all_gather", "ops/collective/broadcast_from",
                                                                  "ops/collective/collective", "train/all_reduce_gradients")}
COVERED_BY["train/replica_index"] = "train/sync_replicas"
COVERED_BY |= {"train/activation": "train/layers", "train/unnamed_layer": "train/layers"}
# Tests that sleep, with the reason. Others wait for a condition, or in the time of a virtual environment.
SLEEPS = {"distributed/eventually": "the loop for facts of the system that wake no one: threads that end, files that close",
          "distributed/faults": "processes that are killed, frozen and slow",
          "distributed/processes": "processes that stand still for a time",
          "distributed/worker_processes": "workers whose steps take a random time",
          "distributed/zmq_transport": "that nothing comes through a socket in a time",
          "train/saver": "processes that are killed at moments of a save"}
SLEEP = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\(")
# programs: public TensorFlow programs, which use headers of all rooms
NOT_MIRRORED = ("house", "compile_fail", "consumers", "device/far", "faults", "nvcc", "programs", "rare", "sanitizers", "saved", "stock", "tensorflow")
ROOMS_NOT_IN_SRC = ("distributed",)  # a library of its own, which src.hpp does not know
NOT_IN_SRC = ("all_types.ipp",)  # dear to compile: a program that wants it says so


def headers_of(definitions):
    """The headers that an .ipp may belong to: the one of its name, or a long one that it has a part of (segment_reports.ipp)."""
    return [h for h in definitions.parent.glob("*.hpp") if f"{definitions.stem}_".startswith(f"{h.stem}_")]


def check(root, headers_without=HEADERS_WITHOUT_TEST, tests_without=TESTS_WITHOUT_HEADER):
    include, tests = root / "include" / "rill", root / "tests"
    headers = {p.relative_to(include).with_suffix("").as_posix() for p in include.rglob("*.hpp")
               if p.parent != include and not forwards(p)}
    files = {p.relative_to(tests).with_suffix("").as_posix(): p
             for suffix in ("*.cpp", "*.cu") for p in tests.rglob(suffix)
             if p.parent != tests and not any(p.is_relative_to(tests / other) for other in NOT_MIRRORED)}
    problems = [f"include/rill/{p}.hpp has no test: write tests/{p}.cpp" for p in sorted(headers - files.keys())
                if p not in headers_without and COVERED_BY.get(p) not in files]
    problems += [f"tests/{p}.cpp has no header include/rill/{p}.hpp" for p in sorted(files.keys() - headers)
                 if p not in tests_without]
    problems += [f"{p.relative_to(root)} has no header" for p in sorted(include.rglob("*.ipp"))
                 if not any(f"{p.stem}.ipp>" in h.read_text() for h in headers_of(p))]
    if (all_in_one := include / "src.hpp").exists():
        held = all_in_one.read_text()
        problems += [f"include/rill/src.hpp leaves out {p.relative_to(include)}" for p in sorted(include.rglob("*.ipp"))
                     if f"<rill/{p.relative_to(include).as_posix()}>" not in held and p.name not in NOT_IN_SRC
                     and p.relative_to(include).parts[0] not in ROOMS_NOT_IN_SRC]
    problems += [f"tests/{p}.cpp holds no TEST_CASE" for p, file in sorted(files.items())
                 if "TEST_CASE" not in file.read_text()]
    problems += [f"tests/{p}.cpp: a semicolon in the name of a test: CMake would take it for two tests"
                 for p, file in sorted(files.items()) if re.search(r'TEST_CASE\w*\([^"\n]*"[^"\n]*;', file.read_text())]
    sleeping = {p.relative_to(tests).with_suffix("").as_posix(): p for suffix in ("*.cpp", "*.hpp", "*.cu") for p in tests.rglob(suffix)
                if SLEEP.search(re.sub(r"//[^\n]*", "", p.read_text()))}
    problems += [f"tests/{p} sleeps: let it wait for a condition, or give its reason in SLEEPS of {Path(__file__).name}"
                 for p in sorted(sleeping.keys() - SLEEPS.keys())]
    problems += [f"{p}: the exception in {Path(__file__).name} is no longer needed" for p in sorted(SLEEPS.keys() - sleeping.keys())
                 if (tests / p).parent.exists()]
    # of rooms that are there: the trees of self_test.py have few
    problems += [f"{p}: the exception in {Path(__file__).name} is no longer needed" for p in sorted(headers_without)
                 if (include / p).parent.exists() and (p in files or p not in headers)]
    problems += [f"{p}: the exception in {Path(__file__).name} is no longer needed" for p in sorted(tests_without)
                 if (tests / p).parent.exists() and (p not in files or p in headers)]
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "headers and tests match")
    sys.exit(bool(found))
