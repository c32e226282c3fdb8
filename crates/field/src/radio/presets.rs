//! Settings with a name: the papers' own, where they give any, and two well-known radios.

use std::str::FromStr;

use super::settings::{Access, Csma, Delay, JammedSenses, Power, Propagation, Settings, SettingsError};

/// The names of all presets.
pub const NAMES: [&str; 7] = ["ideal", "wifi-2mbps", "wifi-11mbps", "ns-3", "klme", "cluster", "nfk"];

/// The disk of ns-2's standard radio, a `WaveLAN` card at 914 MHz: received up to 250 m, sensed up to 550 m, and at 250
/// m from a sender another must be 1.78 times as far away for the ten decibels that its capture asks for.
fn wavelan(range_m: f64) -> Propagation {
    Propagation::UnitDisk { range_m, sense: wavelan_sense(), interference: wavelan_interference() }
}

pub(super) fn wavelan_range_m() -> f64 {
    250.0
}

pub(super) fn wavelan_sense() -> f64 {
    2.2
}

pub(super) fn wavelan_interference() -> f64 {
    1.78
}

impl Default for Csma {
    /// 802.11 DSSS at 2 Mb/s with the long preamble, as ns-3 has it.
    fn default() -> Self {
        Self {
            bitrate_bps: 2e6,
            basic_bps: 1e6,
            preamble_us: 192.0,
            overhead_bytes: 36,
            ack_bytes: 14,
            slot_us: 20.0,
            sifs_us: 10.0,
            difs_us: 50.0,
            turnaround_us: 5.0,
            cw_min: 31,
            cw_max: 1023,
            retries: 6,
        }
    }
}

impl Default for Settings {
    /// The preset `wifi-2mbps`.
    fn default() -> Self {
        Self {
            propagation: wavelan(wavelan_range_m()),
            access: Access::Csma(Csma::default()),
            loss: 0.0,
            weather_slot_ms: 1.0,
            bursts: None,
            delay: Delay::None,
            duplicated: 0.0,
            duplicates: false,
            queue_max: 50,
            jammed_senses: JammedSenses::Busy,
            power: Power::default(),
        }
    }
}

impl Settings {
    /// No loss, no airtime, no collisions: every frame arrives after a millisecond at all within 250 m.
    pub fn ideal() -> Self {
        let propagation = Propagation::UnitDisk { range_m: 250.0, sense: 1.0, interference: 1.0 };
        Self { propagation, access: Access::Ideal { latency_ms: 1.0 }, ..Self::default() }
    }

    /// 802.11b at 11 Mb/s.
    pub fn wifi_11mbps() -> Self {
        Self { access: Access::Csma(Csma { bitrate_bps: 11e6, ..Csma::default() }), ..Self::default() }
    }

    /// 802.11b at 11 Mb/s as with ns-3's `RangePropagationLossModel`, beyond whose range there is nothing at all.
    pub fn ns3() -> Self {
        let propagation = Propagation::UnitDisk { range_m: 250.0, sense: 1.0, interference: 1.0 };
        Self { propagation, ..Self::wifi_11mbps() }
    }

    /// 802.11 with the paper's "communications range (m)" of 200; the rest as in ns-2.
    pub fn nfk() -> Self {
        Self { propagation: wavelan(200.0), ..Self::default() }
    }
}

impl FromStr for Settings {
    type Err = SettingsError;

    /// The preset of this name. Papers that name ns-2 and say nothing of the radio get its standard one.
    fn from_str(name: &str) -> Result<Self, SettingsError> {
        match name {
            "ideal" => Ok(Self::ideal()),
            "wifi-2mbps" | "klme" | "cluster" => Ok(Self::default()),
            "wifi-11mbps" => Ok(Self::wifi_11mbps()),
            "ns-3" => Ok(Self::ns3()),
            "nfk" => Ok(Self::nfk()),
            _ => Err(SettingsError::NoPreset(name.to_owned())),
        }
    }
}
