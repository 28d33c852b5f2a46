//! Batch service: batches by stdout and in shared memory, and the ends of both sides.

use super::Folder;
use destrier::nnue::sets::{FeatureSet, OrientedBoard};
use destrier_trainer::data::read;
use quintain::run::Exit;
use rustix::fs::Mode;
use rustix::process::{Pid, Signal};
use rustix::shm;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Stdio};

/// Header of a segment or stream.
struct Header {
    layout: u64,
    /// 0 eval, 1 pqr.
    method: u64,
    batch: usize,
    words: usize,
    slot: u64,
}

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn header(bytes: &[u8]) -> Header {
    assert_eq!((&bytes[..8], number(bytes, 8, 4)), (&b"DTRBATCH"[..], 1));
    let size = |at| number(bytes, at, 4);
    let [layout, method] = [12, 14].map(|at| number(bytes, at, 2));
    Header { layout, method, batch: size(16) as usize, words: size(24) as usize, slot: number(bytes, 32, 8) }
}

/// One position of a batch: score, result, pieces, features of both views. Positions of triplets
/// have no score and result, here zeros.
type Row = (i64, i64, u8, [Vec<u16>; 2]);

/// Reads the positions of a payload.
fn rows(header: &Header, positions: usize, payload: &[u8]) -> Vec<Row> {
    let n = header.batch;
    let float = |at: usize| f32::from_le_bytes([payload[at], payload[at + 1], payload[at + 2], payload[at + 3]]);
    let is_eval = header.method == 0;
    let pieces_at = if is_eval { 8 * n } else { 0 };
    let inputs = &payload[(pieces_at + n).next_multiple_of(8)..];
    let view = |view: usize| -> Vec<u16> {
        if header.layout == 0 {
            let bits = &inputs[8 * header.words * view..][..8 * header.words];
            return (0..64 * header.words).filter(|&f| bits[f / 8] >> (f % 8) & 1 != 0).map(|f| f as u16).collect();
        }
        let bounds = [view, view + 1].map(|place| number(inputs, 4 * place, 4) as usize);
        let features = &inputs[4 * (2 * n + 1)..];
        let mut list: Vec<u16> = (bounds[0]..bounds[1]).map(|at| number(features, 2 * at, 2) as u16).collect();
        list.sort_unstable();
        list
    };
    let row = |place: usize| {
        let (score, result) = match is_eval {
            true => (float(4 * place) as i64, (2.0 * float(4 * (n + place))) as i64),
            false => (0, 0),
        };
        (score, result, payload[pieces_at + place], [view(2 * place), view(2 * place + 1)])
    };
    (0..positions).map(row).collect()
}

/// Returns the sizes of the batches of a stream, and all their positions.
fn stream(bytes: &[u8]) -> (Vec<usize>, Vec<Row>) {
    let header = header(bytes);
    let (mut rest, mut sizes, mut all) = (&bytes[64..], Vec::new(), Vec::new());
    while !rest.is_empty() {
        assert_eq!(number(rest, 0, 8), sizes.len() as u64 + 1);
        let (positions, length) = (number(rest, 8, 4) as usize, number(rest, 12, 4) as usize);
        all.extend(rows(&header, positions, &rest[16..16 + length]));
        sizes.push(positions);
        rest = &rest[16 + length..];
    }
    (sizes, all)
}

/// Returns the positions of a file as a set's own encoding gives them.
fn expected(folder: &Folder, name: &str, set: &str) -> Vec<Row> {
    let set: FeatureSet = set.parse().unwrap();
    let entries = read::open(&folder.path(name), None).unwrap().entries;
    let row = |position: destrier_trainer::data::record::Position| {
        let (score, result) = position.relative();
        let view = |color| {
            let mut list = Vec::new();
            set.active(&OrientedBoard::from((&position.board, color))).for_each(|feature| list.push(feature));
            list
        };
        let turn = position.board.turn();
        let pieces = position.board.occupied().count() as u8;
        (i64::from(score), i64::from(result.half_points()), pieces, [view(turn), view(!turn)])
    };
    entries.flat_map(|entry| entry.unwrap().positions()).map(row).collect()
}

fn folder_with_positions() -> Folder {
    let folder = Folder::new();
    folder.write_games("a.vf", 61, 30);
    folder.run("convert @a.vf --out @a.bf");
    folder
}

fn served(folder: &Folder, words: &str) -> Vec<u8> {
    let ended = folder.program(words).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    assert!(ended.status.success(), "{words}: {}", String::from_utf8_lossy(&ended.stderr));
    ended.stdout
}

#[test]
fn a_stream_has_every_position_once() {
    let folder = folder_with_positions();
    for set in ["piece", "king-relative+rank", "mobility-squares+diagonal-pairs"] {
        let mut wanted = expected(&folder, "a.bf", set);
        wanted.sort_unstable();
        let words = format!("serve --features {set} --batch 100 --stdout @a.bf");
        let bits = served(&folder, &words);
        let (sizes, mut found) = stream(&bits);
        let last = wanted.len() % 100;
        assert!(last > 0 && sizes.len() == wanted.len() / 100 + 1);
        assert!(sizes.iter().rev().skip(1).all(|&size| size == 100) && sizes.last() == Some(&last));
        let in_order = found.clone();
        assert_ne!(found[..100], expected(&folder, "a.bf", set)[..100], "another order than the file's");
        found.sort_unstable();
        assert!(found == wanted, "{set}");
        // The same words give the same bytes, also by several threads; the layouts agree.
        assert!(served(&folder, &format!("{words} --threads 3")) == bits, "{set}");
        let sparse = served(&folder, &format!("{words} --sparse"));
        assert!(sparse.len() < bits.len() || set == "piece", "{set}");
        assert!(stream(&sparse).1 == in_order, "{set}");
        let other = stream(&served(&folder, &format!("{words} --seed 2"))).1;
        assert!(other != in_order, "{set}");
    }
}

/// Batches of triplets hold the positions of the file, P, Q and R together, in another order.
#[test]
fn triplets_stay_together() {
    let folder = Folder::new();
    folder.write_games("a.vf", 62, 30);
    folder.run("triplets @a.vf --out @triplets.bf");
    // The same records as positions, without the marks.
    let mut records = folder.read("triplets.bf");
    records.as_chunks_mut::<32>().0.iter_mut().for_each(|record| record[29..].fill(0));
    folder.write("positions.bf", records);
    let together = |rows: &[Row]| -> Vec<[Row; 3]> {
        assert!(rows.len().is_multiple_of(3));
        rows.as_chunks::<3>().0.to_vec()
    };
    for set in ["piece", "king-relative+rank", "mobility-squares+diagonal-pairs"] {
        let mut wanted = expected(&folder, "positions.bf", set);
        wanted.iter_mut().for_each(|row| (row.0, row.1) = (0, 0));
        let mut wanted = together(&wanted);
        let words = format!("serve --method pqr --features {set} --batch 50 --stdout @triplets.bf");
        let bits = served(&folder, &words);
        let header = header(&bits);
        assert_eq!((header.layout, header.method, header.batch), (0, 1, 150));
        let (sizes, found) = stream(&bits);
        let last = 3 * (wanted.len() % 50);
        assert!(last > 0 && sizes.len() == wanted.len() / 50 + 1);
        assert!(sizes.iter().rev().skip(1).all(|&size| size == 150) && sizes.last() == Some(&last));
        assert!(together(&found) != wanted, "another order than the file's");
        assert!(served(&folder, &format!("{words} --threads 3")) == bits, "{set}");
        assert!(stream(&served(&folder, &format!("{words} --sparse"))).1 == found, "{set}");
        let other = stream(&served(&folder, &format!("{words} --seed 2"))).1;
        assert!(other != found, "{set}");
        wanted.sort_unstable();
        for found in [found, other] {
            let mut found = together(&found);
            found.sort_unstable();
            assert!(found == wanted, "{set}");
        }
    }
    // A file of single positions, or one that begins within a triplet, is refused.
    folder.run("convert @a.vf --out @a.bf");
    folder.write("cut.bf", &folder.read("triplets.bf")[32..]);
    for name in ["a.bf", "cut.bf"] {
        let ended = folder.program(&format!("serve --method pqr --stdout @{name}")).output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.code() == Some(2) && ended.stdout.is_empty(), "{told}");
        assert!(told.contains(&format!("{name}: record 0 is not at its place in a triplet")), "{told}");
    }
}

/// Consumer of a segment, as another program would be.
struct SegmentReader {
    service: Child,
    name: String,
    segment: Option<File>,
}

impl SegmentReader {
    /// Starts a service. The segment is named after the test.
    fn start(folder: &Folder, test: &str, words: &str) -> SegmentReader {
        let name = format!("dtr-{test}-{}", std::process::id());
        let mut program = folder.program(&format!("serve --shm {name} {words}"));
        let service = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        SegmentReader { service, name, segment: None }
    }

    fn exists(&self) -> bool {
        shm::open(format!("/{}", self.name), shm::OFlags::RDONLY, Mode::empty()).is_ok()
    }

    /// Waits for the next batch; false at the end.
    fn wait(&mut self) -> bool {
        let mut byte = [0];
        let count = self.service.stdout.as_mut().unwrap().read(&mut byte).unwrap();
        assert!(count == 0 || byte == [64]);
        if self.segment.is_none() && count == 1 {
            let file = shm::open(format!("/{}", self.name), shm::OFlags::RDONLY, Mode::empty()).unwrap();
            self.segment = Some(File::from(file));
        }
        count == 1
    }

    /// Reads the batch of this number, from 1 on.
    fn read(&self, wanted: u64) -> Vec<Row> {
        let file = self.segment.as_ref().unwrap();
        let mut head = [0; 64];
        file.read_exact_at(&mut head, 0).unwrap();
        let slot = (wanted - 1) % 2;
        let at = |first: u64, step: u64| (first + step * slot) as usize;
        assert_eq!(number(&head, at(40, 8), 8), wanted, "the number of the batch in its slot");
        let header = header(&head);
        let mut payload = vec![0; header.slot as usize];
        file.read_exact_at(&mut payload, 64 + header.slot * slot).unwrap();
        rows(&header, number(&head, at(56, 4), 4) as usize, &payload)
    }

    fn answer(&mut self) {
        let _ = self.service.stdin.as_mut().unwrap().write_all(&[64]);
    }

    /// Waits for the end of the service, whose segment must be gone. Returns the exit code.
    fn end(mut self) -> Option<i32> {
        // `wait` closes the pipe, which is an end of its own.
        let _open = self.service.stdin.take();
        let code = self.service.wait().unwrap().code();
        assert!(!self.exists(), "the segment outlives the service");
        code
    }
}

#[test]
fn shared_memory_has_the_batches_of_the_stream() {
    let folder = folder_with_positions();
    folder.run("triplets @a.vf --out @a.pqr");
    for (test, layout) in [("bits", "@a.bf"), ("lists", "--sparse @a.bf"), ("triplets", "--method pqr @a.pqr")] {
        let words = format!("--features piece+file --batch 64 --seed 9 {layout}");
        let wanted = stream(&served(&folder, &format!("serve --stdout {words}"))).1;
        let mut reader = SegmentReader::start(&folder, test, &words);
        let (mut found, mut batches) = (Vec::new(), 0);
        while reader.wait() {
            batches += 1;
            found.extend(reader.read(batches));
            reader.answer();
        }
        assert!(batches > 4 && found == wanted, "{test}: {batches}");
        assert_eq!(reader.end(), Some(0));
    }
}

/// With `--loop`, each pass has all positions, in another order, and batches reach over its end.
#[test]
fn passes_follow_each_other() {
    let folder = folder_with_positions();
    let total = expected(&folder, "a.bf", "piece").len();
    let mut reader = SegmentReader::start(&folder, "passes", "--batch 64 --loop @a.bf");
    let mut found = Vec::new();
    for batch in 1.. {
        assert!(reader.wait());
        found.extend(reader.read(batch));
        reader.answer();
        if found.len() >= 2 * total {
            break;
        }
    }
    assert_eq!(found.len() % 64, 0);
    let (mut first, mut second) = (found[..total].to_vec(), found[total..2 * total].to_vec());
    assert!(first != second);
    first.sort_unstable();
    second.sort_unstable();
    assert!(first == second);
    // The consumer goes away.
    reader.service.stdin = None;
    reader.service.stdout = None;
    assert_eq!(reader.end(), Some(0));
}

#[test]
fn a_service_ends_with_its_consumer() {
    let folder = folder_with_positions();
    // Before the first answer, and after it.
    for answers in [0, 1, 5] {
        let mut reader = SegmentReader::start(&folder, &format!("gone{answers}"), "--batch 32 --loop @a.bf");
        assert!(reader.wait() && reader.exists());
        for _ in 0..answers {
            reader.answer();
            assert!(reader.wait());
        }
        reader.service.stdin = None;
        assert_eq!(reader.end(), Some(0));
    }
    // A stream whose reader closes it.
    let mut program = folder.program("serve --batch 32 --loop --stdout @a.bf");
    let mut service = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut bytes = [0; 10_000];
    service.stdout.as_mut().unwrap().read_exact(&mut bytes).unwrap();
    service.stdout = None;
    assert_eq!(service.wait().unwrap().code(), Some(0));
}

#[test]
fn a_signal_leaves_no_segment() {
    let folder = folder_with_positions();
    // The signal handler is installed shortly after the start; an earlier signal has its default
    // effect.
    let ended = (0..50).any(|_| {
        let mut reader = SegmentReader::start(&folder, "term", "--batch 32 --loop @a.bf");
        assert!(reader.wait() && reader.exists());
        rustix::process::kill_process(Pid::from_child(&reader.service), Signal::TERM).unwrap();
        let open = reader.service.stdin.take();
        let code = reader.service.wait().unwrap().code();
        drop(open);
        if code.is_none() {
            shm::unlink(format!("/{}", reader.name)).unwrap();
            return false;
        }
        assert_eq!(code, Some(i32::from(Exit::Interrupted.code())));
        assert!(!reader.exists());
        true
    });
    assert!(ended);
    // Nothing can act on a kill, so the name is gone as soon as the consumer has answered.
    let mut reader = SegmentReader::start(&folder, "kill", "--batch 32 --loop @a.bf");
    for _ in 0..3 {
        assert!(reader.wait());
        reader.answer();
    }
    assert!(reader.wait() && !reader.exists());
    reader.service.kill().unwrap();
    assert_eq!(reader.end(), None);
}

#[test]
fn bad_words_and_files_are_one_line() {
    let folder = folder_with_positions();
    folder.write("short.bf", [0; 33]);
    folder.write("zero.bf", [0; 64]);
    folder.write("empty.bf", []);
    for (words, says) in [
        ("--stdout --features piece+files @a.bf", "unknown feature block `files`; the blocks are"),
        ("--stdout --features top-pairs:9 @a.bf", "`top-pairs:9` without its list"),
        ("--stdout --features piece --pairs @missing @a.bf", "missing: "),
        (
            "--stdout --method pqr @a.bf",
            "a.bf: record 0 is not at its place in a triplet; make the file with `data triplets`",
        ),
        ("--stdout --method pqr @empty.bf", "no positions to train on"),
        ("--stdout @a.vf", "a.vf: "),
        ("--stdout @missing.bf", "missing.bf: "),
        ("--stdout @short.bf", "short.bf: 33 bytes are not a multiple of 32-byte records"),
        ("--stdout @empty.bf", "no positions to train on"),
        ("--stdout @zero.bf", "zero.bf: record 0 has fewer than 2"),
        ("--stdout --batch 4000000 --features king-all @a.bf", "give a smaller --batch, or --sparse"),
        ("--shm a/b @a.bf", "--shm a/b: write 1 to 30 letters"),
        ("--shm .. @a.bf", "--shm ..: write 1 to 30 letters"),
        ("--shm 1234567890123456789012345678901 @a.bf", "write 1 to 30 letters"),
    ] {
        let mut program = folder.program(&format!("serve {words}"));
        let ended = program.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{words}: {told}");
        assert!(told.contains(says) && told.lines().count() == 1, "{words}: {told}");
    }
    for words in ["serve @a.bf", "serve --stdout --shm x @a.bf", "serve --stdout --batch 0 @a.bf"] {
        let told = folder.error(words);
        assert!(told.contains("Usage") || told.contains("invalid value"), "{words}: {told}");
    }
}
