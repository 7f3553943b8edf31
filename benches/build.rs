//! Builds the contenders that are not written in Rust, on request of `scripts/bench.sh`.
//!
//! `DELTAWIRE_BENCH_CAPI` names the folder that `scripts/capi.sh` writes. `DELTAWIRE_BENCH_SIMDJSON=1` says that there
//! are a C++ compiler, and simdjson's header and library. Without these variables the contenders are left out, and the
//! report says so.

use std::path::PathBuf;

fn main() {
    println!("cargo:rustc-check-cfg=cfg(has_capi)");
    println!("cargo:rustc-check-cfg=cfg(has_simdjson)");
    println!("cargo:rerun-if-env-changed=DELTAWIRE_BENCH_CAPI");
    println!("cargo:rerun-if-env-changed=DELTAWIRE_BENCH_SIMDJSON");
    println!("cargo:rerun-if-changed=native");
    let has_cpp = std::env::var("DELTAWIRE_BENCH_SIMDJSON").as_deref() == Ok("1");
    if let Some(capi) = std::env::var_os("DELTAWIRE_BENCH_CAPI").map(PathBuf::from) {
        let mut build = cc::Build::new();
        build.file("native/capi.c").include("native").include(capi.join("include"));
        build.std("c11").opt_level(2).warnings(true).compile("bench_capi");
        if has_cpp {
            let mut build = cc::Build::new();
            build.cpp(true).file("native/handler.cpp").include("native").include(capi.join("include"));
            build.std("c++17").opt_level(2).warnings(true).compile("bench_cpp");
        }
        let archive = capi.join("libdeltawire.a");
        println!("cargo:rerun-if-changed={}", archive.display());
        // The archive is one object whose other names are local, so they do not clash with those of the library in
        // Rust.
        println!("cargo:rustc-link-search=native={}", capi.display());
        println!("cargo:rustc-link-lib=static:-bundle=deltawire");
        println!("cargo:rustc-cfg=has_capi");
    }
    if has_cpp {
        let mut build = cc::Build::new();
        build.cpp(true).file("native/simdjson.cpp").include("native").std("c++17").opt_level(3).define("NDEBUG", None);
        // On-Demand is compiled for one instruction set; without this flag that is its fallback.
        build.flag_if_supported("-march=native").warnings(false).compile("bench_simdjson");
        println!("cargo:rustc-link-lib=simdjson");
        println!("cargo:rustc-cfg=has_simdjson");
    }
}
