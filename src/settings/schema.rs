//! JSON Schemas of the TOML files that users write, for editors and validators.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::plan::RawPlan;
use crate::source::{RawRecipe, RawRegistry};

/// A file that a user writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum UserFile {
    /// Plan of a test, a match or a gauntlet.
    Plan,
    /// `quintain.toml`: how the engine of a repository is built.
    Quintain,
    /// `engines.toml`: engines by name.
    Engines,
}

impl UserFile {
    /// Returns the schema as a JSON document.
    #[must_use]
    pub fn schema(self) -> Value {
        match self {
            Self::Plan => of::<RawPlan>(),
            Self::Quintain => of::<RawRecipe>(),
            Self::Engines => of::<RawRegistry>(),
        }
    }
}

/// Returns the schema of a type, without `null` types and defaults, because TOML has no null.
pub(super) fn of<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    RecursiveTransform(without_null).transform(&mut schema);
    schema.to_value()
}

fn without_null(schema: &mut Schema) {
    schema.remove("default");
    let Some(Value::Array(types)) = schema.get_mut("type") else { return };
    types.retain(|name| name != "null");
    if let [only] = types.as_slice() {
        let only = only.clone();
        schema.insert("type".to_owned(), only);
    }
}
