//! The live run's socket: lines of clients as the server reads them, and whatever a server may send
//! as the client reads it.
#![no_main]

use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use quintain::control::client::Client;
use quintain::control::protocol::{ClientMessage, ServerMessage};
use tempfile::TempDir;

fn socket() -> &'static (TempDir, UnixListener) {
    static SOCKET: OnceLock<(TempDir, UnixListener)> = OnceLock::new();
    SOCKET.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("control.sock")).expect("a socket");
        (folder, listener)
    })
}

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(ask) = serde_json::from_slice::<ClientMessage>(line) {
            let written = serde_json::to_string(&ask).expect("written");
            assert_eq!(serde_json::from_str::<ClientMessage>(&written).ok(), Some(ask));
        }
        if let Ok(say) = serde_json::from_slice::<ServerMessage>(line) {
            let _ = serde_json::to_string(&say);
        }
    }
    // What fits the socket's buffer, so that nobody waits for a reader.
    let bytes = &bytes[..bytes.len().min(64 << 10)];
    let (folder, listener) = socket();
    let mut client = Client::connect(folder.path()).expect("connected");
    let (mut server, _) = listener.accept().expect("accepted");
    server.write_all(bytes).expect("sent");
    server.shutdown(Shutdown::Write).expect("shut");
    let mut lines = 0;
    while let Ok(Some(_)) = client.read() {
        lines += 1;
        assert!(lines <= bytes.len());
    }
});
