//! What is simulated. Everything has a default; nonsense is refused in a sentence.

use driftlock_field::mobility::{Area, Model, ModelError, Movement, RandomWaypoint};
use driftlock_field::radio::settings::{Access, Csma, Propagation};
use driftlock_field::radio::{Rules, Settings, SettingsError};
use driftlock_net::{Time, aodv};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most nodes.
const NODES_MAX: u32 = 1_000_000;
/// The longest message, as UDP has it.
const BYTES_MAX: u32 = 65_507;
/// The bounds of spans of time, in seconds: what is counted in nanoseconds stays within 64 bits.
const SECONDS_MAX: f64 = 1e6;
const PERIOD_MIN: f64 = 1e-3;

const SQUARE_METRES_PER_SQUARE_KILOMETRE: f64 = 1e6;

/// Traffic on a field, as a person writes it down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many nodes there are.
    pub nodes: u32,
    /// How many to the square kilometre: the area is the square that fits.
    pub density: f64,
    /// Where they are, instead of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// How they move.
    pub mobility: Model,
    /// Their radios.
    pub radio: Settings,
    /// Their routers.
    pub routing: aodv::Settings,
    /// How long a node waits from one request to the next on average, in seconds. Waits are exponential.
    pub period: f64,
    /// How long a message is, without headers.
    pub bytes: u32,
    /// How far away the destination of a request is at most when it is sent, in metres; without it, anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// For how long requests are sent.
    pub seconds: f64,
    /// For how long replies may still arrive after that, in seconds.
    pub grace: f64,
    /// From which all randomness follows.
    pub seed: u64,
}

impl Default for Config {
    /// Fifty nodes that walk and drive about on a square kilometre, with 802.11b.
    fn default() -> Self {
        Self {
            nodes: 50,
            density: 50.0,
            area: None,
            mobility: Model::RandomWaypoint(RandomWaypoint { speed_min: 0.1, speed_max: 8.0, pause: 0.0 }),
            radio: Settings {
                propagation: Propagation::UnitDisk { range_m: 200.0, sense: 2.2, interference: 1.78 },
                access: Access::Csma(Csma { bitrate_bps: 11e6, ..Csma::default() }),
                ..Settings::default()
            },
            routing: aodv::Settings::default(),
            period: 10.0,
            bytes: 64,
            within: None,
            seconds: 300.0,
            grace: 10.0,
            seed: 1,
        }
    }
}

/// Why a configuration makes no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ConfigError {
    /// Nobody to send to, or more than fit.
    #[error("nodes must be from 2 to {NODES_MAX}, not {0}")]
    Nodes(u32),
    /// A message that is none.
    #[error("bytes must be from 0 to {BYTES_MAX}, not {0}")]
    Bytes(u32),
    /// A number that is none.
    #[error("{name} must be a finite number {bound}, not {value:?}")]
    Number {
        /// Which parameter.
        name: &'static str,
        /// What it may be.
        bound: &'static str,
        /// What it is.
        value: f64,
    },
    /// A movement that makes no sense.
    #[error(transparent)]
    Mobility(#[from] ModelError),
    /// A radio that makes no sense.
    #[error("the radio's {0}")]
    Radio(SettingsError),
}

/// Not as its source: what it says is said already.
impl From<SettingsError> for ConfigError {
    fn from(error: SettingsError) -> Self {
        Self::Radio(error)
    }
}

/// Traffic that makes sense.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was asked for.
    pub config: Config,
    /// Where the nodes are.
    pub area: Area,
    pub(super) rules: Rules,
    pub(super) until: Time,
    pub(super) end: Time,
}

impl Config {
    /// Refuses what makes no sense.
    pub fn plan(self) -> Result<Plan, ConfigError> {
        if !(2..=NODES_MAX).contains(&self.nodes) {
            return Err(ConfigError::Nodes(self.nodes));
        }
        if self.bytes > BYTES_MAX {
            return Err(ConfigError::Bytes(self.bytes));
        }
        let number = |name, bound, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) { Ok(()) } else { Err(ConfigError::Number { name, bound, value }) }
        };
        number("period", "from 0.001 to 1000000", self.period, PERIOD_MIN, SECONDS_MAX)?;
        number("seconds", "from 0 to 1000000", self.seconds, 0.0, SECONDS_MAX)?;
        number("grace", "from 0 to 1000000", self.grace, 0.0, SECONDS_MAX)?;
        number("density", "from 0.001 to 1000000", self.density, 1e-3, 1e6)?;
        if let Some(within) = self.within {
            number("within", "from 0 to 1000000000", within, 0.0, 1e9)?;
        }
        let area = self.area.unwrap_or_else(|| square(self.nodes, self.density));
        self.mobility.check(area, self.nodes)?;
        let (until, end) = (Time::from_units(self.seconds), Time::from_units(self.seconds + self.grace));
        Ok(Plan { rules: self.radio.rules()?, area, until, end, config: self })
    }
}

impl Plan {
    /// Neighbours mostly have numbers, and so places in memory, that are close together: with thousands of nodes that saves
    /// misses of the caches.
    pub(super) fn movement(&self) -> Movement {
        let Config { mobility, nodes, seed, .. } = &self.config;
        let movement = Movement::new(mobility, self.area, *nodes, *seed).expect("the model has been checked");
        movement.in_order_of_place()
    }
}

/// The square in which so many nodes have this density.
fn square(nodes: u32, density: f64) -> Area {
    let side = (f64::from(nodes) / density * SQUARE_METRES_PER_SQUARE_KILOMETRE).sqrt();
    Area { width: side, height: side }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused_by_name() {
        let refused = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.plan().expect_err("it makes no sense").to_string()
        };
        assert_eq!(refused(|it| it.nodes = 1), "nodes must be from 2 to 1000000, not 1");
        assert!(refused(|it| it.period = 0.0).starts_with("period must be"));
        assert!(refused(|it| it.seconds = f64::NAN).starts_with("seconds must be"));
        assert!(refused(|it| it.grace = -1.0).starts_with("grace must be"));
        assert!(refused(|it| it.density = f64::INFINITY).starts_with("density must be"));
        assert!(refused(|it| it.within = Some(-1.0)).starts_with("within must be"));
        assert!(refused(|it| it.bytes = 70_000).starts_with("bytes must be"));
        assert!(refused(|it| it.area = Some(Area { width: 0.0, height: 1.0 })).starts_with("the area must be"));
        assert_eq!(refused(|it| it.radio.loss = 2.0), "the radio's loss is 2, but a probability is from 0 to 1");
    }

    #[test]
    fn the_area_follows_from_the_density_unless_it_is_given() {
        let plan = Config { nodes: 200, ..Config::default() }.plan().unwrap();
        assert!((plan.area.width - 2_000.0).abs() < 1e-9);
        let area = Area { width: 10.0, height: 20.0 };
        assert_eq!(Config { area: Some(area), ..Config::default() }.plan().unwrap().area, area);
    }
}
