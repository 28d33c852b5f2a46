# Homebrew formula, filled by packaging/manifests.
class Quintain < Formula
  desc "Tests whether a change made a UCI chess engine stronger"
  homepage "@HOME@"
  version "@VERSION@"
  license "GPL-3.0-or-later"

  on_macos do
    on_arm do
      url "@URL@/quintain-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL@/quintain-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@URL@/quintain-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "@URL@/quintain-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "quintain", "destrier"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/quintain"
    zsh_completion.install "completions/_quintain"
    fish_completion.install "completions/quintain.fish"
    pkgshare.install "openings", "configs"
    doc.install "docs", "README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY.txt"
  end

  test do
    system bin/"quintain", "demo", "--out", testpath/"demo"
  end
end
