//! Merge of plan files and flags as TOML tables.

use std::io;
use std::path::Path;

use toml::{Table, Value};

use super::error::ConfigError;
use super::plan::RawPlan;
use crate::files::{MOST_DOCUMENT_BYTES, read_input};
use crate::text::from_toml;

/// Keys of the limits of both sides. They form a unit: a plan with one of them takes no limit of a
/// lower plan.
const LIMITS: [&str; 4] = ["tc", "movetime", "nodes", "depth"];

/// Keys of the limits of one side, which a lower plan loses as well.
const LIMITS_OF_ONE: [&str; 2] = ["new-tc", "base-tc"];

/// Pairs of keys: a plan with the first one does not take the second one of a lower plan, because
/// it says the same in another way, or belongs to what the first one replaces.
const ALTERNATIVES: [(&str, &str); 15] = [
    ("concurrency", "workers"),
    ("concurrency", "credentials"),
    ("concurrency", "priority"),
    ("concurrency", "weight"),
    ("concurrency", "scale"),
    ("concurrency", "verify"),
    ("workers", "concurrency"),
    ("net", "new-net"),
    ("net", "base-net"),
    ("bounds", "budget"),
    ("budget", "max-time"),
    ("params", "from-engine"),
    ("from-engine", "params"),
    ("base", "base-from"),
    ("base-from", "base"),
];

/// Keys of a run at a hub, which a lower plan loses to workers on this machine.
const OF_HUB: [&str; 4] = ["credentials", "priority", "weight", "scale"];

/// Options of one side. A lower plan's lose the names that `options` of an upper plan sets for
/// both.
const OPTIONS_OF_ONE: [&str; 2] = ["new-options", "base-options"];

impl RawPlan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not TOML, or has an unknown key or a value
    /// of a wrong type.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Read { path: path.to_path_buf(), source };
        let text = read_input(path, MOST_DOCUMENT_BYTES).map_err(unreadable)?;
        // To TOML the first line of a script is a comment.
        if text.starts_with("#!") {
            return Err(unreadable(io::Error::new(io::ErrorKind::InvalidData, "it is a script")));
        }
        let mut plan: Self = from_toml(path, &text).map_err(ConfigError::Toml)?;
        plan.then = plan.then.map(|then| path.parent().unwrap_or(Path::new("")).join(then));
        Ok(plan)
    }

    /// Returns this plan's keys, and those of `lower` that it does not have. UCI options are merged
    /// by name. Limits, options and network of this plan also replace those of `lower`'s players.
    ///
    /// # Errors
    /// Returns an error if a value cannot be written as TOML.
    pub fn over(&self, lower: &Self) -> Result<Self, ConfigError> {
        let (upper, mut merged) = (self.table()?, lower.table()?);
        if LIMITS.iter().any(|key| upper.contains_key(*key)) {
            merged.retain(|key, _| !LIMITS.iter().chain(&LIMITS_OF_ONE).any(|limit| key == *limit));
        }
        merged.retain(|key, _| !ALTERNATIVES.iter().any(|(set, lost)| key == *lost && upper.contains_key(*set)));
        if upper.get("workers").and_then(Value::as_str).is_some_and(|workers| workers.starts_with("local:")) {
            merged.retain(|key, _| !OF_HUB.contains(&key));
        }
        if let Some(Value::Array(set)) = upper.get("options") {
            for own in OPTIONS_OF_ONE {
                if let Some(Value::Array(lower)) = merged.get_mut(own) {
                    drop_set(lower, set);
                }
            }
        }
        let players = merged.get_mut("players").and_then(Value::as_array_mut);
        for player in players.into_iter().flatten().filter_map(Value::as_table_mut) {
            drop_replaced(player, &upper);
        }
        for (key, value) in upper {
            let below = merged.remove(&key);
            let value = if key.ends_with("options") { options_over(value, below) } else { value };
            merged.insert(key, value);
        }
        merged.try_into().map_err(|error| ConfigError::Value(error.to_string()))
    }

    /// Returns the keys that are set.
    ///
    /// # Errors
    /// Returns an error if a value cannot be written as TOML.
    pub fn table(&self) -> Result<Table, ConfigError> {
        Table::try_from(self).map_err(|error| self.fault().unwrap_or_else(|| ConfigError::Value(error.to_string())))
    }

    /// Value that TOML cannot hold, with its flag. TOML's own error does not name the key; JSON
    /// holds all but paths that are not UTF-8, and its text ends with their key.
    fn fault(&self) -> Option<ConfigError> {
        let mut json = Vec::new();
        if serde_json::to_writer(&mut json, self).is_err() {
            let text = String::from_utf8_lossy(&json);
            let key = text.strip_suffix("\":")?.rsplit('"').next()?;
            return Some(ConfigError::Path { flag: key.to_owned() });
        }
        let keys: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&json).ok()?;
        let too_large = |number: &u64| i64::try_from(*number).is_err();
        let found = |(key, value): (String, serde_json::Value)| {
            let number = value.as_u64().filter(too_large)?;
            Some(ConfigError::Number { flag: key, number })
        };
        keys.into_iter().find_map(found)
    }
}

/// Merges `upper`'s options over `lower`'s. The names of UCI options are case-insensitive.
fn options_over(upper: Value, lower: Option<Value>) -> Value {
    let (Value::Array(upper), Some(Value::Array(mut merged))) = (upper.clone(), lower) else { return upper };
    drop_set(&mut merged, &upper);
    merged.extend(upper);
    Value::Array(merged)
}

/// Removes from a player's own keys those that `upper` sets for all players.
fn drop_replaced(player: &mut Table, upper: &Table) {
    if LIMITS.iter().any(|key| upper.contains_key(*key)) {
        player.retain(|key, _| !LIMITS.contains(&key));
    }
    if upper.contains_key("net") {
        player.remove("net");
    }
    if let (Some(Value::Array(set)), Some(Value::Array(own))) = (upper.get("options"), player.get_mut("options")) {
        drop_set(own, set);
    }
}

/// Removes from `options` those that `set` has too.
fn drop_set(options: &mut Vec<Value>, set: &[Value]) {
    let name = |option: &Value| option.get(0).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    options.retain(|option| set.iter().all(|other| name(other) != name(option)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RawPlayer;

    fn parse(text: &str) -> Result<RawPlan, String> {
        from_toml(Path::new("p.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn shipped_plans_parse() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let read = |name: &str| RawPlan::read(&root.join(name)).unwrap();
        let stc = read("sprt-stc.toml");
        assert_eq!((stc.tc.as_deref(), stc.bounds), (Some("8+0.08"), Some([0.0, 5.0])));
        let ltc = read("sprt-ltc.toml");
        assert_eq!((ltc.tc.as_deref(), ltc.bounds), (Some("40+0.4"), Some([0.5, 2.5])));
        let smoke = read("smoke.toml");
        assert_eq!((smoke.nodes, smoke.max_pairs, smoke.bounds), (Some(5000), Some(8), Some([0.0, 50.0])));
    }

    #[test]
    fn options_take_any_scalar_and_pairs() {
        let plan = parse("[new-options]\nHash = 16\nPonder = false\nBook = \"a b\"\n").unwrap();
        let mut options = plan.new_options;
        options.sort();
        let want = [("Book", "a b"), ("Hash", "16"), ("Ponder", "false")];
        assert_eq!(options, want.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let plan = parse("options = [[\"Z\", 1], [\"A\", true]]\n").unwrap();
        assert_eq!(plan.options, [("Z".to_owned(), "1".to_owned()), ("A".to_owned(), "true".to_owned())]);
    }

    #[test]
    fn a_limit_takes_the_place_of_all_limits() {
        let file = || parse("tc = \"8+0.08\"\nnew-tc = \"4+0.04\"\nseed = 3\n").unwrap();
        let nodes = RawPlan { nodes: Some(100), ..RawPlan::default() }.over(&file()).unwrap();
        assert_eq!((nodes.tc, nodes.new_tc, nodes.nodes, nodes.seed), (None, None, Some(100), Some(3)));
        let base = RawPlan { base_tc: Some("2+0.02".to_owned()), ..RawPlan::default() }.over(&file()).unwrap();
        let [tc, new, base] = [base.tc, base.new_tc, base.base_tc].map(Option::unwrap);
        assert_eq!([tc.as_str(), &new, &base], ["8+0.08", "4+0.04", "2+0.02"]);
    }

    #[test]
    fn a_key_takes_the_place_of_its_alternatives() {
        let over = |upper: &str, lower: &str| {
            let merged = parse(upper).unwrap().over(&parse(lower).unwrap()).unwrap().table().unwrap();
            merged.keys().cloned().collect::<Vec<_>>().join(" ")
        };
        for (upper, lower, expected) in [
            ("from-engine = \"^X\"", "params = \"p.txt\"", "from-engine"),
            ("params = \"p.txt\"", "from-engine = \"^X\"", "params"),
            ("base = \"b\"", "base-from = \"main\"", "base"),
            ("base-from = \"main\"", "base = \"b\"", "base-from"),
            (
                "workers = \"local:2\"",
                "workers = \"tls://h:1\"\npriority = 1\nscale = \"x=1\"\nseed = 1",
                "seed workers",
            ),
            ("workers = \"tls://i:1\"", "workers = \"tls://h:1\"\npriority = 1", "priority workers"),
        ] {
            assert_eq!(over(upper, lower), expected, "{upper} over {lower}");
        }
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let error = parse("tc = \"8+0.08\"\nmax_pair = 5\n").unwrap_err();
        assert_eq!(error, "p.toml:2:1: unknown key `max_pair`, did you mean `max-pairs`?");
        let error = parse("nodes = \"many\"\n").unwrap_err();
        assert!(error.starts_with("p.toml:1:9: `nodes`: invalid type"), "{error}");
        let error = parse("bounds = \"0,50\"\n").unwrap_err();
        assert!(error.starts_with("p.toml:1:10: `bounds`: invalid type"), "{error}");
        assert!(error.ends_with("; write 2 values in brackets, separated by commas"), "{error}");
        let error = parse("nodes = \n").unwrap_err();
        assert!(error.starts_with("p.toml:1:") && !error.contains('\n'), "{error}");
        let error = parse("\n[options]\nHash = [1]\n").unwrap_err();
        assert!(error.starts_with("p.toml:3:8: ") && error.contains("a string, a number"), "{error}");
    }

    #[test]
    fn affinity_is_a_switch_or_a_list() {
        for (text, expected) in [("true", Some("auto")), ("false", Some("off")), ("\"3,5\"", Some("3,5"))] {
            assert_eq!(parse(&format!("affinity = {text}\n")).unwrap().affinity.as_deref(), expected, "{text}");
        }
        assert_eq!(parse("").unwrap().affinity, None);
        let error = parse("affinity = 3\n").unwrap_err();
        assert!(error.starts_with("p.toml:1:12: expected true, false"), "{error}");
    }

    #[test]
    fn upper_keys_win() {
        let upper = parse("max-pairs = 5\noptions = { hash = 1 }").unwrap();
        let lower = parse("max-pairs = 6\nseed = 7\noptions = { Hash = 2, Threads = 3 }").unwrap();
        let plan = upper.over(&lower).unwrap();
        assert_eq!((plan.max_pairs, plan.seed), (Some(5), Some(7)));
        assert_eq!(plan.options, [("Threads".into(), "3".into()), ("hash".into(), "1".into())]);
    }

    #[test]
    fn a_setting_of_both_sides_replaces_those_of_one() {
        let lower =
            parse("net = \"a\"\nnew-net = \"b\"\nworkers = \"local:2\"\n[new-options]\nHash = 2\nThreads = 3").unwrap();
        let plan = parse("net = \"c\"\nconcurrency = 4\noptions = { hash = 1 }").unwrap().over(&lower).unwrap();
        assert_eq!(plan.options, [("hash".into(), "1".into())]);
        assert_eq!(plan.new_options, [("Threads".into(), "3".into())]);
        assert_eq!((plan.net, plan.new_net), (Some("c".into()), None));
        assert_eq!((plan.workers, plan.concurrency), (None, Some(4)));
        let plan = parse("workers = \"local:3\"").unwrap().over(&parse("concurrency = 4").unwrap()).unwrap();
        assert_eq!((plan.workers.as_deref(), plan.concurrency), (Some("local:3"), None));
        let plan = parse("new-net = \"d\"").unwrap().over(&lower).unwrap();
        assert_eq!((plan.net, plan.new_net), (Some("a".into()), Some("d".into())));
    }

    #[test]
    fn a_setting_of_all_replaces_those_of_lower_players() {
        let lower = parse(
            "[[players]]\nspec = \"a\"\ntc = \"4+0.04\"\nnet = \"a\"\noptions = { Hash = 16, Threads = 3 }\n\
             [[players]]\nspec = \"b\"\nmovetime = 0.1\n",
        )
        .unwrap();
        let players = |typed: &str| parse(typed).unwrap().over(&lower).unwrap().players;
        assert_eq!(players("pairs = 5"), lower.players);
        let own = |spec: &str| RawPlayer { spec: Some(spec.to_owned()), ..RawPlayer::default() };
        let options = vec![("Threads".to_owned(), "3".to_owned())];
        assert_eq!(
            players("nodes = 5000\nnet = \"c\"\noptions = { hash = 256 }"),
            [RawPlayer { options, ..own("a") }, own("b")]
        );
    }

    #[test]
    fn a_number_of_games_replaces_workers_with_their_settings() {
        let lower = parse(
            "workers = \"tls://host:4222\"\ncredentials = \"me.creds\"\npriority = 3\nweight = 2.0\n\
             scale = \"new=1000\"\nverify = \"2%\"\nseed = 1\n",
        )
        .unwrap();
        let plan = parse("concurrency = 4").unwrap().over(&lower).unwrap();
        assert_eq!(plan, RawPlan { concurrency: Some(4), seed: Some(1), ..RawPlan::default() });
    }

    #[test]
    fn typed_options_keep_their_order() {
        let pair = |name: &str| (name.to_owned(), "1".to_owned());
        let typed = RawPlan { options: vec![pair("Z"), pair("A")], ..RawPlan::default() };
        assert_eq!(typed.over(&RawPlan::default()).unwrap().options, typed.options);
    }

    #[test]
    fn a_value_that_no_file_can_hold_is_an_error() {
        let typed = RawPlan { seed: Some(u64::MAX), ..RawPlan::default() };
        assert!(typed.over(&RawPlan::default()).unwrap_err().to_string().contains("cannot be stored in a plan"));
    }

    #[test]
    fn a_value_that_no_file_can_hold_is_told_with_its_flag() {
        let check = |typed: RawPlan, says: &str| {
            let error = typed.over(&RawPlan::default()).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        };
        let most = "give a number up to 9223372036854775807";
        let number = Some(1 << 63);
        let says = |flag: &str| format!("--{flag} 9223372036854775808: it cannot be stored in a plan; {most}");
        let base = || RawPlan {
            tc: Some("8+0.08".to_owned()),
            options: vec![("Hash".into(), "1".into())],
            ..RawPlan::default()
        };
        check(RawPlan { seed: number, ..base() }, &says("seed"));
        check(RawPlan { nodes: number, ..base() }, &says("nodes"));
        check(RawPlan { max_failures: number, ..base() }, &says("max-failures"));
        assert!(RawPlan { seed: Some(i64::MAX as u64), ..base() }.over(&base()).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_no_file_can_hold_is_told_with_its_flag() {
        use std::os::unix::ffi::OsStringExt as _;
        let path = || Some(std::ffi::OsString::from_vec(b"g\xff.pgn".to_vec()).into());
        let base = || RawPlan { tc: Some("8+0.08".to_owned()), ..RawPlan::default() };
        for (flag, typed) in [
            ("book", RawPlan { book: path(), ..base() }),
            ("pgn", RawPlan { pgn: path(), ..base() }),
            ("live-pgn", RawPlan { live_pgn: path(), ..base() }),
            ("out", RawPlan { out: path(), ..base() }),
        ] {
            let error = typed.over(&RawPlan::default()).unwrap_err().to_string();
            let says = format!("--{flag}: a path that is not UTF-8 cannot be stored in a plan; rename");
            assert!(error.starts_with(&says), "{error}");
        }
    }
}
