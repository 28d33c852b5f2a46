//! Files and fields that a run records besides its own directory.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use crate::plan::recording::{
    Fields, Layout, LinePattern, Notation, OutputFile, PgnOptions, PgnOutput, Recording, Round, Zone,
};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::settings::RawPlan;

/// Resolves the recording keys of a plan. Checks the files, but writes nothing yet.
pub(crate) fn recording(raw: &RawPlan) -> Result<Recording> {
    let options = pgn_options(raw)?;
    let pgn = match &raw.pgn {
        Some(path) => Some(PgnOutput { file: writable("--pgn", path)?, options }),
        None => {
            let words = [&raw.pgn_fields, &raw.pgn_notation, &raw.pgn_tags, &raw.pgn_style];
            if raw.pgn_min.is_some() || words.into_iter().any(Option::is_some) {
                fail!(
                    Setting,
                    "--pgn-fields, --pgn-notation, --pgn-min, --pgn-tags and --pgn-style are about a further PGN; name it with --pgn FILE"
                );
            }
            None
        }
    };
    let epd = raw.epd.as_deref().map(|path| writable("--epd", path)).transpose()?;
    if let (Some(pgn), Some(epd)) = (&pgn, &epd)
        && pgn.file.path == epd.path
    {
        fail!(Setting, "--pgn and --epd name the same file; give them one each");
    }
    let live = raw.live_pgn.as_deref().map(|path| appended("--live-pgn", path).map(|file| file.path)).transpose()?;
    let others = [pgn.as_ref().map(|pgn| &pgn.file.path), epd.as_ref().map(|epd| &epd.path)];
    if live.is_some() && others.contains(&live.as_ref()) {
        fail!(Setting, "--live-pgn names the file of --pgn or --epd, which it would replace; choose another file");
    }
    let match_lines = raw.match_line.iter().map(|text| text.parse::<LinePattern>());
    Ok(Recording {
        record_pv: raw.record_pv == Some(true) || pgn.as_ref().is_some_and(|pgn| pgn.options.fields.pv),
        match_lines: match_lines.collect::<Result<_, _>>().map_err(RunError::value("--match-line"))?,
        event: raw.event.clone(),
        site: raw.site.clone(),
        pgn,
        epd,
        live,
    })
}

fn pgn_options(raw: &RawPlan) -> Result<PgnOptions> {
    let like = PgnOptions::default();
    let (layout, round, zone) =
        match raw.pgn_style.as_deref().map(str::parse::<Layout>).transpose().map_err(RunError::value("--pgn-style"))? {
            None | Some(Layout::Export) => (like.layout, like.round, like.zone),
            Some(layout @ (Layout::Runner | Layout::Cutechess)) => (layout, Round::Pair, Zone::here()),
        };
    let mut options = PgnOptions { layout, round, zone, min: raw.pgn_min == Some(true), ..like };
    if let Some(text) = &raw.pgn_fields {
        options.fields = text.parse::<Fields>().map_err(RunError::value("--pgn-fields"))?;
    }
    if let Some(text) = &raw.pgn_notation {
        options.notation = text.parse::<Notation>().map_err(RunError::value("--pgn-notation"))?;
    }
    let tags = raw.pgn_tags.as_deref().unwrap_or(if layout == Layout::Export { "none" } else { "all" });
    (options.engine_tags, options.opening_tags) = match tags.trim() {
        "all" => (true, true),
        "none" => (false, false),
        words => {
            let words: Vec<_> = words.split(',').map(str::trim).collect();
            if let Some(unknown) = words.iter().find(|word| !["engines", "opening"].contains(*word)) {
                fail!(
                    Setting,
                    "--pgn-tags: `{unknown}` is not a group of tags; choose from engines, opening, or all, or none"
                );
            }
            (words.contains(&"engines"), words.contains(&"opening"))
        }
    };
    Ok(options)
}

/// Returns a file to append to as [`appended`] does, if it can be written.
fn writable(flag: &str, path: &Path) -> Result<OutputFile> {
    let file = appended(flag, path)?;
    check_write(&file.path).within(|| format!("{flag} `{}`: cannot be written; name another file", path.display()))?;
    Ok(file)
}

/// Checks that a file can be written, and leaves nothing behind if it does not exist.
fn check_write(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        // Opening alone may act on a device or pipe.
        Ok(about) if about.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) => tempfile::tempfile_in(path.parent().unwrap_or(Path::new("."))).map(drop),
        Ok(_) => Ok(()),
    }
}

/// Returns a file to append to, with its current length.
fn appended(flag: &str, path: &Path) -> Result<OutputFile> {
    // Absolute, because `resume` may run in another directory.
    let path = std::path::absolute(path).within(|| format!("{flag} `{}`: no such place", path.display()))?;
    let length = match std::fs::metadata(&path) {
        Ok(about) if about.is_dir() => fail!(Setting, "{flag} `{}` is a folder; name a file", path.display()),
        Ok(about) => about.len(),
        Err(_) if path.parent().is_some_and(Path::is_dir) => 0,
        Err(_) => fail!(Setting, "{flag} `{}`: its folder is not there; make it first", path.display()),
    };
    Ok(OutputFile { path, append_after: Some(length) })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::text::with_causes;

    fn resolved(raw: RawPlan) -> Result<Recording, String> {
        recording(&raw).map_err(|error| with_causes(&error))
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn nothing_is_recorded_unless_asked_for() {
        assert_eq!(resolved(RawPlan::default()), Ok(Recording::default()));
    }

    #[test]
    fn keys_become_a_recording() {
        let dir = tempfile::tempdir().unwrap();
        let (pgn, epd) = (dir.path().join("a.pgn"), dir.path().join("a.epd"));
        std::fs::write(&pgn, "12345").unwrap();
        let file = |path: &PathBuf, length| OutputFile { path: path.clone(), append_after: Some(length) };
        let raw = RawPlan { pgn: Some(pgn.clone()), ..RawPlan::default() };
        let plain = PgnOutput { file: file(&pgn, 5), options: PgnOptions::default() };
        assert_eq!(resolved(raw.clone()).map(|recording| recording.pgn), Ok(Some(plain.clone())));

        let runner = RawPlan {
            pgn_style: text("runner"),
            pgn_fields: text("nodes,pv"),
            pgn_notation: text("lan"),
            pgn_tags: text("opening"),
            pgn_min: Some(true),
            epd: Some(epd.clone()),
            live_pgn: Some(dir.path().join("live.pgn")),
            match_line: vec!["^info".to_owned()],
            site: text("here"),
            ..raw.clone()
        };
        let options = PgnOptions {
            notation: Notation::Lan,
            min: true,
            fields: Fields { nodes: true, pv: true, ..Fields::default() },
            engine_tags: false,
            opening_tags: true,
            round: Round::Pair,
            zone: Zone::here(),
            layout: Layout::Runner,
        };
        let expected = Recording {
            record_pv: true,
            match_lines: vec!["^info".parse().unwrap()],
            event: None,
            site: text("here"),
            pgn: Some(PgnOutput { options, ..plain }),
            epd: Some(file(&epd, 0)),
            live: Some(dir.path().join("live.pgn")),
        };
        assert_eq!(resolved(runner), Ok(expected));
        let tags = |words: Option<&str>, style| {
            let raw = RawPlan { pgn_tags: words.map(str::to_owned), pgn_style: text(style), ..raw.clone() };
            let options = resolved(raw).unwrap().pgn.unwrap().options;
            (options.engine_tags, options.opening_tags)
        };
        assert_eq!(tags(None, "export"), (false, false));
        assert_eq!(tags(None, "runner"), (true, true));
        assert_eq!(tags(None, "cutechess"), (true, true));
        assert_eq!(tags(Some("none"), "runner"), (false, false));
        assert_eq!(tags(Some("opening, engines"), "export"), (true, true));
    }

    #[test]
    fn what_cannot_be_recorded_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let raw = || RawPlan { pgn: Some(file.clone()), ..RawPlan::default() };
        for (raw, part) in [
            (RawPlan { pgn_min: Some(true), ..RawPlan::default() }, "name it with --pgn FILE"),
            (RawPlan { pgn: Some(dir.path().to_owned()), ..RawPlan::default() }, "is a folder; name a file"),
            (RawPlan { epd: Some(file.join("g")), ..RawPlan::default() }, "its folder is not there"),
            (RawPlan { epd: Some(file.clone()), ..raw() }, "the same file"),
            (RawPlan { live_pgn: Some(file.clone()), ..raw() }, "--live-pgn names the file of --pgn"),
            (RawPlan { live_pgn: Some(file.join("g")), ..raw() }, "--live-pgn `"),
            (RawPlan { pgn_fields: text("score"), ..raw() }, "--pgn-fields: `score` is no PGN field"),
            (RawPlan { pgn_notation: text("fan"), ..raw() }, "--pgn-notation: `fan` is not a notation"),
            (RawPlan { pgn_tags: text("eco"), ..raw() }, "--pgn-tags: `eco` is not a group"),
            (RawPlan { pgn_style: text("x"), ..raw() }, "--pgn-style: `x` is not a PGN style"),
            (RawPlan { match_line: vec!["(".to_owned()], ..raw() }, "--match-line: `(` is not a regular expression"),
        ] {
            let error = resolved(raw).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }
}
