//! The fuzz targets, and the code that they share with each other and with the tests. A target is a function of bytes
//! that panics on a finding.

#[path = "../../tests/common/batch.rs"]
pub mod batch;
pub mod capi;
#[path = "../../tests/common/completion_json.rs"]
pub mod completion_json;
pub mod dialect;
#[path = "../../tests/common/drive.rs"]
pub mod drive;
#[path = "../../tests/common/edit.rs"]
pub mod edit;
#[path = "../../tests/common/event_log.rs"]
pub mod event_log;
#[path = "../../tests/common/halves.rs"]
pub mod halves;
#[path = "../../tests/common/input.rs"]
pub mod input;
pub mod json;
#[path = "../../tests/common/json_walk.rs"]
pub mod json_walk;
#[path = "../../tests/common/log.rs"]
pub mod log;
#[path = "../../tests/common/logged.rs"]
pub mod logged;
pub mod memo;
pub mod message;
#[path = "../../tests/common/naive_chat.rs"]
pub mod naive_chat;
#[path = "../../tests/common/naive_json.rs"]
pub mod naive_json;
#[path = "../../tests/common/naive_native.rs"]
pub mod naive_native;
#[path = "../../tests/common/naive_sse.rs"]
pub mod naive_sse;
#[path = "../../tests/common/native.rs"]
pub mod native;
#[path = "../../tests/common/random.rs"]
pub mod random;
pub mod raw_json;
#[path = "../../tests/common/records.rs"]
pub mod records;
#[path = "../../tests/common/shared.rs"]
pub mod shared;
pub mod split;
pub mod sse;
pub mod sse_peer;
#[path = "../../tests/common/stream.rs"]
pub mod stream;
pub mod text;
#[path = "../../tests/common/views.rs"]
pub mod views;
pub mod write;

/// Uses AVX2 from here on, if `avx2` and the processor has it, and SSE2 otherwise. Only a build for fuzzing can choose.
pub fn use_avx2(avx2: bool) {
    #[cfg(all(fuzzing, target_arch = "x86_64"))]
    deltawire::force_avx2(avx2);
    #[cfg(not(all(fuzzing, target_arch = "x86_64")))]
    let _ = avx2;
}
