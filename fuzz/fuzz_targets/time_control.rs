//! The limits' grammar: what is read, printed and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::plan::time_control::Limit;

fuzz_target!(|text: &str| {
    if let Ok(limit) = text.parse::<Limit>() {
        assert_eq!(limit.to_string().parse(), Ok(limit), "{text:?}");
    }
});
