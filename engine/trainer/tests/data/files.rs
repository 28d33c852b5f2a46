//! Outputs: files, pipes, stdout, and the remains of interrupted commands.

use super::{Folder, lines};
use quintain::run::Exit;
use rustix::process::{Pid, Signal};
use std::fs;
use std::fs::File;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::thread;

#[test]
fn no_file_is_read_and_written() {
    let folder = Folder::new();
    folder.write_games("a.vf", 15, 5);
    fs::create_dir(folder.path("sub")).unwrap();
    let good = folder.read("a.vf");
    for words in [
        "split @a.vf --out @s.vf --validation @s.vf",
        "split @a.vf --out @s.vf --validation @sub/../s.vf --force",
        "split @a.vf --out @s.vf --validation @a.vf --force",
        "convert @a.vf --out @sub/../a.vf --force",
        "filter @a.vf --out @a.vf --to text --force",
        "shuffle @a.vf --out @a.vf --force",
        "interleave @a.vf --out @a.vf --force",
        "dedup @a.vf --out @a.vf --force",
        "rescore @a.vf --out @a.vf --engine @missing --depth 1",
    ] {
        let error = folder.error(words);
        assert!(error.contains("; give another name for what is written"), "{words}: {error}");
        assert!(folder.read("a.vf") == good);
    }
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn what_is_no_file_is_never_replaced() {
    let folder = Folder::new();
    folder.write_games("a.vf", 16, 2);
    let _socket = UnixListener::bind(folder.path("socket.vf")).unwrap();
    for words in ["convert @a.vf --out @socket.vf", "convert @a.vf --out @socket.vf --force"] {
        let error = folder.error(words);
        assert!(error.starts_with("socket.vf: not a regular file"), "{error}");
        assert!(!fs::metadata(folder.path("socket.vf")).unwrap().is_file());
    }
}

#[test]
fn an_answer_that_nobody_reads_is_no_panic() {
    let folder = Folder::new();
    folder.write_games("a.vf", 17, 2);
    for words in ["info @a.vf", "info @a.vf --json", "check @a.vf"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = folder.program(words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert!(ended.status.success() && ended.stderr.is_empty(), "{words}: {ended:?}");
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ended = folder.program(words).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{words}: {told}");
        assert!(told.starts_with("error: cannot write to stdout: No space left"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}

#[cfg(feature = "binpack")]
#[test]
fn a_damaged_binpack_is_one_error() {
    let folder = Folder::new();
    folder.write_games("a.vf", 18, 30);
    folder.run("convert @a.vf --out @a.binpack");
    let mut bytes = folder.read("a.binpack");
    // Damage after the chunk's header.
    bytes[8..200].fill(0xff);
    folder.write("b.binpack", bytes);
    let ended = folder.program("check @b.binpack").stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.starts_with("error: ") && told.lines().count() == 1, "{told}");
}

#[test]
fn what_a_killed_run_left_is_replaced_and_a_running_one_is_not() {
    let folder = Folder::new();
    folder.write_games("a.vf", 19, 5);
    folder.write("b.bf.partial", [7; 100_000]);
    folder.run("shuffle @a.vf --out @b.bf");
    folder.run("convert @a.vf --out @c.bf");
    assert_eq!(folder.read("b.bf").len(), folder.read("c.bf").len());
    assert!(!folder.path("b.bf.partial").exists());
    let running = File::create(folder.path("d.bf.partial")).unwrap();
    running.lock().unwrap();
    let error = folder.error("shuffle @a.vf --out @d.bf");
    assert!(error.starts_with("d.bf: another run writes it"), "{error}");
    assert!(folder.path("d.bf.partial").exists());
    // Also before a first pass over the input, in which an interrupt would remove it.
    let error = folder.error("triplets @missing.vf --min-moves-quantile 0.25 --out @d.bf");
    assert!(error.starts_with("d.bf: another run writes it"), "{error}");
}

#[test]
fn more_files_are_read_than_the_soft_limit_allows() {
    let folder = Folder::new();
    folder.write_games("a.vf", 24, 1);
    let program = folder.program(&format!("convert{} --out @b.vf", " @a.vf".repeat(100)));
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -Sn 64 && exec \"$0\" \"$@\""]).arg(program.get_program()).args(program.get_args());
    let ended = limited.output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert!(folder.read("b.vf") == folder.read("a.vf").repeat(100));
}

#[test]
fn a_filter_that_would_not_filter_is_refused() {
    let folder = Folder::new();
    folder.write_games("a.vf", 19, 5);
    for criterion in ["--min-ply 60", "--max-score 50", "--keep-checks"] {
        let words = format!("shuffle @a.vf --out @b.bf {criterion}");
        assert!(folder.error(&words).contains("the criteria of positions are for `--filtered`"));
        folder.run(&format!("{words} --filtered"));
        fs::remove_file(folder.path("b.bf")).unwrap();
    }
}

#[test]
fn nothing_is_left_when_a_run_is_ended() {
    let folder = Folder::new();
    let partial = folder.path("b.bf.partial");
    // The signal handler is installed shortly after the start; an earlier signal has its default
    // effect.
    let ended = (0..50).any(|_| {
        let _ = fs::remove_file(&partial);
        let words = "shuffle /dev/stdin --from viriformat --out @b.bf";
        let mut run = folder.program(words).stdin(Stdio::piped()).spawn().unwrap();
        // The program waits for its input, and `wait` would close it and let the program finish.
        let input = run.stdin.take();
        while !partial.exists() {
            assert!(run.try_wait().unwrap().is_none(), "it waits for its input");
            thread::yield_now();
        }
        rustix::process::kill_process(Pid::from_child(&run), Signal::TERM).unwrap();
        let ended = run.wait().unwrap();
        drop(input);
        ended.code() == Some(i32::from(Exit::Interrupted.code()))
    });
    assert!(ended);
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0);
}

#[test]
fn positions_without_moves_are_not_dropped_without_a_word() {
    let folder = Folder::new();
    folder.write_games("a.vf", 20, 5);
    folder.run("convert @a.vf --out @a.txt");
    for words in ["dedup @a.txt --out @b.plain", "convert @a.txt --out @b.plain", "interleave @a.txt --out @b.plain"] {
        let error = folder.error(words);
        assert!(error.contains("a.txt: text does not say which move was played; write viriformat"), "{error}");
        assert!(!folder.path("b.plain").exists());
    }
    folder.write("s.selfplay", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1;e2e4:- e7e5:1 g1f3:2;0.5\n");
    for words in [
        "convert @s.selfplay --out @x.txt",
        "interleave @s.selfplay --out @y.txt",
        "dedup @s.selfplay --out @z.txt",
        "shuffle @s.selfplay --out @u.txt",
        "split @s.selfplay --out @v.txt --validation @w.txt --share 0",
    ] {
        let ended = folder.program(words).stdout(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(ended.stdout).unwrap();
        assert!(ended.status.success() && told.contains(" 1 positions left out"), "{words}: {told}");
    }
}

#[test]
fn pipes_are_read_whole_or_refused() {
    let folder = Folder::new();
    // Input larger than a buffer.
    folder.write_games("a.vf", 21, 3000);
    folder.run("convert @a.vf --out @a.selfplay");
    let (whole, text) = (folder.read("a.vf"), folder.read("a.selfplay"));
    assert!(text.len() > 300_000, "{}", text.len());
    let ended = folder.piped("import /dev/stdin --from self-play --out @b.vf", text.clone());
    assert!(ended.status.success(), "{ended:?}");
    assert!(folder.read("b.vf") == whole, "nothing is lost between two openings");
    let split = "split /dev/stdin --from self-play --share 0.3";
    let ended = folder.piped(&format!("{split} --out @t.vf --validation @v.vf"), text.clone());
    assert!(ended.status.success(), "{ended:?}");
    folder.run("split @a.vf --share 0.3 --out @t2.vf --validation @v2.vf");
    assert!(folder.read("t.vf") == folder.read("t2.vf") && folder.read("v.vf") == folder.read("v2.vf"));
    let ended = folder.piped("dedup /dev/stdin --from self-play --out @d.txt", text);
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(
        told.contains("/dev/stdin: not a regular file, but it must be read twice; write its contents to a file"),
        "{told}"
    );
    assert!(!folder.path("d.txt").exists() && !folder.path("d.txt.partial").exists());
}

#[test]
fn each_output_of_a_split_is_held_to_its_format() {
    let folder = Folder::new();
    folder.write_games("a.vf", 23, 5);
    folder.run("convert @a.vf --out @a.txt");
    for (out, validation) in [("t.txt", "v.plain"), ("t.plain", "v.txt")] {
        let error = folder.error(&format!("split @a.txt --by-position --out @{out} --validation @{validation}"));
        assert!(error.contains("a.txt: text does not say which move was played"), "{error}");
        assert!(!folder.path(out).exists() && !folder.path(validation).exists());
    }
}

/// The third position of a triplet has the score and the result of the first.
#[test]
fn triplets_are_no_positions() {
    let folder = Folder::new();
    folder.write_games("a.vf", 23, 20);
    folder.run("triplets @a.vf --out @a.pqr");
    for words in ["check @a.pqr", "info @a.pqr", "shuffle @a.pqr --out @b.bf"] {
        let error = folder.error(&format!("{words} --from bulletformat"));
        assert!(error.starts_with("a.pqr: offset 0: a position of a triplet"), "{words}: {error}");
    }
}

#[test]
fn positions_without_moves_do_not_lose_their_scores_as_games() {
    let folder = Folder::new();
    folder.write_games("a.vf", 22, 5);
    folder.run("convert @a.vf --out @a.txt");
    folder.run("convert @a.txt --out @lone.vf");
    let positions = lines(&folder.path("a.txt")).len();
    for words in [
        "convert @a.txt --out @b.selfplay",
        "dedup @a.txt --out @b.selfplay",
        "shuffle @a.txt --out @b.selfplay",
        "interleave @a.txt --out @b.selfplay",
        "split @a.txt --by-position --out @b.vf --validation @b.selfplay",
        "split @a.txt --by-position --out @b.selfplay --validation @b.vf",
        "rescore @a.txt --out @b.selfplay --engine @missing --depth 1",
    ] {
        let error = folder.error(words);
        let expected = "a.txt: text does not say which move was played; write viriformat, bulletformat or text";
        assert!(error.contains(expected), "{words}: {error}");
        assert!(!folder.path("b.selfplay").exists() && !folder.path("b.vf").exists(), "{words}");
    }
    // Viriformat may hold single positions, which shows only while reading.
    for words in ["convert", "dedup", "shuffle", "interleave"] {
        let told = folder.told(&format!("{words} @lone.vf --out @{words}.selfplay"));
        assert!(told.contains(&format!(" {positions} positions left out")), "{words}: {told}");
        assert_eq!(folder.text(&format!("{words}.selfplay")), "");
    }
}
