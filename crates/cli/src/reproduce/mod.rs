//! `driftlock reproduce`: a paper's experiments, its figures, and whether its claims hold.

mod claims;
mod command;
mod experiment;
mod figure;
mod markup;
mod named;
mod paper;
mod parameters;
mod report;
mod violated;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use driftlock_sim::config::{Config, Plan};
use driftlock_sim::summary::Summary;
use driftlock_sim::sweep::run_all;
use toml::Value;

use crate::failure::{Failure, Outcome};
use crate::progress::Progress;
use crate::results::{print, to_table};
use crate::{output, progress};
use experiment::{Experiment, Run};
use figure::{Figure, Inline};
use named::Named;
use paper::{PAPERS, Paper};
use parameters::Parameters;
use report::{Drawn, Report, Section};

const EXAMPLES: &str = "\
For each figure: an SVG, a CSV and a Parquet file; for all of them report.html, with the paper's claims judged by the
numbers. A claim that does not hold is a finding, not an error.

Examples:
  driftlock reproduce krl                      about a minute on two cores
  driftlock reproduce crowd                    our own: crowds over radios; a quarter to half an hour
  driftlock reproduce fig8 --out /tmp/fig8
  driftlock reproduce my-experiment.toml --entries 500";

/// The flags of `driftlock reproduce`.
#[derive(clap::Args)]
#[command(after_help = format!("{}\n{EXAMPLES}", paper::overview()))]
pub(crate) struct Args {
    /// Papers, experiments or experiment files; without any, what there is
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
    /// The paper that it belongs to, if that is one of those that we reproduce.
    paper: Option<&'static Paper>,
    experiment: Experiment,
    runs: Vec<Run>,
    /// The command that does it again, and no other.
    command: String,
}

pub(crate) fn run(args: &Args) -> Outcome {
    if args.what.is_empty() {
        print(&paper::overview())?;
        return Ok(ExitCode::SUCCESS);
    }
    let studies = studies(args)?;
    let page = args.out.join("report.html");
    fs::create_dir_all(&args.out).map_err(Failure::write(&args.out))?;
    output::check([&page], [])?;
    for study in &studies {
        study.probe(args.threads)?;
    }
    let results = simulate(&studies, args.threads);
    let what: Vec<&str> = args.what.iter().map(String::as_str).collect();
    let command = command::again(&what, &args.overrides(), None);
    let report = Report { command, sections: sections(&studies, &args.out, &results)? };
    fs::write(&page, report.to_html()).map_err(Failure::write(&page))?;
    print(&format!("{}report: {}\n", report.to_text(), page.display()))?;
    let violations: u64 = results.iter().map(|(_, summary)| summary.violations).sum();
    if violations > 0 {
        eprintln!("{violations} replications were ended by a violation: the report names them");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn studies(args: &Args) -> Result<Vec<Study>, Failure> {
    let given = args.overrides();
    let overrides = given.iter().map(|(name, value)| ((*name).to_owned(), Value::Integer(*value))).collect();
    let mut studies: Vec<Study> = Vec::new();
    for (paper, name, text) in files(&args.what)? {
        let experiment = Experiment::parse(&name, &text)?;
        if studies.iter().any(|study| study.experiment.name == experiment.name) {
            let twice = &experiment.name;
            return Err(Failure::Other(format!("{name}: {twice:?} is asked for twice, and its files go by that name")));
        }
        let runs = experiment.runs(&name, &overrides)?;
        // In a folder of its own, or its report would take the place of the one that names the command.
        let command = command::again(&[&name], &given, Some(&experiment.name));
        studies.push(Study { paper, experiment, runs, command });
    }
    Ok(studies)
}

/// An experiment file, with its name, and its paper if it comes with driftlock.
type File = (Option<&'static Paper>, String, String);

/// The experiment files that are meant.
fn files(what: &[String]) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    for word in what {
        let built_in = built_in(word);
        let path = Path::new(word);
        if !built_in.is_empty() {
            files.extend(built_in);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push((None, word.clone(), fs::read_to_string(path).map_err(Failure::read(path))?));
        } else {
            return Err(Failure::Other(format!("{word:?} cannot be reproduced; {}", paper::in_a_sentence())));
        }
    }
    Ok(files)
}

/// All experiments of the paper of this name, or the one experiment.
fn built_in(word: &str) -> Vec<File> {
    let all = PAPERS.iter().flat_map(|paper| paper.experiments.iter().map(move |experiment| (paper, experiment)));
    all.filter(|(paper, (name, _))| paper.tag == word || *name == word)
        .map(|(paper, (name, text))| (Some(paper), (*name).to_owned(), (*text).to_owned()))
        .collect()
}

/// Runs what the studies need; what several of them need is run once.
fn simulate(studies: &[Study], threads: usize) -> Vec<(Config, Summary)> {
    let mut plans: Vec<Plan> = Vec::new();
    for run in studies.iter().flat_map(|study| &study.runs) {
        if !plans.contains(&run.plan) {
            plans.push(run.plan.clone());
        }
    }
    let progress = Progress::new(plans.iter().map(|plan| u64::from(plan.config.replications)).sum(), "replications");
    let summaries = run_all(&plans, threads, &|_| progress.step());
    progress.finish();
    plans.into_iter().map(|plan| plan.config).zip(summaries).collect()
}

/// Writes what was measured, and puts it together for the report: a section for each paper.
fn sections<'a>(
    studies: &[Study],
    folder: &Path,
    results: &'a [(Config, Summary)],
) -> Result<Vec<Section<'a>>, Failure> {
    let tag = |study: &Study| study.paper.map(|paper| paper.tag);
    let mut sections: Vec<Section> = Vec::new();
    for (at, study) in studies.iter().enumerate() {
        if studies[..at].iter().any(|earlier| tag(earlier) == tag(study)) {
            continue;
        }
        let of_paper: Vec<&Study> = studies[at..].iter().filter(|later| tag(later) == tag(study)).collect();
        let results: Vec<_> =
            results.iter().filter(|(config, _)| of_paper.iter().any(|study| study.needs(config))).collect();
        let judged = study.paper.map_or_else(Vec::new, |paper| (paper.judge)(&results));
        let mut drawn = Vec::new();
        for study in of_paper {
            drawn.push(study.write(folder, &results)?);
        }
        let violations = violated::keep(folder, &results)?;
        sections.push(Section { paper: study.paper, results, violations, judged, drawn });
    }
    Ok(sections)
}

impl Study {
    fn needs(&self, config: &Config) -> bool {
        self.runs.iter().any(|run| run.plan.config == *config)
    }

    /// A few entries of every simulation tell whether the figure asks for results that there are.
    fn probe(&self, threads: usize) -> Result<(), Failure> {
        let short = |run: &Run| {
            let config =
                Config { warmup: 0, warmup_time: 0.0, entries: 10, replications: 1, ..run.plan.config.clone() };
            Plan { config, ..run.plan.clone() }
        };
        let plans: Vec<Plan> = self.runs.iter().map(short).collect();
        let results: Vec<Named> = run_all(&plans, threads, &|_| ()).iter().map(Named::of).collect();
        self.experiment.check_names(&Named::union(results.iter()))
    }

    /// Writes the tables and the figures.
    fn write(&self, folder: &Path, results: &[&(Config, Summary)]) -> Result<Drawn, Failure> {
        let summary_of =
            |run: &Run| results.iter().find(|(config, _)| *config == run.plan.config).map(|found| &found.1);
        let runs: Vec<_> = self.runs.iter().filter_map(|run| Some((run, summary_of(run)?))).collect();
        let table = to_table(&runs.iter().map(|(run, summary)| (&run.plan, *summary)).collect::<Vec<_>>())?;
        let path = |suffix: &str| folder.join(format!("{}{suffix}", self.experiment.name));
        let create = |path: &Path| fs::File::create(path).map_err(Failure::write(path));
        table.write_csv(create(&path(".csv"))?)?;
        table.write_parquet(create(&path(".parquet"))?)?;
        let mut figures = Vec::new();
        let named: Vec<_> = runs.iter().map(|(run, summary)| (*run, Named::of(summary))).collect();
        for (suffix, figure) in self.experiment.figures(&named)? {
            let failed = |error: figure::FigureError| Failure::Other(error.to_string());
            let path = path(&format!("{suffix}.svg"));
            fs::write(&path, figure.to_svg().map_err(failed)?).map_err(Failure::write(&path))?;
            let inline = Inline::of(&figure).map_err(failed)?;
            figures.push((figure, inline));
        }
        Ok(self.drawn(figures))
    }

    /// What the report says about it.
    fn drawn(&self, figures: Vec<(Figure, Inline)>) -> Drawn {
        let configs: Vec<_> = self.runs.iter().map(|run| &run.plan.config).collect();
        let Experiment { name, title, about, figure, .. } = &self.experiment;
        Drawn {
            name: name.clone(),
            title: title.clone(),
            about: about.clone(),
            command: self.command.clone(),
            results: figure.drawn(),
            parameters: Parameters::of(&configs),
            figures,
        }
    }
}
