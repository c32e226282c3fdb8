//! `driftlock reproduce`: a paper's experiments, its figures, and whether its claims hold.

mod claims;
mod experiment;
mod figure;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use driftlock_sim::config::{Config, Plan};
use driftlock_sim::summary::Summary;
use driftlock_sim::sweep::run_all;
use toml::Value;

use crate::failure::{Failure, Outcome};
use crate::progress;
use crate::results::{print, to_table};
use claims::judge;
use experiment::{BUILT_IN, Experiment, Run};
use report::{Drawn, Report};

const EXAMPLES: &str = "\
What can be reproduced: krl (all of the paper of Walter, Cao and Mohanty, 2001, and our adaptive variant beside it),
fig6, fig7, fig8, fig9, adaptive-time, adaptive-messages, or a TOML file like those in experiments/.

For each figure: an SVG, a CSV and a Parquet file; for all of them report.html, with the paper's claims judged by the
numbers. A claim that does not hold is a finding, not an error.

Examples:
  driftlock reproduce krl                      about a minute on two cores
  driftlock reproduce fig8 --out /tmp/fig8
  driftlock reproduce my-experiment.toml --entries 500";

/// The flags of `driftlock reproduce`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Figures, papers or experiment files
    #[arg(default_value = "krl")]
    what: Vec<String>,
    /// The folder for the results
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    out: PathBuf,
    /// From which all randomness follows
    #[arg(long, value_parser = clap::value_parser!(i64).range(0..))]
    seed: Option<i64>,
    /// Entries that are counted, in each replication (for a quick look)
    #[arg(long)]
    entries: Option<u32>,
    /// Independent repetitions of each simulation
    #[arg(long)]
    replications: Option<u32>,
    /// Threads to use; 0 is one for each core. The results do not depend on it
    #[arg(long, default_value_t = 0, value_parser = progress::threads)]
    threads: usize,
}

impl Args {
    /// The parameters that are given here and win over those of the experiments.
    fn overrides(&self) -> Vec<(&'static str, i64)> {
        let given = [
            ("seed", self.seed),
            ("entries", self.entries.map(i64::from)),
            ("replications", self.replications.map(i64::from)),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// An experiment with its simulations.
struct Study {
    experiment: Experiment,
    runs: Vec<Run>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let studies = studies(args)?;
    fs::create_dir_all(&args.out).map_err(Failure::write(&args.out))?;
    let results = simulate(&studies, args.threads);
    let mut drawn = Vec::new();
    for study in &studies {
        drawn.extend(study.write(&args.out, &results)?);
    }
    let judged = judge(&results);
    let report = Report { command: command(args), results: &results, judged: &judged, drawn: &drawn };
    let path = args.out.join("report.html");
    fs::write(&path, report.to_html()).map_err(Failure::write(&path))?;
    print(&format!("{}report: {}\n", report.to_text(), path.display()))?;
    let violations: u64 = results.iter().map(|(_, summary)| summary.violations).sum();
    if violations > 0 {
        eprintln!("{violations} replications were ended by a violation: the report names them");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn studies(args: &Args) -> Result<Vec<Study>, Failure> {
    let overrides = args.overrides();
    let overrides = overrides.iter().map(|(name, value)| ((*name).to_owned(), Value::Integer(*value))).collect();
    let mut studies = Vec::new();
    for (name, text) in files(&args.what)? {
        let experiment = Experiment::parse(&name, &text)?;
        let runs = experiment.runs(&name, &overrides)?;
        studies.push(Study { experiment, runs });
    }
    Ok(studies)
}

/// The experiment files that are meant, each with its name.
fn files(what: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let mut files = Vec::new();
    for word in what {
        let path = Path::new(word);
        if word == "krl" {
            files.extend(BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
        } else if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| name == word) {
            files.push(((*name).to_owned(), (*text).to_owned()));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push((word.clone(), fs::read_to_string(path).map_err(Failure::read(path))?));
        } else {
            let names: Vec<_> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(Failure::Other(format!(
                "{word:?} can not be reproduced; there are krl, {names}, and TOML files"
            )));
        }
    }
    Ok(files)
}

/// Runs what the studies need; what several of them need is run once.
fn simulate(studies: &[Study], threads: usize) -> Vec<(Config, Summary)> {
    let mut plans: Vec<Plan> = Vec::new();
    for run in studies.iter().flat_map(|study| &study.runs) {
        if !plans.contains(&run.plan) {
            plans.push(run.plan.clone());
        }
    }
    let bar = progress::bar(plans.iter().map(|plan| u64::from(plan.config.replications)).sum(), "replications");
    let summaries = run_all(&plans, threads, &|_| bar.inc(1));
    bar.finish_and_clear();
    plans.into_iter().map(|plan| plan.config).zip(summaries).collect()
}

impl Study {
    /// Writes the tables and the figures.
    fn write(&self, folder: &Path, results: &[(Config, Summary)]) -> Result<Vec<Drawn>, Failure> {
        let summary_of =
            |run: &Run| results.iter().find(|(config, _)| *config == run.plan.config).map(|found| &found.1);
        let runs: Vec<_> = self.runs.iter().filter_map(|run| Some((run, summary_of(run)?))).collect();
        let table = to_table(&runs.iter().map(|(run, summary)| (&run.plan, *summary)).collect::<Vec<_>>())?;
        let path = |suffix: &str| folder.join(format!("{}{suffix}", self.experiment.name));
        let create = |path: &Path| fs::File::create(path).map_err(Failure::write(path));
        table.write_csv(create(&path(".csv"))?)?;
        table.write_parquet(create(&path(".parquet"))?)?;
        let mut drawn = Vec::new();
        for (suffix, figure) in self.experiment.figures(&runs)? {
            let svg = figure.to_svg().map_err(|error| Failure::Other(error.to_string()))?;
            let path = path(&format!("{suffix}.svg"));
            fs::write(&path, &svg).map_err(Failure::write(&path))?;
            drawn.push(Drawn { title: figure.title, about: self.experiment.about.clone(), svg });
        }
        Ok(drawn)
    }
}

/// The command that does the same again.
fn command(args: &Args) -> String {
    let overrides: String = args.overrides().iter().map(|(name, value)| format!(" --{name} {value}")).collect();
    format!("driftlock reproduce {}{overrides}", args.what.join(" "))
}
