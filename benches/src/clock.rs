//! The time that the thread itself has run: what others take of a busy machine is not in it.

/// Seconds.
pub fn seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `now` alone.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    assert_eq!(status, 0, "there is such a clock");
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
