//! What `--json` prints: one document, whose schema is docs/command.md; a test holds the two to each other.

use super::{Stop, print};
use serde_json::{Map, Value};

/// The version of the schema: raised when a field goes or comes to mean something else, not when one is added.
const VERSION: u32 = 1;

/// Prints a document, its version first.
pub(super) fn document(fields: Value) -> Result<(), Stop> {
    let mut document = Map::new();
    document.insert("version".to_owned(), VERSION.into());
    if let Value::Object(fields) = fields {
        document.extend(fields);
    }
    print(&format!("{:#}\n", Value::Object(document)))
}

/// `B = 64, ILP = 4`.
pub(super) fn words(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The same as `{"B": "64", "ILP": "4"}` has it.
pub(super) fn generics(values: &[(String, String)]) -> Value {
    values.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect::<Map<_, _>>().into()
}
