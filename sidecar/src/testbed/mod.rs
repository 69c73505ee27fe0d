//! Testbeds: reading their files, starting their processes, stopping them.

mod attempt;
pub mod catalogue;
pub mod check;
pub mod choices;
mod errand;
pub mod file;
mod generate;
pub mod hop;
pub mod instance;
pub mod launch;
mod log_folder;
pub mod needs;
pub mod network;
mod parts;
mod ports;
mod ready;
mod requires;
pub mod secrets;
mod select;
mod setting;
pub mod supervisor;
mod template;
mod validate;
pub mod variables;
mod versions;
