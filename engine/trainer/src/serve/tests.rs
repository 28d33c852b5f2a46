use super::batch::{BatchEncoder, BatchLayout, BatchMethod, BatchShape};
use super::outlet::{BatchOutlet, Consumer, SharedOutlet};
use super::segment::{SegmentName, SharedSegment};
use crate::train::bench::positions;
use crate::train::{Inputs, oriented};
use destrier::nnue::sets::{ActiveFeatures, FeaturePair, FeatureSet, PairList};
use std::sync::Arc;

fn sets() -> Vec<FeatureSet> {
    let pairs = (0..200).filter_map(|n| FeaturePair::new(n, 767 - n)).collect();
    let pairs = Arc::new(PairList::new(pairs).expect("pairs"));
    let mut sets: Vec<FeatureSet> = ["piece", "king-piece", "king-relative", "piece+file+mobility-counts", "moves"]
        .into_iter()
        .map(|name| name.parse().expect(name))
        .collect();
    sets.push(FeatureSet::parse("antidiagonal-pairs+top-pairs:200", Some(&pairs)).expect("a set"));
    sets
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// Lists of the features of all views, by the layout's own description.
fn lists(set: &FeatureSet, layout: BatchLayout, batch: usize, payload: &[u8]) -> Vec<Vec<usize>> {
    let inputs = &payload[(9 * batch).next_multiple_of(8)..];
    match layout {
        BatchLayout::Bits => {
            let words = set.size().div_ceil(64);
            let view = |bytes: &[u8]| {
                (0..64 * words).filter(|&feature| bytes[feature / 8] >> (feature % 8) & 1 != 0).collect()
            };
            inputs.chunks(8 * words).take(2 * batch).map(view).collect()
        }
        BatchLayout::Sparse => {
            let (starts, features) = inputs.split_at(4 * (2 * batch + 1));
            let feature =
                |at: u32| usize::from(u16::from_le_bytes([features[2 * at as usize], features[2 * at as usize + 1]]));
            let list = |bounds: &[u32]| {
                let mut list: Vec<usize> = (bounds[0]..bounds[1]).map(feature).collect();
                list.sort_unstable();
                list
            };
            numbers(starts).windows(2).map(list).collect()
        }
    }
}

/// Batches hold the inputs that training uses, in both layouts, with any number of threads.
#[test]
fn batches_are_what_the_trainer_sees() {
    let boards = positions(101);
    for set in sets() {
        let inputs = Inputs::of_set(set.clone());
        let mut expected = Vec::new();
        for board in &boards {
            let (mut us, mut them) = (Vec::new(), Vec::new());
            inputs.append(board, &mut ActiveFeatures::default(), &mut us, &mut them);
            for mut list in [us, them] {
                list.sort_unstable();
                expected.push(list.into_iter().map(usize::from).collect::<Vec<_>>());
            }
        }
        expected.resize(2 * 120, Vec::new());
        for layout in [BatchLayout::Bits, BatchLayout::Sparse] {
            let shape = BatchShape::new(&set, BatchMethod::Eval, layout, 120).expect("a shape");
            let payload = BatchEncoder::new(&set, shape, 1).encode(&boards).expect("a batch").to_vec();
            assert!(payload.len() <= shape.payload_len() && shape.payload_len().is_multiple_of(64));
            assert_eq!(lists(&set, layout, 120, &payload), expected, "{set} {layout:?}");
            for (place, board) in boards.iter().enumerate() {
                let float = |at: usize| f32::from_bits(numbers(&payload[4 * at..4 * at + 4])[0]);
                assert_eq!((float(place), float(120 + place)), (f32::from(board.score), f32::from(board.result) / 2.0));
                assert_eq!(u32::from(payload[8 * 120 + place]), oriented(board).occupied().count());
            }
            for threads in [2, 3, 200] {
                let mut encoder = BatchEncoder::new(&set, shape, threads);
                for _ in 0..2 {
                    assert!(encoder.encode(&boards).expect("a batch") == payload, "{set} {layout:?} {threads}");
                }
            }
        }
    }
}

/// The features of any position fit a slot.
#[test]
fn lists_fit_their_room() {
    // Fifteen queens a side on an otherwise empty board have the most moves.
    let mut crowded = positions(1)[0];
    crowded.occ = 0xAA55_55AA_55AA_AA55;
    assert_eq!(crowded.occ.count_ones(), 32);
    for (place, two) in crowded.pcs.iter_mut().enumerate() {
        *two = if place % 2 == 0 { 0x44 } else { 0xCC };
    }
    (crowded.pcs[0], crowded.pcs[1]) = (0x45, 0xCD);
    for set in sets() {
        let shape = BatchShape::new(&set, BatchMethod::Eval, BatchLayout::Sparse, 3).expect("a shape");
        let mut encoder = BatchEncoder::new(&set, shape, 1);
        assert!(encoder.encode(&[crowded; 3]).expect("a batch").len() <= shape.payload_len(), "{set}");
    }
}

#[test]
fn a_batch_too_large_is_refused() {
    let set: FeatureSet = "king-all".parse().expect("a set");
    let error = BatchShape::new(&set, BatchMethod::Eval, BatchLayout::Bits, 1 << 18).expect_err("3 GB").to_string();
    assert!(error.contains("--batch 262144") && error.contains("--sparse"), "{error}");
    assert!(BatchShape::new(&set, BatchMethod::Eval, BatchLayout::Sparse, 1 << 18).is_ok());
}

/// Two batches are ahead of the consumer, no third; its first byte removes the segment's name.
#[test]
fn a_slot_is_filled_after_it_was_copied() {
    let set = FeatureSet::piece();
    let shape = BatchShape::new(&set, BatchMethod::Eval, BatchLayout::Bits, 4).expect("a shape");
    let name = format!("outlet-{}", std::process::id());
    let exists =
        || rustix::shm::open(format!("/{name}"), rustix::shm::OFlags::RDONLY, rustix::fs::Mode::empty()).is_ok();
    let held = SegmentName::default();
    let segment = SharedSegment::create(&name, &shape, &held).expect("a segment");
    let again = SharedSegment::create(&name, &shape, &SegmentName::default()).expect_err("it exists").to_string();
    assert!(again.contains("give another name") && exists(), "{again}");
    let mut told = Vec::new();
    // The consumer answers once and goes away.
    let mut outlet = SharedOutlet::new(segment, &[1_u8][..], &mut told);
    let payload = vec![7; shape.payload_len()];
    let mut send = |number| outlet.send(number, 4, &payload).expect("no error");
    assert_eq!((send(1), send(2)), (Consumer::Present, Consumer::Present));
    assert!(exists());
    assert_eq!(send(3), Consumer::Present);
    assert!(!exists(), "the consumer has it by now");
    assert_eq!(send(4), Consumer::Gone);
    drop(outlet);
    assert_eq!(told, [64; 3]);
}
