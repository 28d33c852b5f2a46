//! One plot of each kind, and cases that are hard to draw. Each is compared byte by byte with a
//! stored file and searched for overlapping texts.
//!
//! `UPDATE_PICTURES=1 cargo test gallery` writes the files again.

use super::*;

fn heads(title: &str, subtitle: &str) -> Heads {
    Heads {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        caption: "8+0.08, quintain_8ply.epd (4,096 openings), 512 pairs, 4 at once, Hash 16, AMD EPYC 9V74 80-Core Processor \
                  (4 cores, Linux 6.1.0), 2026-11-21, quintain 0.1.0"
            .to_owned(),
    }
}

/// Values between 0 and 1 from a fixed generator.
fn chance(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    }
}

fn versions(count: usize, dated: bool) -> ProgressionPlot {
    let mut next = chance(count as u64);
    let mut elo = 0.0;
    let versions = (0..count).map(|place| {
        let mark = match place % 17 {
            5 => VersionMark::Drop,
            11 => VersionMark::Gain,
            _ => VersionMark::None,
        };
        elo += next() * 22.0 - 4.0 + if mark == VersionMark::Drop { -38.0 } else { 0.0 };
        let error = 6.0 + 9.0 * next();
        PlottedVersion {
            label: if place % 9 == 4 {
                format!("v0.{place}-release-candidate")
            } else {
                format!("{:07x}", (next() * 268e6) as u32)
            },
            date: dated.then(|| format!("2026-{:02}-{:02}", 1 + place / 28 % 12, 1 + place % 28)),
            elo,
            low: elo - error,
            high: elo + error,
            mark,
            note: if mark == VersionMark::None { String::new() } else { "p 0.003".to_owned() },
        }
    });
    ProgressionPlot {
        heads: heads(
            "Destrier's way",
            &format!("{count} versions, each against the one before and two sparring engines"),
        ),
        unit: "Elo against the first version (95 % intervals)".to_owned(),
        versions: versions.collect(),
    }
}

fn ratings(count: usize) -> RatingPlot {
    let mut next = chance(count as u64 + 3);
    let rows = (0..count).map(|place| RatingRow {
        rank: place + 1,
        name: if place == 1 {
            "An engine with a name that is far too long for any table".to_owned()
        } else {
            format!("Engine {place}")
        },
        elo: 180.0 - place as f64 * 360.0 / count as f64 - next() * 9.0,
        error: (place != 2).then(|| 5.0 + 30.0 * next()),
        sign: if place == 0 { "> " } else { "" },
        games: 1_200 + (next() * 90.0) as u64,
    });
    RatingPlot {
        heads: heads(&format!("A field of {count}"), "round robin"),
        scale: "Elo, zero is the mean of all players (95 % intervals)".to_owned(),
        rows: rows.collect(),
    }
}

fn cross(count: usize) -> CrossPlot {
    let mut next = chance(count as u64 + 9);
    let cells = (0..count).map(|row| {
        (0..count)
            .map(|column| {
                let share =
                    (0.5 + (column as f64 - row as f64) / count as f64 * 0.45 + next() * 0.1 - 0.05).clamp(0.0, 1.0);
                (row != column && (row + column) % 13 != 12)
                    .then(|| CrossCell { points: (share * 80.0).round() / 2.0, games: 40 })
            })
            .collect()
    });
    CrossPlot {
        heads: heads(&format!("A field of {count}"), "points in percent, by the player of the row"),
        names: (0..count)
            .map(|place| {
                if place == 1 {
                    "An engine with a name that is far too long".to_owned()
                } else {
                    format!("Engine {place}")
                }
            })
            .collect(),
        cells: cells.collect(),
    }
}

fn times(names: [&str; 2]) -> TimePlot {
    let mut next = chance(11);
    let series = names.into_iter().enumerate().map(|(player, name)| TimeSeries {
        name: name.to_owned(),
        moves: (5..=90)
            .map(|number| {
                let half =
                    0.35 * (1.0 - f64::from(number) / 160.0) * (1.0 + player as f64 * 0.25) * (0.9 + 0.2 * next());
                TimeUse { number, tenths: [half * 0.4, half, half * 2.1] }
            })
            .collect(),
    });
    TimePlot { heads: heads("Time by move", "charged from just before `go` to `bestmove`"), series: series.collect() }
}

fn histogram() -> HistogramPlot {
    let bell = |middle: f64, width: f64, most: f64| -> Vec<u64> {
        (0..40)
            .map(|bin| {
                let x = f64::from(bin) * 0.5 - 9.75;
                let beyond = if bin == 0 || bin == 39 { most * 0.3 } else { 0.0 };
                (most * (-((x - middle) / width).powi(2)).exp() + beyond) as u64
            })
            .collect()
    };
    HistogramPlot {
        heads: heads("Scores that the engines gave", "all moves out of the book"),
        x_label: "score (pawns, the mover's view)".to_owned(),
        of: "moves".to_owned(),
        low: -10.0,
        width: 0.5,
        series: vec![
            HistogramSeries { name: "new".to_owned(), counts: bell(0.6, 2.2, 9_000.0) },
            HistogramSeries { name: "base".to_owned(), counts: bell(-0.2, 1.6, 11_000.0) },
        ],
    }
}

/// Losses that fall from a hundredth part, as a training shows them.
fn curves(count: usize) -> CurvePlot {
    let mut next = chance(5);
    let series = (0..count).map(|which| {
        let points = (0..=60)
            .map(|epoch| {
                let x = f64::from(epoch);
                (x, 0.0553 + 0.0002 * which as f64 + 0.004 * (-x / 12.0).exp() + 0.00005 * next())
            })
            .collect();
        (["training", "test", "a third", "a fourth", "a fifth", "a sixth"][which].to_owned(), points)
    });
    CurvePlot {
        title: "Learning curve".to_owned(),
        caption: heads("", "").caption,
        x_label: "epoch".to_owned(),
        x_scale: Scale::Linear,
        y_label: "mean squared error".to_owned(),
        y_scale: Scale::Linear,
        longest_join: None,
        series: series.collect(),
        bands: Vec::new(),
    }
}

fn elo() -> EloPlot {
    let points = walk(400, 0.0).into_iter().enumerate().map(|(place, value)| {
        let width = 160.0 / ((place + 1) as f64).sqrt();
        let elo = 12.0 + value * 3.0;
        EloPoint { pairs: place as u64 + 1, elo, low: elo - width, high: elo + width }
    });
    let Heads { title, subtitle, caption } = heads("new against base", "Elo +12.3 [+4.1, +20.5]");
    EloPlot { title, subtitle, caption, unit: "Elo", points: points.collect() }
}

fn traces(count: usize) -> TracePlot {
    let mut next = chance(count as u64 + 21);
    let traces = (0..count).map(|place| {
        let mut theta = 0.0;
        let points = (1..=40).map(|block| {
            theta += next() * 0.4 - 0.15;
            TracePoint { pairs: block * 250, theta, mean: theta * 0.8, error: Some(2.0 / (block as f64).sqrt()) }
        });
        Trace { name: format!("AParameterWithALongName{place}"), points: points.collect() }
    });
    let traces = traces.collect();
    TracePlot { heads: heads("Parameters over pairs", "10,000 pairs of 20,000, steps of 4.00"), traces }
}

/// Stored plots by name.
fn gallery() -> Vec<(&'static str, String)> {
    let llr = LlrPlot { caption: heads("", "").caption, ..llr_plot(walk(400, 0.008)) };
    let ptnml = |counts| PtnmlPlot { heads: heads("new against base", "Elo +12.3 [+4.1, +20.5]"), counts };
    vec![
        ("llr", llr.to_svg()),
        ("elo", elo().to_svg()),
        ("ptnml", ptnml([12, 96, 241, 131, 19]).to_svg()),
        ("ptnml-large", ptnml([37_912, 1_017_012, 2_182_811, 1_064_014, 34_311]).to_svg()),
        ("ptnml-empty", ptnml([0; 5]).to_svg()),
        ("time", times(["new", "base"]).to_svg()),
        ("scores", histogram().to_svg()),
        ("curve-2", curves(2).to_svg()),
        ("curve-6", curves(6).to_svg()),
        ("cross-3", cross(3).to_svg()),
        ("cross-12", cross(12).to_svg()),
        ("cross-60", cross(60).to_svg()),
        ("progression-1", versions(1, true).to_svg()),
        ("progression-3", versions(3, true).to_svg()),
        ("progression-12", versions(12, true).to_svg()),
        ("progression-60", versions(60, true).to_svg()),
        ("progression-400", versions(400, false).to_svg()),
        ("ratings-3", ratings(3).to_svg()),
        ("ratings-40", ratings(40).to_svg()),
    ]
}

/// Plots on a phone's sheet by name. They are searched for overlapping texts, and not stored.
fn narrow_gallery() -> Vec<(&'static str, String)> {
    let llr = LlrPlot { caption: heads("", "").caption, ..llr_plot(walk(400, 0.008)) };
    vec![
        ("llr-narrow", llr.to_svg_on(Sheet::Narrow)),
        ("elo-narrow", elo().to_svg_on(Sheet::Narrow)),
        ("progression-3-narrow", versions(3, true).to_svg_on(Sheet::Narrow)),
        ("progression-60-narrow", versions(60, true).to_svg_on(Sheet::Narrow)),
        ("traces-narrow", traces(5).to_svg_on(Sheet::Narrow)),
    ]
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/plot/tests/pictures");
    for (name, svg) in gallery() {
        let path = folder.join(format!("{name}.svg"));
        if std::env::var_os("UPDATE_PICTURES").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&path, &svg).expect("a file");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == svg, "{name} is drawn in another way; look at it, then UPDATE_PICTURES=1 cargo test gallery");
    }
}

/// Corners of a text, with its rotation.
fn corners(x: f64, y: f64, anchor: &str, turn: f64, width: f64, size: f64) -> [(f64, f64); 4] {
    let left = match anchor {
        "middle" => -width / 2.0,
        "end" => -width,
        _ => 0.0,
    };
    let (sin, cos) = turn.to_radians().sin_cos();
    [(left, -0.72 * size), (left + width, -0.72 * size), (left + width, 0.1 * size), (left, 0.1 * size)]
        .map(|(dx, dy)| (x + dx * cos - dy * sin, y + dx * sin + dy * cos))
}

/// True if a straight line separates the two boxes.
fn apart(one: &[(f64, f64); 4], other: &[(f64, f64); 4]) -> bool {
    let axes = [one, other].into_iter().flat_map(|shape| (0..4).map(move |at| (shape[at], shape[(at + 1) % 4])));
    axes.into_iter().any(|(from, to)| {
        let normal = (to.1 - from.1, from.0 - to.0);
        let reach = |shape: &[(f64, f64); 4]| {
            let along = shape.map(|(x, y)| x * normal.0 + y * normal.1);
            (along.into_iter().fold(f64::INFINITY, f64::min), along.into_iter().fold(f64::NEG_INFINITY, f64::max))
        };
        let (one, other) = (reach(one), reach(other));
        one.1 <= other.0 || other.1 <= one.0
    })
}

fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    tag.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

/// Texts with their boxes, of the widths that plots are laid out by.
fn texts(svg: &str) -> Vec<(String, [(f64, f64); 4])> {
    let mut all = Vec::new();
    for element in svg.split("<text").skip(1) {
        let (tag, rest) = element.split_once('>').expect("a tag ends");
        let text = rest.split("</text>").next().unwrap_or_default().replace("&lt;", "<").replace("&gt;", ">");
        let number = |name| attribute(tag, name).parse::<f64>().expect("a number");
        let class = attribute(tag, "class");
        let size = match class {
            "title" if svg.contains(".title{font-size:15px}") => 15.0,
            "title" => 18.0,
            "subtitle" => 13.0,
            "caption" => 11.0,
            _ if class.contains("small") => 10.0,
            _ => class.split(' ').find_map(|word| word.strip_prefix('t')?.parse().ok()).unwrap_or(12.0),
        };
        let turn = attribute(tag, "transform").strip_prefix("rotate(").and_then(|rest| rest.split(' ').next());
        let turn = turn.map_or(0.0, |turn| turn.parse().expect("degrees"));
        // Captions are cut by characters, in fonts as they are.
        let width = page::text_width(&text, size) * if class == "caption" { 0.85 } else { 1.0 };
        let shape = corners(number("x"), number("y"), attribute(tag, "text-anchor"), turn, width, size);
        all.push((text, shape));
    }
    all
}

#[test]
fn no_text_covers_another_and_all_is_on_the_page() {
    for (name, svg) in gallery().into_iter().chain(narrow_gallery()) {
        well_formed(&svg);
        let sheet = svg.split('>').next().unwrap_or_default();
        let [width, height]: [f64; 2] = ["width", "height"].map(|name| attribute(sheet, name).parse().expect("a size"));
        assert_eq!(width, if name.ends_with("-narrow") { 360.0 } else { 800.0 }, "{name}");
        let texts = texts(&svg);
        assert!(texts.len() > 5, "{name}");
        for (place, (text, shape)) in texts.iter().enumerate() {
            for (x, y) in shape {
                assert!(
                    (-1.0..=width + 1.0).contains(x) && (0.0..=height).contains(y),
                    "{name}: {text} at {x:.0},{y:.0}"
                );
            }
            for (other, covered) in &texts[..place] {
                assert!(apart(shape, covered), "{name}: `{text}` covers `{other}`");
            }
        }
    }
}

#[cfg(feature = "png")]
#[test]
fn bitmaps_have_text_and_follow_the_theme() {
    use crate::report::plot::png::{PngError, Theme, to_png};
    let folder = std::env::var_os("PICTURES_PNG");
    for (name, svg) in gallery() {
        let bare: String = svg.split_inclusive('\n').filter(|line| !line.starts_with("<text")).collect();
        for (theme, width) in [(Theme::Light, 800), (Theme::Dark, 800), (Theme::Light, 1_600)] {
            let png = to_png(&svg, width, theme).expect(name);
            if let Some(folder) = &folder {
                let file = format!("{name}-{width}-{theme:?}.png");
                std::fs::write(std::path::Path::new(folder).join(file), &png).expect("a file");
            } else if name != "ptnml" {
                continue;
            }
            let pixels = |png: &[u8]| resvg::tiny_skia::Pixmap::decode_png(png).expect("a bitmap");
            let (with, without) = (pixels(&png), pixels(&to_png(&bare, width, theme).expect(name)));
            assert_eq!(with.width(), width);
            let inked = with.pixels().iter().zip(without.pixels()).filter(|(one, other)| one != other).count();
            assert!(inked as u32 > width * 2, "{name} {theme:?}: {inked} pixels are text");
            let corner = with.pixels()[0].red();
            assert_eq!(corner > 128, theme == Theme::Light, "{name} {theme:?}");
        }
    }
    for width in [0, 8_001] {
        assert!(matches!(to_png("<svg/>", width, Theme::Light), Err(PngError::Size(_))));
    }
    assert!(matches!(to_png("no picture", 800, Theme::Light), Err(PngError::Svg(_))));
}
