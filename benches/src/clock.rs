//! The time that the thread itself has run, without the time of other threads on a busy machine.

/// Returns the time in seconds.
pub fn seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the function writes only to `now`.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    assert_eq!(status, 0, "there is such a clock");
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
