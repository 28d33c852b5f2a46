//! Pictures as bitmaps. The font comes with the program, so that the same picture gives the same bytes on every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Inter, cut down to the letters that charts need; its licence (SIL OFL 1.1) lies beside it.
const FONTS: [&[u8]; 2] = [include_bytes!("font/Inter-Regular.otf"), include_bytes!("font/Inter-SemiBold.otf")];
const FAMILY: &str = "Inter";

/// Pixels across that make no sense any more.
const MAX_WIDTH: u32 = 8_000;

/// What it is read on. An SVG follows its reader; a bitmap has to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white, as on paper.
    #[default]
    Light,
    /// Light on black.
    Dark,
}

/// Why there is no bitmap.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The picture is none.
    #[error("the picture cannot be read: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// There are no such bitmaps.
    #[error("a picture {0} pixels wide cannot be drawn; choose 1 to 8000")]
    Size(u32),
    /// It cannot be written as PNG.
    #[error("the picture cannot be written as PNG: {0}")]
    Encode(String),
}

/// A picture of this module as PNG, so many pixels wide (800 is its natural size, twice that for paper).
///
/// # Errors
/// Where `svg` is no picture, or the width is 0 or beyond 8000.
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
    // Whatever a picture asks for, this is what there is.
    fonts.set_serif_family(FAMILY);
    fonts.set_sans_serif_family(FAMILY);
    Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(fonts), ..Options::default() }
}

/// The rules for dark readers made those for all: a bitmap's reader cannot be asked.
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
