//! Titles of entries: the engines as the user typed them, the options that differ, and the change.
//!
//! The plans of an entry have commits in the place of branches and of the working tree, so the
//! titles are made when it is added.

use std::collections::BTreeMap;
use std::path::Path;

use crate::plan::{Player, labels};
use crate::run::queue::QueueEntry;
use crate::settings::RawPlan;
use crate::source::{self, Bases, Context};
use crate::text::printable;

/// Names of engines as they were typed, by their sides and the specs of the plans.
type TypedNames = BTreeMap<(&'static str, String), String>;

// Sides of engines.
const NEW: &str = "new";
const BASE: &str = "base";
const TUNED: &str = "engine";
const PLAYER: &str = "player";

/// Title of an entry: the note of the run that is next, or of the last one if none is, else its
/// engines. Entries of older versions have no titles, and the specs of their plans stand for the
/// engines.
pub(crate) fn title(entry: &QueueEntry) -> String {
    let at = if entry.is_open() { entry.exits.len() } else { entry.exits.len().saturating_sub(1) };
    let at = at.min(entry.plans.len().saturating_sub(1));
    let Some(plan) = entry.plans.get(at) else { return String::new() };
    let kept = || entry.titles.get(at).cloned();
    plan.note.clone().or_else(kept).unwrap_or_else(|| engines(plan, &TypedNames::new()))
}

/// Titles of plans, from the settings that were `typed` for each. A plan of a chain has only the
/// typed settings of its own file; its other engines are those of the plans before it.
pub(crate) fn titles(context: &Context, typed: &[RawPlan], plans: &[RawPlan]) -> Vec<String> {
    let mut names = TypedNames::new();
    for (typed, plan) in typed.iter().zip(plans) {
        // Without a spec the engine is that of the working tree.
        let is_first = names.is_empty();
        let tree = || is_first.then(|| ".".to_owned());
        let players =
            typed.players.iter().zip(&plan.players).map(|(typed, plan)| (PLAYER, typed.spec.clone(), &plan.spec));
        let sides = [
            (NEW, typed.new.clone().or_else(tree), &plan.new),
            (TUNED, typed.engine.clone().or_else(tree), &plan.engine),
            (BASE, typed.base.clone(), &plan.base),
        ];
        for (side, typed, spec) in sides.into_iter().chain(players) {
            if let (Some(typed), Some(spec)) = (typed, spec) {
                names.entry((side, spec.clone())).or_insert_with(|| short(&typed));
            }
        }
    }
    let title = |plan: &RawPlan| {
        let engines = engines(plan, &names);
        change(context, plan).map_or_else(|| engines.clone(), |change| format!("{engines} ({change})"))
    };
    plans.iter().map(title).collect()
}

/// Short form of a spec: a branch without `git:`, the start of a hash, a program as it is.
fn short(spec: &str) -> String {
    let rev = match spec.trim() {
        "." => "working tree",
        spec => spec.strip_prefix("git:").unwrap_or(spec),
    };
    let is_hash = spec.starts_with("git:") && rev.bytes().take_while(u8::is_ascii_hexdigit).count() >= 40;
    printable(if is_hash { &rev[..8] } else { rev })
}

/// Engines of settings, with the options and networks that differ.
fn engines(raw: &RawPlan, names: &TypedNames) -> String {
    let called = |side, spec: &str| names.get(&(side, spec.to_owned())).cloned().unwrap_or_else(|| short(spec));
    let nets: Vec<&Path> = [&raw.net, &raw.new_net, &raw.base_net]
        .into_iter()
        .chain(raw.players.iter().map(|entrant| &entrant.net))
        .filter_map(|net| net.as_deref())
        .collect();
    // Networks of one name in several folders are told apart by these.
    let net_name = |net: &Path| {
        let is_one = nets.iter().all(|other| *other == net || other.file_name() != net.file_name());
        let name = net.file_name().filter(|_| is_one).unwrap_or(net.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let player = |side, name: Option<&String>, spec: &str, own: (&[(String, String)], Option<&Path>)| {
        let net = own.1.or(raw.net.as_deref()).map(|net| ("net".to_owned(), net_name(net)));
        let options = raw.options.iter().chain(own.0).cloned().chain(net).collect();
        Player { name: name.cloned().unwrap_or_else(|| called(side, spec)), options, ..Player::default() }
    };
    let base = |spec: &str| player(BASE, raw.base_name.as_ref(), spec, (&raw.base_options, raw.base_net.as_deref()));
    if let Some(engine) = &raw.engine {
        return format!("tuning of {}", called(TUNED, engine));
    }
    if let Some(new) = &raw.new {
        let new = player(NEW, raw.new_name.as_ref(), new, (&raw.new_options, raw.new_net.as_deref()));
        let base = raw.base.as_deref().map_or_else(|| base("the commit before"), base);
        return labels(&[new, base]).join(" against ");
    }
    let entrants = raw.players.iter().filter_map(|entrant| {
        let own = (entrant.options.as_slice(), entrant.net.as_deref());
        Some(player(PLAYER, entrant.name.as_ref(), entrant.spec.as_deref()?, own))
    });
    let players: Vec<Player> = entrants.chain(raw.base.as_deref().map(base)).collect();
    let mut labels = labels(&players);
    let base = raw.base.as_ref().and_then(|_| labels.pop());
    let against = base.map_or_else(String::new, |base| format!(" against {base}"));
    labels.join(", ") + &against
}

/// Subject of the commit that a test is about; `None` if both sides are of one commit, or without
/// Git.
fn change(context: &Context, raw: &RawPlan) -> Option<String> {
    let new = raw.new.as_deref()?;
    let first = || Bases::of(context, new, raw.base_from.as_deref(), &mut |_| {}).ok()?.first().ok();
    let base = raw.base.clone().or_else(first);
    if base.as_deref() == Some(new) {
        return None;
    }
    source::tested_change(context, new, base.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::begin::GameCommand;
    use crate::settings::RawPlayer;

    fn plan(new: &str, base: Option<&str>) -> RawPlan {
        RawPlan { new: Some(new.to_owned()), base: base.map(str::to_owned), ..RawPlan::default() }
    }

    fn option(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn engines_stand_as_they_were_typed_with_the_options_that_differ() {
        let [one, two] = ["a", "b"].map(|digit| format!("git:{}", digit.repeat(40)));
        let mut names = TypedNames::from([((BASE, two.clone()), short("."))]);
        names.extend([NEW, TUNED, PLAYER].map(|side| ((side, one.clone()), short("git:my-idea"))));
        let own = RawPlan { new_options: option("Hash", "2"), ..plan(&one, Some(&two)) };
        assert_eq!(engines(&own, &names), "my-idea (Hash=2) against working tree");
        // The options of all players differ if one overrides them.
        let over = RawPlan { options: option("Hash", "1"), ..own.clone() };
        assert_eq!(engines(&over, &names), "my-idea (Hash=2) against working tree (Hash=1)");
        let shared = RawPlan { options: option("Hash", "1"), ..plan(&one, None) };
        assert_eq!(engines(&shared, &names), "my-idea against the commit before");
        let named = RawPlan { new_name: Some("mine".to_owned()), base_net: Some("/x/a.nnue".into()), ..own };
        assert_eq!(engines(&named, &TypedNames::new()), "mine (Hash=2) against bbbbbbbb (net=a.nnue)");
        // Two names of one commit, and two networks of one name.
        names.insert((BASE, one.clone()), short("git:HEAD"));
        let nets =
            RawPlan { base_net: Some("/x/a.nnue".into()), new_net: Some("/y/a.nnue".into()), ..plan(&one, Some(&one)) };
        assert_eq!(engines(&nets, &names), "my-idea (net=/y/a.nnue) against HEAD (net=/x/a.nnue)");
        let player = |spec: &str, options| RawPlayer { spec: Some(spec.to_owned()), options, ..RawPlayer::default() };
        let mut games = RawPlan {
            players: vec![player(&one, option("Hash", "1")), player("./engine -- --seed 1", option("Hash", "1"))],
            ..RawPlan::default()
        };
        assert_eq!(engines(&games, &names), "my-idea, ./engine -- --seed 1");
        games.base = Some(two);
        assert_eq!(engines(&games, &names), "my-idea (Hash=1), ./engine -- --seed 1 (Hash=1) against working tree");
        let tuning = RawPlan { engine: Some(one), ..RawPlan::default() };
        assert_eq!(engines(&tuning, &names), "tuning of my-idea");
    }

    #[test]
    fn an_entry_of_an_older_version_has_the_specs_of_its_plans() {
        let spec = format!("git:{}@/repo", "0123456789".repeat(4));
        let mut entry = QueueEntry::new(GameCommand::Sprt, "/somewhere".into(), 0, vec![plan(&spec, None)]);
        let text = entry.to_toml().unwrap();
        assert!(!text.contains("titles"), "{text}");
        let read = QueueEntry::parse(Path::new("1.toml"), &text).unwrap();
        assert_eq!(title(&read), "01234567 against the commit before");
        entry.titles = vec!["my-idea against main (Prune more)".to_owned()];
        let read = QueueEntry::parse(Path::new("1.toml"), &entry.to_toml().unwrap()).unwrap();
        assert_eq!(title(&read), entry.titles[0]);
        entry.plans[0].note = Some("a note".to_owned());
        assert_eq!(title(&entry), "a note");
        // Of a chain, the run that is next; once it has ended, the run that ended it.
        entry.plans.push(plan(&spec, None));
        entry.titles.push("the longer test".to_owned());
        entry.exits = vec![0];
        assert_eq!(title(&entry), "the longer test");
        entry.state = crate::run::queue::QueueState::Done;
        assert_eq!(title(&entry), "a note");
    }
}
