# What a person or the CI types. `make demo` and `make test` also install what they need on Debian and Ubuntu.
JOBS ?= $(shell nproc)
BUILD_PACKAGES := g++ cmake ninja-build ccache mold libxtensor-dev xtl-dev libxsimd-dev libxbyak-dev libzmq3-dev cppzmq-dev
TEST_PACKAGES  := $(BUILD_PACKAGES) python3 catch2 libdnnl-dev libcereal-dev nlohmann-json3-dev libthrust-dev universal-ctags libpng16-16 libturbojpeg0 iproute2
CHECK_PACKAGES := $(TEST_PACKAGES) libbenchmark-dev clang-19 libopenmpi-dev openmpi-bin pkg-config python3-venv valgrind
CLANG_PACKAGES := $(TEST_PACKAGES) clang-19 libclang-rt-19-dev llvm-19
BENCH_PACKAGES := $(BUILD_PACKAGES) libbenchmark-dev libthrust-dev
PEERS_PACKAGES := $(BUILD_PACKAGES) python3 python3-venv libopenblas-dev libdnnl-dev

# Asks dpkg first, so that nothing is updated, downloaded or asked for where all is there already.
define need
	@command -v apt-get >/dev/null || exit 0; missing=; \
	for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	[ -z "$$missing" ] && exit 0; echo "installing:$$missing"; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -qq || echo "apt-get update failed: trying with the lists there are"; \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing
endef

.PHONY: demo test check check-tensorflow docs amalgamate sanitize test-costs soak fuzz gpu bench bench-gpu bench-peers format clean gpu-harness gpu-sanitizer gpu-speed

demo:
	$(call need,$(BUILD_PACKAGES))
	@echo "building examples/digits.cpp"; mkdir -p build; \
	{ cmake --preset release && cmake --build --preset release --target example_digits -j $(JOBS); } >build/demo.log 2>&1 \
	    || { cat build/demo.log; exit 1; }
	build/release/examples/digits examples/data/digits.csv

# Configures, builds and runs the tests of a preset, and says which took longest.
define tested # $(1): the preset, $(2): for cmake, $(3): for ctest
	cmake --preset $(1) $(2)
	cmake --build --preset $(1) -j $(JOBS)
	ctest --preset $(1) -j $(JOBS) $(3) --output-junit ../$(1).xml
	@echo "slowest:"; sed -n 's/.*<testcase name="\(.*\)" classname.* time="\([0-9.]*\)".*/\2 s  \1/p' build/$(1).xml | sort -rn | head -10
endef

# The tests and examples, with kernels for any processor of x86-64, and the shape of the house.
test:
	$(call need,$(TEST_PACKAGES))
	$(call tested,dev-gcc)

# What maintainers look at besides, in the same folder: the tests with the kernels of each level of x86-64; each header alone and
# every error of the compiler, on g++ and clang; tests and examples with clang, as far as its errors; consumers of the package; a device
# whose memory the host can't read; the page on adding an op, carried out; the Thrust device, and programs with a GPU on it; benchmarks
# build; small steps take no more instructions than bench/instructions/baseline.json says
# (under valgrind); rill under nvcc; TensorBoard, NumPy and safetensors read our files (python). consumer.conan is skipped where conan
# is neither installed nor to be downloaded, nvcc.* and consumers of rill::gpu where nvcc 13 is not found.
# CHECK_KINDS takes some kinds alone, the labels without "check_": make check CHECK_KINDS="far consumers". One kind may be divided:
# CHECK_KINDS=headers/2of3 runs every third test from the second on. Headers alone, clang and the far device divide what a test holds.
space := $(subst ,, )
comma := ,
kinds = $(foreach kind,$(CHECK_KINDS),$(firstword $(subst /, ,$(kind))))
part = $(word 2,$(subst /, ,$(firstword $(CHECK_KINDS))))
unless = $(if $(CHECK_KINDS),$(if $(filter $(1),$(kinds)),,$(2)))
check: export RILL_PART = $(if $(filter headers clang,$(kinds)),$(part))
check:
	$(if $(findstring /,$(CHECK_KINDS)),$(if $(word 2,$(CHECK_KINDS)),$(error a part is of one kind alone: $(CHECK_KINDS))))
	$(call need,$(CHECK_PACKAGES))
	@$(call unless,consumers,exit 0;) \
	command -v conan >/dev/null || test -x build/conan-venv/bin/conan || { python3 -m venv build/conan-venv \
	    && build/conan-venv/bin/pip install -q --retries 1 "conan>=2"; } || echo "conan can't be had: its package is not checked"
	@$(call unless,python,exit 0;) test -x build/python-venv/bin/python || { python3 -m venv build/python-venv \
	    && build/python-venv/bin/pip install -q --retries 1 numpy safetensors "tensorboard>=2.21"; } \
	    || echo "TensorBoard can't be had: files for other programs are not checked"
	$(call tested,check,$(or $(call unless,levels,-DRILL_KERNEL_LEVELS=),-URILL_KERNEL_LEVELS) \
	    $(call unless,far,-DRILL_TEST_FAR=OFF) $(call unless,thrust,-DRILL_TEST_THRUST=OFF) $(call unless,gpu,-DRILL_TEST_GPU=OFF) $(call unless,rare,-DRILL_KERNEL_RARE_TYPES=OFF) \
	    $(call unless,benchmarks,-DRILL_BUILD_BENCH=OFF) -DRILL_TEST_PART=$(if $(filter far,$(kinds)),$(part)),$(if \
	    $(CHECK_KINDS),-L '^check_($(subst $(space),|,$(strip $(kinds))))$$' $(if $(part),$(if \
	    $(filter headers clang far,$(kinds)),,-I $(subst of,$(comma)$(comma),$(part))))))

# docs/ops.md and a table of docs/gradients.md, which tests compare with the catalogue and with tests/data.
docs:
	$(call need,$(TEST_PACKAGES))
	cmake --preset dev-gcc
	cmake --build --preset dev-gcc --target rill_ops_page -j $(JOBS)
	build/dev-gcc/tests/house/rill_ops_page write .
	python3 -B tests/tensorflow/gradients_page.py write .

# All headers in one file.
amalgamate:
	python3 -B docs/packages/amalgamate.py build/rill.hpp

# Tests under the sanitizers: all, which takes long, or those of some folders: make sanitize FOLDERS="core;graph;runtime" SANITIZERS=tsan
SANITIZERS ?= asan-ubsan tsan
sanitize:
	$(call need,$(CLANG_PACKAGES))
	set -e; for preset in $(SANITIZERS); do \
	    cmake --preset $$preset -DRILL_BUILD_EXAMPLES=$(if $(FOLDERS),OFF,ON) -DRILL_TEST_FOLDERS="$(FOLDERS)"; \
	    cmake --build --preset $$preset -j $(JOBS); ctest --preset $$preset -j $(JOBS); done

# What the tests cost: CPU seconds and peak memory of each unit, seconds that each test file runs. BATCH=1: each file is a unit.
# CHECKS=1: the CPU seconds of each kind of `make check` instead, in the folder of `make check`, where ccache holds nothing of it cold.
BATCH ?= 16
test-costs:
	$(call need,$(if $(CHECKS),$(CHECK_PACKAGES),$(TEST_PACKAGES)))
ifneq ($(CHECKS),)
	mkdir -p build
	python3 -B tests/house/costs.py checks "$(CURDIR)" build/check_costs.log >build/check_costs.md; status=$$?; cat build/check_costs.md; exit $$status
else
	rm -rf build/costs; mkdir -p build/costs
	cmake --preset dev-gcc -B build/costs -DRILL_TEST_BATCH=$(BATCH) \
	    "-DCMAKE_CXX_COMPILER_LAUNCHER=python3;-B;$(CURDIR)/tests/house/costs.py;run;$(CURDIR)/build/costs/units.txt"
	cmake --build build/costs -j $(JOBS)
	python3 -B tests/house/costs.py table build/costs build/costs/units.txt | tee build/costs.md
endif

# All random tests with new seeds, those of Thrust's OMP system among them, for so many seconds together: make soak SECONDS=3600 FIRST_SEED=1. A failure says how it is found again.
# Then the faults of files, processes and connections by the hundreds and thousands, and SEEDS seeds of each test in virtual time, which
# take hours: make soak SEEDS=1000 for less of the latter.
SECONDS ?= 600
SEEDS ?= 100000
soak:
	$(call need,$(TEST_PACKAGES))
	cmake --preset dev-gcc -DRILL_BUILD_EXAMPLES=OFF -DRILL_TEST_THRUST=ON -DRILL_TEST_THRUST_FAR=OFF
	cmake --build --preset dev-gcc -j $(JOBS)
	python3 -B tests/house/soak.py build/dev-gcc $(SECONDS) $(SEEDS) $(FIRST_SEED)

# What strangers might send, for so many seconds together: make fuzz FUZZ_SECONDS=600. Half of them are for graphs, a quarter for the
# headers, arguments, values and sequences of messages, a quarter for files. FUZZ_SEED= takes the rounds from that seed on.
FUZZ_SECONDS ?= 60
fuzz:
	$(call need,$(CLANG_PACKAGES))
	cmake --preset asan-ubsan -DRILL_BUILD_EXAMPLES=OFF "-DRILL_TEST_FOLDERS=saved;distributed/hostile_bytes.cpp;distributed/wire_header.cpp;io/hostile_files.cpp"
	cmake --build --preset asan-ubsan --target rill_saved_fuzz rill_tests_distributed rill_tests_io -j $(JOBS)
	build/asan-ubsan/tests/saved/rill_saved_fuzz $$(($(FUZZ_SECONDS) / 2)) tests/data/graphs/*.rill $(FUZZ_SEED)
	RILL_SOAK_SECONDS=$$(($(FUZZ_SECONDS) / 12)) RILL_FIRST_SEED=$(or $(FUZZ_SEED),$$(date +%s)) \
	    build/asan-ubsan/tests/rill_tests_distributed "hostile bytes:*[random],wire header:*[random]" --durations yes
	RILL_SOAK_SECONDS=$$(($(FUZZ_SECONDS) / 28)) RILL_FIRST_SEED=$(or $(FUZZ_SEED),$$(date +%s)) RILL_TEST_DATA="$(CURDIR)/tests/data" \
	    build/asan-ubsan/tests/rill_tests_io "hostile files:*[random]" --durations yes

# Every op and random graphs beside TensorFlow 2, values and gradients; then files of weights and of Examples, both ways:
# make check-tensorflow GRAPHS=10000 SEED=7. The environment is that of make bench-peers; where there is none, it is made, with TensorFlow alone.
GRAPHS ?= 2000
SEED ?= 20261122
PEERS_PYTHON := build/peers/venv/bin/python
BESIDE := build/beside_tensorflow
check-tensorflow:
	$(call need,$(TEST_PACKAGES) python3-venv)
	test -x $(PEERS_PYTHON) || python3 -m venv build/peers/venv
	$(PEERS_PYTHON) -c "import tensorflow" 2>/dev/null || $(PEERS_PYTHON) -m pip install -q tensorflow-cpu
	cmake --preset dev-gcc -DRILL_KERNEL_RARE_TYPES=ON
	cmake --build --preset dev-gcc -j $(JOBS) --target rill_tests_tensorflow rill_tests_rare
	mkdir -p $(BESIDE)
	$(PEERS_PYTHON) -B tests/tensorflow/vectors.py $(BESIDE)/tensorflow.txt
	$(PEERS_PYTHON) -B tests/tensorflow/functions.py $(BESIDE)/tensorflow_functions.txt
	$(PEERS_PYTHON) -B tests/tensorflow/rare_vectors.py $(BESIDE)/tensorflow_rare.txt
	$(PEERS_PYTHON) -B tests/tensorflow/random_graphs.py $(SEED) $(GRAPHS) $(BESIDE)/graphs.txt
	RILL_TEST_DATA=$(BESIDE) RILL_TENSORFLOW_GRAPHS=$(BESIDE)/graphs.txt build/dev-gcc/tests/rill_tests_tensorflow "tensorflow:*,tensorflow: random graphs"
	RILL_TEST_DATA=$(BESIDE) build/dev-gcc/tests/rill_tests_rare "rare:*"
	cmake --build --preset dev-gcc -j $(JOBS) --target example_exchange_weights example_exchange_input
	$(PEERS_PYTHON) -m pip install -q safetensors
	$(PEERS_PYTHON) -B tests/house/check_weights.py build/dev-gcc/examples/exchange_weights
	$(PEERS_PYTHON) -B tests/house/check_input.py build/dev-gcc/examples/exchange_input

# On a machine with a GPU, in parts that each take less than 8 minutes: make gpu GPU_PARTS="programs memory" (docs/gpu.md). `harness` is every
# elementwise op, in programs of their own: GPU_PARTS=harness2 is one. `sanitizer` runs small programs under compute-sanitizer, where that is
# found; `speed` is make bench-gpu. Programs say what they have seen; the target says which parts failed, after all have run.
NVCC ?= nvcc
GPU_FLAGS := -x cu -std=c++20 -arch=native --split-compile=0 --expt-relaxed-constexpr -Werror cross-execution-space-call \
    "-DRILL_MORE_DEVICES=<rill/gpu.hpp>" -I include
HARNESS_PARTS := 4
GPU_PARTS ?= programs convolutions harness random_graphs replays sanitizer memory faults speed
gpu_programs = programs convolutions random_graphs replays memory faults $(foreach k,$(shell seq $(HARNESS_PARTS)),harness$(k))
gpu:
	@failed=; for part in $(GPU_PARTS); do echo "== $$part"; $(MAKE) --no-print-directory gpu-$$part || failed="$$failed $$part"; done; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

gpu_sources := $(shell find include/rill tests/nvcc/gpu tests/random_graph.hpp -name '*.[hi]pp' -o -name '*.cu')
$(addprefix build/gpu/,$(filter-out harness%,$(gpu_programs))): build/gpu/%: $(gpu_sources)
	@mkdir -p build/gpu
	$(NVCC) $(GPU_FLAGS) -DRILL_TEST_ALL tests/nvcc/gpu/$*.cu -o $@
build/gpu/harness%: $(gpu_sources)
	@mkdir -p build/gpu
	$(NVCC) $(GPU_FLAGS) -DRILL_TEST_PARTS=$(HARNESS_PARTS) -DRILL_TEST_PART=$$(($* - 1)) tests/nvcc/gpu/harness.cu -o $@
$(addprefix gpu-,$(gpu_programs)): gpu-%: build/gpu/%
	build/gpu/$*
gpu-harness: # one nvcc takes 8 GB
	$(MAKE) -j $(HARNESS_PARTS) -k $(foreach k,$(shell seq $(HARNESS_PARTS)),gpu-harness$(k))
gpu-sanitizer:
	@command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not found: skipped"; exit 0; }; \
	set -ex; $(MAKE) -j 3 build/gpu/programs build/gpu/replays build/gpu/random_graphs; \
	compute-sanitizer --error-exitcode 1 build/gpu/programs; \
	compute-sanitizer --tool racecheck --error-exitcode 1 build/gpu/replays 30; \
	compute-sanitizer --tool initcheck --error-exitcode 1 build/gpu/random_graphs 20
gpu-speed: bench-gpu

# On a machine with a GPU: the speed of large kernels and small steps, beside PyTorch and JAX where python3 has them.
bench-gpu:
	mkdir -p build/gpu
	$(NVCC) $(GPU_FLAGS) -O3 bench/gpu.cu -o build/gpu/bench
	build/gpu/bench
	-python3 bench/peers/gpu.py torch
	-python3 bench/peers/gpu.py jax

bench:
	$(call need,$(BENCH_PACKAGES))
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	@set -e; for program in build/release/bench/*_bench; do echo "== $$program"; $$program; done

# Beside TensorFlow, JAX, PyTorch (gigabytes, into build/peers) and C++ written by hand.
bench-peers:
	$(call need,$(PEERS_PACKAGES))
	python3 bench/peers/run.py

format:
	$(call need,clang-format-19)
	find include tests examples bench -name '*.[chi]pp' -print0 | xargs -0 clang-format-19 -i

clean:
	rm -rf build
