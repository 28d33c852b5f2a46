//! Files of a picture, as `--out` names them.

use std::path::Path;

use anyhow::{Result, bail};

#[cfg(feature = "png")]
use crate::report::plot::png::{Theme, to_png};
use crate::text::escaped;

/// Format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PictureFormat {
    Svg,
    #[cfg(feature = "png")]
    Png,
    Html,
}

/// Returns an error if the folder of a file of `--out` is missing, or the file is a folder itself.
/// Commands check this at their start, not after an hour of searching.
pub(super) fn check_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("{}: it is a folder; choose the name of a file for --out", path.display());
    }
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(folder) if !folder.is_dir() => {
            bail!("{}: no such folder; make it, or choose another --out", folder.display())
        }
        _ => Ok(()),
    }
}

impl PictureFormat {
    /// Format by the name's end. `endings` lists those that the command takes.
    ///
    /// # Errors
    /// Returns an error for another name, and if the file's folder is missing.
    pub(super) fn of(path: &Path, endings: &str) -> Result<Self> {
        check_folder(path)?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Self::Svg),
            #[cfg(feature = "png")]
            Some("png") => Ok(Self::Png),
            #[cfg(not(feature = "png"))]
            Some("png") => bail!(
                "--out {}: this build writes no PNG; build it with `--features png`, or choose a name that ends in .svg",
                path.display()
            ),
            Some("html") => Ok(Self::Html),
            _ => bail!("--out {}: choose a name that ends in {endings}", path.display()),
        }
    }

    /// Bytes of the file: the picture, or a page with the picture and the text.
    pub(super) fn write(self, title: &str, svg: &str, text: &str) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Svg => svg.to_owned().into_bytes(),
            // Twice the natural size, for screens and paper.
            #[cfg(feature = "png")]
            Self::Png => to_png(svg, 1600, Theme::Light)?,
            Self::Html => page(title, svg, text).into_bytes(),
        })
    }
}

/// Standalone page with picture and text.
fn page(title: &str, svg: &str, text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escaped).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <style>:root{{color-scheme:light dark}}body{{margin:2em auto;max-width:60em;font-family:system-ui,sans-serif}}\
         pre{{overflow:auto}}svg{{max-width:100%;height:auto}}</style></head>\n<body>\n{svg}\n<pre>{}</pre>\n</body></html>\n",
        escaped(title),
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `.ci/targets` asks programs without the feature.
    #[test]
    fn a_build_without_png_says_how_to_get_it() {
        let found = PictureFormat::of(Path::new("elo.png"), ".svg or .html").map_err(|error| error.to_string());
        let is_refused = found.as_ref().is_err_and(|error| error.contains("build it with `--features png`"));
        assert_eq!((found.is_ok(), is_refused), (cfg!(feature = "png"), !cfg!(feature = "png")), "{found:?}");
    }
}
