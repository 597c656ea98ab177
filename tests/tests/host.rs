//! What a program does with devices, buffers and launches beside launching: on every device there is.

#[path = "host/choices.rs"]
mod choices;
#[path = "host/constants.rs"]
mod constants;
#[path = "host/fields.rs"]
mod fields;
#[path = "host/groups.rs"]
mod groups;
#[path = "host/time.rs"]
mod time;
#[path = "host/variants.rs"]
mod variants;
#[path = "host/views.rs"]
mod views;
