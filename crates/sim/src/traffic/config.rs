//! What is simulated. Everything has a default; nonsense is refused in a sentence.

use driftlock_field::faults::Faults;
use driftlock_field::medium::Medium;
use driftlock_field::mobility::{Area, Model, Movement, RandomWaypoint};
use driftlock_field::radio::Settings;
use driftlock_field::radio::settings::{Access, Csma, Propagation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::field::{FieldError, FieldPlan, Radio};

/// The most nodes.
const NODES_MAX: u32 = 1_000_000;
/// The longest message, as UDP has it.
const BYTES_MAX: u32 = 65_507;
/// The bounds of spans of time, in seconds: what is counted in nanoseconds stays within 64 bits.
const SECONDS_MAX: f64 = 1e6;
const PERIOD_MIN: f64 = 1e-3;

/// Traffic on a field, as a person writes it down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many nodes there are.
    pub nodes: u32,
    /// Where they are and how they move, their radios and their routers, and what goes wrong.
    pub field: FieldPlan,
    /// Whether those who are neighbours at the start get numbers that are close together, and so places in memory: with
    /// thousands of nodes that saves misses of the caches. Otherwise they have the numbers of the field, as in any
    /// other run on it.
    pub numbered_by_place: bool,
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
        let radio = Settings {
            propagation: Propagation::UnitDisk { range_m: 200.0, sense: 2.2, interference: 1.78 },
            access: Access::Csma(Csma { bitrate_bps: 11e6, ..Csma::default() }),
            ..Settings::default()
        };
        let walk = RandomWaypoint { speed_min: 0.1, speed_max: 8.0, pause: 0.0 };
        Self {
            nodes: 50,
            field: FieldPlan {
                area: Area { width: 1000.0, height: 1000.0 },
                movement: Model::RandomWaypoint(walk),
                radio: Radio::Written(Box::new(radio)),
                ..FieldPlan::default()
            },
            numbered_by_place: true,
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
    /// No node to send to, or more than fit.
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
    /// A field that makes none.
    #[error("the field: {0}")]
    Field(FieldError),
}

/// Traffic that makes sense.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was asked for.
    pub config: Config,
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
        if let Some(within) = self.within {
            number("within", "from 0 to 1000000000", within, 0.0, 1e9)?;
        }
        self.field.check_ground(self.nodes).map_err(ConfigError::Field)?;
        Ok(Plan { config: self })
    }
}

impl Plan {
    /// Every parameter as a file has it, and null if it had no say in the run. The radio is written out.
    pub fn parameters(&self) -> Value {
        let mut parameters = serde_json::to_value(&self.config).unwrap_or_default();
        parameters["field"] =
            self.config.field.in_force(&["link", "session", "flood", "suspicion", "adverts", "limits"]);
        parameters
    }

    /// The nodes on their way about the field, and what goes wrong on it. It was checked, but a file of movements may
    /// have changed since.
    pub(super) fn ground<F: Clone>(&self) -> Result<(Medium<F>, Faults), FieldError> {
        let Config { field, nodes, seed, .. } = &self.config;
        let medium = Medium::new(self.movement()?, field.radio_rules()?, *seed);
        Ok((medium, Faults::new(&field.schedule(*nodes, *seed)?, *nodes, Faults::STEP)?))
    }

    fn movement(&self) -> Result<Movement, FieldError> {
        let movement = self.config.field.movement(self.config.nodes, self.config.seed)?;
        Ok(if self.config.numbered_by_place { movement.in_order_of_place() } else { movement })
    }
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
        assert!(refused(|it| it.within = Some(-1.0)).starts_with("within must be"));
        assert!(refused(|it| it.bytes = 70_000).starts_with("bytes must be"));
        let nowhere = Area { width: 0.0, height: 1.0 };
        let area = Config { field: FieldPlan { area: nowhere, ..FieldPlan::default() }, ..Config::default() };
        assert!(area.plan().unwrap_err().to_string().starts_with("the field: the area must be"));
        let crowd = refused(|it| it.nodes = NODES_MAX);
        assert!(crowd.contains("take fewer nodes, a larger area"), "{crowd}");
        let deaf = refused(|it| it.field.radio = Radio::Named("cb".into()));
        assert!(deaf.starts_with("the field: there is no radio preset \"cb\""), "{deaf}");
    }

    #[test]
    fn results_have_the_radio_in_numbers_and_no_layers_that_were_not_there() {
        let field = FieldPlan { radio: Radio::Named("nfk".into()), ..FieldPlan::default() };
        let parameters = Config { field, ..Config::default() }.plan().unwrap().parameters();
        assert_eq!(parameters["field"]["radio"]["propagation"]["range-m"], 200.0);
        let layers = &parameters["field"]["layers"];
        assert!(layers["link"].is_null() && layers["session"].is_null() && layers["aodv"].is_object());
    }
}
