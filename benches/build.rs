//! The contenders that are not written in Rust, if they are asked for: `scripts/bench.sh` does.
//!
//! `DELTAWIRE_BENCH_CAPI` names the folder that `scripts/capi.sh` writes; `DELTAWIRE_BENCH_SIMDJSON=1` says that there is a compiler
//! of C++, and simdjson's header and library. Without them those contenders are left out, and said to be.

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
        // The archive is one object whose other names are local: it does not meet those of the library in Rust.
        println!("cargo:rustc-link-search=native={}", capi.display());
        println!("cargo:rustc-link-lib=static:-bundle=deltawire");
        println!("cargo:rustc-cfg=has_capi");
    }
    if has_cpp {
        let mut build = cc::Build::new();
        build.cpp(true).file("native/simdjson.cpp").include("native").std("c++17").opt_level(3).define("NDEBUG", None);
        // On-Demand is compiled for one instruction set: without this it is its fallback.
        build.flag_if_supported("-march=native").warnings(false).compile("bench_simdjson");
        println!("cargo:rustc-link-lib=simdjson");
        println!("cargo:rustc-cfg=has_simdjson");
    }
}
