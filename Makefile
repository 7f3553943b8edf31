# `make test` is the whole of the checks, each once; `make test-full` takes every cut, processor and seed that there is.
# docs/testing.md says what each step would catch. `make check` is what to run after a change.
SCRIPTS = abi apps asan bench capi count coverage cross deny dist emulate ffi_c ffi_cpp ffi_go ffi_proof ffi_use header misuse package proof readme ship size wasm
.PHONY: test test-full check fmt format clippy doc tests circles fuzz floods mutants clean install uninstall go-lib go-module go-clients abi-write $(SCRIPTS)
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

# No warning, with all features and with none, and in the crates that are no members of the workspace; in full also where the
# benchmarks' contenders, and what the fuzz targets need, have to be compiled for it.
clippy:
	@cargo clippy --locked $(TESTED) --all-targets -- -D warnings
	@cargo clippy --locked -p deltawire --all-targets --no-default-features -- -D warnings
	@cargo clippy --locked --manifest-path proof/Cargo.toml --target-dir $(TARGET) --all-targets --all-features -- -D warnings
	@cargo clippy --locked --manifest-path capi/Cargo.toml --target-dir $(TARGET) --all-features -- -D warnings
ifeq ($(DELTAWIRE_FULL),1)
	@cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	@cargo clippy --locked --manifest-path fuzz/Cargo.toml --target-dir $(TARGET) --no-default-features --all-targets -- -D warnings
endif
	@echo PASS clippy

# Every public item is documented and every link leads somewhere.
doc:
	@RUSTDOCFLAGS='-D warnings' cargo doc --locked -p deltawire --no-deps --all-features
	@RUSTDOCFLAGS='-D warnings' cargo doc --locked -p deltawire --no-deps --all-features --document-private-items --target-dir $(TARGET)/doc-private
	@echo PASS doc

# No files or folders use each other in a circle: make circles ROOTS=fuzz/src
ROOTS = src fuzz/src benches/src
circles:
	@python3 -B scripts/circles.py $(ROOTS)

# --show-output: what a test skips is to be seen and counted. In full, all tests also without features, where the readers of other
# protocols are missing, and those of the benchmarks' contenders and of the fuzz targets without a fuzzer.
tests:
	@DELTAWIRE_THIN=$${DELTAWIRE_THIN:-23} cargo test --locked $(TESTED) -- --show-output
	@echo PASS tests
ifeq ($(DELTAWIRE_FULL),1)
	@cargo test --locked -p deltawire --no-default-features -- --show-output
	@cargo test --locked -p deltawire-benches -- --show-output
	@cargo test --locked --manifest-path fuzz/Cargo.toml --no-default-features -- --show-output
	@echo PASS tests-full
endif

# `make coverage` says which lines the library's tests run; `make bench` writes the figures of docs/benchmarks.md, and its
# pictures; `make capi` builds the C library, `make dist` packs it. The others are steps of `make test`.
$(SCRIPTS):
	@bash scripts/$@.sh

# Takes the binary interface as it is now for the one that `make abi` holds it to: make abi-write REASON='a function for …'
abi-write: export REASON := $(REASON)
abi-write:
	@bash scripts/abi.sh --write "$$REASON"

# Each target for SECONDS: make fuzz SECONDS=600 TARGETS='memo split'
fuzz:
	@bash scripts/fuzz.sh $(or $(SECONDS),$(if $(TARGETS),60)) $(TARGETS)

# Whether the tests notice changes of these files; in place, so commit first. No part of `make test`: a change is a build and a
# run of TESTS, some minutes with all of them. What alters no answer is in .cargo/mutants.toml.
FILES =
TESTS = --lib --tests
mutants:
	@bash -c '. scripts/lib.sh; need_tool cargo-mutants "$$CARGO_MUTANTS_VERSION"; \
	  DELTAWIRE_THIN=53 cargo mutants --in-place --timeout 600 --output $(TARGET) $(TESTS:%=--cargo-arg=%) $(FILES:%=--file=%)'

# A GiB of each kind of flood, each in a process of its own, where the peak of memory is asserted; the tests make some MiB.
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

# What the Go package in bindings/go is built with: it is not checked in.
go-lib:
	@bash -c '. scripts/lib.sh; go_lib'

# The adapter with openai-go and Bifrost themselves, which Go fetches from its registry: no part of `make test`, which needs no
# such registry.
go-clients: go-lib
	@cd bindings/go/adapter/clients && go mod tidy && go test -count=1 -v ./...

# The Go module with archives, as users without Rust get it: docs/installing.md.
go-module:
	@bash scripts/go_module.sh
