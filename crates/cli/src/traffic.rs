//! `driftlock traffic`: requests and replies over routes on a moving field, with no algorithm on top.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::str::FromStr;

use clap::ValueEnum;
use driftlock_field::mobility::{Area, Model, RandomWaypoint};
use driftlock_field::radio::settings::Propagation;
use driftlock_field::radio::{self, presets};
use driftlock_net::aodv;
use driftlock_sim::field::{FieldPlan, Radio};
use driftlock_sim::traffic::{self, Config, ConfigError, Plan, Report};

use crate::failure::{Failure, Outcome};
use crate::field::FieldFlags;
use crate::output;
use crate::results::print;

/// So many there are unless the user says otherwise.
const NODES: u32 = 50;

const EXAMPLES: &str = "\
Nodes move by random waypoint and have radios; AODV finds the ways. Each node sends a request of 64 bytes to a random \
other now and then, and a node that gets one answers with as much. Measured: how many requests are answered, how long \
that takes, and what it costs. It tells what a field does to any algorithm before one runs on it. The same command \
prints the same numbers.

Requests are sent for --seconds; then replies may still arrive for ten more. With --within the destination is drawn \
from the nodes that are that near at the time. A --radio is a preset (docs/radio.md); --range changes how far it is \
received, and leaves how many times farther it is sensed and disturbs. --routing is rfc, the defaults of RFC 3561 \
without hellos, or ns-3, the constants and hellos of that simulator (docs/routing.md, docs/field-benchmarks.md).

With --field it is the field of driftlock sim --field with the same seed and nodes: its area, movement, radio, \
constants of AODV and faults. A node that is down sends nothing, and finds its routes anew when it is back; one that \
pauses does later what it should have done. With --tracks nodes go where a file says, on the field or with the \
radio of the flags; all begins when the first node is there, and ends with the movements if they end before --seconds do.

Examples:
  driftlock traffic                                       50 nodes on a square kilometre for 300 s
  driftlock traffic --nodes 200 --density 100 --speed 1..20
  driftlock traffic --nodes 36 --area 900x900 --speed 0   all nodes stand
  driftlock traffic --nodes 10000 --within 600 --seconds 30
  driftlock traffic --radio ns-3 --range 200 --routing ns-3 --format json
  driftlock traffic --field walkers --nodes 30 --pcap run.pcapng
  driftlock traffic --tracks city.fcd.xml.gz --radio wifi-11mbps

Exit codes: 0 it was run, 2 it could not be.";

/// The flags of `driftlock traffic`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The number of nodes [default: 50, or as many as --tracks has]
    #[arg(long, allow_hyphen_values = true)]
    nodes: Option<u32>,
    /// Nodes per square kilometre: the area is the square that fits
    #[arg(long, default_value_t = 50.0, conflicts_with_all = ["area", "field", "tracks"], allow_hyphen_values = true)]
    density: f64,
    /// The area instead, in metres
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = area, conflicts_with_all = ["field", "tracks"],
          allow_hyphen_values = true)]
    area: Option<Area>,
    /// How fast nodes move, in m/s, drawn anew for each way; 0 if all nodes stand
    #[arg(long, value_name = "MIN..MAX", default_value = "0.1..8", conflicts_with_all = ["field", "tracks"],
          allow_hyphen_values = true)]
    speed: Speed,
    /// How far a radio is received, in metres; for radios whose range is a number [default: the radio's]
    #[arg(long, value_name = "METRES", conflicts_with = "field", allow_hyphen_values = true)]
    range: Option<f64>,
    /// The radio
    #[arg(long, value_name = "PRESET", default_value = "nfk", conflicts_with = "field", value_parser = presets::NAMES)]
    radio: String,
    /// The constants of AODV [default: those of the field, or rfc]
    #[arg(long, value_enum)]
    routing: Option<Routing>,
    /// How far a search for a route goes at most, in hops [default: as the constants say; 35 by the RFC]
    #[arg(long, value_name = "HOPS", value_parser = clap::value_parser!(u8).range(1..))]
    diameter: Option<u8>,
    /// The mean time from one request of a node to its next, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, allow_hyphen_values = true)]
    period: f64,
    /// For how long requests are sent
    #[arg(long, default_value_t = 300.0, allow_hyphen_values = true)]
    seconds: f64,
    /// From which all randomness follows
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Send only to nodes that are at most this far away, in metres
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    within: Option<f64>,
    #[command(flatten)]
    field: FieldFlags,
    /// How to write the results
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// One JSON object, with the configuration
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Routing {
    /// RFC 3561, without hellos: radios tell what they could not send
    Rfc,
    /// As ns-3 has it
    #[value(name = "ns-3")]
    Ns3,
}

impl Routing {
    fn settings(self) -> aodv::Settings {
        match self {
            Self::Rfc => aodv::Settings::default(),
            Self::Ns3 => aodv::Settings::ns3(),
        }
    }
}

/// The lowest and the highest speed.
#[derive(Clone, Copy, PartialEq)]
struct Speed(f64, f64);

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str| text.trim().parse().ok();
        number(min).zip(number(max)).map(|(min, max)| Self(min, max)).ok_or_else(|| {
            format!("{text:?} is no speed: write the lowest and the highest such as 0.1..8, or one for both")
        })
    }
}

fn area(text: &str) -> Result<Area, String> {
    let sides = text.split_once('x').and_then(|(width, height)| {
        Some(Area { width: width.trim().parse().ok()?, height: height.trim().parse().ok()? })
    });
    sides.ok_or_else(|| format!("{text:?} is no area: write width and height in metres such as 1000x500"))
}

pub(crate) fn run(args: &Args) -> Outcome {
    let plan = args.plan()?;
    output::check(&args.field.pcap, args.field.inputs())?;
    let report = traffic::run(&plan, args.field.capture()?).map_err(|error| match &args.field.pcap {
        Some(path) => Failure::Write { path: path.clone(), error },
        None => Failure::Other(error.to_string()),
    })?;
    let text = match args.format {
        Format::Table => table(&plan, &report),
        Format::Json => {
            let mut object = serde_json::to_value(&report).unwrap_or_default();
            object["config"] = plan.parameters();
            format!("{object:#}\n")
        }
    };
    print(&text)?;
    if let Some(note) = movements_over(&plan, &report) {
        eprintln!("{note}");
    }
    Ok(ExitCode::SUCCESS)
}

/// What to say of traffic that ended before its time, because its movements were over.
fn movements_over(plan: &Plan, report: &Report) -> Option<String> {
    let (path, over) = (plan.config.field.tracks.as_ref()?.display(), report.over?);
    let ([from, until], Config { seconds, .. }) = (report.sent, &plan.config);
    Some(format!(
        "{path}: the movements are over at {over} s, and with them the traffic; requests were sent from {from} s to {until} s, \
         and --seconds is {seconds}"
    ))
}

impl Args {
    fn plan(&self) -> Result<Plan, Failure> {
        let field = match self.field.named()? {
            Some(field) => field,
            None => (self.own_field()?, None),
        };
        let mut asked = self.field.over(field)?;
        let aodv = &mut asked.field.layers.aodv;
        if let Some(routing) = self.routing {
            *aodv = routing.settings();
        }
        aodv.net_diameter = self.diameter.unwrap_or(aodv.net_diameter);
        let config = Config {
            nodes: self.nodes.or(asked.nodes_on_tracks).unwrap_or(NODES),
            field: asked.field.clone(),
            numbered_by_place: !self.field.are_given(),
            period: self.period,
            within: self.within,
            seconds: self.seconds,
            seed: self.seed,
            ..Config::default()
        };
        config.plan().map_err(|error| match error {
            ConfigError::Field(error) => asked.refuse(&error),
            error => Failure::Traffic(error),
        })
    }

    /// The field that the flags describe.
    fn own_field(&self) -> Result<FieldPlan, Failure> {
        let density = self.density;
        if !(1e-3..=1e6).contains(&density) {
            let bound = "from 0.001 to 1000000";
            return Err(Failure::Traffic(ConfigError::Number { name: "density", bound, value: density }));
        }
        let Speed(speed_min, speed_max) = self.speed;
        let stands = self.speed == Speed(0.0, 0.0);
        let walk = Model::RandomWaypoint(RandomWaypoint { speed_min, speed_max, pause: 0.0 });
        Ok(FieldPlan {
            area: self.area.unwrap_or_else(|| square(self.nodes.unwrap_or(NODES), density)),
            movement: if stands { Model::Uniform {} } else { walk },
            radio: Radio::Written(Box::new(self.own_radio()?)),
            ..FieldPlan::default()
        })
    }

    fn own_radio(&self) -> Result<radio::Settings, Failure> {
        let mut radio: radio::Settings =
            self.radio.parse().map_err(|error: radio::SettingsError| Failure::Other(error.to_string()))?;
        if let Some(range) = self.range {
            match &mut radio.propagation {
                Propagation::UnitDisk { range_m, .. } => *range_m = range,
                Propagation::LogDistance { .. } => {
                    return Err(Failure::Other(format!("the range of {} follows from its power", self.radio)));
                }
            }
        }
        Ok(radio)
    }
}

/// The square in which so many nodes have this density, to the square kilometre.
fn square(nodes: u32, density: f64) -> Area {
    const SQUARE_METRES_PER_SQUARE_KILOMETRE: f64 = 1e6;
    let side = (f64::from(nodes) / density * SQUARE_METRES_PER_SQUARE_KILOMETRE).sqrt();
    Area { width: side, height: side }
}

fn table(plan: &Plan, report: &Report) -> String {
    let Config { nodes, field: FieldPlan { area, tracks, .. }, .. } = &plan.config;
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<28}{value}");
    };
    row(
        "nodes",
        match tracks {
            Some(path) => format!("{nodes} with the movements of {}", path.display()),
            None => format!("{nodes} on {:.0} x {:.0} m", area.width, area.height),
        },
    );
    row("requests", format!("{}", report.requests));
    if report.nobody_near > 0 {
        row("not sent, nobody near", format!("{}", report.nobody_near));
    }
    if report.down > 0 {
        row("not sent, node down", format!("{}", report.down));
    }
    if report.absent > 0 {
        row("not sent, node absent", format!("{}", report.absent));
    }
    row("answered", percent(report.delivery));
    row("arrived", percent(report.one_way));
    if let Some(times) = report.round_trip {
        let millis = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
        row("round trip, mean", millis(times.mean));
        row("round trip, median", millis(times.p50));
        row("round trip, 95 %", millis(times.p95));
    }
    let packets = &report.packets;
    row("hops a message", number(report.hops_per_message));
    row("routing packets a message", number(report.routing_per_message));
    row("  RREQ", format!("{}", packets.requests));
    row("  RREP", format!("{}", packets.replies));
    row("  RERR", format!("{}", packets.errors));
    row("  hello", format!("{}", packets.hellos));
    let radio = &report.radio;
    row("frames on the air", format!("{} and {} acknowledgements", radio.data_sent, radio.acks_sent));
    row("  repetitions", format!("{}", radio.retries));
    row("  given up", format!("{}", radio.failed));
    row("  collisions at receivers", format!("{}", radio.collisions));
    row("energy (proxy)", format!("{:.0} J", report.joules));
    row("events", format!("{}", report.events));
    text
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.2} %", share * 100.0))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.2}"))
}
