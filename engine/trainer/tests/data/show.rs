//! Page of `show`: its script computes features and evaluations as the engine does, and it works in
//! a browser.

use super::{Folder, STARTS, random_game, skip};
use destrier::board::Board;
use destrier::nnue::sets::{FeatureBlock, FeaturePair, FeatureSet, OrientedBoard, PairList};
use destrier::nnue::{self, Kind, Layout};
use destrier::types::SplitMix64;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

/// Script for Node: reads a page and FENs, and prints for each one the rows of both views, the side
/// to move's first, and the evaluation.
const SCRIPT: &str = r"
const fs = require('fs');
const [, features, page] = fs.readFileSync(process.argv[1], 'utf8').split('<script>\n').map((part) => part.split('</script>')[0]);
const data = JSON.parse(/^const DATA = (.*);$/m.exec(page)[1]);
const names = 'parseFen, turned, activeRows, accumulate, contributions, evaluate, headOfBucket, outputBucket, secondInputs, partner';
const { parseFen, turned, activeRows, accumulate, contributions, evaluate, headOfBucket, outputBucket, secondInputs, partner } =
  new Function(`${features}; return { ${names} };`)();
// Evaluation without rounding of layers, of inputs 0 to 127 of the second one.
const layered = (layout, head, active) => {
  // Units in 127ths; the sums of a third layer and of the output have `grain * fineness` times as
  // many steps.
  const { grain, fineness } = layout, unit = (sum) => Math.min(Math.max(sum / 64, 0), 127);
  let units = head.biases.map((bias, unit) => active.flat().reduce((sum, value, neuron) => sum + value * head.output[2 * unit * layout.hidden + neuron], bias)).map(unit);
  if (layout.third) {
    const of = (bias, unit) => units.reduce((sum, value, input) => sum + value * head.middle[units.length * unit + input] / fineness, bias / (grain * fineness));
    units = head.middleBiases.map(of).map(unit);
  }
  return units.reduce((sum, value, unit) => sum + value * head.last[unit] / fineness, head.lastBiases[0] / (grain * fineness)) / 16;
};
// Largest difference of the shares from the slopes of the evaluation, or of their sum from it.
const shareError = (layout, head, sides, bucket, value) => {
  const shares = contributions(layout, head, sides, bucket);
  if (layout.kind === 'screlu') {
    const bias = head.biases[bucket] * 400 / (255 * 64);
    return Math.max(0, Math.abs(shares.flat().reduce((sum, share) => sum + share, bias) - value) - 2);
  }
  const active = sides.map((sums) => secondInputs(layout, sums));
  const own = headOfBucket(layout, head, bucket), whole = layered(layout, own, active);
  return Math.max(...shares.flatMap((of, side) => of.map((share, neuron) => {
    // Where a unit is at a bound, the slope is that of one side.
    const errors = [-1e-5, 1e-5].map((step) => {
      const moved = active.map((one) => [...one]);
      // Both neurons of a pair have half of their product's slope.
      const isOfPairs = layout.activation === 'products', isSecond = isOfPairs && layout.neurons[neuron] & 32;
      moved[side][isSecond ? partner(layout, neuron) : neuron] *= 1 + step;
      return Math.abs((layered(layout, own, moved) - whole) / step / (isOfPairs ? 2 : 1) - share);
    });
    return Math.min(...errors);
  })));
};
const numbers = (text) => { const bytes = Buffer.from(text, 'base64'); return Int16Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(2 * at)); };
const { layout, snapshots: [net] } = data;
const [weights, biases, output] = [net.weights, net.biases, net.head.output].map(numbers);
const head = { ...net.head, output };
for (const fen of fs.readFileSync(0, 'utf8').trim().split('\n')) {
  const { white, turn, error } = parseFen(fen);
  if (error) { console.log(`error ${error}`); continue; }
  const views = turn === 'w' ? [white, turned(white)] : [turned(white), white];
  const rows = views.map((view) => activeRows(layout, view));
  const sides = rows.map((list) => accumulate(list, weights, biases));
  const bucket = outputBucket(white.filter((code) => code >= 0).length, layout.outputBuckets);
  const value = layout.whole ? evaluate(layout, head, sides, bucket) : null;
  const wrong = layout.whole ? shareError(layout, head, sides, bucket, value) : 0;
  console.log([...rows.map((list) => list.join(' ')), value ?? '-', wrong].join(';'));
}
";

/// Every feature block, in sets of one network each.
const SETS: [(&str, Kind); 7] = [
    ("piece", Kind::Screlu),
    ("file+rank+diagonal+antidiagonal", Kind::Layered(16)),
    ("king-relative+king-relative-h+king-relative-v", Kind::Screlu),
    ("moves+mobility-squares+mobility-counts", Kind::Deep),
    ("file-pairs+rank-pairs+diagonal-pairs+antidiagonal-pairs+top-pairs:40", Kind::Screlu),
    ("king-piece", Kind::LAYERED),
    ("king-all", Kind::Screlu),
];

/// Creates layouts whose layers after the first are in eight buckets.
fn in_buckets() -> impl Iterator<Item = Layout> {
    let kinds = [Kind::Layered(8), Kind::Deep, Kind::Pairwise(16), Kind::Squared(8)].into_iter();
    kinds.map(|kind| Layout { output_buckets: 8, ..layout("piece+file", kind) })
}

/// Creates a layout of the fewest neurons of the kind.
fn layout(set: &str, kind: Kind) -> Layout {
    // Some pairs that stand in many positions, and others.
    let common = [(12, 764), (8, 9), (192, 324), (324, 764)];
    let list = common.into_iter().chain((0..40).map(|n| (8 * n, 767 - 5 * n)));
    let pairs = list.filter_map(|(a, b)| FeaturePair::new(a, b)).take(40).collect();
    let pairs = Arc::new(PairList::new(pairs).unwrap());
    Layout::of_set(
        kind,
        FeatureSet::parse(set, set.contains("top-pairs").then_some(&pairs)).unwrap(),
        kind.hidden_step(),
    )
}

/// Writes a network of random weights, small enough for no overflow.
fn write_network(folder: &Folder, name: &str, layout: &Layout, seed: u64) {
    let mut random = SplitMix64::from_seeds(&[seed]);
    let mut payload = Vec::with_capacity(layout.payload_len());
    let mut put = |count: usize, width: usize, times: usize| {
        for _ in 0..count {
            let most = times * if width == 4 { 10_000 } else { 60 };
            let weight = random.below(2 * most + 1) as i32 - most as i32;
            payload.extend_from_slice(&weight.to_le_bytes()[..width]);
        }
    };
    put(layout.hidden * (layout.features() + 1), 2, 1);
    if layout.kind == Kind::Screlu {
        put(layout.output_buckets * (2 * layout.hidden + 1), 2, 1);
    } else {
        let (kind, buckets, times) = (layout.kind, layout.output_buckets, layout.kind.fineness() as usize);
        let neurons = buckets * kind.second_layer();
        put(neurons * kind.second_inputs(layout.hidden), 1, 1);
        put(neurons, 4, 1);
        put(buckets * kind.third_layer() * kind.second_layer(), kind.later_weight_len(), times);
        put(buckets * kind.third_layer(), 4, times * kind.grain() as usize);
        put(buckets * kind.last_layer(), kind.later_weight_len(), times);
        put(buckets, 4, times * kind.grain() as usize);
    }
    payload.resize(layout.payload_len(), 0);
    folder.write(name, nnue::encode(layout, &payload).unwrap());
}

fn boards() -> Vec<Board> {
    let mut boards: Vec<Board> = STARTS.iter().map(|fen| Board::from_fen(fen).unwrap()).collect();
    // Checks, double checks, and pins of each kind.
    for fen in [
        "4k3/8/8/8/1b5q/8/3PPP2/r3K2R w K - 0 1",
        "4k3/4r3/8/8/1b6/8/3N4/4K3 w - - 0 1",
        "3rk3/8/5n2/8/3Q3b/6P1/8/3K3r w - - 0 1",
        "8/8/8/1k1pP2R/8/8/8/K7 w - d6 0 2",
    ] {
        boards.push(Board::from_fen(fen).unwrap());
    }
    for seed in 0..6 {
        boards.extend(random_game(seed).positions().map(|(board, _)| board).step_by(9));
    }
    boards
}

fn show(folder: &Folder, words: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_destrier-trainer"));
    program.arg("show").args(folder.words(words)).output().unwrap()
}

fn shown(folder: &Folder, words: &str) {
    let ended = show(folder, words);
    assert!(ended.status.success(), "{words}: {ended:?}");
}

/// Runs the script of a page for some lines; `None` without Node.
fn by_node(folder: &Folder, page: &str, lines: &str) -> Option<Vec<String>> {
    let mut node = Command::new("node");
    node.arg("-e").arg(SCRIPT).arg(folder.path(page)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = node.spawn().ok()?;
    running.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let ended = running.wait_with_output().unwrap();
    assert!(ended.status.success(), "{page}");
    Some(String::from_utf8(ended.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn a_page_computes_as_the_engine_does() {
    let folder = Folder::new();
    let boards = boards();
    let lines: String = boards.iter().map(|board| board.to_fen(false) + "\n").collect();
    let mut mirrored = Layout::plain(Kind::Screlu, 32);
    (mirrored.king_buckets, mirrored.mirrored) = (3, true);
    mirrored.bucket_map = std::array::from_fn(|square| (square / 4 % 3) as u8);
    let plain = SETS.iter().map(|&(set, kind)| layout(set, kind));
    for (number, layout) in (0..).zip(plain.chain([mirrored]).chain(in_buckets())) {
        let name = layout.describe();
        write_network(&folder, "net.nnue", &layout, number);
        shown(&folder, &format!("@net.nnue --neurons {} --out @page.html", layout.hidden));
        let Some(found) = by_node(&folder, "page.html", &lines) else {
            return skip::skip("a_page_computes_as_the_engine_does", "no Node; install it");
        };
        assert_eq!(found.len(), boards.len(), "{name}");
        let network = nnue::read_file(&folder.path("net.nnue")).unwrap();
        let mut values = Vec::new();
        for (board, line) in boards.iter().zip(&found) {
            let parts: Vec<&str> = line.split(';').collect();
            for (color, list) in [board.turn(), !board.turn()].into_iter().zip(&parts) {
                let mut features = Vec::new();
                layout.set.active(&OrientedBoard::from((board, color))).for_each(|on| features.push(on.to_string()));
                assert!(layout.mirrored || features.join(" ") == *list, "{name}: {}", board.to_fen(false));
            }
            values.push(network.evaluate_alone(board).to_string());
            assert_eq!(parts[2], *values.last().unwrap(), "{name}: {}", board.to_fen(false));
            let error: f64 = parts[3].parse().unwrap();
            assert!(error < 1e-3, "{name}: shares are {error} cp wrong, {}", board.to_fen(false));
        }
        values.sort_unstable();
        values.dedup();
        assert!(values.len() > 10, "{name}: {values:?}");
    }
}

/// The lists of blocks in Python and JavaScript have all blocks of the engine and no other, and the
/// tests of this file go through all of them.
#[test]
fn every_block_is_known_outside_rust() {
    let mut blocks: Vec<(String, u16, usize)> =
        FeatureBlock::all().map(|block| (block.to_string(), block.code(), block.size())).collect();
    assert!(blocks.iter().all(|(name, ..)| SETS.iter().any(|(set, _)| set.split('+').any(|part| part == name))));
    assert!(SETS.iter().any(|(set, _)| set.contains("top-pairs:")));
    // Its size is that of its list.
    blocks.push(("top-pairs".to_owned(), 12, 0));
    let trainer = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(trainer.join(name)).unwrap();
    let python = read("python/network.py");
    let list = python.split("BLOCKS = {").nth(1).and_then(|rest| rest.split('}').next()).unwrap();
    assert_eq!(list.matches("\": (").count(), blocks.len(), "{list}");
    for (name, code, size) in &blocks {
        assert!(list.contains(&format!("\"{name}\": ({code}, {size})")), "network.py: {name} ({code}, {size})");
    }
    // Blocks of lines are named after the keys of a table.
    let script = read("src/lab/show/features.js");
    let lines = script.split("const LINES = {").nth(1).and_then(|rest| rest.split("};").next()).unwrap();
    for (name, ..) in &blocks {
        let line = name.strip_suffix("-pairs").unwrap_or(name);
        let is_line = lines.lines().any(|row| row.trim_start().starts_with(&format!("{line}: {{")));
        assert!(is_line || script.contains(&format!("'{name}'")), "features.js: {name}");
    }
}

/// The weights of a neuron that follow a rook's moves, or avoid a knight's, are recognised.
#[test]
fn weights_are_compared_with_the_moves_of_pieces() {
    let script = "
const fs = require('fs');
const { likeness } = new Function(`${fs.readFileSync(process.argv[1], 'utf8')}; return { likeness };`)();
const rook = Array.from({ length: 64 }, (_, square) => ((square % 8 === 3) !== (square >> 3 === 4) ? 9 : 1));
const knight = Array.from({ length: 64 }, (_, square) => (Math.abs(square % 8 - 2) * Math.abs((square >> 3) - 2) === 2 ? -5 : 5));
for (const { kind, square, value } of [rook, knight].map(likeness)) console.log(kind, square, value.toFixed(4));
console.log(likeness(new Array(64).fill(3)).value);
";
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lab/show/features.js");
    let Ok(ended) = Command::new("node").arg("-e").arg(script).arg(features).output() else {
        return skip::skip("weights_are_compared_with_the_moves_of_pieces", "no Node; install it");
    };
    // The rook on d5, the knight on c3.
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "3 35 1.0000\n1 18 -1.0000\n0\n");
}

#[test]
fn a_page_names_what_is_wrong_with_a_fen() {
    let folder = Folder::new();
    write_network(&folder, "net.nnue", &layout("piece", Kind::Screlu), 1);
    shown(&folder, "@net.nnue --out @page.html");
    let cases = [
        ("8/8/8/8/8/8/8 w", "7 ranks"),
        ("8/8/8/8/8/8/8/8 w", "White has 0 kings"),
        ("k7/8/8/8/8/8/8/KK6 w", "White has 2 kings"),
        ("k7/8/8/9/8/8/8/K7 w", "“9” in rank 5"),
        ("k8/8/8/8/8/8/8/K7 w", "rank 8 has 9 squares, too many"),
        ("8p/8/8/8/8/8/8/K7 w", "rank 8 has 9 squares, too many"),
        ("k7/8/ppppppppP1/8/8/8/8/K7 w", "rank 6 has 10 squares, too many"),
        ("k7/8/6p/8/8/8/8/K7 w", "rank 6 has 7 squares, too few"),
        ("k7/8/8x/8/8/8/8/K7 w", "“x” in rank 6"),
        ("k7/8/8/x7/8/8/8/K7 w", "“x” in rank 5"),
        ("k7/8/8/8/8/8/8/K7 x", "“x” to move"),
    ];
    let lines: String = cases.iter().map(|(fen, _)| format!("{fen}\n")).collect();
    let Some(found) = by_node(&folder, "page.html", &lines) else {
        return skip::skip("a_page_names_what_is_wrong_with_a_fen", "no Node; install it");
    };
    for ((fen, says), line) in cases.iter().zip(found) {
        assert!(line.starts_with("error ") && line.contains(says), "{fen}: {line}");
    }
}

/// The page draws every block of every snapshot and every unit, stays as wide as its window, goes
/// where its keys lead, and has the engine's evaluation.
#[test]
fn a_page_works_in_a_browser() {
    let named = std::env::var("CHROMIUM").ok();
    let mut names = named.iter().map(String::as_str).chain(["chromium", "chromium-browser", "google-chrome"]);
    let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|ended| ended.status.success());
    let Some(chromium) = names.find(is_there) else {
        return skip::skip("a_page_works_in_a_browser", "no Chromium; install it, or name one with CHROMIUM");
    };
    let folder = Folder::new();
    let layouts = SETS.iter().map(|&(set, kind)| layout(set, kind)).chain(in_buckets());
    for (number, layout) in (0..).zip(layouts) {
        let set = layout.describe();
        // A path that ends the script, if it is written as it is.
        fs::create_dir_all(folder.path("<b><")).unwrap();
        let names = ["early.nnue", "<b></script><svg onload=document.documentElement.dataset.pwned=1>.nnue"];
        names.iter().for_each(|name| write_network(&folder, name, &layout, number));
        // A third network, so that the last snapshot is another one than the first.
        write_network(&folder, "late.nnue", &layout, number + 100);
        let mut program = Command::new(env!("CARGO_BIN_EXE_destrier-trainer"));
        let files = [names[0], names[1], "late.nnue"].map(|name| folder.path(name));
        let page = folder.path("page.html");
        let neurons = layout.hidden.to_string();
        let ended = program.arg("show").args(files).args(["--neurons", &neurons, "--out"]).arg(&page).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        let text = fs::read_to_string(&page).unwrap();
        assert!(
            !["http://", "https://", "src=", "href="].iter().any(|part| text.contains(part)),
            "nothing from outside"
        );
        let dom = dom_by(chromium, &folder, "page.html");
        let root = dom.lines().find(|line| line.contains("<html")).unwrap_or_default();
        let network = nnue::read_file(&folder.path("late.nnue")).unwrap();
        let value = network.evaluate_alone(&Board::from_fen(FIRST).unwrap());
        assert!(root.contains("data-check=\"ok "), "{set}: {root}");
        assert!(root.contains(&format!(" value {value}\"")), "{set}: {root}, not {value}");
        assert!(!root.contains("pwned"), "{set}: a name was run as a script");
        assert!(!dom.contains("cp needs all 32 neurons"), "{set}");
    }
    // Of a layered network, some neurons alone have no share in the evaluation.
    write_network(&folder, "layered.nnue", &layout("piece", Kind::LAYERED), 9);
    shown(&folder, "@layered.nnue --neurons 8 --out @few.html");
    let dom = dom_by(chromium, &folder, "few.html");
    for text in
        ["data-check=\"ok ", " value null\"", ">cp needs all 32 neurons; this page has 8</button>", ">Unit 31: bias "]
    {
        assert!(dom.contains(text), "{text}: {}", dom.lines().find(|line| line.contains("<html")).unwrap_or_default());
    }
}

/// Returns the document of a page after its script has checked it.
fn dom_by(chromium: &str, folder: &Folder, page: &str) -> String {
    let profile = format!("--user-data-dir={}", folder.path("profile").display());
    let ended = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=390,844"])
        .args([&profile, "--dump-dom", &format!("file://{}#check", folder.path(page).display())])
        .output()
        .unwrap();
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// Position that a page shows first.
const FIRST: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

#[test]
fn bad_networks_and_words_are_one_line() {
    let folder = Folder::new();
    write_network(&folder, "a.nnue", &layout("piece", Kind::Screlu), 1);
    write_network(&folder, "b.nnue", &layout("piece+file", Kind::Screlu), 1);
    folder.write("c.nnue", "no network");
    for (words, says) in [
        (
            "@a.nnue @b.nnue --out @p.html",
            "a.nnue: a network (768 -> 32)x2 -> 1x8, not (piece+file[864] -> 32)x2 -> 1x8",
        ),
        ("@c.nnue --out @p.html", "c.nnue: no network"),
        ("@missing.nnue --out @p.html", "missing.nnue: "),
        ("@a.nnue --out @b.nnue", "b.nnue: not an .html file"),
        ("@a.nnue --out @none/p.html", "none/p.html: cannot write it"),
        ("@a.nnue --out @p.html --fen x", "--fen: "),
    ] {
        let ended = show(&folder, words);
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{words}: {told}");
        assert!(told.contains(says) && told.lines().count() == 1, "{words}: {told}");
    }
    assert!(!folder.path("p.html").exists());
    // A training's folder stands for its snapshots.
    let ended = show(&folder, "@. --out @p.html");
    assert!(String::from_utf8(ended.stderr).unwrap().contains("no snapshots in it; train with `snapshots = true`"));
    fs::create_dir(folder.path("snapshots")).unwrap();
    for (name, seed) in [("snapshots/00000.nnue", 1), ("snapshots/00002.nnue", 2), ("snapshots/00001.nnue", 3)] {
        write_network(&folder, name, &layout("piece", Kind::Screlu), seed);
    }
    shown(&folder, "@. --out @growth.html");
    let page = folder.text("growth.html");
    let places = ["00000", "00001", "00002"].map(|name| page.rfind(&format!("snapshots/{name}.nnue")).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    // Fewer neurons make a smaller page, which says so.
    shown(&folder, "@a.nnue --neurons 4 --out @small.html");
    shown(&folder, "@a.nnue --out @large.html");
    assert!(folder.read("small.html").len() < folder.read("large.html").len());
    assert!(folder.text("small.html").contains("the 4 of 32 neurons with the largest weights"));
}
