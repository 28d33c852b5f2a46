//! Notices of the end of a run, told to a listener of the test's own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Ran, quintain, sprt_args, summary};
use crate::serve_work::cut;

/// Path of the address, which is a secret.
const SECRET: &str = "/hooks/7f3a-secret";

/// A request: its first line and headers, and its body.
type Request = (String, String);

/// Answers `count` requests with a status, each on a connection of its own.
fn listen(count: usize, status: &'static str) -> (String, std::thread::JoinHandle<Vec<Request>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}{SECRET}", listener.local_addr().unwrap());
    let answers = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for _ in 0..count {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let lower = line.to_lowercase();
                if let Some(number) = lower.strip_prefix("content-length:") {
                    length = number.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
                head += &lower;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            requests.push((head, String::from_utf8(body).unwrap()));
        }
        requests
    });
    (address, answers)
}

/// A test of two peers, whose end is told to `services`.
fn told(out: &Path, command: &str, services: &[(&str, &str)]) -> Ran {
    let more = "--nodes 1 --max-plies 30 --max-pairs 1 --seed 1 --note told";
    let mut args = sprt_args("--seed 1", "--seed 2", out, more);
    args.extend(["--on-end", command].map(str::to_owned));
    let mut set = Vec::new();
    for (service, address) in services {
        let variable = format!("TEST_{}", service.to_uppercase());
        args.extend([format!("--notify-{service}"), variable.clone()]);
        set.extend((!address.is_empty()).then(|| (variable, (*address).to_owned())));
    }
    quintain(&args).envs(set).output().unwrap().into()
}

/// Checks that nothing that was printed or kept has the secret.
#[track_caller]
fn check_kept(ran: &Ran, out: &Path) {
    assert!(!ran.stdout.contains("7f3a") && !ran.stderr.contains("7f3a"), "{ran:?}");
    for file in std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("7f3a"), "{}", file.display());
    }
}

#[test]
fn everyone_is_told_of_the_end_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let (address, answers) = listen(3, "204 No Content");
    let [document, variables] = ["document", "variables"].map(|name| folder.path().join(name));
    let command = format!(
        "cat > '{}'; echo \"$QUINTAIN_EXIT $QUINTAIN_STOPPED_BY $QUINTAIN_TITLE\" > '{}'",
        document.display(),
        variables.display()
    );
    let services = ["webhook", "ntfy", "discord"].map(|service| (service, address.as_str()));
    let ran = told(&out, &command, &services);
    assert_eq!((ran.code, ran.stderr.contains("warning: ")), (Some(3), false), "{ran:?}");
    let json = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let given = json(&read(&document));
    assert_eq!((&given["pairs"], &given["exit"]), (&summary(&out)["pairs"], &3.into()));
    assert_eq!(read(&variables), "3 out-of-pairs told\n");
    let requests = answers.join().unwrap();
    let of = |service: &str, mark: fn(&Request) -> bool| {
        let found = requests.iter().find(|request| mark(request));
        found.unwrap_or_else(|| panic!("no {service}: {requests:?}")).clone()
    };
    let (head, body) = of("ntfy", |(head, _)| head.contains("title: quintain"));
    assert!(head.starts_with(&format!("post {SECRET} http/1.1")) && head.contains("text/plain"), "{head}");
    assert!(
        body.starts_with("out-of-pairs: told: ") && body.ends_with(&format!("2 games, {}", out.display())),
        "{body}"
    );
    let (head, said) = of("discord", |(_, body)| body.contains("\"content\""));
    assert!(head.contains("content-type: application/json"), "{head}");
    assert_eq!(
        (&json(&said)["content"], &json(&said)["allowed_mentions"]["parse"]),
        (&body.into(), &serde_json::json!([]))
    );
    let (_, hook) = of("webhook", |(_, body)| body.contains("\"ptnml\""));
    assert_eq!(json(&hook), given);
    check_kept(&ran, &out);
}

/// A run that is resumed tells those whom its first command named, unless somebody else wrote it.
#[test]
fn a_resumed_run_tells_those_of_its_first_command() {
    let folder = tempfile::tempdir().unwrap();
    let (out, heard) = (folder.path().join("run"), folder.path().join("heard"));
    let command = format!("echo $QUINTAIN_EXIT >> '{}'", heard.display());
    let ran = told(&out, &command, &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let resume = || -> Ran {
        cut(&out, 1);
        quintain(&["resume", &out.display().to_string()]).output().unwrap().into()
    };
    let ran = resume();
    let said = || std::fs::read_to_string(&heard).unwrap();
    assert_eq!((ran.code, said().as_str()), (Some(3), "3\n3\n"), "{ran:?}");
    let kept = out.join("notify");
    let text = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, text.replace("EXIT", "NAME")).unwrap();
    let ran = resume();
    assert_eq!((ran.code, said().as_str()), (Some(3), "3\n3\n"), "{ran:?}");
    assert_eq!(ran.stderr.matches("it was not written by you on this machine").count(), 1, "{ran:?}");
}

/// A finished run that is resumed has no news: nobody is told, and its files stay.
#[test]
fn the_end_of_a_run_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let [out, heard, live] = ["run", "heard", "live.pgn"].map(|name| folder.path().join(name));
    let more = format!("--nodes 1 --max-plies 30 --max-pairs 1 --seed 1 --live-pgn {}", live.display());
    let mut args = sprt_args("--seed 1", "--seed 2", &out, &more);
    args.extend(["--on-end".to_owned(), format!("echo $QUINTAIN_EXIT >> '{}'", heard.display())]);
    let first: Ran = quintain(&args).output().unwrap().into();
    assert_eq!(first.code, Some(3), "{first:?}");
    let events = out.join("events.txt");
    let files = || [&heard, &live, &events].map(|file| std::fs::read_to_string(file).unwrap_or_default());
    let resume = || -> Ran { quintain(&["resume", &out.display().to_string()]).output().unwrap().into() };
    let before = files();
    assert_eq!((before[0].as_str(), before[1].matches("[Event ").count()), ("3\n", 2), "{before:?}");
    for _ in 0..2 {
        let again = resume();
        assert_eq!((again.code, again.stdout.lines().next()), (Some(3), first.stdout.lines().next()), "{again:?}");
        assert_eq!(files(), before);
    }
    // A run that was killed between its last game and its end has told nobody.
    std::fs::remove_file(out.join("summary.json")).unwrap();
    assert_eq!(resume().code, Some(3));
    let [told, shown, events] = files();
    assert_eq!((told.as_str(), &shown), ("3\n3\n", &before[1]));
    assert!(events.contains("resuming after 1 pair"), "{events}");
}

#[test]
fn a_notice_that_fails_is_a_warning_and_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let (refusing, answers) = listen(1, "500 Internal Server Error");
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = format!("http://{gone}{SECRET}");
    let ran = told(&out, "exit 7", &[("webhook", &refusing), ("ntfy", &gone), ("discord", "")]);
    assert_eq!((ran.code, summary(&out)["pairs"].as_u64()), (Some(3), Some(1)), "{ran:?}");
    for warning in [
        "warning: --on-end: it ended with exit status: 7",
        "warning: webhook was not notified: it answered 500",
        "warning: ntfy was not notified: the address in TEST_NTFY cannot be reached",
        "warning: discord was not notified: the variable TEST_DISCORD is not set",
    ] {
        assert_eq!(ran.stderr.lines().filter(|line| line.starts_with(warning)).count(), 1, "{warning}: {}", ran.stderr);
    }
    answers.join().unwrap();
    check_kept(&ran, &out);
}
