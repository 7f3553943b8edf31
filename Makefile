# `make check` is for after a change. `make test` runs each check once; `make test-full` runs every cut, processor and seed.
# docs/testing.md says what each step would catch.
SCRIPTS = abi apps asan bench capi count coverage cross deny dist emulate envoy ffi_c ffi_cpp ffi_go ffi_proof ffi_use gateways header misuse nginx package proof readme replay ship size translators wasm writing
.PHONY: test test-full check fmt format clippy doc tests circles fuzz floods mutants clean install uninstall install-envoy install-nginx go-lib go-module go-clients abi-write $(SCRIPTS)
TARGET = $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
TESTED = -p deltawire -p deltawire-cli --all-features
MANIFESTS = Cargo.toml proof/Cargo.toml capi/Cargo.toml fuzz/Cargo.toml examples/apps/Cargo.toml

test:
	@bash scripts/test.sh

test-full:
	@DELTAWIRE_FULL=1 DELTAWIRE_THIN=1 bash scripts/test.sh

check: format
	@cargo clippy --quiet --locked --workspace --all-features --all-targets -- -D warnings
	@gcc -std=c99 -Wall -Wextra -pedantic -Werror -Iinclude -Iffi-tests/header -fsyntax-only -x c ffi-tests/layout/layout.c
	@cargo test --quiet --locked -p deltawire --all-features --lib

fmt:
	@for manifest in $(MANIFESTS); do cargo fmt --all --manifest-path $$manifest || exit; done

format:
	@for manifest in $(MANIFESTS); do cargo fmt --all --manifest-path $$manifest -- --check || exit; done
	@echo PASS format

# No warnings, with all features, with none, with each that has a dependency or `std`, and in the crates outside of the workspace. `make test-full` also checks the benchmarks
# and the fuzz targets, for which the contenders and the fuzzing crates must be compiled.
clippy:
	@cargo clippy --locked $(TESTED) --all-targets -- -D warnings
	@cargo clippy --locked -p deltawire --all-targets --no-default-features -- -D warnings
	@for feature in bytes futures http-body std tokio; do cargo clippy --locked -p deltawire --no-default-features --features $$feature -- -D warnings || exit; done
	@cargo clippy --locked --manifest-path proof/Cargo.toml --target-dir $(TARGET) --all-targets --all-features -- -D warnings
	@cargo clippy --locked --manifest-path capi/Cargo.toml --target-dir $(TARGET) --all-features -- -D warnings
ifeq ($(DELTAWIRE_FULL),1)
	@cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	@cargo clippy --locked --manifest-path fuzz/Cargo.toml --target-dir $(TARGET) --no-default-features --all-targets -- -D warnings
endif
	@echo PASS clippy

# Every public item is documented, and every link has a target.
doc:
	@RUSTDOCFLAGS='-D warnings' cargo doc --locked -p deltawire --no-deps --all-features
	@RUSTDOCFLAGS='-D warnings' cargo doc --locked -p deltawire --no-deps --all-features --document-private-items --target-dir $(TARGET)/doc-private
	@echo PASS doc

# No files or folders use each other in a circle. For one root: make circles ROOTS=fuzz/src
ROOTS = src cli/src fuzz/src benches/src
circles:
	@python3 -B scripts/circles.py $(ROOTS)

# --show-output shows what a test skips, so that it can be counted. `make test-full` also runs all tests without features, where the
# readers of other protocols are missing, and the tests of the benchmarks and of the fuzz targets, without a fuzzer.
tests:
	@DELTAWIRE_THIN=$${DELTAWIRE_THIN:-23} cargo test --locked $(TESTED) -- --show-output
	@echo PASS tests
ifeq ($(DELTAWIRE_FULL),1)
	@cargo test --locked -p deltawire --no-default-features -- --show-output
	@cargo test --locked -p deltawire-benches -- --show-output
	@cargo test --locked --manifest-path fuzz/Cargo.toml --no-default-features -- --show-output
	@echo PASS tests-full
endif

# `make coverage` prints which lines the library's tests run; `make bench` writes the figures of docs/benchmarks.md and its pictures;
# `make capi` builds the C library, `make dist` packs it, `make envoy` builds the module for Envoy. The others are steps of `make test`.
$(SCRIPTS):
	@bash scripts/$@.sh

# Records the present binary interface, with which `make abi` then compares: make abi-write REASON='a function for …'
abi-write: export REASON := $(REASON)
abi-write:
	@bash scripts/abi.sh --write "$$REASON"

# Fuzzes each target for SECONDS: make fuzz SECONDS=600 TARGETS='memo split'
fuzz:
	@bash scripts/fuzz.sh $(or $(SECONDS),$(if $(TARGETS),60)) $(TARGETS)

# Checks whether the tests detect changes of these files. It changes them in place, so commit first. `make test` does not run it,
# because each change takes a build and a run of TESTS, some minutes with all of them. .cargo/mutants.toml lists changes that alter no
# answer.
FILES =
TESTS = --lib --tests
mutants:
	@bash -c '. scripts/lib.sh; need_tool cargo-mutants "$$CARGO_MUTANTS_VERSION"; \
	  DELTAWIRE_THIN=53 cargo mutants --in-place --timeout 600 --output $(TARGET) $(TESTS:%=--cargo-arg=%) $(FILES:%=--file=%)'

# Reads a GiB of each kind of flood, each in a separate process, which asserts its peak of memory. `make tests` reads some MiB.
MIB = 1024
FLOODS = cargo test --quiet --locked -p deltawire --all-features --lib
floods:
	@for name in $$($(FLOODS) stream::flood_tests -- --list | sed -n 's/: test$$//p'); do \
	  DELTAWIRE_FLOOD=$(MIB) $(FLOODS) -- --exact $$name --show-output >$(TARGET)/flood.txt 2>&1 && grep '^flood of' $(TARGET)/flood.txt || \
	  { cat $(TARGET)/flood.txt; exit 1; }; done

clean:
	cargo clean

# The C library: docs/installing.md.
PREFIX = /usr/local
DESTDIR =
LIBDIR = lib

install uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' bash scripts/prefix.sh $@

# Builds the archive that the Go package in bindings/go links; it is not checked in.
go-lib:
	@bash -c '. scripts/lib.sh; go_lib'

# Tests the adapter with openai-go and Bifrost themselves. `make test` does not run it, because Go fetches these from its registry.
go-clients: go-lib
	@cd bindings/go/adapter/clients && go mod tidy && go test -count=1 -v ./...

# The Go module with archives, for users without Rust: docs/installing.md.
go-module:
	@bash scripts/go_module.sh

# The modules for gateways: docs/envoy.md, docs/nginx.md. make envoy ENVOY=1.39 builds for that release of Envoy.
install-envoy install-nginx:
	@DIR='$(DIR)' bash scripts/$(@:install-%=%).sh install
