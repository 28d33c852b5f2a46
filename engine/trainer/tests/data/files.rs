//! What is written where: files, pipes, stdout, and what is left when a command ends early.
#![cfg(feature = "binpack")]

use super::Folder;
use std::process::Stdio;

#[test]
fn a_damaged_binpack_is_one_error() {
    let folder = Folder::new();
    folder.write_games("a.vf", 18, 30);
    folder.run("convert @a.vf --out @a.binpack");
    let mut bytes = folder.read("a.binpack");
    // Behind the chunk's head.
    bytes[8..200].fill(0xff);
    folder.write("b.binpack", bytes);
    let ended = folder.program("check @b.binpack").stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.starts_with("error: ") && told.lines().count() == 1, "{told}");
}
