# `make test` is the whole of the checks. Each is a script of its own in scripts/.
.PHONY: test fmt clippy doc cross proof bench clean

test:
	@bash scripts/test.sh

# Formats; that it was done is checked by `make test`.
fmt:
	cargo fmt --all
	cargo fmt --manifest-path proof/Cargo.toml

clippy doc cross proof:
	@bash scripts/$@.sh

bench:
	cargo bench --locked -p deltawire-benches

clean:
	cargo clean
