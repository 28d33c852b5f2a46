//! The dashboard's connections: their number, the silence they are allowed, and the one that makes
//! room for a new one.
//!
//! A client that sends nothing or half a request, or does not read its answer, is cut off after a
//! time. If all seats are taken, of one address or in all, the newest connection gets the seat of
//! the one that has been idle longest. A request being answered keeps its seat for
//! [`Limits::busy`], a stream as long as its reader keeps up.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Request, Response, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep};

/// Pause after an `accept` that failed, because the error may persist (no file descriptors left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Bounds of the connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections at once.
    pub(super) total: usize,
    /// Connections at once of one address, or of one /64 network of IPv6.
    pub(super) by_address: usize,
    /// Longest wait for a whole request, from the connection's beginning or the end of the last
    /// answer.
    pub(super) header: Duration,
    /// Longest wait for a client to take a byte of its answer.
    pub(super) stall: Duration,
    /// Time for which an answer keeps its seat even if all are taken.
    pub(super) busy: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { total: 256, by_address: 128, header: seconds(15), stall: seconds(20), busy: seconds(30) }
    }
}

/// Accepts connections until cancelled and answers them by `router`.
pub(super) async fn serve(listener: TcpListener, router: Router, limits: Limits) -> Infallible {
    let door = Arc::new(ConnectionGate { limits, seats: Mutex::default() });
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                // Without a seat the stream is dropped, which closes it.
                if let Some(seat) = door.admit(from.ip()) {
                    let number = seat.number;
                    let task = tokio::spawn(answer(stream, router.clone(), Arc::new(seat), limits));
                    door.hold(number, task.abort_handle());
                }
            }
            Err(error) => {
                tracing::debug!("accept: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Answers the requests of one connection until it ends or breaks a bound.
async fn answer(stream: TcpStream, router: Router, seat: Arc<ConnectionSeat>, limits: Limits) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request: Request<Incoming>| {
        let busy = ActiveRequest::new(Arc::clone(&seat));
        let answer = router.call(request.map(Body::new));
        async move {
            let response: Response<Body> = answer.await?;
            if is_stream(&response) {
                busy.seat.mark(ConnectionState::Streaming);
            }
            Ok::<_, Infallible>(response.map(|body| AnswerBody { body, _busy: busy }))
        }
    });
    let io = TokioIo::new(ImpatientStream { stream, patience: limits.stall, stalled: None });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(limits.header);
    if let Err(error) = server.serve_connection(io, service).await {
        tracing::debug!("connection: {error}");
    }
}

fn is_stream(response: &Response<Body>) -> bool {
    response.headers().get(header::CONTENT_TYPE) == Some(&HeaderValue::from_static("text/event-stream"))
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    /// Waiting for a request, or for the rest of one.
    Idle,
    /// Being answered.
    Busy,
    /// Streaming, as long as the client reads.
    Streaming,
}

/// A connection that has a seat.
#[derive(Debug)]
struct SeatedConnection {
    from: IpAddr,
    state: ConnectionState,
    since: Instant,
    /// Set once its task runs.
    task: Option<AbortHandle>,
}

#[derive(Debug, Default)]
struct ConnectionSeats {
    next: u64,
    taken: BTreeMap<u64, SeatedConnection>,
}

/// The seats of all connections.
#[derive(Debug)]
struct ConnectionGate {
    limits: Limits,
    seats: Mutex<ConnectionSeats>,
}

impl ConnectionGate {
    fn seats(&self) -> MutexGuard<'_, ConnectionSeats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for a new connection, if necessary that of the one idle longest; `None` if no seat
    /// can be freed.
    fn admit(self: &Arc<Self>, from: IpAddr) -> Option<ConnectionSeat> {
        let from = network(from);
        let mut seats = self.seats();
        if seats.taken.values().filter(|taken| taken.from == from).count() >= self.limits.by_address {
            seats.evict(self.limits.busy, |taken| taken.from == from)?;
        }
        if seats.taken.len() >= self.limits.total {
            seats.evict(self.limits.busy, |_| true)?;
        }
        let number = seats.next;
        seats.next += 1;
        seats
            .taken
            .insert(number, SeatedConnection { from, state: ConnectionState::Idle, since: Instant::now(), task: None });
        drop(seats);
        Some(ConnectionSeat { door: Arc::clone(self), number })
    }

    /// Records the task of a connection; aborts it if its seat is gone already.
    fn hold(&self, number: u64, task: AbortHandle) {
        match self.seats().taken.get_mut(&number) {
            Some(taken) => taken.task = Some(task),
            None => task.abort(),
        }
    }
}

impl ConnectionSeats {
    /// Frees the seat idle longest of those that `may_leave`. If none is idle, frees the one whose
    /// answer has taken longest, if that exceeds `busy`.
    fn evict(&mut self, busy: Duration, may_leave: impl Fn(&SeatedConnection) -> bool) -> Option<()> {
        let rank = |taken: &SeatedConnection| match taken.state {
            ConnectionState::Idle => Some((0, taken.since)),
            ConnectionState::Busy if taken.since.elapsed() >= busy => Some((1, taken.since)),
            ConnectionState::Busy | ConnectionState::Streaming => None,
        };
        let candidates = self.taken.iter().filter(|(_, taken)| may_leave(taken));
        let ranked = candidates.filter_map(|(number, taken)| Some((rank(taken)?, *number)));
        let (_, number) = ranked.min()?;
        if let Some(task) = self.taken.remove(&number)?.task {
            task.abort();
        }
        Some(())
    }
}

/// The address or network that counts as one client: an IPv6 host can use any address of its /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address @ IpAddr::V4(_) => address,
    }
}

/// A connection's seat, given back when dropped.
#[derive(Debug)]
struct ConnectionSeat {
    door: Arc<ConnectionGate>,
    number: u64,
}

impl ConnectionSeat {
    fn mark(&self, state: ConnectionState) {
        if let Some(taken) = self.door.seats().taken.get_mut(&self.number) {
            (taken.state, taken.since) = (state, Instant::now());
        }
    }
}

impl Drop for ConnectionSeat {
    fn drop(&mut self) {
        self.door.seats().taken.remove(&self.number);
    }
}

/// A request being answered, from its head to the last byte of the answer's body.
#[derive(Debug)]
struct ActiveRequest {
    seat: Arc<ConnectionSeat>,
}

impl ActiveRequest {
    fn new(seat: Arc<ConnectionSeat>) -> Self {
        seat.mark(ConnectionState::Busy);
        Self { seat }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.seat.mark(ConnectionState::Idle);
    }
}

/// The body of an answer, which keeps its connection busy.
struct AnswerBody {
    body: Body,
    _busy: ActiveRequest,
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that fails unless its reader accepts data in time.
struct ImpatientStream {
    stream: TcpStream,
    patience: Duration,
    /// Runs while the reader accepts nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl ImpatientStream {
    fn timed<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        ready!(self.stalled.get_or_insert_with(|| Box::pin(sleep(patience))).as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ImpatientStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for ImpatientStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.timed(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.timed(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::routing::get;

    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn limits(total: usize, by_address: usize) -> Limits {
        Limits { total, by_address, header: LONG, stall: LONG, busy: LONG }
    }

    fn door(limits: Limits) -> Arc<ConnectionGate> {
        Arc::new(ConnectionGate { limits, seats: Mutex::default() })
    }

    fn numbers(door: &ConnectionGate) -> Vec<u64> {
        door.seats().taken.keys().copied().collect()
    }

    #[test]
    fn the_newest_takes_the_seat_of_the_oldest_idle_one() {
        let door = door(limits(4, 2));
        let [here, there] = ["192.0.2.1", "192.0.2.2"].map(address);
        let seats: Vec<_> = [here, here, here].map(|from| door.admit(from).unwrap()).into();
        assert_eq!(numbers(&door), [1, 2]);
        // The limit by address does not depend on other addresses.
        seats[1].mark(ConnectionState::Busy);
        let _fourth = door.admit(here).unwrap();
        assert_eq!(numbers(&door), [1, 3]);
        let _others = [there, there].map(|from| door.admit(from).unwrap());
        assert_eq!(numbers(&door), [1, 3, 4, 5]);
        let _third = door.admit(address("192.0.2.3")).unwrap();
        assert_eq!(numbers(&door), [1, 4, 5, 6]);
        // The end of an answer makes its connection the one that has been idle the shortest time.
        seats[1].mark(ConnectionState::Idle);
        let _another = door.admit(address("192.0.2.4")).unwrap();
        assert_eq!(numbers(&door), [1, 5, 6, 7]);
    }

    #[test]
    fn who_is_busy_keeps_the_seat_unless_it_takes_too_long() {
        let here = address("192.0.2.1");
        for (busy, is_stream, admitted) in
            [(LONG, false, false), (Duration::ZERO, false, true), (Duration::ZERO, true, false)]
        {
            let door = door(Limits { busy, ..limits(8, 2) });
            let held = [door.admit(here).unwrap(), door.admit(here).unwrap()];
            held.iter()
                .for_each(|seat| seat.mark(if is_stream { ConnectionState::Streaming } else { ConnectionState::Busy }));
            assert_eq!(door.admit(here).is_some(), admitted, "{busy:?} {is_stream}");
            assert!(door.admit(address("192.0.2.2")).is_some());
            drop(held);
            assert!(door.seats().taken.is_empty());
        }
    }

    #[test]
    fn addresses_of_one_host_count_as_one() {
        for (one, other, same) in [
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true),
            ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
        ] {
            assert_eq!(network(address(one)) == network(address(other)), same, "{one} {other}");
        }
    }

    /// A server with a short page and a long one; blocking clients talk to it from another thread.
    fn with_server(limits: Limits, clients: impl FnOnce(std::net::SocketAddr) + Send + 'static) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let at = listener.local_addr().unwrap();
            let router = Router::new()
                .route("/", get(|| async { "short" }))
                .route("/long", get(|| async { vec![b'x'; LONG_PAGE] }));
            let clients = tokio::task::spawn_blocking(move || clients(at));
            tokio::select! {
                never = serve(listener, router, limits) => match never {},
                done = clients => done.unwrap(),
            }
        });
        runtime.shutdown_background();
    }

    /// More than the buffers of both ends of a socket hold.
    const LONG_PAGE: usize = 64 << 20;

    fn connect(at: std::net::SocketAddr, sent: &str) -> std::net::TcpStream {
        let mut stream = std::net::TcpStream::connect(at).unwrap();
        // A read that takes longer means that the test hangs.
        stream.set_read_timeout(Some(Duration::from_secs(1_200))).unwrap();
        // A connection without a seat is closed, before or after this.
        let _ = stream.write_all(sent.as_bytes());
        stream
    }

    /// Everything received until the server closes; a reset counts as a close.
    fn rest(mut stream: std::net::TcpStream) -> Vec<u8> {
        let (mut all, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            match stream.read(&mut chunk) {
                Ok(0) => return all,
                Ok(length) => all.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return all,
                Err(error) => panic!("the connection was not closed: {error}"),
            }
        }
    }

    fn request(path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
    }

    #[test]
    fn who_sends_no_request_is_cut_off() {
        let answers = |header, sent: String| {
            let (say, hear) = std::sync::mpsc::channel();
            with_server(Limits { header, ..limits(256, 256) }, move |at| {
                let got = String::from_utf8(rest(connect(at, &sent))).unwrap();
                say.send(got.matches("short").count()).unwrap();
            });
            hear.recv().unwrap()
        };
        let mut header = Duration::from_millis(50);
        for sent in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: "] {
            assert_eq!(answers(header, sent.to_owned()), 0, "{sent:?}");
        }
        // On a busy machine a whole request may come too late for a short limit.
        while answers(header, request("/")) == 0 {
            assert!(header < LONG, "nobody is answered");
            header *= 2;
        }
    }

    #[test]
    fn who_does_not_read_is_cut_off_and_who_reads_gets_all() {
        with_server(Limits { stall: Duration::from_millis(200), ..limits(1, 1) }, |at| {
            let deaf = connect(at, &request("/long"));
            assert_eq!(deaf.peek(&mut [0]).unwrap(), 1);
            // Its answer keeps the only seat until it stalls.
            let ask = || rest(connect(at, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
            let begun = std::time::Instant::now();
            while !ask().ends_with(b"short") {
                assert!(begun.elapsed() < Duration::from_secs(1_200), "the seat was never given back");
            }
            assert!(rest(deaf).len() < LONG_PAGE);
        });
        with_server(limits(4, 4), |at| {
            let got = rest(connect(at, "GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
            assert!(got.len() > LONG_PAGE && got.ends_with(b"xxx"), "{}", got.len());
        });
    }

    #[test]
    fn a_crowd_of_silent_ones_keeps_nobody_out() {
        with_server(limits(8, 4), |at| {
            let crowd: Vec<_> =
                (0..40).map(|n| connect(at, if n % 2 == 0 { "" } else { "GET / HTTP/1.1\r\n" })).collect();
            let got = rest(connect(at, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
            assert!(got.ends_with(b"short"), "{}", String::from_utf8_lossy(&got));
            // The oldest connections were closed, not merely forgotten.
            let oldest = crowd.into_iter().next().unwrap();
            assert!(rest(oldest).is_empty());
        });
    }
}
