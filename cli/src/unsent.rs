//! How much of what was written to a connection the other end has not taken. A reset throws that away.

use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long the other end may take nothing.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until the other end took all that was written, or has taken nothing for a while. Returns how many bytes it did not
/// take.
pub fn wait_until_taken(connection: &TcpStream) -> u64 {
    let (mut least, mut since) = (u64::MAX, Instant::now());
    loop {
        let left = unsent(connection).unwrap_or(0);
        if left == 0 || left >= least && since.elapsed() >= PATIENCE {
            return left;
        }
        if left < least {
            (least, since) = (left, Instant::now());
        }
        std::thread::sleep(PAUSE);
    }
}

/// How many bytes the other end has not taken, as Linux lists it. Other systems do not list it.
fn unsent(connection: &TcpStream) -> Option<u64> {
    let port = |port: u16| format!(":{port:04X}");
    let (here, there) = (port(connection.local_addr().ok()?.port()), port(connection.peer_addr().ok()?.port()));
    // The cells of a line: number, address here, address there, state, bytes to send and to read.
    let of_line = |line: &str| {
        let mut cells = line.split_whitespace().skip(1);
        let is_it = cells.next()?.ends_with(&here) && cells.next()?.ends_with(&there);
        let (unsent, _) = cells.nth(1)?.split_once(':')?;
        u64::from_str_radix(unsent, 16).ok().filter(|_| is_it)
    };
    let of_table = |table| std::fs::read_to_string(table).ok()?.lines().find_map(of_line);
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(of_table)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{unsent, wait_until_taken};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    #[test]
    fn what_the_other_end_does_not_take_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let mut sent = 0;
        while let Ok(len) = server.write(&[0; 1 << 16]) {
            sent += len as u64;
        }
        let left = wait_until_taken(&server);
        assert!(0 < left && left < sent, "{left} of {sent}");
        let reader = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            client.read_exact(&mut vec![0; usize::try_from(sent).unwrap()]).unwrap();
            client
        });
        assert_eq!(wait_until_taken(&server), 0);
        drop(reader.join().unwrap());
        server.shutdown(std::net::Shutdown::Both).unwrap();
        assert_eq!(unsent(&server).unwrap_or(0), 0);
    }
}
