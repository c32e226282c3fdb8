//! Why a command could not be run: what happened, to what, and what to do.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use driftlock_sim::config::ConfigError;
use driftlock_table::TableError;
use driftlock_trace::replay::ReplayError;
use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

/// What a subcommand gives back: its verdict as an exit code, or why there is none.
pub(crate) type Outcome = Result<std::process::ExitCode, Failure>;

/// A command that could not be run.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum Failure {
    /// The parameters make no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The parameters in a file make no sense.
    #[error("{error} (in {}, or in a flag)", path.display())]
    ConfigIn {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        error: ConfigError,
    },
    /// The traffic makes no sense.
    #[error(transparent)]
    Traffic(#[from] driftlock_sim::traffic::ConfigError),
    /// A file is not the TOML that it should be.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Toml(Box<BadToml>),
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Standard output is closed or full.
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    /// A table cannot be written.
    #[error("cannot write the results")]
    Table(#[from] TableError),
    /// A trace cannot be replayed.
    #[error("{}: {error}", path.display())]
    Replay {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        error: ReplayError,
    },
    /// Anything that is said best in a sentence of its own.
    #[error("{0}")]
    Other(String),
}

/// A place in a file that is not the TOML that it should be.
#[derive(Debug, Error, Diagnostic)]
#[error("{name}, line {line}, column {column}: {message}")]
pub(crate) struct BadToml {
    name: String,
    line: usize,
    column: usize,
    message: String,
    #[source_code]
    text: NamedSource<String>,
    #[label("here")]
    span: SourceSpan,
}

impl Failure {
    /// A file cannot be read.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Read { path: path.to_owned(), error }
    }

    /// A file cannot be written.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Write { path: path.to_owned(), error }
    }

    /// `text`, which is called `name`, is not the TOML that it should be.
    pub(crate) fn toml(name: &str, text: &str, error: &toml::de::Error) -> Self {
        let message = error.message().trim_end().replace('\n', "; ");
        Self::at(name, text, error.span().unwrap_or(0..0), message)
    }

    /// What `text`, which is called `name`, says at this place makes no sense.
    pub(crate) fn at(name: &str, text: &str, span: Range<usize>, message: String) -> Self {
        let before = &text[..span.start.min(text.len())];
        Self::Toml(Box::new(BadToml {
            name: name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|&c| c != '\n').count() + 1,
            message,
            text: NamedSource::new(name, text.to_owned()),
            span: span.into(),
        }))
    }
}
