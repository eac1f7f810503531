# What a person or the CI types. `make demo` and `make test` also install what they need on Debian and Ubuntu.
JOBS ?= $(shell nproc)
BUILD_PACKAGES := g++ cmake ninja-build ccache mold libxtensor-dev xtl-dev libxsimd-dev
TEST_PACKAGES  := $(BUILD_PACKAGES) python3 catch2 libbenchmark-dev clang-19 libdnnl-dev
CHECK_PACKAGES := $(TEST_PACKAGES) libclang-rt-19-dev llvm-19
BENCH_PACKAGES := $(BUILD_PACKAGES) libbenchmark-dev
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

.PHONY: demo test docs sanitize bench bench-peers format clean

demo:
	$(call need,$(BUILD_PACKAGES))
	@echo "building examples/digits.cpp"; mkdir -p build; \
	{ cmake --preset release && cmake --build --preset release --target example_digits -j $(JOBS); } >build/demo.log 2>&1 \
	    || { cat build/demo.log; exit 1; }
	build/release/examples/digits examples/data/digits.csv

# The headers alone, the compile-failure tests and the consumer projects are tests of the preset, on both compilers.
test:
	$(call need,$(TEST_PACKAGES))
	cmake --preset dev-gcc
	cmake --build --preset dev-gcc -j $(JOBS)
	ctest --preset dev-gcc -j $(JOBS)

# docs/ops.md, which a test compares with the catalogue.
docs:
	$(call need,$(TEST_PACKAGES))
	cmake --preset dev-gcc
	cmake --build --preset dev-gcc --target rill_ops_page -j $(JOBS)
	build/dev-gcc/tests/house/rill_ops_page write .

sanitize:
	$(call need,$(CHECK_PACKAGES))
	set -e; for preset in asan-ubsan tsan; do \
	    cmake --preset $$preset; cmake --build --preset $$preset -j $(JOBS); ctest --preset $$preset -j $(JOBS); done

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
