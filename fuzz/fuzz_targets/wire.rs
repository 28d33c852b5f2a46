//! Messages between coordinator and workers: whatever the other side may send is read or refused,
//! and what is read is written and read again alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::cluster::fuzzed;

fuzz_target!(|bytes: &[u8]| fuzzed(bytes));
