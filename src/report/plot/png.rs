//! Plots as bitmaps. The font comes with the program, so the same plot gives the same bytes on
//! every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Fonts of the Inter family, cut down to the letters of charts. The licence (SIL OFL 1.1) lies
/// beside them.
const FONTS: [&[u8]; 2] = [include_bytes!("font/Inter-Regular.otf"), include_bytes!("font/Inter-SemiBold.otf")];
const FAMILY: &str = "Inter";

/// Largest sensible width in pixels.
const MAX_WIDTH: u32 = 8_000;

/// Colour theme of a bitmap, which cannot follow its reader as an SVG does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white, for paper.
    #[default]
    Light,
    /// Light on black.
    Dark,
}

/// Reason for which a bitmap could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The SVG is invalid.
    #[error("the picture cannot be read: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// The width is out of range.
    #[error("a picture {0} pixels wide cannot be drawn; choose 1 to 8000")]
    Size(u32),
    /// The bitmap cannot be encoded as PNG.
    #[error("the picture cannot be written as PNG: {0}")]
    Encode(String),
}

/// Renders a plot as PNG of this width in pixels. The natural width is 800; paper needs twice that.
///
/// # Errors
/// Returns an error if `svg` is invalid, or the width is 0 or above 8000.
pub fn to_png(svg: &str, width: u32, theme: Theme) -> Result<Vec<u8>, PngError> {
    if width == 0 || width > MAX_WIDTH {
        return Err(PngError::Size(width));
    }
    let themed = match theme {
        Theme::Light => svg.to_owned(),
        Theme::Dark => darkened(svg),
    };
    let tree = Tree::from_str(&themed, &options())?;
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).ceil().max(1.0) as u32;
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size(width))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

fn options() -> Options<'static> {
    let mut fonts = Database::new();
    for font in FONTS {
        fonts.load_font_data(font.to_vec());
    }
    // Replaces any font that a plot asks for by the one available.
    fonts.set_serif_family(FAMILY);
    fonts.set_sans_serif_family(FAMILY);
    Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(fonts), ..Options::default() }
}

/// SVG with its rules for dark mode applied always, because a bitmap cannot know its reader.
fn darkened(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut inside = false;
    for line in svg.split_inclusive('\n') {
        match line.trim_end() {
            "@media (prefers-color-scheme:dark){" => inside = true,
            "}" if inside => inside = false,
            _ => out.push_str(line),
        }
    }
    out
}
