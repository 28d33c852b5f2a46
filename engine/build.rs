//! Detects the network to embed.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded_net)");
    println!("cargo::rerun-if-changed=nets");
    if Path::new("nets/destrier.nnue").exists() {
        println!("cargo::rustc-cfg=embedded_net");
    }
}
