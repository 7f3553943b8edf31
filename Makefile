# `make test` is the whole of the checks. Each is a script of its own in scripts/.
.PHONY: test fmt clippy doc deny asan coverage cross emulate wasm proof bench fuzz floods mutants clean capi install uninstall dist go-lib abi ship

test:
	@bash scripts/test.sh

# Formats; that it was done is checked by `make test`.
fmt:
	cargo fmt --all
	cargo fmt --manifest-path proof/Cargo.toml
	cargo fmt --manifest-path capi/Cargo.toml
	cargo fmt --manifest-path fuzz/Cargo.toml

# `make coverage` says which lines the library's tests run; it is no part of `make test`.
clippy doc deny asan coverage emulate wasm proof ship:
	@bash scripts/$@.sh

# Other processors: what builds, what runs in WebAssembly, and the tests under QEMU.
cross:
	@bash scripts/cross.sh
	@bash scripts/wasm.sh
	@bash scripts/emulate.sh

# All contenders in one run; writes the figures of docs/benchmarks.md, and its pictures.
bench:
	@bash scripts/bench.sh

# Each target for SECONDS: make fuzz SECONDS=600 TARGETS='memo split'
SECONDS = 30
TARGETS =

fuzz:
	@bash scripts/fuzz.sh $(SECONDS) $(TARGETS)

# Whether the tests notice changes of the library: make mutants FILES='src/json/ src/sse/'. An hour for all; no part of `make test`.
FILES =

mutants:
	@bash scripts/mutants.sh $(FILES)

# A GiB of each kind of flood; the ordinary tests make some MiB of each.
floods:
	@bash scripts/floods.sh

clean:
	cargo clean

# The C library: docs/installing.md.
PREFIX = /usr/local
DESTDIR =
LIBDIR = lib

capi:
	@bash scripts/capi.sh

install uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' bash scripts/prefix.sh $@

dist:
	@bash scripts/dist.sh

# What the Go package in bindings/go is built with: it is not checked in.
go-lib:
	@bash scripts/go_lib.sh

# Takes the binary interface as it is now for the one that scripts/abi.sh holds it to.
abi:
	@bash scripts/abi.sh --write
