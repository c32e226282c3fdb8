//! Axes and their ticks.

/// A range of values with its ticks. Places on a logarithmic axis are decimal logarithms; they end up rounded to a
/// tenth of a pixel, so that a logarithm that differs in its last bit on another machine does not show.
pub(super) struct Axis {
    log: bool,
    from: f64,
    to: f64,
    /// Shares of the axis with their labels; a minor tick has none.
    pub(super) ticks: Vec<(f64, String)>,
}

/// A tick: mantissa, power of ten, and whether it is labelled.
type Tick = (i32, i32, bool);

impl Axis {
    /// The axis for these values, or nothing if there are none.
    pub(super) fn over(values: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        let (low, high) = values.map(|v| (v, v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let mut axis = Self { log, from: 0.0, to: 1.0, ticks: Vec::new() };
        (axis.from, axis.to) = axis.limits(low, high);
        let ticks = match axis.to - axis.from {
            span if !log => even_ticks(axis.from, axis.to, span),
            span if span < 0.7 => even_ticks(2.0 * low - high, 2.0 * high - low, high - low),
            span => decade_ticks(axis.from, axis.to, span),
        };
        let plain = ticks.iter().all(|tick| !tick.2 || (-4..=4).contains(&tick.1));
        let ticks = ticks.into_iter().map(|tick| (axis.share(number(tick.0, tick.1)), label(tick, plain)));
        axis.ticks = ticks.filter(|tick| (0.0..=1.0).contains(&tick.0)).collect();
        Some(axis)
    }

    /// The axis on which the names stand at 0, 1, 2 and so on.
    pub(super) fn of_names(names: &[String]) -> Self {
        let mut axis = Self { log: false, from: -0.5, to: names.len() as f64 - 0.5, ticks: Vec::new() };
        axis.ticks = names.iter().enumerate().map(|(at, name)| (axis.share(at as f64), name.clone())).collect();
        axis
    }

    /// The places of the ends for values in this range: some air around them, and zero if it is near.
    fn limits(&self, low: f64, high: f64) -> (f64, f64) {
        let (mut from, mut to) = (self.place(low), self.place(high));
        let scale = if self.log { 1.0 } else { from.abs().max(to.abs()) };
        if to - from <= 1e-7 * scale || scale < 1e-300 {
            (from, to) = if scale < 1e-300 { (0.0, 1.0) } else { (from - scale / 2.0, to + scale / 2.0) };
        }
        let air = 0.04 * (to - from);
        let near_zero = !self.log && from >= 0.0 && from < to / 3.0;
        (if near_zero { 0.0 } else { from - air }, to + air)
    }

    fn place(&self, value: f64) -> f64 {
        if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    /// How far along the axis the value lies: 0 at its beginning, 1 at its end.
    pub(super) fn share(&self, value: f64) -> f64 {
        (self.place(value) - self.from) / (self.to - self.from)
    }
}

/// A handful of evenly spaced ticks.
fn even_ticks(from: f64, to: f64, span: f64) -> Vec<Tick> {
    let power = whole((span / 6.0).log10().floor());
    let step = [1, 2, 5].into_iter().find(|&step| number(step, power) >= span / 6.0);
    let (step, power) = step.map_or((1, power + 1), |step| (step, power));
    let unit = number(step, power);
    let ticks = whole((from / unit).ceil())..=whole((to / unit).floor());
    ticks.take(100).map(|i| (i.saturating_mul(step), power, true)).collect()
}

/// The ticks of a logarithmic axis: fewer labels the more decades there are.
fn decade_ticks(from: f64, to: f64, span: f64) -> Vec<Tick> {
    let labelled: &[i32] = match span {
        ..1.2 => &[1, 2, 3, 5, 7],
        ..2.3 => &[1, 2, 5],
        _ => &[1],
    };
    let stride = whole((span / 7.0).ceil());
    let decades = whole(from.floor())..=whole(to.ceil());
    let ticks = decades.flat_map(|power| (1..10).map(move |m| (m, power)));
    let ticks = ticks.map(|(m, power)| (m, power, power % stride == 0 && labelled.contains(&m)));
    ticks.filter(|tick| tick.2 || stride == 1).collect()
}

/// The nearest value, which multiplying by powers of ten would miss.
fn number(mantissa: i32, power: i32) -> f64 {
    format!("{mantissa}e{power}").parse().unwrap_or(f64::NAN)
}

fn label((mantissa, power, labelled): Tick, plain: bool) -> String {
    let decimals = usize::try_from(-power).unwrap_or(0);
    let text = match number(mantissa, power) {
        _ if !labelled => String::new(),
        value if plain => format!("{value:.decimals$}"),
        value if mantissa == 0 => format!("{value}"),
        value => format!("{value:e}"),
    };
    text.replace('-', "−")
}

fn whole(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, far off any axis")]
    let whole = value.round() as i32;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let labels = |values: [f64; 2], log| {
            let ticks = Axis::over(values.into_iter(), log).unwrap().ticks.into_iter();
            ticks.map(|tick| tick.1).filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(labels([0.001, 1.0], true), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels([5.0, 400.0], true), ["5", "10", "20", "50", "100", "200"]);
        assert_eq!(labels([1.0, 40.0], false), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels([7.0, 7.0], false), ["4", "6", "8", "10"]);
        assert_eq!(labels([0.0, 0.0], false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels([-2e-9, 2e-9], false), ["−2e−9", "−1e−9", "0", "1e−9", "2e−9"]);
    }
}
