//! The reader of NumPy's arrays: bytes as they come, and bytes as one array whose archive is right.
//! An array that it takes has as many values as its shape says.
#![no_main]

use destrier_trainer::train::npz;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let arrays = npz::parse(bytes).into_iter().flatten().chain(npz::parse_array("a", bytes));
    for array in arrays {
        assert_eq!(array.values.len(), array.shape.iter().product::<usize>());
    }
});
