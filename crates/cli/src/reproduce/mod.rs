//! reproduce
use crate::failure::Outcome;
#[derive(clap::Args)]
pub(crate) struct Args {}
pub(crate) fn run(_args: &Args) -> Outcome { todo!() }
