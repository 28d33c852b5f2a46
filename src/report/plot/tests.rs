use super::*;

mod gallery;

/// A walk of `pairs` steps from a fixed generator, with this drift.
fn walk(pairs: usize, drift: f64) -> Vec<f64> {
    let mut state = 7u64;
    let mut value = 0.0;
    (0..pairs)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            value += drift + ((state >> 33) as f64 / f64::from(1u32 << 31) - 0.5) * 0.12;
            value
        })
        .collect()
}

fn llr_plot(points: Vec<f64>) -> LlrPlot {
    LlrPlot {
        title: "new against base".to_owned(),
        subtitle: "inconclusive: out of pairs".to_owned(),
        caption: "8+0.08, [0, 5] normalized".to_owned(),
        points,
        lower: -2.944_438_979_166_440_3,
        upper: 2.944_438_979_166_440_3,
    }
}

fn elo_plot(points: Vec<EloPoint>) -> EloPlot {
    EloPlot {
        title: "new against base".to_owned(),
        subtitle: String::new(),
        caption: String::new(),
        unit: "Elo",
        points,
    }
}

/// Checks that every start tag is closed, no number is NaN or infinite, and all lies on the page.
fn well_formed(svg: &str) {
    well_formed_below(svg, 480.0);
}

/// Checks the same for a page of this height.
pub(in crate::report) fn well_formed_below(svg: &str, height: f64) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    assert!(!svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("inf,"), "{svg}");
    for points in svg.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        for pair in points.split_whitespace() {
            let (x, y) = pair.split_once(',').expect("x,y");
            let (x, y): (f64, f64) = (x.parse().expect(x), y.parse().expect(y));
            assert!((0.0..=800.0).contains(&x) && (0.0..=height).contains(&y), "{pair}");
        }
    }
}

#[test]
fn any_path_gives_a_picture() {
    let cases = [
        vec![],
        vec![0.0],
        vec![5.0],
        vec![f64::NAN, 1.0, f64::INFINITY],
        vec![1e12, -1e12],
        walk(3, 0.0),
        walk(100_000, 1e-4),
    ];
    for points in cases {
        well_formed(&llr_plot(points.clone()).to_svg());
        let points = points.iter().enumerate().map(|(i, elo)| EloPoint {
            pairs: i as u64 + 1,
            elo: *elo,
            low: elo - 9.0,
            high: elo + 9.0,
        });
        well_formed(&elo_plot(points.collect()).to_svg());
    }
}

#[test]
fn any_curve_gives_a_picture() {
    let cases = [
        vec![],
        vec![(1.0, 2.0)],
        vec![(0.0, f64::NAN), (f64::INFINITY, 1.0)],
        vec![(0.5, 1e-9), (1.5, -1e-9)],
        (0..50_000).map(|x| (f64::from(x), 1e9 / f64::from(x + 1))).collect(),
    ];
    for points in cases {
        let plot = CurvePlot {
            title: "<losses>".to_owned(),
            caption: String::new(),
            x_label: "superbatch".to_owned(),
            x_scale: Scale::Linear,
            y_label: "loss".to_owned(),
            y_scale: Scale::Linear,
            longest_join: None,
            series: (0..9).map(|which| (format!("line & {which}"), points.clone())).collect(),
            bands: Vec::new(),
        };
        let svg = plot.to_svg();
        well_formed(&svg);
        assert_eq!(svg, plot.to_svg());
        let lines = if points.iter().any(|(x, y)| x.is_finite() && y.is_finite()) { 12 } else { 6 };
        assert_eq!(svg.matches("<polyline class=\"path s").count(), lines, "six lines and their swatches");
        assert_eq!(svg.contains("nothing measured yet"), !points.iter().any(|(x, y)| x.is_finite() && y.is_finite()));
    }
}

#[test]
fn a_logarithmic_axis_has_round_values_and_lines_break_over_gaps() {
    let plot = |points: &[(f64, f64)]| CurvePlot {
        title: "Time by depth".to_owned(),
        caption: String::new(),
        x_label: "depth (plies)".to_owned(),
        x_scale: Scale::Linear,
        y_label: "time (ms)".to_owned(),
        y_scale: Scale::Log,
        longest_join: Some(2.0),
        series: vec![("new".to_owned(), points.to_vec())],
        bands: Vec::new(),
    };
    let ticks = |points: &[(f64, f64)]| {
        let svg = plot(points).to_svg();
        well_formed(&svg);
        let after_rules = svg.split("class=\"grid\"").skip(1).filter_map(|rest| rest.split('>').nth(2));
        after_rules.filter_map(|text| Some(text.split_once("</text")?.0.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(ticks(&[(1.0, 0.04), (2.0, 0.9)]), ["0.05", "0.1", "0.2", "0.5", "1"]);
    assert_eq!(ticks(&[(1.0, 2.0), (20.0, 2500.0)]), ["3", "10", "30", "100", "300", "1,000", "3,000"]);
    assert_eq!(ticks(&[(1.0, 2e3), (20.0, 9e9)]), ["1,000", "10 k", "100 k", "1 M", "10 M", "100 M", "1 G", "10 G"]);
    // A narrow range has round values between the powers.
    assert_eq!(ticks(&[(1.0, 31.0), (2.0, 44.0)]), ["35", "40"]);
    assert_eq!(ticks(&[(1.0, 1.2e6), (2.0, 1.9e6)]), ["1.2 M", "1.4 M", "1.6 M", "1.8 M"]);
    let along = CurvePlot { x_scale: Scale::Log, ..plot(&[(1.0, 5.0), (40.0, 6.0), (1000.0, 9.0)]) }.to_svg();
    well_formed(&along);
    for tick in [">3</text>", ">30</text>", ">1,000</text>"] {
        assert!(along.contains(tick), "{tick}: {along}");
    }
    let svg = plot(&[(1.0, 1.0), (2.0, 0.0), (3.0, 4.0), (9.0, 5.0), (10.0, 6.0), (20.0, 7.0)]).to_svg();
    well_formed(&svg);
    // Two lines and the swatch of the legend; a mark for the lone point and one for the end.
    assert_eq!(svg.matches("<polyline class=\"path s0").count(), 3, "{svg}");
    assert!(svg.contains(">7.00</text>"), "{svg}");
    assert!(plot(&[(1.0, 0.0)]).to_svg().contains("nothing measured yet"));
}

#[test]
fn times_of_moves_that_few_games_had_are_not_joined() {
    let use_of = |number: u32| TimeUse { number, tenths: [0.1, 0.2, 0.4] };
    let plot = |numbers: &[u32]| TimePlot {
        heads: Heads::default(),
        series: vec![TimeSeries {
            name: "new".to_owned(),
            moves: numbers.iter().map(|number| use_of(*number)).collect(),
        }],
    };
    let counts = |numbers: &[u32]| {
        let svg = plot(numbers).to_svg();
        well_formed(&svg);
        // The legend has a line too.
        ["<polygon class=\"band s0", "<polyline class=\"path s0", "<circle class=\"mark dot"]
            .map(|part| svg.matches(part).count())
    };
    assert_eq!(counts(&[5, 6, 7, 8]), [1, 2, 0]);
    assert_eq!(counts(&[5, 6, 40, 60, 61]), [2, 3, 1]);
}

#[test]
fn areas_lie_behind_their_lines_and_decide_the_scale() {
    let plot = |bands: Vec<Band>| CurvePlot {
        title: "Nodes by depth".to_owned(),
        caption: "a caption".to_owned(),
        x_label: "depth (plies)".to_owned(),
        x_scale: Scale::Linear,
        y_label: "nodes".to_owned(),
        y_scale: Scale::Log,
        longest_join: None,
        series: (0..3).map(|which| (format!("e{which}"), vec![(1.0, 100.0), (2.0, 1000.0)])).collect(),
        bands,
    };
    let area = vec![(1.0, 10.0, 200.0), (2.0, 0.0, 5000.0), (3.0, 100.0, 9000.0)];
    let svg = plot(vec![area, Vec::new(), vec![(1.0, 50.0, 90.0)], vec![(1.0, 1.0, 1.0)]]).to_svg();
    well_formed(&svg);
    assert!(svg.find("class=\"band s0\"").unwrap() < svg.find("class=\"path s0\"").unwrap(), "{svg}");
    // One of the three has a single point, and one no series.
    assert_eq!(svg.matches("<polygon").count(), 1, "{svg}");
    // A value of zero has no place on a logarithmic axis.
    let polygon = svg.split("class=\"band s0\" points=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(polygon.split(' ').count(), 4, "{polygon}");
    assert!(svg.contains(">10 k</text>") || svg.contains(">5,000</text>"), "{svg}");

    let both = stacked(&[plot(Vec::new()).to_svg(), svg.clone(), "no plot".to_owned()]);
    assert_eq!(both.matches("<title>Nodes by depth").count(), 2, "{both}");
    let height: f64 = svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert!(
        both.contains(&format!("<svg y=\"{height}\" xmlns"))
            && both.contains(&format!("viewBox=\"0 0 800 {}\"", 2.0 * height)),
        "{both}"
    );
}

/// A bound, and a version whose error nobody knows.
#[test]
fn intervals_without_an_end_go_on_to_the_edge() {
    let version = |elo, low, high| PlottedVersion {
        label: "v".to_owned(),
        date: None,
        elo,
        low,
        high,
        mark: VersionMark::None,
        note: String::new(),
    };
    let rules = |version: PlottedVersion| {
        let heads = Heads { title: "t".to_owned(), subtitle: "s".to_owned(), caption: "c".to_owned() };
        let svg = ProgressionPlot { heads, unit: "Elo".to_owned(), versions: vec![version] }.to_svg();
        well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg.matches("class=\"error\"").count()
    };
    // The bar and its two caps, and a cap fewer at an edge.
    assert_eq!(rules(version(5.0, -3.0, 9.0)), 3);
    assert_eq!(rules(version(5.0, 5.0, f64::INFINITY)), 2);
    assert_eq!(rules(version(5.0, f64::NEG_INFINITY, 5.0)), 2);
    assert_eq!(rules(version(5.0, f64::NAN, f64::NAN)), 0);
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    let plot = llr_plot(walk(5000, 1e-4));
    assert_eq!(plot.to_svg(), plot.clone().to_svg());
    let svg = llr_plot(vec![1.0, 2.0, 3.0]).to_svg();
    assert!(svg.contains("<polyline class=\"path\" points=\"70.0,230.2 284.0,186.7 498.0,143.3 712.0,99.8\""), "{svg}");
}

#[test]
fn the_verdict_is_marked_and_named() {
    let table = [
        (vec![1.0, 3.0], "3.00: H1 accepted", "<circle class=\"mark h1\""),
        (vec![-1.0, -3.0], "\u{2212}3.00: H0 accepted", "<rect class=\"mark h0\""),
        (vec![-1.0, 1.0], ">1.00</text>", "<circle class=\"mark open\""),
        // Room for a label next to that of a bound.
        (vec![-1.0, 2.8], ">2.80</text>", "<circle class=\"mark open\""),
        (vec![], "no pair counted yet", "H1 2.94"),
    ];
    for (points, label, mark) in table {
        let svg = llr_plot(points).to_svg();
        assert!(svg.contains(label) && svg.contains(mark), "{label}: {svg}");
    }
}

#[test]
fn text_cannot_break_out() {
    let plot = LlrPlot {
        title: "<script>&\"'\u{1}".to_owned(),
        subtitle: "x".repeat(500),
        caption: "word ".repeat(500),
        ..llr_plot(vec![1.0])
    };
    let svg = plot.to_svg();
    well_formed(&svg);
    assert!(svg.contains("&lt;script&gt;&amp;&quot;'\u{fffd}") && !svg.contains("<script"));
    assert_eq!(svg.matches("class=\"caption\"").count(), 3);
    assert!(svg.lines().all(|line| line.starts_with("<title>") || !line.contains(&"x".repeat(109))));
}

#[test]
fn thinning_keeps_ends_and_extremes() {
    let mut points: Vec<(f64, f64)> = numbered(&walk(50_000, 0.0)).collect();
    points[23_456].1 = 100.0;
    points[34_567].1 = -100.0;
    let kept = thinned(&points);
    assert!(kept.len() <= MAX_POINTS && kept.len() > MAX_POINTS / 2);
    assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[49_999]));
    assert!(kept.contains(&points[23_456]) && kept.contains(&points[34_567]));
    assert!(kept.is_sorted_by(|a, b| a.0 < b.0));
    assert_eq!(thinned(&points[..1000]), points[..1000]);
    assert_eq!(evenly(&[1, 2, 3]), [1, 2, 3]);
    assert_eq!(evenly(&(0..10_000).collect::<Vec<_>>()).last(), Some(&9_999));
}

#[test]
fn numbers_and_ticks() {
    let numbers = [
        (0.0, 0, "0"),
        (-0.001, 2, "0.00"),
        (-2.944, 2, "\u{2212}2.94"),
        (1_234_567.0, 0, "1,234,567"),
        (123.0, 0, "123"),
    ];
    for (value, decimals, text) in numbers {
        assert_eq!(page::number(value, decimals), text);
    }
    assert_eq!([page::signed(1.25, 1), page::signed(0.01, 1), page::signed(-3.0, 1)], ["+1.2", "0.0", "\u{2212}3.0"]);
}
