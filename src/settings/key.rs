//! List of the keys of a plan, with everything that flags, `quintain init` and the reference show.

use clap::{Arg, Args as _, Command};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::plan::{RawPlan, RawPlayer};
use super::schema;

/// A key of a plan.
#[derive(Clone, Debug)]
pub struct Key {
    /// Name in a plan file.
    pub name: String,
    /// Heading of the flag in `--help`; `None` for a key without a flag.
    pub heading: Option<String>,
    /// First paragraph of the doc comment: one line, with the default.
    pub help: String,
    /// Other paragraphs, each as one line.
    pub details: Vec<String>,
    /// Its default or an example; several values if they are names of commands.
    examples: Vec<Value>,
    /// Examples of single commands, which take precedence.
    by_command: Map<String, Value>,
    /// Commands that have the key; empty for all.
    commands: Vec<String>,
    /// Commands whose new plans set it.
    essential: Vec<String>,
}

impl Key {
    fn new(name: &str, heading: Option<&str>, property: &Value) -> Self {
        let words = |key: &str| -> Vec<String> {
            let list = property.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let mut paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        Self {
            name: name.to_owned(),
            heading: heading.map(str::to_owned),
            help: paragraphs.next().unwrap_or_default(),
            details: paragraphs.collect(),
            examples: property.get("examples").and_then(Value::as_array).cloned().unwrap_or_default(),
            by_command: property.get("x-examples").and_then(Value::as_object).cloned().unwrap_or_default(),
            commands: words("x-commands"),
            essential: words("x-essential"),
        }
    }

    /// Commands that have the key; empty for all.
    #[must_use]
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    /// True if plans of this command have the key.
    #[must_use]
    pub fn is_of(&self, command: &str) -> bool {
        self.commands.is_empty() || self.commands.iter().any(|known| known == command)
    }

    /// Returns the default or an example as TOML, for plans of this command; `None` if the key has
    /// neither.
    #[must_use]
    pub fn example(&self, command: &str) -> Option<toml::Value> {
        let is_named = |example: &&Value| example.as_str() == Some(command);
        let fits = self.by_command.get(command).or_else(|| self.examples.iter().find(is_named));
        toml::Value::try_from(fits.or(self.examples.first())?).ok()
    }

    /// True if new plans of this command set the key.
    #[must_use]
    pub fn is_essential(&self, command: &str) -> bool {
        self.essential.iter().any(|known| known == command)
    }
}

/// Returns the flags of all keys, in the order of their declaration.
///
/// A boolean key is a switch: `--ponder`, or `--ponder=false` to override a file.
pub(super) fn flags() -> Command {
    RawPlan::augment_args(Command::default().no_binary_name(true)).mut_args(|arg| {
        if arg.get_value_parser().type_id() != std::any::TypeId::of::<bool>() {
            return arg;
        }
        arg.num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOL")
            .hide_possible_values(true)
    })
}

/// Returns the key of a flag.
pub(super) fn name_of(flag: &Arg) -> String {
    flag.get_id().as_str().replace('_', "-")
}

/// Returns the properties of a type in its JSON Schema, by key.
fn properties<T: JsonSchema>() -> Map<String, Value> {
    let schema = schema::of::<T>();
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Returns the keys of a plan: those with a flag in the order of their declaration, then the
/// others.
#[must_use]
pub fn keys() -> Vec<Key> {
    let mut properties = properties::<RawPlan>();
    let mut keys = Vec::with_capacity(properties.len());
    for flag in flags().get_arguments() {
        let name = name_of(flag);
        let property = properties.remove(&name).unwrap_or_default();
        keys.push(Key::new(&name, flag.get_help_heading(), &property));
    }
    keys.extend(properties.iter().map(|(name, property)| Key::new(name, None, property)));
    keys
}

/// Returns the keys of a player, those without an example last.
#[must_use]
pub fn player_keys() -> Vec<Key> {
    let order = ["name", "options", "tc"];
    let mut keys: Vec<Key> =
        properties::<RawPlayer>().iter().map(|(name, property)| Key::new(name, None, property)).collect();
    keys.sort_by_key(|key| order.iter().position(|name| *name == key.name).unwrap_or(order.len()));
    keys
}
