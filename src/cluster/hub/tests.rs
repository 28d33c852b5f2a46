//! A hub with a real server: its door, its users' rights, and what outlives its processes.

use async_nats::{Client, ConnectOptions, Event};
use tokio::sync::oneshot;

use super::*;
use crate::cluster::link::to_server;
use crate::cluster::tests::has_server;
use crate::cluster::wire;

/// A hub that runs in this process.
struct Running {
    end: oneshot::Sender<()>,
    hub: tokio::task::JoinHandle<Result<(), HubError>>,
    said: mpsc::UnboundedReceiver<String>,
}

impl Running {
    async fn start(folder: &Path, listen: &str) -> Self {
        let settings = settings(folder, listen);
        let (end, ended) = oneshot::channel::<()>();
        let (say, said) = mpsc::unbounded_channel();
        let hub = tokio::spawn(async move {
            let say = move |text: &str| drop(say.send(text.to_owned()));
            serve(settings, say, async move { drop(ended.await) }).await
        });
        let mut running = Self { end, hub, said };
        running.hears("play with its workers").await;
        running
    }

    /// Waits for a line of the hub.
    async fn hears(&mut self, words: &str) {
        loop {
            match self.said.recv().await {
                Some(line) if line.contains(words) => return,
                Some(_) => {}
                None => panic!("the hub ended: {:?}", (&mut self.hub).await),
            }
        }
    }

    async fn stop(self) {
        self.end.send(()).unwrap();
        self.hub.await.unwrap().unwrap();
    }
}

fn settings(folder: &Path, listen: &str) -> HubSettings {
    let listen = Some(listen.parse().unwrap());
    HubSettings { folder: folder.to_owned(), config: None, listen, host: None, most_bytes: 4 << 30 }
}

/// A client that reports what the server forbids.
struct Prober {
    client: Client,
    refusals: mpsc::UnboundedReceiver<String>,
}

impl Prober {
    async fn new(access: &Access) -> Self {
        let (tell, refusals) = mpsc::unbounded_channel();
        let options: ConnectOptions = to_server(access)
            .user_and_password(access.user.clone(), access.password.clone())
            .event_callback(move |event| {
                if let Event::ServerError(error) = event {
                    let _ = tell.send(error.to_string());
                }
                std::future::ready(())
            });
        Self { client: options.connect(&access.url).await.unwrap(), refusals }
    }

    /// True if the server lets the user do it. A deed that is always forbidden follows, so that the
    /// first refusal tells.
    async fn may(&mut self, deed: &str, subject: &str) -> bool {
        match deed {
            "publish" => self.client.publish(subject.to_owned(), "{}".into()).await.unwrap(),
            _ => drop(self.client.subscribe(subject.to_owned()).await.unwrap()),
        }
        self.client.publish("always.forbidden", "".into()).await.unwrap();
        let refusal = self.refusals.recv().await.unwrap();
        if refusal.contains("always.forbidden") {
            return true;
        }
        assert!(refusal.contains(subject), "{deed} {subject}: {refusal}");
        let refusal = self.refusals.recv().await.unwrap();
        assert!(refusal.contains("always.forbidden"), "{refusal}");
        false
    }
}

/// Each row of the table of rights against a real server.
#[tokio::test]
async fn each_right_holds_against_a_server() {
    if !has_server("each_right_holds_against_a_server") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path(), "127.0.0.1:0").await;
    let anna = invite(folder.path(), "anna", Role::Worker).await.unwrap();
    let carl = invite(folder.path(), "carl", Role::Coordinator).await.unwrap();
    let (yes, no) = (true, false);
    let table = [
        ("publish", "q.run.take.anna", yes, no),
        ("publish", "q.run.beat.anna", yes, no),
        ("publish", "q.run.res.anna", yes, no),
        ("publish", "q.run.plan.anna", yes, no),
        ("publish", "$KV.workers.anna", yes, no),
        ("publish", "$JS.API.DIRECT.GET.BLOBS.blob.x.0", yes, yes),
        ("publish", "$JS.API.DIRECT.GET.KV_runs.$KV.runs.x", yes, yes),
        ("publish", "$JS.API.STREAM.INFO.KV_runs", yes, yes),
        ("subscribe", "_INBOX.anna.>", yes, no),
        ("subscribe", "q.run.ctl", yes, no),
        // Another worker's.
        ("publish", "q.run.take.ben", no, no),
        ("publish", "q.run.beat.ben", no, no),
        ("publish", "q.run.res.ben", no, no),
        ("publish", "_INBOX.ben.x.y", no, yes),
        ("publish", "$KV.workers.ben", no, no),
        ("subscribe", "_INBOX.ben.>", no, no),
        ("subscribe", "_INBOX.>", no, no),
        ("subscribe", ">", no, no),
        ("subscribe", "q.run.res.ben", no, no),
        // The coordinator's.
        ("publish", "q.run.ctl", no, yes),
        ("publish", "$KV.runs.run", no, yes),
        ("publish", "blob.x.0", no, yes),
        ("publish", "$JS.ACK.QRES.run.1.1.1.1.1", no, yes),
        ("publish", "$JS.API.CONSUMER.DURABLE.CREATE.QRES.run", no, yes),
        ("publish", "$JS.API.CONSUMER.MSG.NEXT.QRES.run", no, yes),
        ("subscribe", "q.run.take.*", no, yes),
        ("subscribe", "q.run.beat.*", no, yes),
        ("subscribe", "_INBOX.carl.>", no, yes),
        // Nobody's.
        ("publish", "$JS.API.STREAM.DELETE.QRES", no, no),
        ("publish", "$JS.API.STREAM.PURGE.QRES", no, no),
        ("publish", "$JS.API.STREAM.UPDATE.QRES", no, no),
        ("publish", "$JS.API.STREAM.PURGE.BLOBS", no, no),
        ("publish", "$JS.API.STREAM.MSG.DELETE.QRES", no, no),
        ("publish", "$JS.API.CONSUMER.CREATE.BLOBS", no, no),
        ("publish", "$JS.API.CONSUMER.CREATE.KV_workers", no, no),
        ("publish", "$JS.API.CONSUMER.DELETE.QRES.run", no, no),
        ("publish", "$JS.API.ACCOUNT.PURGE.Q", no, no),
        ("publish", "$SYS.REQ.ACCOUNT.Q.INFO", no, no),
        ("subscribe", "$SYS.>", no, no),
    ];
    for (access, is_worker) in [(&anna, true), (&carl, false)] {
        let mut prober = Prober::new(access).await;
        for (deed, subject, worker, coordinator) in table {
            let expected = if is_worker { worker } else { coordinator };
            assert_eq!(prober.may(deed, subject).await, expected, "{}: {deed} {subject}", access.user);
        }
    }
    hub.stop().await;
}

/// A revoked user is cut off at once, and a second invitation replaces the first.
#[tokio::test]
async fn a_revoked_user_is_dropped_and_refused() {
    if !has_server("a_revoked_user_is_dropped_and_refused") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path(), "127.0.0.1:0").await;
    let anna = invite(folder.path(), "anna", Role::Worker).await.unwrap();
    let link = Link::open(&anna, "anna-1").await.unwrap();
    revoke(folder.path(), "anna").await.unwrap();
    while !link.is_refused() {
        tokio::time::sleep(RELOAD_PAUSE).await;
    }
    let error = Link::open(&anna, "anna-2").await.unwrap_err().to_string();
    assert!(error.contains("does not accept user anna") && error.contains("quintain hub invite anna"), "{error}");
    let error = revoke(folder.path(), "anna").await.unwrap_err().to_string();
    assert!(error.contains("no user anna; its users are: me"), "{error}");
    let carl = invite(folder.path(), "carl", Role::Coordinator).await.unwrap();
    revoke(folder.path(), "carl").await.unwrap();
    let error = Link::open(&carl, "carl-1").await.unwrap_err().to_string();
    assert!(error.contains("`quintain hub invite carl --coordinator`"), "{error}");
    let first = invite(folder.path(), "ben", Role::Worker).await.unwrap();
    let second = invite(folder.path(), "ben", Role::Worker).await.unwrap();
    assert!(matches!(Link::open(&first, "ben-1").await, Err(LinkError::Refused { .. })));
    assert!(Link::open(&second, "ben-1").await.is_ok());
    hub.stop().await;
    let gone = Link::open(&second, "ben-1").await;
    // The server of another test may have taken the port.
    assert!(matches!(gone, Err(LinkError::NoHub { .. } | LinkError::Refused { .. })), "{gone:?}");
}

/// Beyond loopback nobody talks to another server, nor without encryption.
#[tokio::test]
async fn another_certificate_is_refused() {
    if !has_server("another_certificate_is_refused") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path(), "0.0.0.0:0").await;
    let anna = invite(folder.path(), "anna", Role::Worker).await.unwrap();
    assert!(anna.url.starts_with("tls://"), "{}", anna.url);
    let register = users(folder.path()).unwrap();
    let here = Access { url: local_url(&register), ..anna };
    assert!(Link::open(&here, "anna-1").await.is_ok());
    let other = Access { certificate: Some("00".repeat(32)), ..here.clone() };
    let error = Link::open(&other, "anna-1").await.unwrap_err();
    assert!(matches!(error, LinkError::Certificate { .. }), "{error}");
    let plain = Access { url: here.url.replace("tls:", "nats:"), certificate: None, ..here.clone() };
    assert!(Link::open(&plain, "anna-1").await.is_err());
    hub.stop().await;
    // The next life has the same address, certificate and users.
    let hub = Running::start(folder.path(), &register.listen.to_string()).await;
    assert!(Link::open(&here, "anna-1").await.is_ok());
    let again = serve(settings(folder.path(), "127.0.0.1:0"), |_| {}, std::future::pending()).await;
    assert!(matches!(again, Err(HubError::Running(_))), "{again:?}");
    hub.stop().await;
}

/// A start on loopback, which needs no certificate, costs no invitation.
#[test]
fn a_hub_keeps_its_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let starts = |listen: &str| {
        let settings = settings(folder.path(), listen);
        change(folder.path(), |register| adopt(register, &settings, folder.path())).map(|register| register.certificate)
    };
    let first = starts("0.0.0.0:4222").unwrap();
    assert!(first.is_some());
    assert_eq!(starts("127.0.0.1:4222").unwrap(), None);
    assert_eq!(starts("0.0.0.0:4222").unwrap(), first);
    starts("127.0.0.1:4222").unwrap();
    std::fs::write(folder.path().join("certificate.pem"), "noise").unwrap();
    let error = starts("0.0.0.0:4222").unwrap_err().to_string();
    assert!(error.contains("certificate.pem: ") && error.contains("remove it and invite all users again"), "{error}");
}

/// New invitations have the address that the first ones had.
#[test]
fn a_hub_keeps_its_host_until_it_listens_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let starts = |listen: Option<&str>, host: Option<&str>| {
        let listen = listen.map(|listen| listen.parse().unwrap());
        let settings = HubSettings { listen, host: host.map(str::to_owned), ..settings(folder.path(), "0.0.0.0:1") };
        change(folder.path(), |register| adopt(register, &settings, folder.path())).unwrap().host
    };
    assert_eq!(starts(None, None), "127.0.0.1");
    assert_eq!(starts(Some("0.0.0.0:4222"), Some("hub.example")), "hub.example");
    assert_eq!(starts(Some("0.0.0.0:4223"), None), "hub.example");
    assert_eq!(starts(None, None), "hub.example");
    assert_eq!(starts(Some("127.0.0.1:4222"), None), "127.0.0.1");
}

#[tokio::test]
async fn a_server_that_lets_strangers_in_is_not_used() {
    if !has_server("a_server_that_lets_strangers_in_is_not_used") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The common configuration of CVE-2023-47090, and one without users.
    for users in
        ["authorization { users: [ { user: a, password: b } ] }\naccounts { SYS {} }\nsystem_account: SYS\n", ""]
    {
        server::configure(folder.path(), &format!("listen: \"127.0.0.1:-1\"\n{users}")).unwrap();
        let server = Server::start(folder.path()).await.unwrap();
        let access = Access {
            url: server.url.clone(),
            user: "a".to_owned(),
            role: Role::Owner,
            password: "b".to_owned(),
            certificate: None,
        };
        let refused = server::refuses_strangers(&access).await;
        // Later servers than 2.9.22 refuse under the first configuration.
        assert!(matches!(refused, Err(ChildError::Open)) || !users.is_empty() && refused.is_ok(), "{refused:?}");
    }
}

/// Fetches a file of at most `most` bytes.
async fn fetched(link: &Link, sha256: &str, most: u64) -> Result<Vec<u8>, blobs::BlobError> {
    blobs::get(link, sha256, &blobs::describe(link, sha256, most).await?).await
}

/// Files and lists outlive a server that is killed; files that no run names are removed.
#[tokio::test]
async fn files_are_kept_as_long_as_a_run_names_them() {
    if !has_server("files_are_kept_as_long_as_a_run_names_them") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut hub = Running::start(folder.path(), "127.0.0.1:0").await;
    let worker = invite(folder.path(), "anna", Role::Worker).await.unwrap();
    let carl = invite(folder.path(), "carl", Role::Coordinator).await.unwrap();
    let coordinator = Link::open(&carl, "carl-1").await.unwrap();
    let worker = Link::open(&worker, "anna-1").await.unwrap();
    // Of several messages, the last one short; of exactly one; of none.
    let files: Vec<Vec<u8>> =
        [700_001_usize, 131_072, 0].map(|size| (0..size).map(|at| (at % 251) as u8).collect()).into();
    let mut names = Vec::new();
    for bytes in &files {
        let name = blobs::put(&coordinator, bytes).await.unwrap();
        assert_eq!(blobs::put(&coordinator, bytes).await.unwrap(), name);
        assert_eq!(&fetched(&worker, &name, u64::MAX).await.unwrap(), bytes);
        names.push(name);
    }
    let error = fetched(&worker, &names[0], 700_000).await.unwrap_err().to_string();
    assert!(error.contains("has 700001 bytes, more than the 700000"), "{error}");
    let server = i32::try_from(server_of(folder.path()).unwrap()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(server).unwrap(), rustix::process::Signal::KILL)
        .unwrap();
    hub.hears("nats-server ended and was started again").await;
    assert_eq!(fetched(&worker, &names[0], u64::MAX).await.unwrap(), files[0]);
    // One byte of the second message changes.
    let mut part = files[0][131_072..262_144].to_vec();
    part[0] ^= 1;
    coordinator.jetstream().publish(format!("blob.{}.1", names[0]), part.into()).await.unwrap().await.unwrap();
    assert!(matches!(fetched(&worker, &names[0], u64::MAX).await, Err(blobs::BlobError::Damaged(_))));
    let register = users(folder.path()).unwrap();
    let owner = Link::open(&register.owner(local_url(&register)), "test-1").await.unwrap();
    // A run names the second file, and the third was named at the last look.
    let entry = format!(
        r#"{{"v":{},"run":"run","plan_sha256":"","signer":"","life":"","blobs":["{}"]}}"#,
        wire::VERSION,
        names[1]
    );
    let entered = coordinator.jetstream().publish("$KV.runs.run", entry.into()).await.unwrap();
    entered.await.unwrap();
    let mut named = BTreeSet::from([names[2].clone()]);
    // A young file may be on its way, and is kept.
    purge(&owner, &mut named.clone(), blobs::UNNAMED).await;
    assert!(!blobs::is_missing(&coordinator, &names[0]).await);
    purge(&owner, &mut named, Duration::ZERO).await;
    assert_eq!(named, BTreeSet::from([names[1].clone()]));
    assert!(matches!(fetched(&worker, &names[0], u64::MAX).await, Err(blobs::BlobError::Missing(_))));
    for place in [1, 2] {
        assert!(fetched(&worker, &names[place], u64::MAX).await.is_ok(), "{place}");
    }
    // A file with a hole is sent again, though its description is there.
    let name = blobs::put(&coordinator, &files[0]).await.unwrap();
    assert!(!blobs::is_missing(&coordinator, &name).await);
    let stream = owner.jetstream().get_stream("BLOBS").await.unwrap();
    stream.purge().filter(format!("blob.{name}.3")).await.unwrap();
    assert!(blobs::is_missing(&coordinator, &name).await);
    assert_eq!(blobs::put(&coordinator, &files[0]).await.unwrap(), name);
    assert_eq!(fetched(&worker, &name, u64::MAX).await.unwrap(), files[0]);
    hub.stop().await;
}

/// Results that a worker invents do not fill the store: those of a run that no coordinator reads
/// are not stored. Those of a run that was left wait for its resumption.
#[tokio::test]
async fn results_of_unknown_runs_are_not_stored() {
    if !has_server("results_of_unknown_runs_are_not_stored") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path(), "127.0.0.1:0").await;
    let anna = invite(folder.path(), "anna", Role::Worker).await.unwrap();
    let carl = invite(folder.path(), "carl", Role::Coordinator).await.unwrap();
    let worker = Link::open(&anna, "anna-1").await.unwrap();
    let coordinator = Link::open(&carl, "carl-1").await.unwrap();
    let stored = async || coordinator.jetstream().get_stream("QRES").await.unwrap().cached_info().state.messages;
    let send =
        async |run: &str, id: &str| worker.publish(format!("q.{run}.res.anna"), id.to_owned(), b"any".to_vec()).await;
    send("left", "early").await;
    assert_eq!(stored().await, 0);
    coordinator.store_results("left").await.unwrap();
    for (run, messages) in [("left", 1), ("invented", 1), ("*", 1), (">", 1), ("left", 2)] {
        send(run, &format!("{run} {messages}")).await;
        assert_eq!(stored().await, messages, "{run}");
    }
    // The stored ones are taken by whoever reads them later, and then gone.
    let (to, mut results) = mpsc::unbounded_channel();
    let reading = tokio::spawn(coordinator.clone().results("left".to_owned(), to));
    for _ in 0..2 {
        let message = results.recv().await.unwrap();
        assert_eq!((&*message.payload, message.subject.as_str()), (&b"any"[..], "q.left.res.anna"));
        message.double_ack().await.unwrap();
    }
    assert_eq!(stored().await, 0);
    reading.abort();
    hub.stop().await;
}
