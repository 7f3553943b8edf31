# `make test` is the whole of the checks. Each is a script of its own in scripts/.
.PHONY: test fmt clippy doc cross proof bench clean capi install uninstall dist go-lib abi ship

test:
	@bash scripts/test.sh

# Formats; that it was done is checked by `make test`.
fmt:
	cargo fmt --all
	cargo fmt --manifest-path proof/Cargo.toml
	cargo fmt --manifest-path capi/Cargo.toml

clippy doc cross proof ship:
	@bash scripts/$@.sh

bench:
	cargo bench --locked -p deltawire-benches

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
