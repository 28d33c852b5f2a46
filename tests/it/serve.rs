//! `quintain serve` over HTTP, by a client of a few lines: what can be asked for, what is refused,
//! and live runs steered by it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::harness::{FAKE, PATIENCE, quintain, run, sprt, sprt_args, summary, until};

/// A name that is markup, a quote and a path, for whoever is careless.
const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'&../../etc";

/// A dashboard, ended with its test.
pub(crate) struct Served {
    pub(crate) child: Child,
    address: String,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A response: status, headers in lower case, body.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert!(self.head.contains("content-type: application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Served {
    pub(crate) fn start(results: &Path, more: &[&str]) -> Self {
        Self::start_with(results, more, &[])
    }

    fn start_with(results: &Path, more: &[&str], env: &[(&str, &str)]) -> Self {
        let results = results.display().to_string();
        let mut args = vec!["serve", &results];
        if !more.contains(&"--listen") {
            args.extend(["--listen", "127.0.0.1:0"]);
        }
        args.extend(more);
        let mut child =
            quintain(&args).envs(env.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
        Self { child, address: address.to_owned(), token: token.to_owned() }
    }

    fn connect(&self) -> TcpStream {
        let port = self.address.rsplit_once(':').unwrap().1.parse().unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends the bytes of a request and reads to the end of the connection.
    fn raw(&self, request: &str) -> Got {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        // A connection that is reset has said what it had to say.
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Got { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// A request with further header lines.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str]) -> Got {
        let host = format!("Host: {}", self.address);
        let has_host = headers.iter().any(|line| line.starts_with("Host:"));
        let own = if has_host { Vec::new() } else { vec![host.as_str()] };
        let lines = own.iter().chain(headers).map(|line| format!("{line}\r\n")).collect::<String>();
        self.raw(&format!("{method} {path} HTTP/1.1\r\n{lines}Connection: close\r\nContent-Length: 0\r\n\r\n"))
    }

    /// A `POST` with the token and a body.
    pub(crate) fn send(&self, path: &str, body: &str) -> Got {
        let head = format!("Host: {}\r\n{}\r\nConnection: close", self.address, self.token_line());
        self.raw(&format!("POST {path} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    }

    pub(crate) fn get(&self, path: &str) -> Got {
        self.ask("GET", path, &[])
    }

    #[track_caller]
    pub(crate) fn json(&self, path: &str) -> Value {
        let got = self.get(path);
        assert_eq!(got.status, 200, "{path}: {got:?}");
        got.json()
    }

    pub(crate) fn token_line(&self) -> String {
        format!("X-Quintain-Token: {}", self.token)
    }

    fn post(&self, path: &str) -> Got {
        self.ask("POST", path, &[&self.token_line()])
    }
}

/// A stored run of which only the summary is kept.
pub(crate) fn store(dir: &Path, players: &[&str], more: &Value) {
    std::fs::create_dir_all(dir).unwrap();
    let players: Vec<_> = players.iter().map(|name| json!({ "name": name, "limit": "8+0.08", "games": 4 })).collect();
    let mut all =
        json!({ "name": "stored", "format": "round-robin", "players": players, "stopped_by": "verdict", "pairs": 2 });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    std::fs::write(dir.join("summary.json"), all.to_string()).unwrap();
}

/// Results with one run that was played and two that are only summaries.
fn some_results() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    std::fs::create_dir(&results).unwrap();
    std::fs::write(folder.path().join("secret.json"), "SECRET").unwrap();
    store(&results.join("2026-11-21-field"), &["a", "b", HOSTILE], &json!({ "verdict": null }));
    store(&results.join("hostile"), &[HOSTILE, "b"], &json!({ "name": HOSTILE, "verdict": "H1", "elo": 12.5 }));
    std::fs::create_dir(results.join("runs")).unwrap();
    sprt(3, "--seed 1", "--seed 2", &results.join("runs/played"), "--nodes 1 --max-plies 40 --max-pairs 3 --seed 4");
    (folder, results)
}

#[test]
fn every_page_is_served_with_its_policy() {
    let (_folder, results) = some_results();
    let served = Served::start(&results, &[]);
    for (path, status, kind) in [
        ("/", 200, "text/html; charset=utf-8"),
        ("/app.css", 200, "text/css; charset=utf-8"),
        ("/app.js", 200, "text/javascript; charset=utf-8"),
        ("/api.js", 200, "text/javascript; charset=utf-8"),
        ("/games.js", 200, "text/javascript; charset=utf-8"),
        ("/more.js", 200, "text/javascript; charset=utf-8"),
        ("/queue.js", 200, "text/javascript; charset=utf-8"),
        ("/run.js", 200, "text/javascript; charset=utf-8"),
        ("/view.js", 200, "text/javascript; charset=utf-8"),
        ("/favicon.svg", 200, "image/svg+xml"),
        ("/api/info", 200, "application/json"),
        ("/api/queue", 200, "application/json"),
        ("/api/presets", 200, "application/json"),
        ("/api/runs", 200, "application/json"),
        ("/api/runs/hostile", 200, "application/json"),
        ("/api/runs/runs%2Fplayed", 200, "application/json"),
        ("/api/runs/runs%2Fplayed/llr.svg", 200, "image/svg+xml"),
        ("/api/runs/runs%2Fplayed/elo.svg", 200, "image/svg+xml"),
        ("/api/runs/hostile/llr.svg", 404, "application/json"),
        ("/api/runs/hostile/events", 409, "application/json"),
        ("/api/runs/nothing", 404, "application/json"),
        ("/api/runs/nothing/events", 404, "application/json"),
        ("/nothing", 404, "application/json"),
    ] {
        let got = served.get(path);
        assert_eq!(got.status, status, "{path}: {got:?}");
        assert!(got.head.contains(&format!("content-type: {kind}")), "{path}: {}", got.head);
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(got.head.contains(line), "{path}: {}", got.head);
        }
        assert!(!got.head.contains("unsafe") && !got.head.contains("set-cookie"), "{path}: {}", got.head);
        assert!(!got.head.contains("access-control"), "{path}: {}", got.head);
    }
    // What the policy would not let run is not there, and nothing is loaded from elsewhere.
    let page = served.get("/").body;
    assert!(!page.contains("<style") && !page.contains("style=") && !page.contains("onclick"), "{page}");
    for path in ["/", "/app.css", "/api.js", "/app.js", "/games.js", "/more.js", "/queue.js", "/run.js", "/view.js"] {
        let text = served.get(path).body.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("innerHTML"), "{path}");
    }
}

#[test]
fn a_stored_run_is_told_as_its_summary_has_it() {
    let (_folder, results) = some_results();
    let served = Served::start(&results, &[]);
    let list = served.json("/api/runs?sort=name");
    assert_eq!((&list["total"], &list["stored"]), (&3.into(), &3.into()));
    let played = served.json("/api/runs/runs%2Fplayed");
    assert_eq!(played["summary"], summary(&results.join("runs/played")));
    assert_eq!((&played["run"]["state"], &played["run"]["pairs"]), (&"over".into(), &3.into()));
    assert_eq!(played["plan"]["seed"], 4);
    let svg = served.get("/api/runs/runs%2Fplayed/llr.svg").body;
    assert_eq!(svg.matches("<svg").count(), 1, "{svg}");
    // A run whose process was killed has no summary: its journal tells.
    std::fs::remove_file(results.join("runs/played/summary.json")).unwrap();
    let told = |run: &Value| (run["run"]["state"] == "interrupted").then(|| run["summary"]["ptnml"].clone());
    let mut found = None;
    until("the summary is gone", || {
        found = told(&served.json("/api/runs/runs%2Fplayed"));
        found.is_some()
    });
    assert_eq!(found.unwrap(), played["summary"]["ptnml"]);
}

#[test]
fn the_list_is_filtered_sorted_and_paged_where_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    for (name, elo) in [("a", 3.0), ("b", -1.0), ("c", 7.0), ("d", 5.0)] {
        store(
            &folder.path().join("runs").join(name),
            &[name, "base"],
            &json!({ "name": name, "elo": elo, "note": format!("of {name}!") }),
        );
    }
    let served = Served::start(folder.path(), &[]);
    for (query, expected) in [
        ("sort=elo", "runs/c runs/d runs/a runs/b"),
        ("sort=elo&ascending=true&size=2", "runs/b runs/a"),
        ("sort=elo&ascending=true&size=2&page=1", "runs/d runs/c"),
        ("sort=name&q=RUNS%2FB", "runs/b"),
        ("q=base&size=0&sort=name", "runs/d"),
        ("q=of%20c!", "runs/c"),
        ("q=nobody", ""),
        ("state=live", ""),
        ("state=over&sort=name&ascending=true", "runs/a runs/b runs/c runs/d"),
        ("page=18446744073709551615", ""),
    ] {
        let list = served.json(&format!("/api/runs?{query}"));
        let ids: Vec<_> = list["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
        assert_eq!(ids.join(" "), expected, "{query}");
    }
    assert_eq!(served.json("/api/runs?q=of%20c!")["runs"][0]["note"], "of c!");
    assert_eq!(served.get("/api/runs?page=-1").status, 400);
}

#[test]
fn no_path_leads_out_of_the_results() {
    let (folder, results) = some_results();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.json"), results.join("hostile/plan.toml")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.json"), results.join("hostile/events.txt")).unwrap();
    let served = Served::start(&results, &[]);
    for id in [
        "..",
        "%2e%2e",
        "..%2f",
        "..%2Fsecret.json",
        "..%2f..%2fetc%2fpasswd",
        "%2Fetc%2Fpasswd",
        "runs%2F..%2Fhostile",
        "hostile%2F.",
        "hostile%00",
        "hostile%2Fsummary.json",
        ".%2Fhostile",
        "runs",
        "%ff%fe",
        "runs%5Cplayed",
        "%",
    ] {
        for rest in ["", "/llr.svg", "/elo.svg", "/events", "/report", "/games", "/more", "/diff", "/files/plan.toml"] {
            let got = served.get(&format!("/api/runs/{id}{rest}"));
            assert!(matches!(got.status, 400 | 404), "{id}{rest}: {got:?}");
            assert!(!got.body.contains("SECRET") && !got.body.contains("root:"), "{id}{rest}: {got:?}");
        }
        let got = served.post(&format!("/api/runs/{id}/stop"));
        assert!(matches!(got.status, 400 | 404 | 405), "{id}: {got:?}");
    }
    for path in ["/../secret.json", "/..%2fsecret.json", "//etc/passwd", "/app.js/../../secret.json", "/summary.json"] {
        let got = served.get(path);
        assert!(got.status >= 400 && !got.body.contains("SECRET"), "{path}: {got:?}");
    }
    assert!(!served.get("/api/runs/hostile").body.contains("SECRET"));
}

#[test]
fn other_sites_names_and_tokens_are_refused() {
    let (_folder, results) = some_results();
    let served = Served::start(&results, &["--host", "lab.example"]);
    let own = format!("Origin: http://{}", served.address);
    let token = served.token_line();
    let pause = "/api/runs/runs%2Fplayed/pause";
    let cases: &[(&str, &str, &[&str], u16)] = &[
        ("GET", "/", &["Host: evil.example"], 421),
        ("GET", "/api/runs", &["Host: evil.example:7171"], 421),
        ("GET", "/api/runs", &["Host: 192.0.2.7"], 421),
        ("GET", "/api/runs", &["Host: lab.example"], 200),
        ("GET", "/api/runs", &["Host: localhost:1"], 200),
        ("GET", "http://evil.example/api/runs", &[], 421),
        ("GET", "/api/runs", &["Origin: http://evil.example"], 403),
        ("GET", "/api/runs", &["Origin: null"], 403),
        ("GET", "/api/runs", &["Sec-Fetch-Site: cross-site"], 403),
        ("GET", "/", &["Sec-Fetch-Site: cross-site"], 200),
        ("GET", "/api/runs", &[&own, "Sec-Fetch-Site: same-origin"], 200),
        ("POST", pause, &[], 401),
        ("POST", pause, &["X-Quintain-Token: 00000000000000000000000000000000"], 401),
        ("POST", pause, &["X-Quintain-Token: "], 401),
        ("POST", pause, &[&token, "Origin: http://evil.example"], 403),
        ("POST", pause, &[&token, "Sec-Fetch-Site: same-site"], 403),
        ("POST", pause, &[&token, "Host: evil.example"], 421),
        // Let through, and nobody plays it.
        ("POST", pause, &[&token, &own], 409),
        ("POST", "/api/runs/runs%2Fplayed/reboot", &[&token], 404),
        ("POST", "/api/runs/runs%2Fplayed/concurrency?games=x", &[&token], 400),
        ("GET", pause, &[&token], 405),
        ("OPTIONS", pause, &["Origin: http://evil.example"], 403),
        ("DELETE", "/api/runs/hostile", &[&token], 405),
    ];
    for (method, path, headers, status) in cases {
        let got = served.ask(method, path, headers);
        assert_eq!(got.status, *status, "{method} {path} {headers:?}: {got:?}");
    }
    assert!(served.raw("GET /api/runs HTTP/1.0\r\n\r\n").status >= 400);
    assert!(served.raw("\0\0\0\r\n\r\n").status >= 400);
    // All of that was borne.
    assert_eq!(served.get("/api/runs").status, 200);
}

#[test]
fn elsewhere_reading_needs_the_token_too() {
    let (_folder, results) = some_results();
    let served = Served::start(&results, &["--listen", "0.0.0.0:0", "--token", "Aa0123456789-._x"]);
    assert_eq!((served.get("/").status, served.get("/api/runs").status), (200, 401));
    assert_eq!(served.ask("GET", "/api/runs", &[&served.token_line()]).status, 200);
    assert_eq!(served.ask("GET", "/api/runs/runs%2Fplayed/llr.svg", &[]).status, 401);
    let path = results.display().to_string();
    for (args, warnings) in
        [(["--token", "short"], 1), (["--token", "spaces in a token"], 1), (["--listen", &served.address], 0)]
    {
        let ran = run(&["serve", &path, args[0], args[1]]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1 + warnings), "{args:?}: {ran:?}");
    }
    assert_eq!(run(&["serve", "/nonexistent"]).code, Some(2));
}

#[test]
fn a_token_of_a_file_or_the_environment_shows_in_no_list_of_processes() {
    const TOKEN: &str = "Aa0123456789-._x";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{TOKEN}\nand no more\n")).unwrap();
    let file = file.display().to_string();
    for served in [
        Served::start(folder.path(), &["--token-file", &file]),
        Served::start_with(folder.path(), &[], &[("QUINTAIN_TOKEN", TOKEN)]),
        // A file goes before the environment.
        Served::start_with(folder.path(), &["--token-file", &file], &[("QUINTAIN_TOKEN", "0123456789abcdef")]),
    ] {
        assert_eq!(served.token, TOKEN);
        #[cfg(target_os = "linux")]
        {
            let shown = std::fs::read(format!("/proc/{}/cmdline", served.child.id())).unwrap();
            assert!(!String::from_utf8_lossy(&shown).contains(TOKEN));
        }
    }
    let path = folder.path().display().to_string();
    let serve = |more: &[&str]| run(&[&["serve", &path], more].concat());
    // Ends at once: somebody else listens there.
    let held = Served::start(folder.path(), &[]);
    let warned = serve(&["--token", TOKEN, "--listen", &held.address]);
    assert!(warned.stderr.contains("warning: --token is visible to all users"), "{warned:?}");
    let open = serve(&["--token-file", &file, "--listen", &held.address]);
    // Windows has no permissions that would tell.
    assert_eq!(open.stderr.contains("other users may read it"), cfg!(unix), "{open:?}");
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    for (args, words) in [
        (["--token-file", "/nonexistent"], "--token-file `/nonexistent`: cannot read it"),
        (["--token-file", &empty.display().to_string()], "it is empty"),
    ] {
        let ran = serve(&args);
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_crowd_that_sends_nothing_or_half_a_request_keeps_nobody_out() {
    let (_folder, results) = some_results();
    let served = Served::start(&results, &[]);
    let crowd: Vec<_> = (0..300)
        .map(|number| {
            let mut stream = served.connect();
            if number % 2 == 0 {
                stream.write_all(b"GET / HTTP/1.1\r\nHost: 127").unwrap();
            }
            stream
        })
        .collect();
    for path in ["/", "/api/runs", "/api/runs/hostile"] {
        assert_eq!(served.get(path).status, 200, "{path}");
    }
    drop(crowd);
}

#[test]
fn hostile_names_stay_data() {
    let (_folder, results) = some_results();
    let served = Served::start(&results, &[]);
    let list = served.json("/api/runs?q=onerror&sort=name");
    let names: Vec<_> = list["runs"].as_array().unwrap().iter().map(|run| &run["players"]).collect();
    assert_eq!(names, [&json!(["a", "b", HOSTILE]), &json!([HOSTILE, "b"])]);
    assert_eq!(served.json("/api/runs/hostile")["run"]["name"], HOSTILE);
    // In a picture they are escaped: it is a document that a browser may open.
    let plan = results.join("runs/played/plan.toml");
    let text = std::fs::read_to_string(&plan).unwrap();
    let name = serde_json::from_str::<Value>(&served.get("/api/runs/runs%2Fplayed").body).unwrap();
    let name = name["run"]["players"][0].as_str().unwrap().to_owned();
    let quoted = format!("name = {}", Value::from(HOSTILE));
    std::fs::write(&plan, text.replacen(&format!("name = \"{name}\""), &quoted, 1)).unwrap();
    assert!(std::fs::read_to_string(&plan).unwrap().contains("onerror"));
    let svg = served.get("/api/runs/runs%2Fplayed/llr.svg").body;
    assert!(svg.contains("&lt;img") && !svg.contains("<img"), "{svg}");
}

/// A live run below a folder of results.
struct Live {
    results: tempfile::TempDir,
    child: Child,
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Live {
    /// Two peers, the first of which has markup for a name, under a folder of results.
    fn start(more: &str) -> Self {
        let results = tempfile::tempdir().unwrap();
        std::fs::create_dir(results.path().join("runs")).unwrap();
        let engine = results.path().join(format!("{ENGINE}{}", std::env::consts::EXE_SUFFIX));
        #[cfg(unix)]
        std::os::unix::fs::symlink(FAKE, &engine).unwrap();
        #[cfg(not(unix))]
        std::fs::copy(FAKE, &engine).unwrap();
        let dir = results.path().join("runs/live");
        let more = format!("--max-plies 60 --seed 11 {more}");
        let mut args = sprt_args("--seed 1", "--seed 2 --sleep-us 2000", &dir, &more);
        args[2] = format!("'{}' -- --seed 1 --sleep-us 2000", engine.display());
        let mut command = quintain(&args);
        command.env("TMPDIR", results.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        Self { results, child }
    }

    fn lines(&self) -> usize {
        let journal = self.results.path().join("runs/live/games.jsonl");
        std::fs::read(journal).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count())
    }
}

/// The name of an engine's program, and so the engine's.
#[cfg(unix)]
const ENGINE: &str = "<b onmouseover=alert(1)>";
/// A file on Windows has no angle brackets in its name.
#[cfg(not(unix))]
const ENGINE: &str = "b & onmouseover=alert(1)";

/// Its beginning in a picture.
const ESCAPED: &str = if cfg!(unix) { "&lt;b onmouse" } else { "b &amp; onmouse" };

/// The stream of a live run.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(served: &Served, id: &str) -> Self {
        let mut stream = served.connect();
        let head =
            format!("GET /api/runs/{id}/events HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address);
        stream.write_all(head.as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    /// The next event: its kind and its data. What belongs to the transfer's own encoding is passed
    /// over.
    fn next(&mut self) -> Option<(String, Value)> {
        let mut kind = None;
        let mut line = String::new();
        loop {
            line.clear();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(text) = line.strip_prefix("event: ") {
                kind = Some(text.trim().to_owned());
            } else if let (Some(text), Some(kind)) = (line.strip_prefix("data: "), kind.take()) {
                return Some((kind, serde_json::from_str(text.trim_end()).unwrap()));
            } else {
                assert!(!line.contains("HTTP/1.1 ") || line.contains("200"), "{line}");
            }
        }
    }

    /// The next event that is as wanted.
    #[track_caller]
    fn until(&mut self, what: &str, mut wanted: impl FnMut(&str, &Value) -> bool) -> Value {
        loop {
            let (kind, value) = self.next().unwrap_or_else(|| panic!("{what}: the stream is over"));
            if wanted(&kind, &value) {
                return value;
            }
        }
    }
}

const LIVE: &str = "runs%2Flive";

#[track_caller]
fn until_live(served: &Served) {
    until("a live run", || served.json("/api/runs?state=live")["total"] == 1);
}

#[test]
fn a_live_run_is_followed_and_steered() {
    let mut live = Live::start("--nodes 1 --max-pairs 100000 -j 2");
    let served = Served::start(live.results.path(), &[]);
    until_live(&served);
    let steer = |command: &str| {
        let got = served.post(&format!("/api/runs/{LIVE}/{command}"));
        assert_eq!(got.status, 200, "{command}: {got:?}");
        got.json()
    };
    let mut stream = Stream::open(&served, LIVE);
    assert_eq!(stream.next().unwrap().0, "snapshot");
    // A board goes on, ply by ply, with its players' names as they are.
    let first = stream.until("a board", |kind, value| kind == "board" && value["plies"].as_u64() > Some(3));
    let names = [&first["white"], &first["black"]];
    assert!(names.contains(&&Value::from(ENGINE)), "{first}");
    // Of any game: who reads late misses the rest of this one.
    let mut seen = std::collections::BTreeMap::new();
    let mut before = Value::Null;
    let next = stream.until("the next ply", |kind, value| {
        if kind == "board" {
            before = seen.insert(value["game"].as_u64(), value.clone()).unwrap_or_default();
        }
        before["plies"].as_u64().is_some_and(|plies| value["plies"].as_u64() > Some(plies))
    });
    assert_ne!(next["fen"], before["fen"]);
    stream.until("its end", |kind, value| kind == "board" && value["result"].is_string());
    let progress = stream.until("progress", |kind, value| kind == "progress" && value["pairs"].as_u64() > Some(0));
    assert!(progress["llr"].is_number(), "{progress}");
    // A second browser, and one that never reads.
    let mut other = Stream::open(&served, LIVE);
    let _deaf = Stream::open(&served, LIVE);
    assert_eq!(other.next().unwrap().0, "snapshot");
    assert_eq!(steer("pause")["phase"], "paused");
    stream.until("the pause", |kind, value| kind == "status" && value["phase"] == "paused" && value["playing"] == 0);
    // Who reads late gets the whole state instead of the line.
    let is_pause = |line: &Value| line.as_str().unwrap().starts_with("paused");
    other.until("the pause", |kind, value| match kind {
        "line" => is_pause(value),
        "snapshot" => value["lines"].as_array().unwrap().iter().any(is_pause),
        _ => false,
    });
    let lines = live.lines();
    stream.until("a while", |kind, _| kind == "progress");
    assert_eq!(live.lines(), lines);
    let row = served.json("/api/runs")["runs"][0].clone();
    assert_eq!((&row["state"], &row["status"]["phase"]), (&"live".into(), &"paused".into()));
    assert_eq!(steer("concurrency?games=1")["concurrency"], 1);
    assert_eq!(served.post(&format!("/api/runs/{LIVE}/concurrency?games=0")).status, 409);
    assert_eq!(steer("resume")["phase"], "running");
    let svg = served.get(&format!("/api/runs/{LIVE}/llr.svg"));
    assert!(svg.status == 200 && svg.body.contains(ESCAPED) && !svg.body.contains(ENGINE), "{svg:?}");
    // A token that is wrong stops nothing.
    let wrong = ["X-Quintain-Token: 0123456789abcdef0123456789abcdef"];
    assert_eq!(served.ask("POST", &format!("/api/runs/{LIVE}/stop"), &wrong).status, 401);
    assert_eq!(steer("concurrency?games=2")["phase"], "running");
    assert_eq!(steer("stop")["phase"], "stopping");
    stream.until("the end", |kind, _| kind == "gone");
    assert!(stream.next().is_none());
    assert_eq!(live.child.wait().unwrap().code(), Some(130));
    until("the summary", || served.json(&format!("/api/runs/{LIVE}"))["run"]["state"] == "interrupted");
    assert_eq!(served.post(&format!("/api/runs/{LIVE}/pause")).status, 409);
}

/// Keys of the document that `quintain stats` prints, in order: those of the one struct that every
/// output shares.
fn keys_of_estimates() -> Vec<String> {
    let ran = run(&["stats", "--ptnml", "1,2,3,4,5", "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    document.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn every_output_has_the_keys_of_the_estimates() {
    let keys = keys_of_estimates();
    assert!(keys.len() >= 20 && keys.contains(&"elo_lo".to_owned()), "{keys:?}");
    let has_all = |place: &str, document: &Value| {
        let missing: Vec<_> = keys.iter().filter(|key| document.get(key.as_str()).is_none()).collect();
        assert!(missing.is_empty(), "{place} has no {missing:?}: {document}");
    };
    let mut live = Live::start("--nodes 1 --max-pairs 100000 -j 2");
    let served = Served::start(live.results.path(), &[]);
    until_live(&served);
    let mut stream = Stream::open(&served, LIVE);
    let progress = stream.until("progress", |kind, value| kind == "progress" && value["pairs"].as_u64() > Some(1));
    has_all("the control protocol", &progress);
    assert!(progress["elo"].is_number() && progress["verdict"].is_string(), "{progress}");
    has_all("the list of live runs", &served.json("/api/runs")["runs"][0]);
    assert_eq!(served.post(&format!("/api/runs/{LIVE}/stop")).status, 200);
    live.child.wait().unwrap();
    until("the summary", || served.json(&format!("/api/runs/{LIVE}"))["run"]["state"] == "interrupted");
    has_all("summary.json", &summary(&live.results.path().join("runs/live")));
    // A summary of a program that knew few of them is read all the same.
    let old = json!({ "name": "old", "elo": 3.5, "elo_lo": 1.0, "elo_hi": 6.0, "llr": 1.5, "verdict": "H1" });
    store(&live.results.path().join("runs/old"), &["a", "base"], &old);
    let row = || served.json("/api/runs?q=old")["runs"][0].clone();
    until("a look at the new folder", || row().is_object());
    let row = row();
    has_all("the list of stored runs", &row);
    for key in ["elo", "elo_lo", "elo_hi", "llr", "verdict"] {
        assert_eq!(row[key], old[key], "{row}");
    }
    assert!(row["nelo"].is_null() && row["state"] == "over", "{row}");
}

/// Moves are told while somebody looks, from the beginning of a game that began before, and no
/// longer.
#[cfg(unix)]
#[test]
fn moves_are_told_to_those_who_ask() {
    check_live_moves("-j 1");
}

/// Those of games in other processes too.
#[cfg(all(target_os = "linux", feature = "cluster"))]
#[test]
fn moves_on_workers_are_told_to_those_who_ask() {
    if crate::cluster::has_server("moves_on_workers_are_told_to_those_who_ask") {
        check_live_moves("--workers local:1");
    }
}

#[cfg(unix)]
#[track_caller]
fn check_live_moves(how: &str) {
    let live = Live::start(&format!("--new-tc 10000+0.1 --base-tc 10000+0.1 --max-pairs 100000 {how}"));
    let socket = live.results.path().join("runs/live/control.sock");
    until("the socket", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
    let watch = |ask: &str| {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        stream.write_all(format!("{ask}\n").as_bytes()).unwrap();
        BufReader::new(stream).lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
    };
    for _ in 0..2 {
        let mut plies = std::collections::BTreeMap::<u64, u64>::new();
        let mut ended = 0;
        for say in watch(r#"{"cmd":"watch","moves":true}"#) {
            let game = say["game"].as_u64().unwrap_or(0);
            match say["event"].as_str().unwrap() {
                "game" if say["result"].is_null() => {
                    assert_eq!((&say["white_ms"], say["fen"].is_string()), (&10_000_100.into(), true), "{say}");
                    plies.insert(game, 0);
                }
                "game" => {
                    assert!(say["termination"].is_string() && plies[&game] > 0, "{say}");
                    ended += 1;
                }
                // One after another, none left out.
                "ply" => {
                    let told = plies.get_mut(&game).unwrap();
                    *told += 1;
                    assert_eq!(say["ply"].as_u64(), Some(*told), "{say}");
                    assert!(
                        say["clock_ms"].as_u64() > Some(5_000_000) && say["move"].as_str().unwrap().len() >= 4,
                        "{say}"
                    );
                }
                _ => {}
            }
            if ended == 3 {
                break;
            }
        }
    }
    // Who only watches hears nothing of them.
    let heard: Vec<Value> = watch(r#"{"cmd":"watch"}"#).take(3).collect();
    assert!(heard.iter().all(|say| say["event"] == "progress"), "{heard:?}");
}
