//! Several plots in one document.

use super::page::WIDTH;

/// One SVG document of several plots, one below the other. Texts that are not plots of this module
/// are left out.
#[must_use]
pub fn stacked(plots: &[String]) -> String {
    let mut inner = String::new();
    let mut top = 0.0;
    for svg in plots {
        let height = svg.split(" height=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
        let (Some(height), Some(rest)) = (height, svg.strip_prefix("<svg ")) else { continue };
        inner.push_str(&format!("<svg y=\"{top}\" {rest}"));
        top += height;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" width=\"{WIDTH}\" height=\"{top}\">\n{inner}</svg>\n"
    )
}
